// Exchange and agreement within a warp: shfl, vote, match, redux, elect (ISA
// 9.7.9.7, 9.7.13.9 to 9.7.13.14), and instructions without effect here.
#include "runtime/emulator/Lanes.h"
#include "runtime/numerics/Codecs.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

uint32_t firstLane(uint32_t mask) { return uint32_t(__builtin_ctz(mask)); }

/// The member mask, the same in all active lanes; false after block or failure.
bool gather(Warp &w, const Operand &o, uint32_t mask, uint32_t &members) {
  members = uint32_t(w.scalar(o, firstLane(mask)));
  if (!(members >> firstLane(mask) & 1)) {
    w.fail("the executing thread is not in the member mask " +
               hexadecimal(members),
           int(firstLane(mask)));
    return false;
  }
  return w.converged(members, mask);
}

/// a: 0 up, 1 down, 2 bfly, 3 idx; b: has the predicate.
void shuffle(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned k = i.b ? 2 : 1;
  uint32_t members = 0;
  if (!gather(w, w.operand(i, i.operandCount - 1u), mask, members)) {
    return;
  }
  uint32_t old[32];
  const uint32_t *a = w.source<uint32_t>(w.operand(i, k));
  std::memcpy(old, a, sizeof old);
  const uint32_t *b = w.source<uint32_t>(w.operand(i, k + 1));
  const uint32_t *c = w.source<uint32_t>(w.operand(i, k + 2));
  uint32_t in = 0;
  uint32_t result[32];
  for (uint32_t l = 0; l < 32; ++l) {
    uint32_t bound = c[l] & 31, segment = c[l] >> 8 & 31, n = b[l] & 31;
    uint32_t maximum = (l & segment) | (bound & ~segment);
    uint32_t minimum = l & segment;
    uint32_t j = l;
    bool p = false;
    switch (i.a) {
    case 0:
      j = l - n;
      p = int32_t(j) >= int32_t(maximum);
      break;
    case 1:
      j = l + n;
      p = j <= maximum;
      break;
    case 2:
      j = l ^ n;
      p = j <= maximum;
      break;
    default:
      j = minimum | (n & ~segment);
      p = j <= maximum;
    }
    if (!p) {
      j = l;
    }
    result[l] = old[j & 31];
    in |= uint32_t(p) << l;
  }
  perLane<uint32_t>(w, w.operand(i, 0), mask,
                    [&](unsigned l) { return result[l]; });
  if (i.b) {
    w.setPredicate(w.operand(i, 1), mask, in);
  }
}

/// a: 0 all, 1 any, 2 uni, 3 ballot.
void vote(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t members = 0;
  if (!gather(w, w.operand(i, 2), mask, members)) {
    return;
  }
  uint32_t voters = mask & members;
  uint32_t yes = w.predicateMask(w.operand(i, 1)) & voters;
  if (i.a == 3) {
    perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned) { return yes; });
    return;
  }
  bool r = i.a == 0   ? yes == voters
           : i.a == 1 ? yes != 0
                      : yes == voters || yes == 0;
  w.setPredicate(w.operand(i, 0), mask, r ? ~0u : 0);
}

/// a: 1 all, 0 any; b: has the predicate.
void match(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t members = 0;
  if (!gather(w, w.operand(i, i.operandCount - 1u), mask, members)) {
    return;
  }
  const Operand &value = w.operand(i, i.b ? 2 : 1);
  uint32_t active = mask & members;
  uint32_t result[32] = {};
  uint32_t allSame = 0;
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned o = 0; o < 32; ++o) {
      if ((active >> l & 1) && (active >> o & 1) &&
          w.scalar(value, l) == w.scalar(value, o)) {
        result[l] |= 1u << o;
      }
    }
    allSame |= uint32_t(result[l] == active) << l;
  }
  bool all = (allSame & active) == active;
  perLane<uint32_t>(w, w.operand(i, 0), mask, [&](unsigned l) {
    return i.a ? (all ? active : 0u) : result[l];
  });
  if (i.b) {
    w.setPredicate(w.operand(i, 1), mask, all ? ~0u : 0);
  }
}

void activeMask(Warp &w, const Instruction &i, uint32_t mask) {
  perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned) { return mask; });
}

/// a: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor; b: type; c: bit 0 abs, 1 NaN.
void reduce(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t members = 0;
  if (!gather(w, w.operand(i, 2), mask, members)) {
    return;
  }
  const uint32_t *a = w.source<uint32_t>(w.operand(i, 1));
  bool first = true;
  uint32_t r = 0;
  for (uint32_t m = mask & members; m; m &= m - 1) {
    uint32_t v = a[firstLane(m)];
    if (Type(i.b) == Type::F32) {
      if (i.c & 1) {
        v &= 0x7fffffffu;
      }
      float x = numerics::floatOf(v), y = numerics::floatOf(r);
      if (first) {
        r = v;
      } else if (x != x || y != y) {
        r = (i.c & 2) || (x != x && y != y) ? 0x7fffffffu : x != x ? r : v;
      } else if (x == y) {
        r = i.a == 2 ? r & v : r | v; // signed zeros: -0 < +0
      } else {
        r = (x < y) == (i.a == 1) ? v : r;
      }
      if (numerics::floatOf(r) != numerics::floatOf(r)) {
        r = 0x7fffffffu;
      }
      first = false;
      continue;
    }
    if (first) {
      r = v;
      first = false;
      continue;
    }
    bool isS = Type(i.b) == Type::S32;
    switch (i.a) {
    case 0:
      r += v;
      break;
    case 1:
      r = isS ? uint32_t(std::min(int32_t(r), int32_t(v))) : std::min(r, v);
      break;
    case 2:
      r = isS ? uint32_t(std::max(int32_t(r), int32_t(v))) : std::max(r, v);
      break;
    case 3:
      r &= v;
      break;
    case 4:
      r |= v;
      break;
    default:
      r ^= v;
    }
  }
  perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned) { return r; });
}

void elect(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t members = 0;
  if (!gather(w, w.operand(i, 2), mask, members)) {
    return;
  }
  uint32_t leader = firstLane(mask & members);
  perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned) { return leader; });
  w.setPredicate(w.operand(i, 1), mask, 1u << leader);
}

void ignore(Warp &, const Instruction &, uint32_t) {}

void yieldTurn(Warp &w, const Instruction &, uint32_t) {
  Wait wait;
  wait.kind = WaitKind::Yield;
  wait.advance = true;
  w.block(wait);
}

void trap(Warp &w, const Instruction &, uint32_t mask) {
  w.fail("trap", int(firstLane(mask)));
}

} // namespace

bool decodeWarp(Decoder &d) {
  const std::string op = d.part(0);
  Instruction &i = d.instruction();
  if (op == "activemask") {
    i.handler = activeMask;
    return d.take("b32") && d.count(1, 1) && d.dest(d.ast(0), 4);
  }
  if (!d.take("sync")) {
    return false;
  }
  if (op == "elect") {
    i.handler = elect;
    return d.count(2, 2) && d.ast(0).kind == AstOperand::Pair &&
           d.dest(d.ast(0).children[0], 4) &&
           d.predicateDest(d.ast(0).children[1]) &&
           d.source(d.ast(1), Type::B32);
  }
  auto pairOrDest = [&](bool &hasPredicate) {
    const AstOperand &o = d.ast(0);
    hasPredicate = o.kind == AstOperand::Pair;
    return hasPredicate
               ? d.dest(o.children[0], 4) && d.predicateDest(o.children[1])
               : d.dest(o, 4);
  };
  bool paired = false;
  if (op == "shfl") {
    int mode = d.takeOneOf({"up", "down", "bfly", "idx"});
    if (mode < 0 || !d.take("b32") || !d.count(5, 5) || !pairOrDest(paired)) {
      return false;
    }
    i.a = uint32_t(mode);
    i.b = paired;
    i.handler = shuffle;
    return d.source(d.ast(1), Type::B32) && d.source(d.ast(2), Type::B32) &&
           d.source(d.ast(3), Type::B32) && d.source(d.ast(4), Type::B32);
  }
  if (op == "vote") {
    int mode = d.takeOneOf({"all", "any", "uni", "ballot"});
    Type type = d.takeType();
    if (mode < 0 || type != (mode == 3 ? Type::B32 : Type::Pred) ||
        !d.count(3, 3)) {
      return false;
    }
    i.a = uint32_t(mode);
    i.handler = vote;
    return (mode == 3 ? d.dest(d.ast(0), 4) : d.predicateDest(d.ast(0))) &&
           d.predicateSource(d.ast(1)) && d.source(d.ast(2), Type::B32);
  }
  if (op == "match") {
    int mode = d.takeOneOf({"any", "all"});
    Type type = d.takeType();
    if (mode < 0 || !d.count(3, 3) || !pairOrDest(paired)) {
      return false;
    }
    i.a = uint32_t(mode);
    i.b = paired;
    i.handler = match;
    return d.source(d.ast(1), type) && d.source(d.ast(2), Type::B32);
  }
  // redux
  int mode = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  i.c = uint32_t(d.take("abs")) | uint32_t(d.take("NaN")) << 1;
  Type type = d.takeType();
  bool typed = mode <= 2 ? type == Type::U32 || type == Type::S32 ||
                               (type == Type::F32 && mode > 0)
                         : type == Type::B32;
  if (mode < 0 || !typed || (i.c && type != Type::F32)) {
    return false;
  }
  i.a = uint32_t(mode);
  i.b = uint32_t(type);
  i.handler = reduce;
  return d.count(3, 3) && d.dest(d.ast(0), 4) && d.source(d.ast(1), type) &&
         d.source(d.ast(2), Type::B32);
}

bool decodeMisc(Decoder &d) {
  const std::string op = d.part(0);
  Instruction &i = d.instruction();
  i.handler = ignore;
  if (op == "trap") {
    i.handler = trap;
    return d.count(0, 0);
  }
  if (op == "nanosleep") {
    i.handler = yieldTurn;
    return d.take("u32") && d.count(1, 1) && d.source(d.ast(0), Type::U32);
  }
  if (op == "griddepcontrol") {
    return (d.take("wait") || d.take("launch_dependents")) && d.count(0, 0);
  }
  return d.count(0, 1); // brkpt, pmevent
}

} // namespace gmoe::emulator
