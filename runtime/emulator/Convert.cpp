// cvt between scalar types and to and from packed narrow floats (ISA 9.7.9.21).
#include "runtime/emulator/Lanes.h"
#include "runtime/numerics/Codecs.h"

#include <cfenv>
#include <cmath>
#include <limits>

namespace gmoe::emulator {
namespace {

using namespace numerics;

enum Rounding : uint32_t { Nearest, TowardZero, Down, Up, NearestAway };
/// Instruction::d.
enum Modifier : uint32_t {
  Ftz = 1,
  Sat = 2,
  SatFinite = 4,
  Relu = 8,
  Integral = 16
};

float flushed(float v) {
  return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v;
}

double roundIntegral(double v, uint32_t rounding) {
  switch (rounding) {
  case Nearest:
    return std::nearbyint(v);
  case TowardZero:
    return std::trunc(v);
  case Down:
    return std::floor(v);
  case Up:
    return std::ceil(v);
  default:
    return std::round(v);
  }
}

/// A value of any scalar type, exactly.
struct Value {
  bool isFloat = false, isSigned = false;
  double f = 0;
  uint64_t u = 0;
};

Value load(Type type, uint64_t bits) {
  Value v;
  switch (type) {
  case Type::U8:
  case Type::B8:
    v.u = bits & 0xff;
    break;
  case Type::U16:
  case Type::B16:
    v.u = bits & 0xffff;
    break;
  case Type::U32:
  case Type::B32:
    v.u = bits & 0xffffffffu;
    break;
  case Type::U64:
  case Type::B64:
    v.u = bits;
    break;
  case Type::S8:
    v.isSigned = true;
    v.u = uint64_t(int64_t(int8_t(bits)));
    break;
  case Type::S16:
    v.isSigned = true;
    v.u = uint64_t(int64_t(int16_t(bits)));
    break;
  case Type::S32:
    v.isSigned = true;
    v.u = uint64_t(int64_t(int32_t(bits)));
    break;
  case Type::S64:
    v.isSigned = true;
    v.u = bits;
    break;
  case Type::F16:
    v.isFloat = true;
    v.f = double(decodeF16(uint16_t(bits)));
    break;
  case Type::BF16:
    v.isFloat = true;
    v.f = double(decodeBF16(uint16_t(bits)));
    break;
  case Type::F32:
    v.isFloat = true;
    v.f = double(floatOf(uint32_t(bits)));
    break;
  default:
    v.isFloat = true;
    std::memcpy(&v.f, &bits, 8);
  }
  return v;
}

/// Rounds to f32 in any direction. The sources are exact doubles or integers.
float toFloat(const Value &v, uint32_t rounding) {
  static const int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                               FE_UPWARD, FE_TONEAREST};
  if (rounding != Nearest) {
    std::fesetround(kModes[rounding]);
  }
  volatile float r;
  if (v.isFloat) {
    volatile double x = v.f;
    r = float(x);
  } else if (v.isSigned) {
    volatile int64_t x = int64_t(v.u);
    r = float(x);
  } else {
    volatile uint64_t x = v.u;
    r = float(x);
  }
  if (rounding != Nearest) {
    std::fesetround(FE_TONEAREST);
  }
  return r;
}

double toDouble(const Value &v, uint32_t rounding) {
  if (v.isFloat) {
    return v.f;
  }
  if (v.u == 0) { // the host's conversion of unsigned zero may round to -0
    return 0;
  }
  static const int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                               FE_UPWARD, FE_TONEAREST};
  std::fesetround(kModes[rounding]);
  volatile double r;
  if (v.isSigned) {
    volatile int64_t x = int64_t(v.u);
    r = double(x);
  } else {
    volatile uint64_t x = v.u;
    r = double(x);
  }
  std::fesetround(FE_TONEAREST);
  return r;
}

/// Rounds to f16 or bf16 once: via f32 rounded to odd for nearest.
uint16_t toHalf(const Value &v, bool bf16, uint32_t rounding) {
  float f = toFloat(v, TowardZero);
  bool exact = v.isFloat    ? double(f) == v.f
               : v.isSigned ? __int128(f) == int64_t(v.u)
                            : (unsigned __int128)(f) == v.u;
  if (std::isfinite(f) && !exact) {
    f = floatOf(bitsOf(f) | 1);
  }
  uint16_t nearest = bf16 ? encodeBF16(f) : encodeF16(f);
  if (rounding == Nearest || std::isnan(f)) {
    return nearest;
  }
  // Step from the nearest value to the one in the direction asked for.
  float back = bf16 ? decodeBF16(nearest) : decodeF16(nearest);
  bool above = back > f, below = back < f;
  bool negative = nearest & 0x8000;
  if (rounding == NearestAway) {
    return nearest;
  }
  bool wantLower = rounding == Down || (rounding == TowardZero && !negative);
  bool wantUpper = rounding == Up || (rounding == TowardZero && negative);
  if (above && wantLower) {
    return uint16_t(negative ? nearest + 1 : nearest - 1);
  }
  if (below && wantUpper) {
    return uint16_t(negative ? nearest - 1 : nearest + 1);
  }
  return nearest;
}

uint64_t toInteger(Type type, const Value &v, uint32_t rounding, bool sat,
                   bool fromF64) {
  unsigned bits = 8 * typeBytes(type);
  bool isSignedTarget = isSigned(type);
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  if (!v.isFloat) {
    uint64_t u = v.u;
    if (sat) {
      if (v.isSigned && !isSignedTarget) {
        u = int64_t(u) < 0 ? 0 : u;
      }
      int64_t s = int64_t(u);
      if (isSignedTarget) {
        int64_t high = int64_t(mask >> 1);
        if (!v.isSigned && u > uint64_t(high)) {
          s = high;
        } else if (v.isSigned || bits < 64) {
          s = s > high ? high : s < -high - 1 ? -high - 1 : s;
        }
        u = uint64_t(s);
      } else if (u > mask) {
        u = mask;
      }
    }
    return u & mask;
  }
  // Float to integer always clamps; NaN is 0, or 2^(width - 1) when the source
  // is f64 or the result has 64 bits (ISA 9.7.9.21).
  if (std::isnan(v.f)) {
    return bits == 64 || fromF64 ? uint64_t(1) << (bits - 1) : 0;
  }
  double r = roundIntegral(v.f, rounding);
  double low = isSignedTarget ? -std::ldexp(1.0, int(bits) - 1) : 0;
  double high = std::ldexp(1.0, int(bits) - isSignedTarget);
  if (r <= low) {
    return isSignedTarget ? (uint64_t(1) << (bits - 1)) : 0;
  }
  if (r >= high) {
    return isSignedTarget ? mask >> 1 : mask;
  }
  return (r < 0 ? uint64_t(int64_t(r)) : uint64_t(r)) & mask;
}

/// a: destination type, b: source type, c: rounding, d: modifiers.
uint64_t convertScalar(const Instruction &i, uint64_t bits) {
  Type to = Type(i.a), from = Type(i.b);
  Value v = load(from, bits);
  if (v.isFloat && (i.d & Ftz) && from == Type::F32) {
    v.f = double(flushed(float(v.f)));
  }
  if (!isFloat(to) && to != Type::TF32) {
    uint64_t r = toInteger(to, v, i.c, i.d & Sat, from == Type::F64);
    if (isSigned(to)) { // registers wider than the type sign-extend
      unsigned shift = 64 - 8 * typeBytes(to);
      r = uint64_t(int64_t(r << shift) >> shift);
    }
    return r;
  }
  if (v.isFloat && (i.d & Integral)) {
    v.f = roundIntegral(v.f, i.c);
  }
  if (v.isFloat && (i.d & Sat)) {
    v.f = v.f > 0 ? (v.f < 1 ? v.f : 1.0) : 0.0;
  }
  if (v.isFloat && (i.d & Relu) && v.f <= 0) {
    v.f = 0;
  }
  uint32_t rounding = i.d & Integral ? uint32_t(Nearest) : i.c;
  switch (to) {
  case Type::F16:
  case Type::BF16: {
    uint16_t r = toHalf(v, to == Type::BF16, rounding);
    if ((i.d & SatFinite) && v.isFloat && !std::isnan(v.f)) {
      uint16_t top = to == Type::BF16 ? 0x7f7f : 0x7bff;
      if ((r & 0x7fff) > top) {
        r = uint16_t((r & 0x8000) | top);
      }
    }
    return r;
  }
  case Type::F32: {
    float r = toFloat(v, rounding);
    r = r != r ? floatOf(0x7fffffffu) : r;
    // Subnormal as arithmetic sees it: tiny32 in AluFloat.cpp.
    bool tiny = v.isFloat && std::fabs(r) == 0x1p-126f &&
                (rounding == Nearest ? std::fabs(v.f) < 0x1p-126 - 0x1p-151
                                     : std::fabs(v.f) <= 0x1p-126 - 0x1p-150);
    return bitsOf(!(i.d & Ftz) ? r
                  : tiny       ? std::copysign(0.0f, r)
                               : flushed(r));
  }
  case Type::TF32: {
    uint32_t r = uint32_t(bits);
    if ((r & 0x7fffffffu) > 0x7f800000u) {
      // The ISA leaves NaNs open. With .rna, Hopper drops the lower bits, which
      // may leave an infinity.
      if (i.c != NearestAway) {
        return 0x7fffe000u;
      }
      r &= 0xffffe000u;
    }
    if ((i.d & Relu) && (r & 0x80000000u)) {
      r = 0;
    }
    if ((r & 0x7f800000u) != 0x7f800000u) {
      if (i.c == NearestAway) {
        r += 0x1000;
      } else if (i.c == Nearest) {
        r += 0xfff + (r >> 13 & 1);
      }
      r &= 0xffffe000u;
    }
    if ((i.d & SatFinite) && (r & 0x7fffffffu) >= 0x7f800000u) {
      r -= 0x2000; // the largest finite value; a NaN's payload counts down too
    }
    return r;
  }
  default: {
    double r = toDouble(v, rounding);
    uint64_t out;
    std::memcpy(&out, &r, 8);
    return out;
  }
  }
}

void convert(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand &o = w.operand(i, 1), &d = w.operand(i, 0);
  uint64_t narrow =
      d.bytes >= 4 ? ~uint64_t(0) : (uint64_t(1) << (8 * d.bytes)) - 1;
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      w.setScalar(d, l, convertScalar(i, w.scalar(o, l)) & narrow);
    }
  }
}

/// The common integer widenings and truncations without a per-lane switch.
template <class R, class A>
void resize(Warp &w, const Instruction &i, uint32_t mask) {
  const LaneOf<A> *a = w.source<LaneOf<A>>(w.operand(i, 1));
  perLane<R>(w, w.operand(i, 0), mask,
             [=](unsigned l) { return R(fromLane<A>(a[l])); });
}

uint32_t encodePacked(Type to, float v, const Instruction &i) {
  Overflow overflow = i.d & SatFinite ? Overflow::Saturate : Overflow::Infinity;
  if ((i.d & Relu) && !(v > 0) && v == v) {
    v = 0;
  }
  switch (to) {
  case Type::F16x2: {
    Value x;
    x.isFloat = true;
    x.f = double(v);
    uint16_t r = v != v ? 0x7fff : toHalf(x, false, i.c);
    return (i.d & SatFinite) && v == v && (r & 0x7fff) > 0x7bff
               ? (r & 0x8000u) | 0x7bffu
               : r;
  }
  case Type::BF16x2: {
    Value x;
    x.isFloat = true;
    x.f = double(v);
    uint16_t r = v != v           ? 0x7fff
                 : i.c == Nearest ? encodeBF16(v)
                                  : toHalf(x, true, i.c);
    return (i.d & SatFinite) && v == v && (r & 0x7fff) > 0x7f7f
               ? (r & 0x8000u) | 0x7f7fu
               : r;
  }
  case Type::E4M3x2:
    return encodeE4M3(v, overflow);
  case Type::E5M2x2:
    return encodeE5M2(v, overflow);
  case Type::E2M1x2:
    return encodeE2M1(v);
  case Type::E2M3x2:
    return encodeE2M3(v);
  case Type::E3M2x2:
    return encodeE3M2(v);
  default:
    return encodeE8M0(v, i.c == Up ? ScaleRounding::Up : ScaleRounding::Zero,
                      overflow);
  }
}

unsigned elementBits(Type type) {
  return type == Type::E2M1x2                          ? 4
         : type == Type::F16x2 || type == Type::BF16x2 ? 16
                                                       : 8;
}

/// cvt.x2.f32 d, a, b: a goes to the upper half.
void convertPack(Warp &w, const Instruction &i, uint32_t mask) {
  const float *a = w.source<float>(w.operand(i, 1));
  const float *b = w.source<float>(w.operand(i, 2));
  Type to = Type(i.a);
  unsigned bits = elementBits(to);
  perLane<uint32_t>(w, w.operand(i, 0), mask, [&](unsigned l) {
    return encodePacked(to, a[l], i) << bits | encodePacked(to, b[l], i);
  });
}

float decodeElement(Type from, uint32_t code) {
  switch (from) {
  case Type::E4M3x2:
    return decodeE4M3(uint8_t(code));
  case Type::E5M2x2:
    return decodeE5M2(uint8_t(code));
  case Type::E2M1x2:
    return decodeE2M1(uint8_t(code & 0xf));
  case Type::E2M3x2:
    return decodeE2M3(uint8_t(code));
  case Type::E3M2x2:
    return decodeE3M2(uint8_t(code));
  case Type::UE8M0x2:
    return decodeE8M0(uint8_t(code));
  case Type::BF16x2:
    return decodeBF16(uint16_t(code));
  default:
    return decodeF16(uint16_t(code));
  }
}

/// Packed to packed: both halves through f32, exact on the way in.
void convertRepack(Warp &w, const Instruction &i, uint32_t mask) {
  const uint32_t *a = w.source<uint32_t>(w.operand(i, 1));
  Type to = Type(i.a), from = Type(i.b);
  unsigned in = elementBits(from), out = elementBits(to);
  uint32_t inMask = (1u << in) - 1;
  perLane<uint32_t>(w, w.operand(i, 0), mask, [&](unsigned l) {
    float low = decodeElement(from, a[l] & inMask);
    float high = decodeElement(from, a[l] >> in & inMask);
    return encodePacked(to, high, i) << out | encodePacked(to, low, i);
  });
}

bool isPacked(Type t) {
  return t == Type::F16x2 || t == Type::BF16x2 || t == Type::E4M3x2 ||
         t == Type::E5M2x2 || t == Type::E2M1x2 || t == Type::E2M3x2 ||
         t == Type::E3M2x2 || t == Type::UE8M0x2;
}

Handler resizeOf(Type to, Type from) {
#define PAIR(TO, R, FROM, A)                                                   \
  if (to == Type::TO && from == Type::FROM) {                                  \
    return resize<R, A>;                                                       \
  }
  PAIR(U32, uint32_t, U64, uint64_t)
  PAIR(U32, uint32_t, U16, uint16_t)
  PAIR(U32, uint32_t, U8, uint8_t)
  PAIR(U64, uint64_t, U32, uint32_t)
  PAIR(S64, int64_t, S32, int32_t)
  PAIR(U16, uint16_t, U32, uint32_t)
  PAIR(U16, uint16_t, U64, uint64_t)
#undef PAIR
  return nullptr;
}

} // namespace

bool decodeConvert(Decoder &d) {
  Instruction &i = d.instruction();
  uint32_t m = 0;
  int rounding = d.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  int integral = d.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  if (integral >= 0) {
    rounding = integral;
    m |= Integral;
  }
  m |= d.take("ftz") ? uint32_t(Ftz) : 0;
  m |= d.take("sat") ? uint32_t(Sat) : 0;
  m |= d.take("satfinite") ? uint32_t(SatFinite) : 0;
  m |= d.take("relu") ? uint32_t(Relu) : 0;
  Type to = d.takeType(), from = d.takeType();
  if (to == Type::None || from == Type::None) {
    return false;
  }
  i.a = uint32_t(to);
  i.b = uint32_t(from);
  i.c = rounding < 0 ? uint32_t(Nearest) : uint32_t(rounding);
  i.d = m;
  if (isPacked(to)) {
    if (rounding < 0) {
      return d.fail("'" + d.part(0) + "' to a packed type needs a rounding");
    }
    if (from == Type::F32) {
      i.handler = convertPack;
      return d.count(3, 3) && d.dest(d.ast(0), typeBytes(to)) &&
             d.source(d.ast(1), from) && d.source(d.ast(2), from);
    }
    if (!isPacked(from)) {
      return false;
    }
    i.handler = convertRepack;
    return d.count(2, 2) && d.dest(d.ast(0), typeBytes(to)) &&
           d.source(d.ast(1), from);
  }
  if (isPacked(from)) {
    return false;
  }
  if (to == Type::TF32 && from != Type::F32) {
    return false;
  }
  // Wider registers than the types need the general form.
  i.handler = convert;
  if (!d.count(2, 2) || !d.dest(d.ast(0), typeBytes(to), true) ||
      !d.source(d.ast(1), from, true)) {
    return false;
  }
  Handler fast = m == 0 && rounding < 0 ? resizeOf(to, from) : nullptr;
  if (fast && d.pending(0).bytes == typeBytes(to) &&
      d.pending(1).bytes == typeBytes(from)) {
    i.handler = fast;
  }
  return true;
}

} // namespace gmoe::emulator
