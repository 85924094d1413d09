// Exact arithmetic on floating-point bit patterns, and one rounding at the end,
// in integers only: what the ISA's words mean, independent of the emulator and
// of the host's floating-point unit.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_EXACT_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_EXACT_H

#include <cstdint>

namespace gmoe::conformance {

struct Format {
  int exponentBits, mantissaBits;
  /// e4m3: the top exponent is finite but for the all-ones code.
  bool finiteTop = false;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int width() const { return 1 + exponentBits + mantissaBits; }
  uint64_t signBit() const { return uint64_t(1) << (width() - 1); }
  uint64_t infinity() const {
    return ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
  }
  uint64_t largest() const {
    return finiteTop ? signBit() - 2 : infinity() - 1;
  }
  uint64_t smallestNormal() const { return uint64_t(1) << mantissaBits; }
};
constexpr Format kF16{5, 10}, kBF16{8, 7}, kF32{8, 23}, kF64{11, 52},
    kE4M3{4, 3, true}, kE5M2{5, 2}, kTF32{8, 10};

enum class Round { Nearest, Zero, Down, Up, NearestAway };

/// (-1)^negative * m * 2^e. An odd `m` may stand for anything strictly between
/// the neighbouring even ones: m is wide enough that this rounds right.
struct Exact {
  bool nan = false, infinite = false, negative = false;
  unsigned __int128 m = 0;
  int e = 0;
  bool zero() const { return !nan && !infinite && m == 0; }
};

inline int topBit(unsigned __int128 v) {
  uint64_t high = uint64_t(v >> 64), low = uint64_t(v);
  return high  ? 127 - __builtin_clzll(high)
         : low ? 63 - __builtin_clzll(low)
               : -1;
}

inline Exact decode(const Format &f, uint64_t bits) {
  Exact x;
  x.negative = bits & f.signBit();
  uint64_t magnitude = bits & (f.signBit() - 1);
  uint64_t mantissa = magnitude & (f.smallestNormal() - 1);
  int exponent = int(magnitude >> f.mantissaBits);
  if (f.finiteTop ? magnitude == f.signBit() - 1 : magnitude > f.infinity()) {
    x.nan = true;
  } else if (!f.finiteTop && magnitude == f.infinity()) {
    x.infinite = true;
  } else {
    x.m = exponent ? mantissa | f.smallestNormal() : mantissa;
    x.e = (exponent ? exponent : 1) - f.bias() - f.mantissaBits;
  }
  return x;
}

inline Exact fromInteger(uint64_t bits, bool isSigned) {
  Exact x;
  x.negative = isSigned && int64_t(bits) < 0;
  x.m = x.negative ? uint64_t(0) - bits : bits;
  return x;
}

/// Drops the lowest `shift` bits of x.m by `mode`.
inline unsigned __int128 dropBits(unsigned __int128 m, int shift, bool negative,
                                  Round mode) {
  if (shift <= 0) {
    return m << -shift;
  }
  bool all = shift > 127;
  unsigned __int128 kept = all ? 0 : m >> shift;
  unsigned __int128 one = 1;
  unsigned __int128 rest = all ? m : m & ((one << shift) - 1);
  if (rest == 0) {
    return kept;
  }
  // Above, at or below one half.
  int half =
      all ? -1 : (rest > one << (shift - 1)) - (rest < one << (shift - 1));
  bool up = false;
  switch (mode) {
  case Round::Nearest:
    up = half > 0 || (half == 0 && (kept & 1));
    break;
  case Round::NearestAway:
    up = half >= 0;
    break;
  case Round::Zero:
    break;
  case Round::Down:
    up = negative;
    break;
  case Round::Up:
    up = !negative;
    break;
  }
  return kept + up;
}

/// Rounds to the format; overflow as IEEE 754 (to infinity or the largest
/// finite value by direction). NaN is positive with every bit set.
inline uint64_t encode(const Format &f, const Exact &x, Round mode) {
  if (x.nan) {
    return f.signBit() - 1;
  }
  uint64_t sign = x.negative ? f.signBit() : 0;
  if (x.infinite) {
    return sign | (f.finiteTop ? f.signBit() - 1 : f.infinity());
  }
  if (x.m == 0) {
    return sign;
  }
  int exponent = topBit(x.m) + x.e; // of the leading bit
  int least = 1 - f.bias();
  int grid = (exponent < least ? least : exponent) - f.mantissaBits;
  uint64_t kept = uint64_t(dropBits(x.m, grid - x.e, x.negative, mode));
  uint64_t code = exponent < least ? kept
                                   : kept + (uint64_t(exponent + f.bias() - 1)
                                             << f.mantissaBits);
  if (code > f.largest()) {
    bool toInfinity = mode == Round::Nearest || mode == Round::NearestAway ||
                      (mode == Round::Up && !x.negative) ||
                      (mode == Round::Down && x.negative);
    code = !toInfinity   ? f.largest()
           : f.finiteTop ? f.signBit() - 1
                         : f.infinity();
  }
  return sign | code;
}

inline Exact multiply(const Exact &a, const Exact &b) {
  Exact r;
  r.negative = a.negative != b.negative;
  r.nan =
      a.nan || b.nan || (a.infinite && b.zero()) || (a.zero() && b.infinite);
  r.infinite = !r.nan && (a.infinite || b.infinite);
  if (!r.nan && !r.infinite) {
    r.m = a.m * b.m; // at most 106 bits
    r.e = a.e + b.e;
  }
  return r;
}

/// `mode` decides the sign of an exact zero (IEEE 754, 6.3).
inline Exact add(Exact a, Exact b, Round mode) {
  Exact r;
  if (a.nan || b.nan ||
      (a.infinite && b.infinite && a.negative != b.negative)) {
    r.nan = true;
    return r;
  }
  if (a.infinite || b.infinite) {
    return a.infinite ? a : b;
  }
  if (a.m == 0 && b.m == 0) {
    r.negative = a.negative == b.negative ? a.negative : mode == Round::Down;
    return r;
  }
  if (a.m == 0 || b.m == 0) {
    return a.m ? a : b;
  }
  if (topBit(a.m) + a.e < topBit(b.m) + b.e) {
    Exact t = a;
    a = b;
    b = t;
  }
  int up = 124 - topBit(a.m); // the larger one to the top, the other beside it
  a.m <<= up;
  a.e -= up;
  int shift = a.e - b.e;
  if (shift <= 0) {
    b.m <<= -shift;
  } else {
    bool lost = shift > 127 || (b.m & (((unsigned __int128)1 << shift) - 1));
    b.m = (shift > 127 ? 0 : b.m >> shift) | (unsigned __int128)(lost);
  }
  r.e = a.e;
  if (a.negative == b.negative) {
    r.m = a.m + b.m;
    r.negative = a.negative;
  } else {
    bool swap = b.m > a.m;
    r.m = swap ? b.m - a.m : a.m - b.m;
    r.negative = swap ? b.negative : a.negative;
    if (r.m == 0) {
      r.negative = mode == Round::Down;
    }
  }
  return r;
}

inline Exact divide(const Exact &a, const Exact &b) {
  Exact r;
  r.negative = a.negative != b.negative;
  r.nan =
      a.nan || b.nan || (a.infinite && b.infinite) || (a.zero() && b.zero());
  r.infinite = !r.nan && (a.infinite || b.zero());
  if (r.nan || r.infinite || a.zero() || b.infinite) {
    return r;
  }
  unsigned __int128 n = a.m << (126 - topBit(a.m));
  r.m = n / b.m << 1 | (unsigned __int128)(n % b.m != 0);
  r.e = a.e - (126 - topBit(a.m)) - b.e - 1;
  return r;
}

inline Exact squareRoot(const Exact &a) {
  Exact r;
  r.negative = a.negative;
  if (a.nan || (a.negative && !a.zero())) {
    r.nan = true;
    return r;
  }
  if (a.zero() || a.infinite) {
    return a;
  }
  int up = 124 - topBit(a.m);
  up -= (a.e - up) & 1;
  unsigned __int128 n = a.m << up;
  unsigned __int128 root = 0;
  for (int bit = 62; bit >= 0; --bit) {
    unsigned __int128 t = root | (unsigned __int128)1 << bit;
    if (t * t <= n) {
      root = t;
    }
  }
  r.m = root << 1 | (unsigned __int128)(root * root != n);
  r.e = (a.e - up) / 2 - 1;
  return r;
}

/// -1, 0, 1, or 2 when one is NaN.
inline int compare(const Exact &a, const Exact &b) {
  if (a.nan || b.nan) {
    return 2;
  }
  if (a.infinite && b.infinite) {
    return a.negative == b.negative ? 0 : a.negative ? -1 : 1;
  }
  Exact n = b;
  n.negative = !n.negative;
  Exact d = add(a, n, Round::Nearest);
  return d.zero() ? 0 : d.negative ? -1 : 1;
}

/// A subnormal becomes a zero of its sign.
inline uint64_t flush(const Format &f, uint64_t bits) {
  return (bits & f.infinity()) == 0 ? bits & f.signBit() : bits;
}
/// encode() under .ftz, where the ISA only says that subnormal results are
/// flushed. What counts is the value rounded to the format's precision with an
/// exponent without bounds: one that comes to the smallest normal number only
/// by the coarser steps of the subnormals is zero. (On Hopper; the inputs have
/// values that any other rule gets wrong.)
inline uint64_t encodeFlushed(const Format &f, Exact x, Round mode) {
  uint64_t r = encode(f, x, mode);
  if ((r & ~f.signBit()) == f.smallestNormal()) {
    x.e += 2; // into the normal numbers
    if ((encode(f, x, mode) & ~f.signBit()) < 3 * f.smallestNormal()) {
      return r & f.signBit();
    }
  }
  return flush(f, r);
}
inline bool isNaN(const Format &f, uint64_t bits) {
  return decode(f, bits).nan;
}

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_EXACT_H
