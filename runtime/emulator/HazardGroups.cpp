// Asynchronous work that threads wait for by groups: cp.async and wgmma.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {

uint32_t Hazards::copyStream(uint32_t thread) {
  uint32_t &stream = copies_[thread];
  if (stream == 0) {
    stream = newStream(StreamInfo::CopyGroups, thread / 32, thread % 32, 0);
  }
  return stream;
}

Issuer Hazards::issueCopy(Warp &w, uint32_t mask) {
  Issuer issuer = issue(w, unsigned(__builtin_ctz(mask)));
  issuer.genericProxy = true;
  return issuer;
}

void Hazards::threadCopy(const AsyncOp &op, const ThreadCopy &copy) {
  if (!op.issuer.knowledge) {
    return;
  }
  Issuer issuer = op.issuer;
  issuer.thread = op.warp * 32 + copy.lane;
  issuer.stream = copyStream(issuer.thread);
  issuer.position = copy.group + 1;
  Work work{op.instruction, op.warp, &issuer};
  writeCells(work,
             &ctas_[copy.shared >> 24].shared[(copy.shared & 0xffffffu) / 4],
             copy.bytes / 4u,
             Record(issuer.stream, issuer.position, indexOf(*op.instruction),
                    false, 0xf),
             copy.shared);
  AsyncOp source = op;
  source.issuer = issuer;
  const Allocation *a =
      copy.sourceBytes
          ? cluster_->context->memory->find(copy.global, copy.sourceBytes)
          : nullptr;
  if (a) {
    asyncReadGlobal(source, *a, copy.global - a->base, copy.sourceBytes);
  }
}

void Hazards::copyWait(Warp &w, uint32_t mask, uint64_t allowed, bool whole) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    auto it = copies_.find(threadOf(w, lane));
    uint64_t group = w.copyGroup[lane] + uint64_t(whole);
    if (it == copies_.end() || group <= (whole ? 0 : allowed)) {
      continue;
    }
    uint32_t done = uint32_t(group - (whole ? 0 : allowed));
    each(w, 1u << lane, [&](LaneClass &c) {
      ThreadKnowledge &k = own(c);
      k.strict.raiseStream(it->second, done);
      k.loose.raiseStream(it->second, done);
    });
  }
}

void Hazards::copyArrive(const AsyncOp &op, uint32_t position, MBarrier &b) {
  if (b.hazard == 0) {
    return;
  }
  ReleaseState &open = barriers_[b.hazard - 1].open;
  uint32_t stream = copyStream(op.warp * 32 + op.lane);
  for (Knowledge *k :
       {&open.cluster, &open.of(cluster_->warps[op.warp].cta->rank)}) {
    k->strict.raiseStream(stream, position);
    k->loose.raiseStream(stream, position);
  }
}

Issuer Hazards::issueWgmma(Warp &w, uint32_t mask) {
  Issuer issuer = issue(w, unsigned(__builtin_ctz(mask)));
  Queue &q = wgmma_[w.index];
  if (q.stream == 0) {
    q.stream = newStream(StreamInfo::Wgmma, w.index, 0, 0);
  }
  issuer.stream = q.stream;
  issuer.position = ++q.position;
  return issuer;
}

void Hazards::wgmmaWait(Warp &w, uint32_t mask, uint32_t position) {
  auto it = wgmma_.find(w.index);
  if (it == wgmma_.end() || position == 0) {
    return;
  }
  each(w, mask, [&](LaneClass &c) {
    ThreadKnowledge &k = own(c);
    k.strict.raiseStream(it->second.stream, position);
    k.loose.raiseStream(it->second.stream, position);
  });
}

} // namespace gmoe::emulator
