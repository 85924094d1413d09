// f32, f64, packed f32x2 and half-precision arithmetic (ISA 9.7.3 to 9.7.5).
// f32 is IEEE without contraction; f16 and bf16 are computed in a wider type
// and rounded once, which is exact for one operation.
#include "runtime/emulator/Lanes.h"
#include "runtime/numerics/Codecs.h"

#include <cfenv>
#include <cmath>
#include <limits>

namespace gmoe::emulator {
namespace {

using numerics::bitsOf;
using numerics::floatOf;

enum Op : uint8_t {
  Add,
  Sub,
  Mul,
  Fma,
  Div,
  Min,
  Max,
  Abs,
  Neg,
  Rcp,
  Sqrt,
  Rsqrt,
  Ex2,
  Lg2,
  Sin,
  Cos,
  Tanh,
  CopySign,
  Min3,
  Max3
};
/// Instruction::b of the general handlers.
enum Modifier : uint32_t {
  Ftz = 1,
  Saturate = 2,
  NaNs = 4,
  XorSign = 8,
  AbsArguments = 16,
  Relu = 32,
  RoundShift = 8, // two bits: nearest, zero, down, up
};

constexpr uint32_t kCanonicalNaN = 0x7fffffffu;

float flush(float v) {
  uint32_t bits = bitsOf(v);
  return (bits & 0x7f800000u) == 0 ? floatOf(bits & 0x80000000u) : v;
}
float canonical(float v) { return v != v ? floatOf(kCanonicalNaN) : v; }
float saturate(float v) { return v > 0 ? (v < 1 ? v : 1.0f) : 0.0f; }

template <bool IsMax, class T> T minMax(T a, T b, bool nans) {
  bool an = a != a, bn = b != b;
  if (an || bn) {
    if (nans || (an && bn)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    return an ? b : a;
  }
  if (a == b) { // -0 < +0
    bool negative = std::signbit(a);
    return IsMax == negative ? b : a;
  }
  return (a < b) == IsMax ? b : a;
}

// The common f32 operations, vectorisable: round to nearest, no modifiers.
float add32(float a, float b) { return canonical(a + b); }
float sub32(float a, float b) { return canonical(a - b); }
float mul32(float a, float b) { return canonical(a * b); }
float fma32(float a, float b, float c) {
  return canonical(__builtin_fmaf(a, b, c));
}
float max32(float a, float b) { return canonical(minMax<true>(a, b, false)); }
float min32(float a, float b) { return canonical(minMax<false>(a, b, false)); }
uint32_t abs32(uint32_t a) { return a & 0x7fffffffu; }
uint32_t neg32(uint32_t a) { return a ^ 0x80000000u; }

bool roundsOnce(Op op) {
  return op == Add || op == Sub || op == Mul || op == Fma || op == Div ||
         op == Rcp || op == Sqrt;
}

/// a op b (op c) in the given direction, in f32 or f64.
template <class T> T compute(Op op, T a, T b, T c, bool nans) {
  switch (op) {
  case Add:
    return a + b;
  case Sub:
    return a - b;
  case Mul:
    return a * b;
  case Fma:
    return std::fma(a, b, c);
  case Div:
    return a / b;
  case Min:
    return minMax<false>(a, b, nans);
  case Max:
    return minMax<true>(a, b, nans);
  case Min3:
    return minMax<false>(minMax<false>(a, b, nans), c, nans);
  case Max3:
    return minMax<true>(minMax<true>(a, b, nans), c, nans);
  case Abs:
    return std::fabs(a);
  case Neg:
    return -a;
  case Rcp:
    return T(1) / a;
  case Sqrt:
    return std::sqrt(a);
  case CopySign:
    return std::copysign(b, a);
  default:
    break;
  }
  // Approximations: the exact value in double, rounded once.
  double x = double(a);
  switch (op) {
  case Rsqrt:
    return T(1.0 / std::sqrt(x));
  case Ex2:
    return T(std::exp2(x));
  case Lg2:
    return T(std::log2(x));
  case Sin:
    return T(std::sin(x));
  case Cos:
    return T(std::cos(x));
  case Tanh:
    return T(std::tanh(x));
  default:
    return T(0);
  }
}

constexpr int kRounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                             FE_UPWARD};

/// Directed rounding needs the host's rounding mode around opaque arithmetic.
template <class T>
__attribute__((noinline)) T computeRounded(Op op, T a, T b, T c, bool nans,
                                           unsigned rounding) {
  if (rounding == 0) {
    return compute(op, a, b, c, nans);
  }
  std::fesetround(kRounding[rounding]);
  volatile T x = a, y = b, z = c;
  T xx = x, yy = y, zz = z;
  volatile T r = compute<T>(op, xx, yy, zz, nans);
  std::fesetround(FE_TONEAREST);
  return r;
}

/// Whether a result of +-2^-126 counts as subnormal under .ftz. The ISA only
/// says that subnormal results are flushed; Hopper decides by the value rounded
/// to 24 bits with an exponent without bounds, so what comes to 2^-126 only by
/// the coarser steps of subnormals is flushed.
bool tiny32(Op op, float a, float b, float c, unsigned rounding) {
  // The neighbours of 2^-126 are 2^-150 below it: to nearest, up to half of
  // that (a tie is even) is 2^-126; in a direction, anything above is.
  bool nearest = rounding == 0;
  double r = computeRounded<double>(op, a, b, c, false, nearest ? 1 : rounding);
  return nearest ? std::fabs(r) < 0x1p-126 - 0x1p-151
                 : std::fabs(r) <= 0x1p-126 - 0x1p-150;
}

float general32(uint32_t op, uint32_t m, float a, float b, float c) {
  if (m & Ftz) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
  }
  uint32_t sign = 0;
  if (m & XorSign) {
    sign = (bitsOf(a) ^ bitsOf(b)) & 0x80000000u;
  }
  if (m & AbsArguments) {
    a = std::fabs(a);
    b = std::fabs(b);
    c = std::fabs(c);
  }
  float r =
      computeRounded<float>(Op(op), a, b, c, m & NaNs, m >> RoundShift & 3);
  if ((m & Ftz) && std::fabs(r) == 0x1p-126f && roundsOnce(Op(op)) &&
      tiny32(Op(op), a, b, c, m >> RoundShift & 3)) {
    r = std::copysign(0.0f, r);
  }
  if (m & XorSign) {
    r = floatOf((bitsOf(r) & 0x7fffffffu) | sign);
  }
  if (m & Saturate) {
    return saturate(m & Ftz ? flush(r) : r); // NaN becomes 0
  }
  if ((m & Relu) && !(r > 0)) {
    r = r != r ? r : 0.0f;
  }
  if (op != Abs && op != Neg && op != CopySign) {
    r = canonical(r);
  }
  return m & Ftz ? flush(r) : r;
}

/// Sources beyond those present repeat the first one.
template <class T>
const T *sourceOr(Warp &w, const Instruction &i, unsigned k) {
  return w.source<T>(w.operand(i, k < i.operandCount ? k : 1));
}

void generic32(Warp &w, const Instruction &i, uint32_t mask) {
  const float *a = sourceOr<float>(w, i, 1), *b = sourceOr<float>(w, i, 2),
              *c = sourceOr<float>(w, i, 3);
  perLane<float>(w, w.operand(i, 0), mask, [=](unsigned l) {
    return general32(i.a, i.b, a[l], b[l], c[l]);
  });
}
void generic64(Warp &w, const Instruction &i, uint32_t mask) {
  const double *a = sourceOr<double>(w, i, 1), *b = sourceOr<double>(w, i, 2),
               *c = sourceOr<double>(w, i, 3);
  perLane<double>(w, w.operand(i, 0), mask, [=](unsigned l) {
    return computeRounded<double>(Op(i.a), a[l], b[l], c[l], i.b & NaNs,
                                  i.b >> RoundShift & 3);
  });
}
/// rcp and rsqrt.approx.ftz.f64: the lower 32 bits are ignored, and zero in the
/// result (ISA 9.7.3.14, 9.7.3.17).
void approximate64(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *a = w.source<uint64_t>(w.operand(i, 1));
  auto flushed = [](uint64_t v) {
    return (v & 0x7ff0000000000000ull) == 0 ? v & 0x8000000000000000ull : v;
  };
  perLane<uint64_t>(w, w.operand(i, 0), mask, [=](unsigned l) {
    uint64_t bits = flushed(a[l] & 0xffffffff00000000ull);
    double x;
    std::memcpy(&x, &bits, 8);
    x = compute<double>(Op(i.a), x, x, x, false);
    std::memcpy(&bits, &x, 8);
    return flushed(x != x ? 0x7fffffff00000000ull
                          : bits & 0xffffffff00000000ull);
  });
}
/// The packed operations without modifiers.
template <float (*F)(float, float, float)>
void packedFast(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *a = sourceOr<uint64_t>(w, i, 1),
                 *b = sourceOr<uint64_t>(w, i, 2),
                 *c = sourceOr<uint64_t>(w, i, 3);
  perLane<uint64_t>(w, w.operand(i, 0), mask, [=](unsigned l) {
    float low = F(floatOf(uint32_t(a[l])), floatOf(uint32_t(b[l])),
                  floatOf(uint32_t(c[l])));
    float high = F(floatOf(uint32_t(a[l] >> 32)), floatOf(uint32_t(b[l] >> 32)),
                   floatOf(uint32_t(c[l] >> 32)));
    return uint64_t(bitsOf(high)) << 32 | bitsOf(low);
  });
}
float packedAdd(float a, float b, float) { return canonical(a + b); }
float packedSub(float a, float b, float) { return canonical(a - b); }
float packedMul(float a, float b, float) { return canonical(a * b); }
float packedFma(float a, float b, float c) {
  return canonical(__builtin_fmaf(a, b, c));
}

void packed32(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *a = sourceOr<uint64_t>(w, i, 1),
                 *b = sourceOr<uint64_t>(w, i, 2),
                 *c = sourceOr<uint64_t>(w, i, 3);
  perLane<uint64_t>(w, w.operand(i, 0), mask, [=](unsigned l) {
    uint64_t r = 0;
    for (unsigned h = 0; h < 64; h += 32) {
      float v =
          general32(i.a, i.b, floatOf(uint32_t(a[l] >> h)),
                    floatOf(uint32_t(b[l] >> h)), floatOf(uint32_t(c[l] >> h)));
      r |= uint64_t(bitsOf(v)) << h;
    }
    return r;
  });
}

float decodeHalfBits(bool bf16, uint32_t bits) {
  return bf16 ? numerics::decodeBF16(uint16_t(bits))
              : numerics::decodeF16(uint16_t(bits));
}

/// Rounds a double to f16 or bf16 once: to odd in f32 first, then to nearest.
uint32_t encodeHalfBits(bool bf16, double v) {
  float f = float(v);
  if (std::isfinite(f) && double(f) != v) {
    uint32_t bits = bitsOf(f);
    bool tooLarge = std::fabs(double(f)) > std::fabs(v);
    bits -= tooLarge;
    f = floatOf(bits | 1);
  }
  return bf16 ? numerics::encodeBF16(f) : numerics::encodeF16(f);
}

uint32_t generalHalf(uint32_t op, uint32_t m, bool bf16, uint32_t ab,
                     uint32_t bb, uint32_t cb) {
  const uint32_t top = bf16 ? 0x7f80 : 0x7c00;
  if (op == Abs || op == Neg) {
    if ((m & Ftz) && (ab & top) == 0) {
      ab &= 0x8000;
    }
    // The ISA leaves the NaN open; Hopper's adder makes it canonical.
    if ((ab & 0x7fff) > top) {
      return 0x7fff;
    }
    return (op == Abs ? ab & 0x7fff : ab ^ 0x8000) & 0xffff;
  }
  auto load = [&](uint32_t bits) {
    if ((m & Ftz) && (bits & top) == 0) {
      bits &= 0x8000;
    }
    if (m & AbsArguments) {
      bits &= 0x7fff;
    }
    return double(decodeHalfBits(bf16, bits & 0xffff));
  };
  double a = load(ab), b = load(bb), c = load(cb);
  double r;
  if (op == Fma) {
    // Products of halves are exact in double; so is the sum, save for a far
    // smaller addend, which to-odd rounding keeps apart from ties.
    double p = a * b;
    r = p + c;
    double t = r - p, error = (p - (r - t)) + (c - t);
    if (error != 0 && std::isfinite(r)) {
      uint64_t bits;
      std::memcpy(&bits, &r, 8);
      if ((bits & 1) == 0) {
        bits += (error > 0) == (r > 0) ? 1 : uint64_t(-1);
        std::memcpy(&r, &bits, 8);
      }
    }
  } else {
    r = compute<double>(Op(op), a, b, c, m & NaNs);
  }
  if (m & Saturate) {
    r = r > 0 ? (r < 1 ? r : 1.0) : 0.0;
  }
  uint32_t bits = encodeHalfBits(bf16, r);
  // A negative result is clamped, -0 and one that rounds to it too.
  if ((m & Relu) && r == r && (bits & 0x8000)) {
    bits = 0;
  }
  if ((m & XorSign) && r == r) {
    bits = (bits & 0x7fff) | ((ab ^ bb) & 0x8000);
  }
  // Subnormal with 11 bits and an exponent without bounds, like f32 (tiny32).
  bool tiny = !bf16 && (bits & 0x7fff) == 0x400 && roundsOnce(Op(op)) &&
              std::fabs(r) < 0x1p-14 - 0x1p-26;
  if ((m & Ftz) && ((bits & top) == 0 || tiny)) {
    bits &= 0x8000;
  }
  return bits;
}

void genericHalf(Warp &w, const Instruction &i, uint32_t mask) {
  const uint32_t *a = sourceOr<uint32_t>(w, i, 1),
                 *b = sourceOr<uint32_t>(w, i, 2),
                 *c = sourceOr<uint32_t>(w, i, 3);
  bool bf16 = i.c & 1, packed = i.c & 2;
  perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned l) {
    uint32_t r = generalHalf(i.a, i.b, bf16, a[l] & 0xffff, b[l] & 0xffff,
                             c[l] & 0xffff);
    if (packed) {
      r |= generalHalf(i.a, i.b, bf16, a[l] >> 16, b[l] >> 16, c[l] >> 16)
           << 16;
    }
    return r;
  });
}

void testp(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l) {
    uint64_t v = w.scalar(w.operand(i, 1), l);
    double x;
    if (i.b) {
      std::memcpy(&x, &v, 8);
    } else {
      x = floatOf(uint32_t(v));
    }
    int kind = i.b ? std::fpclassify(x) : std::fpclassify(floatOf(uint32_t(v)));
    bool r = false;
    switch (i.a) {
    case 0:
      r = std::isfinite(x);
      break;
    case 1:
      r = std::isinf(x);
      break;
    case 2:
      r = !std::isnan(x);
      break;
    case 3:
      r = std::isnan(x);
      break;
    case 4:
      r = kind == FP_NORMAL || kind == FP_ZERO; // ISA 9.7.3.1
      break;
    case 5:
      r = kind == FP_SUBNORMAL;
      break;
    }
    bits |= uint32_t(r) << l;
  }
  w.setPredicate(w.operand(i, 0), mask, bits);
}

bool operationByName(std::string_view name, Op &op, unsigned &sources) {
  static const struct {
    const char *name;
    Op op;
    unsigned sources;
  } kOps[] = {{"add", Add, 2},          {"sub", Sub, 2}, {"mul", Mul, 2},
              {"fma", Fma, 3},          {"mad", Fma, 3}, {"div", Div, 2},
              {"min", Min, 2},          {"max", Max, 2}, {"abs", Abs, 1},
              {"neg", Neg, 1},          {"rcp", Rcp, 1}, {"sqrt", Sqrt, 1},
              {"rsqrt", Rsqrt, 1},      {"ex2", Ex2, 1}, {"lg2", Lg2, 1},
              {"sin", Sin, 1},          {"cos", Cos, 1}, {"tanh", Tanh, 1},
              {"copysign", CopySign, 2}};
  for (const auto &o : kOps) {
    if (name == o.name) {
      op = o.op;
      sources = o.sources;
      return true;
    }
  }
  return false;
}

} // namespace

bool decodeFloat(Decoder &d) {
  if (d.part(0) == "testp") {
    int which = d.takeOneOf(
        {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    Type type = d.takeType();
    d.instruction().a = uint32_t(which);
    d.instruction().b = type == Type::F64;
    d.instruction().handler = testp;
    return which >= 0 && (type == Type::F32 || type == Type::F64) &&
           d.count(2, 2) && d.predicateDest(d.ast(0)) &&
           d.source(d.ast(1), type);
  }
  Op op;
  unsigned sources = 0;
  if (!operationByName(d.part(0), op, sources)) {
    return false;
  }
  uint32_t m = 0;
  bool exactName = op == Add || op == Sub || op == Mul || op == Fma;
  bool approximates = op == Rsqrt || op == Ex2 || op == Lg2 || op == Sin ||
                      op == Cos || op == Tanh;
  bool rounded = exactName || op == Div || op == Rcp || op == Sqrt;
  if (rounded) {
    int r = d.takeOneOf({"rn", "rz", "rm", "rp"});
    if (r > 0) {
      m |= uint32_t(r) << RoundShift;
    }
    bool approximate = !exactName && (d.take("approx") || d.take("full"));
    approximates |= approximate;
    if (r < 0 && !exactName && !approximate) {
      return false;
    }
  } else if (approximates) {
    if (!d.take("approx")) {
      return false;
    }
  }
  m |= d.take("ftz") ? uint32_t(Ftz) : 0;
  m |= exactName && d.take("sat") ? uint32_t(Saturate) : 0;
  m |= op == Fma && d.take("relu") ? uint32_t(Relu) : 0;
  if (op == Min || op == Max) {
    m |= d.take("NaN") ? uint32_t(NaNs) : 0;
    m |= d.take("xorsign") ? uint32_t(XorSign) : 0;
    m |= d.take("abs") ? uint32_t(AbsArguments) : 0;
  }
  Type type = d.takeType();
  if (!(type == Type::F32 || type == Type::F32x2 || type == Type::F64 ||
        type == Type::F16 || type == Type::F16x2 || type == Type::BF16 ||
        type == Type::BF16x2)) {
    return false;
  }
  if ((op == Min || op == Max) && type == Type::F32 && d.size() == 4) {
    op = op == Min ? Min3 : Max3;
    sources = 3;
  }
  Instruction &i = d.instruction();
  i.a = op;
  i.b = m;
  Handler h = generic32;
  switch (type) {
  case Type::F32:
    if (m == 0) {
      switch (op) {
      case Add:
        h = binary<float, float, float, add32>;
        break;
      case Sub:
        h = binary<float, float, float, sub32>;
        break;
      case Mul:
        h = binary<float, float, float, mul32>;
        break;
      case Fma:
        h = ternary<float, float, float, float, fma32>;
        break;
      case Min:
        h = binary<float, float, float, min32>;
        break;
      case Max:
        h = binary<float, float, float, max32>;
        break;
      case Abs:
        h = unary<uint32_t, uint32_t, abs32>;
        break;
      case Neg:
        h = unary<uint32_t, uint32_t, neg32>;
        break;
      default:
        break;
      }
    }
    break;
  case Type::F64:
    h = approximates ? approximate64 : generic64;
    if (approximates ? !(m & Ftz) || (op != Rcp && op != Rsqrt)
                     : (m & (Ftz | Saturate)) != 0) {
      return false;
    }
    break;
  case Type::F32x2:
    if (!exactName) {
      return false;
    }
    h = m != 0      ? packed32
        : op == Add ? packedFast<packedAdd>
        : op == Sub ? packedFast<packedSub>
        : op == Mul ? packedFast<packedMul>
                    : packedFast<packedFma>;
    break;
  default:
    i.c = uint32_t(type == Type::BF16 || type == Type::BF16x2) |
          uint32_t(type == Type::F16x2 || type == Type::BF16x2) << 1;
    if (!exactName && op != Min && op != Max && op != Abs && op != Neg &&
        op != Ex2 && op != Tanh) {
      return false;
    }
    h = genericHalf;
  }
  switch (sources) {
  case 1:
    return simple(d, h, typeBytes(type), {type});
  case 2:
    return simple(d, h, typeBytes(type), {type, type});
  default:
    return simple(d, h, typeBytes(type), {type, type, type});
  }
}

bool decodeArithmetic(Decoder &d) {
  for (size_t k = d.partCount(); k-- > 1;) {
    Type type = parseType(d.part(k));
    if (type == Type::None) {
      continue;
    }
    bool floating = isFloat(type) || type == Type::F32x2 ||
                    type == Type::F16x2 || type == Type::BF16x2;
    return floating ? decodeFloat(d) : decodeInteger(d);
  }
  return false;
}

} // namespace gmoe::emulator
