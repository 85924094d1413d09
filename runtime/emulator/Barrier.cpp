// bar, barrier.cluster and bar.warp.sync (ISA 9.7.13.1 to 9.7.13.4).
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"

namespace gmoe::emulator {
namespace {

uint32_t popcount(uint32_t v) { return uint32_t(__builtin_popcount(v)); }

enum Kind : uint32_t { Sync, Arrive, RedPopc, RedAnd, RedOr };

/// Operands: [destination] barrier [count] [predicate]; a: kind, b: has count.
void named(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned k = i.a >= RedPopc ? 1 : 0;
  unsigned lane = unsigned(__builtin_ctz(mask));
  uint64_t id = w.scalar(w.operand(i, k), lane);
  if (id >= 16) {
    w.fail("barrier is " + std::to_string(id) + ", limit 15");
    return;
  }
  uint32_t expected = 0;
  if (i.b) {
    uint64_t count = w.scalar(w.operand(i, k + 1), lane);
    if (count == 0 || count % 32 || count > w.cta->warpCount * 32) {
      w.fail(FindingKind::BarrierMisuse,
             "barrier " + std::to_string(id) + " counts " +
                 std::to_string(count) +
                 " threads, must be a multiple of 32 up to the CTA's " +
                 std::to_string(w.cta->warpCount * 32));
      return;
    }
    expected = uint32_t(count);
  }
  NamedBarrier &b = w.cta->named[id];
  if (b.active && b.expected != expected) {
    w.fail(FindingKind::BarrierMisuse,
           "barrier " + std::to_string(id) + " is in use for " +
               (b.expected ? std::to_string(b.expected) : std::string("all")) +
               " threads, this instruction gives " +
               (expected ? std::to_string(expected) : std::string("all")));
    return;
  }
  if (Hazards *h = w.cluster->hazards) {
    h->arriveNamed(w, mask, b);
  }
  b.active = true;
  b.expected = expected;
  // Lanes that exited or never existed count with the last of their warp.
  uint32_t threads = mask == w.alive ? 32 : popcount(mask);
  b.arrived += threads;
  if (i.a >= RedPopc) {
    uint32_t p = w.predicateMask(w.operand(i, i.operandCount - 1u)) & mask;
    b.count += popcount(p);
    b.threads += popcount(mask);
  }
  if (i.a != Arrive) {
    Wait wait;
    wait.kind = WaitKind::Named;
    wait.advance = true;
    wait.address = uint32_t(id);
    wait.phase = b.generation;
    w.block(wait);
  }
  ++w.cluster->effects;
  namedBarrierCheck(*w.cluster, *w.cta, b);
}

void clusterArrive(Warp &w, const Instruction &i, uint32_t mask) {
  Cluster &c = *w.cluster;
  if (w.clusterArrivedMask & mask) {
    w.fail(FindingKind::BarrierMisuse,
           "a thread arrives twice at the cluster barrier without waiting");
    return;
  }
  if (c.hazards) {
    c.hazards->arriveCluster(w, mask, i.order == Order::Relaxed);
  }
  w.clusterArrivedMask |= mask;
  w.clusterArrived = true;
  w.clusterGeneration = c.generation;
  c.arrived += popcount(mask);
  ++c.effects;
  clusterBarrierCheck(c);
}

void clusterWait(Warp &w, const Instruction &, uint32_t mask) {
  if (!w.clusterArrived) {
    w.fail(FindingKind::BarrierMisuse,
           "barrier.cluster.wait without a barrier.cluster.arrive before it");
    return;
  }
  if (w.cluster->generation > w.clusterGeneration) {
    if (Hazards *h = w.cluster->hazards) {
      h->leaveCluster(w, mask);
    }
    return;
  }
  Wait wait;
  wait.kind = WaitKind::ClusterWait;
  wait.advance = true;
  wait.phase = w.clusterGeneration;
  w.block(wait);
}

void warpSync(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t members =
      uint32_t(w.scalar(w.operand(i, 0), unsigned(__builtin_ctz(mask))));
  if ((members & w.alive & ~mask) == 0) {
    if (Hazards *h = w.cluster->hazards) {
      h->warpSync(w, members);
    }
    return;
  }
  Wait wait;
  wait.kind = WaitKind::Lanes;
  wait.mask = members;
  wait.byParity = true;
  wait.advance = true;
  w.block(wait);
}

} // namespace

void namedBarrierCheck(Cluster &c, Cta &cta, NamedBarrier &b) {
  uint32_t expected = b.expected;
  if (expected == 0) {
    for (uint32_t k = 0; k < cta.warpCount; ++k) {
      expected += c.warps[cta.firstWarp + k].alive ? 32 : 0;
    }
  }
  if (!b.active || b.arrived < expected || b.arrived == 0) {
    return;
  }
  if (c.hazards) {
    c.hazards->completeNamed(b);
  }
  b.lastCount = b.count;
  b.lastThreads = b.threads;
  b.arrived = b.count = b.threads = 0;
  b.active = false;
  ++b.generation;
  ++c.effects;
}

void finishNamedBarrier(Warp &w, const Split &s) {
  if (Hazards *h = w.cluster->hazards) {
    h->leaveNamed(w, s.mask, w.cta->named[s.wait.address]);
  }
  const Instruction &i = w.program->code[s.pc];
  if (i.a < RedPopc || i.operandCount < 3) {
    return;
  }
  const NamedBarrier &b = w.cta->named[s.wait.address];
  const Operand &d = w.operand(i, 0);
  if (i.a == RedPopc) {
    for (unsigned l = 0; l < 32; ++l) {
      if (s.mask >> l & 1) {
        w.setScalar(d, l, b.lastCount);
      }
    }
  } else {
    bool r = i.a == RedAnd ? b.lastCount == b.lastThreads : b.lastCount > 0;
    w.setPredicate(d, s.mask, r ? ~0u : 0);
  }
}

void clusterBarrierCheck(Cluster &c) {
  if (c.arrived == 0 || c.arrived < c.liveThreads) {
    return;
  }
  c.arrived = 0;
  if (c.hazards) {
    c.hazards->completeCluster();
  }
  ++c.generation;
  ++c.effects;
  for (Warp &w : c.warps) {
    w.clusterArrivedMask = 0;
  }
}

bool decodeBarrier(Decoder &d) {
  Instruction &i = d.instruction();
  if (d.take("cluster")) {
    bool arrive = d.take("arrive");
    if (!arrive && !d.take("wait")) {
      return false;
    }
    d.takeMemoryQualifiers();
    d.take("aligned");
    i.handler = arrive ? clusterArrive : clusterWait;
    return d.count(0, 0);
  }
  if (d.take("warp")) {
    i.handler = warpSync;
    return d.take("sync") && d.count(1, 1) && d.source(d.ast(0), Type::B32);
  }
  d.take("cta");
  if (d.take("red")) {
    int how = d.takeOneOf({"popc", "and", "or"});
    d.take("aligned");
    Type type = d.takeType();
    if (how < 0 || (how == 0 ? type != Type::U32 : type != Type::Pred) ||
        !d.count(3, 4)) {
      return false;
    }
    i.a = RedPopc + uint32_t(how);
    i.b = d.size() == 4;
    i.handler = named;
    return (how == 0 ? d.dest(d.ast(0), 4) : d.predicateDest(d.ast(0))) &&
           d.source(d.ast(1), Type::U32) &&
           (!i.b || d.source(d.ast(2), Type::U32)) &&
           d.predicateSource(d.ast(d.size() - 1));
  }
  bool arrive = d.take("arrive");
  if (!arrive && !d.take("sync")) {
    return false;
  }
  d.take("aligned");
  i.a = arrive ? Arrive : Sync;
  i.b = d.size() == 2;
  i.handler = named;
  return d.count(arrive ? 2 : 1, 2) && d.source(d.ast(0), Type::U32) &&
         (!i.b || d.source(d.ast(1), Type::U32));
}

} // namespace gmoe::emulator
