// Tensor maps in global memory: they are read through a proxy of their own, so
// that a change must be released by its writer and acquired by the user (ISA
// 9.7.13.4, fence.proxy.tensormap), also across launches.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {

static constexpr uint64_t kMapBytes = 128;

void Hazards::releaseMaps(Warp &w, uint32_t mask) {
  fence(w, mask, MemoryScope::Gpu);
  putBehind(w, mask, &Knowledge::maps);
  each(w, mask, [&](LaneClass &c) { mapReleases_.join(c.knowledge->maps); });
}

void Hazards::acquireMap(Warp &w, unsigned lane, uint64_t address) {
  each(w, 1u << lane, [&](LaneClass &c) {
    ThreadKnowledge &k = own(c);
    if (k.hasSeen) {
      k.join(k.seen);
    }
    uint32_t thread = threadOf(w, lane);
    std::vector<MapAcquire> &known = acquires_[address];
    for (const MapAcquire &a : known) {
      if (a.thread == thread && a.covers.covers(k.maps)) {
        return; // says no more
      }
    }
    known.push_back({thread, state(w).now, k.maps});
  });
  ++state(w).now;
}

/// Whether the issuer of a copy comes behind an acquire of the map that covers
/// the change, or any for a change by an earlier launch.
bool Hazards::hasAcquired(const Issuer &issuer, uint64_t address,
                          Record change) const {
  auto it = acquires_.find(address);
  if (it == acquires_.end()) {
    return false;
  }
  for (const MapAcquire &a : it->second) {
    bool ordered = a.thread == issuer.thread
                       ? a.time <= issuer.time
                       : issuer.knowledge->strict.knows(a.thread, a.time);
    if (ordered &&
        (!change || a.covers.knows(change.component(), change.time()))) {
      return true;
    }
  }
  return false;
}

/// Changes by this launch; whether there are any.
bool Hazards::checkChangedMap(const AsyncOp &op, const Allocation &a,
                              uint64_t offset) {
  Work work{op.instruction, op.warp, &op.issuer};
  const ThreadKnowledge &k = *op.issuer.knowledge;
  bool changed = false;
  for (uint64_t at = offset; at < offset + kMapBytes; at += 4) {
    GlobalPage *page = a.shadow->find(at);
    GlobalWrite cell =
        page ? page->cells[at / 4 % (GlobalPage::kBytes / 4)].load()
             : GlobalWrite();
    Record r = cell.write;
    if (!r) {
      continue;
    }
    changed = true;
    std::string where =
        "the tensor map at global address " + hexadecimal(a.base + at);
    if (cell.cluster != cluster_->id) {
      if (!knowsForeign(cell)) {
        findAsync(FindingKind::ReadUnordered, *op.instruction, op.warp,
                  "read of " + where + ", which cluster " +
                      std::to_string(cell.cluster) +
                      " wrote, not ordered before it");
      }
      continue;
    }
    uint32_t c = r.component();
    bool ordered = c == op.issuer.thread ? r.time() <= op.issuer.time
                                         : k.strict.knows(c, r.time());
    if (!ordered) {
      checkRead(work, r, where);
    } else if (!r.isStream() && !hasAcquired(op.issuer, op.global, r)) {
      bool released = k.maps.knows(c, r.time());
      findAsync(FindingKind::TensorMapFence, *op.instruction, op.warp,
                "uses " + where +
                    ", changed without fence.proxy.tensormap::generic." +
                    (released ? "acquire of it" : "release") + " after it",
                r);
    }
  }
  return changed;
}

void Hazards::mapRead(const AsyncOp &op, const Allocation &a,
                      const MBarrier *signals) {
  uint64_t offset = op.global - a.base;
  if (op.issuer.knowledge && a.shadow && !checkChangedMap(op, a, offset)) {
    LineState state = a.lineState(offset, kMapBytes);
    bool released = state != LineState::Changed;
    if (state != LineState::Clean &&
        (!released || !hasAcquired(op.issuer, op.global, Record()))) {
      findAsync(FindingKind::TensorMapFence, *op.instruction, op.warp,
                "uses the tensor map at global address " +
                    hexadecimal(op.global) +
                    ", which an earlier launch "
                    "changed, without fence.proxy.tensormap::generic." +
                    (released ? "acquire of it in this one"
                              : "release after the change"));
    }
  }
  Record r(op.issuer.stream, op.issuer.position, indexOf(*op.instruction),
           false, 0xf);
  if (signals && signals->hazard) {
    const BarrierState &b = barriers_[signals->hazard - 1];
    r = Record(b.stream, b.phases + 1, indexOf(*op.instruction), false, 0xf);
  }
  MapUse &use = maps_[op.global];
  if (!use.reads[0] || use.reads[0].component() == r.component()) {
    use.reads[0] = r;
  } else {
    use.reads[1] = r;
  }
}

void LaunchHazards::addMapReleases(uint64_t cluster, Clock released) {
  std::lock_guard<std::mutex> lock(mutex_);
  mapReleases_.emplace(cluster, std::move(released));
}

bool LaunchHazards::isReleased(const GlobalWrite &write) const {
  auto it = mapReleases_.find(write.cluster);
  return it != mapReleases_.end() &&
         it->second.knows(write.write.component(), write.write.time());
}

} // namespace gmoe::emulator
