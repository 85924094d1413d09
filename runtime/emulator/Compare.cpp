// setp, set, selp and slct (ISA 9.7.6).
#include "runtime/emulator/Lanes.h"
#include "runtime/numerics/Codecs.h"

namespace gmoe::emulator {
namespace {

enum Relation : uint32_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

/// Instruction::d.
enum Setting : uint32_t {
  ToF32 = 1,
  ToF16 = 2,
  ToBF16 = 4,
  To16 = 8,
  BF16Source = 16,
  Packed = 32,
  FlushF16 = 64,
};

template <class T> bool relate(uint32_t relation, T a, T b) {
  switch (relation) {
  case Eq:
    return a == b;
  case Ne:
    return a < b || a > b;
  case Lt:
    return a < b;
  case Le:
    return a <= b;
  case Gt:
    return a > b;
  case Ge:
    return a >= b;
  case Equ:
    return !(a < b || a > b);
  case Neu:
    return !(a == b);
  case Ltu:
    return !(a >= b);
  case Leu:
    return !(a > b);
  case Gtu:
    return !(a <= b);
  case Geu:
    return !(a < b);
  case Num:
    return a == a && b == b;
  default:
    return a != a || b != b;
  }
}

template <class T>
uint32_t compareLanes(uint32_t relation, const LaneOf<T> *a,
                      const LaneOf<T> *b) {
  uint32_t bits = 0;
  switch (relation) {
#define CASE(R)                                                                \
  case R:                                                                      \
    for (unsigned l = 0; l < 32; ++l) {                                        \
      bits |= uint32_t(relate<T>(R, fromLane<T>(a[l]), fromLane<T>(b[l])))     \
              << l;                                                            \
    }                                                                          \
    break;
    CASE(Eq)
    CASE(Ne)
    CASE(Lt)
    CASE(Le)
    CASE(Gt)
    CASE(Ge)
#undef CASE
  default:
    for (unsigned l = 0; l < 32; ++l) {
      bits |=
          uint32_t(relate<T>(relation, fromLane<T>(a[l]), fromLane<T>(b[l])))
          << l;
    }
  }
  return bits;
}

uint32_t combine(uint32_t how, uint32_t bits, uint32_t with) {
  return how == 0   ? bits
         : how == 1 ? bits & with
         : how == 2 ? bits | with
                    : bits ^ with;
}

/// Writes predicates or, for `set`, numbers; `high` is of the second half.
void deliver(Warp &w, const Instruction &i, uint32_t mask, uint32_t low,
             uint32_t high) {
  unsigned s = i.c & 1 ? 2 : 1;
  uint32_t with = i.b ? w.predicateMask(w.operand(i, s + 2)) : 0;
  if (i.c & 2) {
    low = combine(i.b, low, with);
    high = i.d & Packed ? combine(i.b, high, with) : 0;
    uint32_t one = i.d & ToF32             ? 0x3f800000u
                   : i.d & ToF16           ? 0x3c00u
                   : i.d & ToBF16          ? 0x3f80u
                   : i.d & (To16 | Packed) ? 0xffffu
                                           : 0xffffffffu;
    perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned l) {
      return (low >> l & 1 ? one : 0) | (high >> l & 1 ? one << 16 : 0);
    });
    return;
  }
  w.setPredicate(w.operand(i, 0), mask, combine(i.b, low, with));
  if (i.c & 1) {
    w.setPredicate(w.operand(i, 1), mask,
                   combine(i.b, i.d & Packed ? high : ~low, with));
  }
}

/// Instruction::a the relation, b the combination with a predicate, c bit 0:
/// the second predicate is present; bit 1: `set`.
template <class T> void compare(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned s = i.c & 1 ? 2 : 1;
  uint32_t bits = compareLanes<T>(i.a, w.source<LaneOf<T>>(w.operand(i, s)),
                                  w.source<LaneOf<T>>(w.operand(i, s + 1)));
  deliver(w, i, mask, bits, 0);
}

/// f32 with subnormal sources flushed to zero.
void compareFlushed(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned s = i.c & 1 ? 2 : 1;
  float a[32], b[32];
  for (unsigned l = 0; l < 32; ++l) {
    a[l] = w.source<float>(w.operand(i, s))[l];
    b[l] = w.source<float>(w.operand(i, s + 1))[l];
    a[l] = a[l] > -0x1p-126f && a[l] < 0x1p-126f ? 0.0f : a[l];
    b[l] = b[l] > -0x1p-126f && b[l] < 0x1p-126f ? 0.0f : b[l];
  }
  deliver(w, i, mask, compareLanes<float>(i.a, a, b), 0);
}

/// Halves: compared as f32.
void compareHalf(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned s = i.c & 1 ? 2 : 1;
  const uint32_t *a = w.source<uint32_t>(w.operand(i, s));
  const uint32_t *b = w.source<uint32_t>(w.operand(i, s + 1));
  auto load = [&](uint32_t v) {
    if (i.d & BF16Source) {
      return numerics::decodeBF16(uint16_t(v));
    }
    if ((i.d & FlushF16) && (v & 0x7c00) == 0) {
      return 0.0f;
    }
    return numerics::decodeF16(uint16_t(v));
  };
  uint32_t low = 0, high = 0;
  for (unsigned l = 0; l < 32; ++l) {
    low |= uint32_t(relate(i.a, load(a[l]), load(b[l]))) << l;
    high |= uint32_t(relate(i.a, load(a[l] >> 16), load(b[l] >> 16))) << l;
  }
  deliver(w, i, mask, low, high);
}

template <class T> void select(Warp &w, const Instruction &i, uint32_t mask) {
  const T *a = w.source<T>(w.operand(i, 1)), *b = w.source<T>(w.operand(i, 2));
  uint32_t p = w.predicateMask(w.operand(i, 3));
  perLane<T>(w, w.operand(i, 0), mask,
             [=](unsigned l) { return p >> l & 1 ? a[l] : b[l]; });
}
template <class T, class C>
void slct(Warp &w, const Instruction &i, uint32_t mask) {
  const T *a = w.source<T>(w.operand(i, 1)), *b = w.source<T>(w.operand(i, 2));
  const C *c = w.source<C>(w.operand(i, 3));
  perLane<T>(w, w.operand(i, 0), mask, [=](unsigned l) {
    return c[l] >= C(0) || (i.a && c[l] > C(-0x1p-126f) && c[l] < C(0)) ? a[l]
                                                                        : b[l];
  });
}

Handler compareOf(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return compare<uint16_t>;
  case Type::S16:
    return compare<int16_t>;
  case Type::B32:
  case Type::U32:
    return compare<uint32_t>;
  case Type::S32:
    return compare<int32_t>;
  case Type::B64:
  case Type::U64:
    return compare<uint64_t>;
  case Type::S64:
    return compare<int64_t>;
  case Type::F32:
    return compare<float>;
  case Type::F64:
    return compare<double>;
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
    return compareHalf;
  default:
    return nullptr;
  }
}

} // namespace

bool decodeCompare(Decoder &d) {
  const std::string op = d.part(0);
  Instruction &i = d.instruction();
  if (op == "selp" || op == "slct") {
    bool ftz = op == "slct" && d.take("ftz");
    Type type = d.takeType();
    unsigned bytes = typeBytes(type);
    if (bytes != 2 && bytes != 4 && bytes != 8) {
      return false;
    }
    if (!d.count(4, 4) || !d.dest(d.ast(0), bytes) ||
        !d.source(d.ast(1), type) || !d.source(d.ast(2), type)) {
      return false;
    }
    if (op == "selp") {
      i.handler = bytes == 8 ? select<uint64_t> : select<uint32_t>;
      return d.predicateSource(d.ast(3));
    }
    Type control = d.takeType();
    if (control == Type::S32) {
      i.handler =
          bytes == 8 ? slct<uint64_t, int32_t> : slct<uint32_t, int32_t>;
    } else if (control == Type::F32) {
      i.a = ftz; // a flushed subnormal is a zero, which is not negative
      i.handler = bytes == 8 ? slct<uint64_t, float> : slct<uint32_t, float>;
    } else {
      return false;
    }
    return d.source(d.ast(3), control);
  }
  int relation =
      d.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu",
                   "leu", "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  if (relation < 0) {
    return false;
  }
  static const uint32_t kUnsignedNames[] = {Lt, Le, Gt, Ge};
  i.a = relation >= 14 ? kUnsignedNames[relation - 14] : uint32_t(relation);
  i.b = uint32_t(d.takeOneOf({"and", "or", "xor"}) + 1);
  bool ftz = d.take("ftz");
  Type destination = op == "set" ? d.takeType() : Type::None;
  Type type = d.takeType();
  i.handler = compareOf(type);
  bool packed = type == Type::F16x2 || type == Type::BF16x2;
  bool bf16 = type == Type::BF16 || type == Type::BF16x2;
  i.d = (bf16 ? uint32_t(BF16Source) : 0u) | (packed ? uint32_t(Packed) : 0u);
  if (ftz) {
    if (type == Type::F32) {
      i.handler = compareFlushed;
    } else if (type == Type::F16 || type == Type::F16x2) {
      i.d |= FlushF16;
    } else {
      return false;
    }
  }
  if (!i.handler) {
    return false;
  }
  size_t sources = i.b ? 3 : 2;
  if (!d.count(sources + 1, sources + 1)) {
    return false;
  }
  if (op == "set") {
    bool half = i.handler == compareHalf;
    switch (destination) {
    case Type::U32:
    case Type::S32:
      break;
    case Type::F32:
      i.d |= ToF32;
      if (half) {
        return false;
      }
      break;
    case Type::U16:
    case Type::S16:
      i.d |= To16;
      if (!half || packed) {
        return false;
      }
      break;
    default:
      i.d |= bf16 ? ToBF16 : ToF16;
      if (!half || destination != type) {
        return false;
      }
    }
    if (!d.dest(d.ast(0), typeBytes(destination))) {
      return false;
    }
    i.c = 2;
  } else {
    const AstOperand &o = d.ast(0);
    if (o.kind == AstOperand::Pair) {
      i.c = 1;
      if (!d.predicateDest(o.children[0]) || !d.predicateDest(o.children[1])) {
        return false;
      }
    } else if (!d.predicateDest(o)) {
      return false;
    }
  }
  return d.source(d.ast(1), type) && d.source(d.ast(2), type) &&
         (!i.b || d.predicateSource(d.ast(3)));
}

} // namespace gmoe::emulator
