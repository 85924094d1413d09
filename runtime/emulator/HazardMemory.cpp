// Accesses of threads to shared and global memory.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {

void Hazards::remember(Cell &cell, Record r, const Clock &known) {
  auto replaces = [&](Record old) {
    return !old || old.component() == r.component() ||
           known.knows(old.component(), old.time());
  };
  if (replaces(cell.read[0])) {
    cell.read[0] = r;
  } else {
    cell.read[1] = r;
  }
}

void Hazards::shared(Warp &w, unsigned lane, Cta &cta, uint32_t offset,
                     uint32_t bytes, Access access) {
  WarpState &s = state(w);
  const ThreadKnowledge &k = *classOf(s, lane).knowledge;
  const Instruction &i = w.program->code[w.pc];
  bool strong = access == Atomic || i.order != Order::Weak;
  uint32_t self = threadOf(w, lane);
  auto where = [&](uint64_t word) {
    return "shared address " + hexadecimal(uint64_t(cta.rank) << 24 | word * 4);
  };
  auto ordered = [&](Record r, const Clock &known, uint32_t mask) {
    return r.component() == self || !(r.bytes() & mask) ||
           (strong && r.strong()) || known.knows(r.component(), r.time());
  };
  // Lanes that store the same place in one instruction: one of them wins.
  auto together = [&](Record r) {
    return r.instruction() == indexOf(i) && r.time() == s.now &&
           r.component() / 32 == w.index;
  };
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    Cell &cell = ctas_[cta.rank].shared[word];
    uint32_t mask = bytesIn(word, offset, bytes);
    Record mine(self, s.now, indexOf(i), strong, mask);
    if (access != Write) {
      if (!cell.write) {
        find(FindingKind::Uninitialized, w, int(lane),
             "read of " + where(word) + ", which nothing wrote");
      } else if (!ordered(cell.write, k.strict, mask)) {
        find(FindingKind::ReadUnordered, w, int(lane),
             "read of " + where(word) +
                 ", whose last write is not ordered before it",
             cell.write);
      }
    }
    if (access == Read) {
      remember(cell, mine, k.loose);
      if (auto it = answers_.find(cta.rank << 24 | uint32_t(word) * 4);
          it != answers_.end()) {
        it->second.push_back(mine);
      }
      continue;
    }
    const MBarrier *barrier = cta.barrierAt(word * 4 & ~7u);
    if (barrier && barrier->valid) {
      find(FindingKind::BarrierLifetime, w, int(lane),
           "write to " + where(word) + ", which holds a live mbarrier",
           barrier->hazard ? barriers_[barrier->hazard - 1].init : Record());
    }
    if (access == Write && cell.write && !together(cell.write) &&
        !ordered(cell.write, k.strict, mask)) {
      find(FindingKind::WriteUnordered, w, int(lane),
           "write to " + where(word) +
               ", whose last write is not ordered before it",
           cell.write);
    }
    for (Record r : cell.read) {
      if (r && !ordered(r, k.loose, mask)) {
        find(FindingKind::OverwriteInUse, w, int(lane),
             "write to " + where(word) +
                 ", while a read of the old value is not ordered before it",
             r);
      }
    }
    cell.write = mine;
    cell.read[0] = cell.read[1] = Record();
    answers_.erase(cta.rank << 24 | uint32_t(word) * 4);
  }
}

void Hazards::global(Warp &w, unsigned lane, const Allocation &a,
                     uint64_t offset, uint32_t bytes, Access access) {
  if (access != Write && full() && !a.allWritten(offset, bytes)) {
    find(FindingKind::Uninitialized, w, int(lane),
         "read of " + std::to_string(bytes) + " bytes at global address " +
             hexadecimal(a.base + offset) + ", which nothing wrote");
  }
  if (access != Read) {
    a.markWritten(offset, bytes);
  }
  GlobalShadow *shadow = a.shadow.get();
  if (!shadow || (access == Read && !shadow->find(offset))) {
    return;
  }
  WarpState &s = state(w);
  const ThreadKnowledge &k = *classOf(s, lane).knowledge;
  const Instruction &i = w.program->code[w.pc];
  bool strong = access == Atomic || i.order != Order::Weak;
  uint32_t self = threadOf(w, lane);
  GlobalPage &page = shadow->page(offset);
  for (uint64_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    GlobalCell &slot = page.cells[word % (GlobalPage::kBytes / 4)];
    GlobalWrite cell = slot.load();
    uint32_t mask = bytesIn(word, offset, bytes);
    Record r = cell.write;
    bool mineToo = cell.cluster == cluster_->id;
    bool ordered = !r || !(r.bytes() & mask) || (strong && r.strong());
    if (!ordered && mineToo) {
      ordered = r.component() == self ||
                k.strict.knows(r.component(), r.time()) ||
                (access == Write && r.instruction() == indexOf(i) &&
                 r.time() == s.now && r.component() / 32 == w.index);
    } else if (!ordered) {
      ordered = knowsForeign(cell);
    }
    if (!ordered) {
      find(access == Read ? FindingKind::ReadUnordered
                          : FindingKind::WriteUnordered,
           w, int(lane),
           std::string(access == Read ? "read" : "write") +
               " at global address " + hexadecimal(a.base + word * 4) +
               ", whose last write" +
               (mineToo
                    ? std::string()
                    : " (by cluster " + std::to_string(cell.cluster) + ")") +
               " is not ordered before it",
           mineToo ? r : Record());
    }
    if (access != Read) {
      slot.store(Record(self, s.now, indexOf(i), strong, mask), cluster_->id);
    }
  }
  if (access != Read && !maps_.empty()) {
    auto it = maps_.find((a.base + offset) & ~uint64_t(127));
    if (it != maps_.end()) {
      for (Record r : it->second.reads) {
        if (r && !k.loose.knows(r.component(), r.time())) {
          find(FindingKind::TensorMapInUse, w, int(lane),
               "write to the tensor map at " + hexadecimal(it->first) +
                   " while a copy that reads it is not ordered before",
               r);
        }
      }
    }
  }
}

} // namespace gmoe::emulator
