// cp.async of 4 to 16 bytes a thread, its groups, and arrival on an mbarrier
// when a thread's copies are done (ISA 9.7.9.25.3). Sources are read when a
// copy completes.
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

/// Operands: shared, global, [source bytes or ignored]; a: bytes, b: 1 source
/// bytes, 2 predicate that ignores the source; c: generic destination.
void copy(Warp &w, const Instruction &i, uint32_t mask) {
  AsyncOp op;
  op.kind = AsyncOp::ThreadCopy;
  op.instruction = &i;
  op.warp = w.index;
  op.group = w.cluster->threadCopies++;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    ThreadCopy t;
    t.lane = uint8_t(l);
    t.bytes = t.sourceBytes = uint8_t(i.a);
    t.group = w.copyGroup[l];
    t.global = w.address(w.operand(i, 1), l);
    if (!w.sharedAddress(w.address(w.operand(i, 0), l), i.c, false, l,
                         t.shared)) {
      return;
    }
    if (i.b == 1) {
      uint64_t n = w.scalar(w.operand(i, 2), l) & 0xffffffffu;
      if (n > i.a) {
        w.fail("cp.async reads " + std::to_string(n) + " bytes, limit " +
                   std::to_string(i.a),
               int(l));
        return;
      }
      t.sourceBytes = uint8_t(n);
    } else if (i.b == 2 && w.predicate(w.operand(i, 2), l)) {
      t.sourceBytes = 0;
    }
    if (t.shared % i.a || t.global % i.a) {
      w.fail("cp.async between " + hexadecimal(t.global) + " and shared " +
                 hexadecimal(t.shared) + " is not aligned to " +
                 std::to_string(i.a) + " bytes",
             int(l));
      return;
    }
    op.copies.push_back(t);
  }
  if (Hazards *h = w.cluster->hazards) {
    op.issuer = h->issueCopy(w, mask);
  }
  w.cluster->enqueue(std::move(op));
}

void commit(Warp &w, const Instruction &, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    ++w.copyGroup[unsigned(__builtin_ctz(m))];
  }
}

/// a: groups that may stay; b: uncommitted copies count too (wait_all).
void waitGroup(Warp &w, const Instruction &i, uint32_t mask) {
  Wait wait;
  wait.kind = WaitKind::CopyGroup;
  wait.advance = true;
  wait.phase = i.a;
  wait.byParity = i.b;
  if (copyGroupsPending(w, mask, wait)) {
    w.block(wait);
  } else if (Hazards *h = w.cluster->hazards) {
    h->copyWait(w, mask, i.a, i.b);
  }
}

/// a: generic address; b: .noinc.
void arrive(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    AsyncOp op;
    op.kind = AsyncOp::ThreadArrive;
    op.instruction = &i;
    op.warp = w.index;
    op.lane = l;
    op.group = w.cluster->threadCopies++;
    if (!w.sharedAddress(w.address(w.operand(i, 0), l), i.a, false, l,
                         op.barrier)) {
      return;
    }
    MBarrier *b = w.cluster->barrierAt(op.barrier);
    if (!b || !b->valid) {
      w.fail("no mbarrier is initialized at shared address " +
                 hexadecimal(op.barrier),
             int(l));
      return;
    }
    if (!i.b) {
      ++b->pending;
    }
    op.bytes = w.copyGroup[l] + 1; // the open group counts
    w.cluster->enqueue(std::move(op));
  }
}

} // namespace

bool copyGroupsPending(const Warp &w, uint32_t mask, const Wait &wait) {
  for (const AsyncOp &op : w.cluster->async) {
    if (op.kind != AsyncOp::ThreadCopy || op.warp != w.index) {
      continue;
    }
    for (const ThreadCopy &t : op.copies) {
      if (!(mask >> t.lane & 1)) {
        continue;
      }
      uint32_t now = w.copyGroup[t.lane];
      if (wait.byParity || (t.group < now && now - t.group > wait.phase)) {
        return true;
      }
    }
  }
  return false;
}

bool completeThreadOp(Cluster &c, AsyncOp &op) {
  if (op.kind == AsyncOp::ThreadArrive) {
    for (const AsyncOp &other : c.async) {
      if (other.kind != AsyncOp::ThreadCopy || other.warp != op.warp ||
          other.group > op.group) {
        continue;
      }
      for (const ThreadCopy &t : other.copies) {
        if (t.lane == op.lane) {
          return false; // an earlier copy of this thread is still in flight
        }
      }
    }
    MBarrier *b = c.barrierAt(op.barrier);
    if (b && b->valid && c.hazards) {
      c.hazards->copyArrive(op, op.bytes, *b);
    }
    std::string error = !b || !b->valid
                            ? std::string("no mbarrier is initialized there")
                            : barrierArrive(c, *b, 1);
    if (!error.empty()) {
      c.failAsync(*op.instruction, op.warp,
                  "arrival on the mbarrier at shared address " +
                      hexadecimal(op.barrier) + ": " + error);
    }
    return true;
  }
  for (const ThreadCopy &t : op.copies) {
    uint8_t *to = c.sharedPointer(t.shared, t.bytes);
    const uint8_t *from =
        t.sourceBytes ? c.context->memory->resolve(t.global, t.sourceBytes)
                      : nullptr;
    if (!to || (t.sourceBytes && !from)) {
      c.failAsync(*op.instruction, op.warp,
                  "copy of " + std::to_string(t.bytes) + " bytes from " +
                      hexadecimal(t.global) + " to shared " +
                      hexadecimal(t.shared) + " is out of bounds: " +
                      c.context->memory->describeNearest(t.global));
      return true;
    }
    if (c.hazards) {
      c.hazards->threadCopy(op, t);
    }
    std::memset(to, 0, t.bytes);
    if (t.sourceBytes) {
      std::memcpy(to, from, t.sourceBytes);
    }
  }
  return true;
}

bool isThreadCopy(const Decoder &d) {
  return d.part(0) == "cp" && d.part(1) == "async" && d.part(2) != "bulk";
}

bool decodeThreadCopy(Decoder &d) {
  Instruction &i = d.instruction();
  d.take("async");
  if (d.take("commit_group")) {
    i.handler = commit;
    return d.count(0, 0);
  }
  if (d.take("wait_all") || d.take("wait_group")) {
    i.b = d.part(2) == "wait_all";
    i.handler = waitGroup;
    if (i.b) {
      return d.count(0, 0);
    }
    if (!d.count(1, 1) || d.ast(0).kind != AstOperand::Integer) {
      return false;
    }
    i.a = uint32_t(d.ast(0).value);
    return true;
  }
  if (d.take("mbarrier")) {
    if (!d.take("arrive")) {
      return false;
    }
    i.b = d.take("noinc");
    StateSpace space = d.takeSpace(StateSpace::Generic);
    i.handler = arrive;
    if (!d.take("b64") || !d.count(1, 1) || !d.address(d.ast(0))) {
      return false;
    }
    i.a = space == StateSpace::Generic &&
          d.pending(0).space == StateSpace::Generic;
    return space == StateSpace::Generic || space == StateSpace::Shared;
  }
  bool bypass = d.take("cg");
  if (!bypass && !d.take("ca")) {
    return false;
  }
  if (!(d.take("shared") || d.take("shared::cta")) || !d.take("global")) {
    return false;
  }
  for (const char *hint :
       {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"}) {
    d.take(hint);
  }
  if (!d.count(3, 5) || !d.address(d.ast(0)) || !d.address(d.ast(1)) ||
      d.ast(2).kind != AstOperand::Integer) {
    return false;
  }
  i.a = uint32_t(d.ast(2).value);
  if (i.a != 16 && (bypass || (i.a != 4 && i.a != 8))) {
    return d.fail("cp.async copies 4, 8 or 16 bytes (.cg: 16), not " +
                  std::to_string(i.a));
  }
  i.handler = copy;
  bool hinted = false;
  for (size_t k = 1; k < d.partCount(); ++k) {
    hinted |= d.part(k) == "L2::cache_hint";
  }
  size_t extra = d.size() - 3 - size_t(hinted);
  if (extra == 0) {
    return true;
  }
  if (extra > 1) {
    return false;
  }
  i.b = d.isPredicate(d.ast(3)) ? 2 : 1;
  return i.b == 2 ? d.predicateSource(d.ast(3)) : d.source(d.ast(3), Type::U32);
}

} // namespace gmoe::emulator
