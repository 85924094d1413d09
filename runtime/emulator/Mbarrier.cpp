// mbarrier objects: phases, arrival counts and transaction bytes
// (ISA 9.7.13.15).
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"

namespace gmoe::emulator {
namespace {

constexpr uint32_t kMaximumCount = (1u << 20) - 1;

void advance(Cluster &c, MBarrier &b) {
  if (b.pending == 0 && b.transactions == 0) {
    ++b.phase;
    b.pending = b.expected;
    ++c.effects;
    if (c.hazards) {
      c.hazards->completePhase(b);
    }
  }
}

/// a: bit 0 generic address, bit 1 any CTA (shared::cluster), bit 2: has a
/// state destination. b: see each operation.
bool locate(Warp &w, const Instruction &i, const Operand &o, unsigned lane,
            uint32_t &at) {
  return w.sharedAddress(w.address(o, lane), i.a & 1, i.a & 3, lane, at);
}

MBarrier *barrierOf(Warp &w, uint32_t at, unsigned lane) {
  MBarrier *b = w.cluster->barrierAt(at);
  if (!b || !b->valid) {
    w.fail(FindingKind::BarrierLifetime,
           "no mbarrier is initialized at shared address " + hexadecimal(at),
           int(lane));
    return nullptr;
  }
  return b;
}

/// The opaque state: phase and pending arrivals (20 bits).
uint64_t stateOf(const MBarrier &b) { return b.phase << 20 | b.pending; }

/// Calls f(lanes, address, barrier) once for the lanes of each address.
template <class F>
bool forBarriers(Warp &w, const Instruction &i, const Operand &address,
                 uint32_t mask, F f) {
  while (mask) {
    unsigned first = unsigned(__builtin_ctz(mask));
    uint32_t at = 0, together = 0;
    if (!locate(w, i, address, first, at)) {
      return false;
    }
    MBarrier *b = barrierOf(w, at, first);
    if (!b) {
      return false;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      if (w.address(address, l) == w.address(address, first)) {
        together |= 1u << l;
      }
    }
    f(together, at, *b);
    mask &= ~together;
  }
  return true;
}

void init(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t at = 0;
    uint64_t count = w.scalar(w.operand(i, 1), l);
    if (!locate(w, i, w.operand(i, 0), l, at)) {
      return;
    }
    Cta &cta = *w.cluster->ctaOf(at);
    uint32_t offset = at & 0xffffffu;
    if (count == 0 || count > kMaximumCount) {
      w.fail("mbarrier count is " + std::to_string(count) + ", must be 1 to " +
                 std::to_string(kMaximumCount),
             int(l));
      return;
    }
    if (offset % 8 || offset + 8 > cta.shared.size()) {
      w.fail(FindingKind::Misaligned,
             "mbarrier address " + hexadecimal(at) + " is not 8-byte aligned",
             int(l));
      return;
    }
    uint16_t &slot = cta.barrierIndex[offset / 8];
    if (slot == 0) {
      if (cta.barriers.size() >= 0xfffe) {
        w.fail("more than 65534 mbarriers in a CTA", int(l));
        return;
      }
      cta.barriers.emplace_back();
      slot = uint16_t(cta.barriers.size());
    }
    MBarrier &b = cta.barriers[slot - 1];
    uint32_t hazard = b.hazard;
    b = MBarrier();
    b.hazard = hazard;
    b.valid = true;
    b.expected = b.pending = uint32_t(count);
    // Opaque contents, so that a copy or a stray store shows in a dump.
    uint64_t contents = 0x6d62617272000000ull | count;
    std::memcpy(cta.shared.data() + offset, &contents, 8);
    ++w.cluster->effects;
    if (Hazards *h = w.cluster->hazards) {
      h->initBarrier(w, l, at, b);
    }
  }
}

void invalidate(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t at = 0;
    if (!locate(w, i, w.operand(i, 0), l, at)) {
      return;
    }
    MBarrier *b = barrierOf(w, at, l);
    if (!b) {
      return;
    }
    b->valid = false;
  }
}

enum ArriveKind : uint32_t {
  ArriveOnly,
  ArriveExpect,
  ArriveNoComplete,
  ArriveDrop,
  ExpectOnly,
  CompleteOnly,
  ArriveDropExpect
};

/// Tells the hazard checker of an arrival, lanes with one barrier together.
bool releaseAll(Warp &w, const Instruction &i, const Operand &address,
                uint32_t mask) {
  if (i.b == ExpectOnly || i.b == CompleteOnly) {
    return true;
  }
  Order order = i.order == Order::Weak ? Order::Release : i.order;
  MemoryScope scope = i.scope == MemoryScope::None ? MemoryScope::Cta : i.scope;
  return forBarriers(
      w, i, address, mask, [&](uint32_t lanes, uint32_t at, MBarrier &b) {
        w.cluster->hazards->arrive(w, lanes, at, b, order, scope);
      });
}

void arrive(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned k = i.a >> 2 & 1;
  const Operand *value =
      i.operandCount > k + 1 ? &w.operand(i, k + 1) : nullptr;
  if (w.cluster->hazards && !releaseAll(w, i, w.operand(i, k), mask)) {
    return;
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t at = 0;
    if (!locate(w, i, w.operand(i, k), l, at)) {
      return;
    }
    MBarrier *b = barrierOf(w, at, l);
    if (!b) {
      return;
    }
    uint64_t state = stateOf(*b);
    uint64_t v = value ? w.scalar(*value, l) & 0xffffffffu : 1;
    std::string error;
    Cluster &c = *w.cluster;
    switch (i.b) {
    case ArriveOnly:
      error = barrierArrive(c, *b, uint32_t(v));
      break;
    case ArriveExpect:
    case ArriveDropExpect:
      error = barrierExpect(c, *b, int64_t(v));
      if (i.b == ArriveDropExpect && b->expected > 0) {
        --b->expected;
      }
      if (error.empty()) {
        error = barrierArrive(c, *b, 1);
      }
      break;
    case ArriveNoComplete:
      if (v >= b->pending) {
        error = "arrive.noComplete would complete the phase";
      } else {
        b->pending -= uint32_t(v);
        ++c.effects;
      }
      break;
    case ArriveDrop:
      if (v > b->expected) {
        error = "arrive_drop of " + std::to_string(v) + " from an expected " +
                std::to_string(b->expected);
      } else {
        b->expected -= uint32_t(v);
        error = barrierArrive(c, *b, uint32_t(v));
      }
      break;
    case ExpectOnly:
      error = barrierExpect(c, *b, int64_t(v));
      break;
    case CompleteOnly:
      error = barrierComplete(c, *b, int64_t(v));
      break;
    }
    if (!error.empty()) {
      w.fail(i.b == ExpectOnly || i.b == CompleteOnly
                 ? FindingKind::TransactionBytes
                 : FindingKind::ArrivalCount,
             "mbarrier at shared address " + hexadecimal(at) + ": " + error,
             int(l));
      return;
    }
    if (k) {
      w.setScalar(w.operand(i, 0), l, state);
    }
  }
}

/// b: bit 0 by parity, bit 1 may suspend (try_wait).
void wait(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t done = 0, first = 0;
  bool same = true;
  Wait waiting;
  waiting.kind = WaitKind::Barrier;
  waiting.byParity = i.b & 1;
  unsigned firstLane = unsigned(__builtin_ctz(mask));
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t at = 0;
    if (!locate(w, i, w.operand(i, 1), l, at)) {
      return;
    }
    MBarrier *b = barrierOf(w, at, l);
    if (!b) {
      return;
    }
    uint64_t v = w.scalar(w.operand(i, 2), l);
    bool complete = i.b & 1 ? (b->phase & 1) != (v & 1) : b->phase != v >> 20;
    done |= uint32_t(complete) << l;

    if (l == firstLane) {
      first = at;
      waiting.address = at;
      waiting.parity = uint32_t(v & 1);
      waiting.phase = v >> 20;
    } else {
      same &= first == at;
    }
  }
  bool mayBlock = (i.b & 2) && done == 0 && same && !w.timedOut;
  // The time limit of try_wait is up to the implementation: sometimes none.
  if (mayBlock && w.cluster->random.below(16) != 0) {
    w.block(waiting);
    return;
  }
  w.timedOut = false;
  if (w.cluster->hazards && done) {
    Order order = i.order == Order::Weak ? Order::Acquire : i.order;
    MemoryScope scope =
        i.scope == MemoryScope::None ? MemoryScope::Cta : i.scope;
    forBarriers(w, i, w.operand(i, 1), done,
                [&](uint32_t lanes, uint32_t at, MBarrier &b) {
                  w.cluster->hazards->wait(w, lanes, at, b, order, scope,
                                           i.b & 1);
                });
  }
  w.setPredicate(w.operand(i, 0), mask, done);
}

void pendingCount(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    w.setScalar(w.operand(i, 0), l, w.scalar(w.operand(i, 1), l) & 0xfffff);
  }
}

} // namespace

std::string barrierArrive(Cluster &c, MBarrier &b, uint32_t count) {
  if (count == 0 || count > b.pending) {
    return "arrival of " + std::to_string(count) + " with " +
           std::to_string(b.pending) + " of " + std::to_string(b.expected) +
           " pending in phase " + std::to_string(b.phase);
  }
  b.pending -= count;
  ++c.effects;
  advance(c, b);
  return std::string();
}

std::string barrierExpect(Cluster &c, MBarrier &b, int64_t bytes) {
  int64_t total = b.transactions + bytes;
  if (total > int64_t(kMaximumCount)) {
    return "transaction count would be " + std::to_string(total) + ", limit " +
           std::to_string(kMaximumCount);
  }
  b.transactions = int32_t(total);
  ++c.effects;
  return std::string();
}

std::string barrierComplete(Cluster &c, MBarrier &b, int64_t bytes) {
  int64_t total = b.transactions - bytes;
  if (total < -int64_t(kMaximumCount)) {
    return "transaction count would be " + std::to_string(total) + ", limit -" +
           std::to_string(kMaximumCount);
  }
  b.transactions = int32_t(total);
  ++c.effects;
  advance(c, b);
  return std::string();
}

bool decodeMbarrier(Decoder &d) {
  Instruction &i = d.instruction();
  int op =
      d.takeOneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                   "complete_tx", "test_wait", "try_wait", "pending_count"});
  if (op < 0) {
    return false;
  }
  bool expect = (op == 2 || op == 3) && d.take("expect_tx");
  bool noComplete = (op == 2 || op == 3) && d.take("noComplete");
  bool parity = (op == 6 || op == 7) && d.take("parity");
  d.takeMemoryQualifiers();
  StateSpace space = d.takeSpace(StateSpace::Generic);
  Type type = d.takeType();
  if (type != Type::B64) {
    return false;
  }
  auto settle = [&](size_t at) {
    if (space == StateSpace::Generic) {
      space = d.pending(at).space;
    }
    i.a |= space == StateSpace::Generic         ? 1u
           : space == StateSpace::SharedCluster ? 2u
                                                : 0u;
    return space == StateSpace::Generic || space == StateSpace::Shared ||
           space == StateSpace::SharedCluster;
  };
  switch (op) {
  case 0:
    i.handler = init;
    return d.count(2, 2) && d.address(d.ast(0)) &&
           d.source(d.ast(1), Type::U32) && settle(0);
  case 1:
    i.handler = invalidate;
    return d.count(1, 1) && d.address(d.ast(0)) && settle(0);
  case 2:
  case 3: {
    i.handler = arrive;
    i.b = noComplete ? uint32_t(ArriveNoComplete)
          : expect   ? uint32_t(op == 2 ? ArriveExpect : ArriveDropExpect)
                     : uint32_t(op == 2 ? ArriveOnly : ArriveDrop);
    size_t k = d.size() > 0 && d.ast(0).kind == AstOperand::Address ? 0 : 1;
    if (k == 1 && (!d.count(2, 3) || !d.dest(d.ast(0), 8))) {
      return false;
    }
    i.a = uint32_t(k) << 2;
    if (!d.count(k + 1, k + 2) || !d.address(d.ast(k)) || !settle(k)) {
      return false;
    }
    return d.size() == k + 1 ? !expect && !noComplete
                             : d.source(d.ast(k + 1), Type::U32);
  }
  case 4:
  case 5:
    i.handler = arrive;
    i.b = op == 4 ? ExpectOnly : CompleteOnly;
    return d.count(2, 2) && d.address(d.ast(0)) &&
           d.source(d.ast(1), Type::U32) && settle(0);
  case 6:
  case 7:
    i.handler = wait;
    i.b = uint32_t(parity) | uint32_t(op == 7) << 1;
    return d.count(3, op == 7 ? 4 : 3) && d.predicateDest(d.ast(0)) &&
           d.address(d.ast(1)) &&
           d.source(d.ast(2), parity ? Type::U32 : Type::B64) && settle(1);
  default:
    i.handler = pendingCount;
    return d.count(2, 2) && d.dest(d.ast(0), 4) &&
           d.source(d.ast(1), Type::B64);
  }
}

} // namespace gmoe::emulator
