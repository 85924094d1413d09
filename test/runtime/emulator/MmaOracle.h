// A plain model of tcgen05.mma for tests: element formats by their definition,
// operands in the canonical layouts, results where ISA 9.7.16.10.5 puts them.
#ifndef GMOE_TEST_RUNTIME_EMULATOR_MMAORACLE_H
#define GMOE_TEST_RUNTIME_EMULATOR_MMAORACLE_H

#include "test/runtime/emulator/TensorCoreHarness.h"

#include <cmath>

namespace gmoe::test {

/// A small float format: value = (-1)^s * mantissa * 2^(exponent - bias - m).
struct SmallFloat {
  const char *name;
  uint32_t code; // in the instruction descriptor
  uint32_t bits; // of an element
  uint32_t mantissa, bias;
  /// Bytes of shared memory that hold 16 elements, and how many are used.
  uint32_t chunkBytes, usedBytes;

  double value(uint32_t c) const {
    uint32_t magnitude = c & ((1u << (bits - 1)) - 1);
    uint32_t exponent = magnitude >> mantissa;
    uint32_t fraction = magnitude & ((1u << mantissa) - 1);
    double v =
        exponent ? std::ldexp(double(fraction + (1u << mantissa)),
                              int(exponent) - int(bias) - int(mantissa))
                 : std::ldexp(double(fraction), 1 - int(bias) - int(mantissa));
    return c >> (bits - 1) & 1 ? -v : v;
  }
  /// A code whose magnitude is 0 or between 1/4 and 4: sums stay exact.
  uint32_t draw(TestRandom &random) const {
    for (;;) {
      uint32_t c = random.below(1u << bits);
      double v = std::fabs(value(c));
      if (v == 0 || (v >= 0.25 && v <= 4)) {
        return c;
      }
    }
  }
};
constexpr SmallFloat kE4M3{"e4m3", 0, 8, 3, 7, 16, 16};
constexpr SmallFloat kE5M2{"e5m2", 1, 8, 2, 15, 16, 16};
constexpr SmallFloat kE2M3{"e2m3", 3, 6, 3, 1, 16, 12};
constexpr SmallFloat kE3M2{"e3m2", 4, 6, 2, 3, 16, 12};
constexpr SmallFloat kE2M1{"e2m1", 5, 4, 1, 1, 16, 8};
constexpr SmallFloat kHalf{"f16", 0, 16, 10, 15, 32, 32};
constexpr SmallFloat kBrain{"bf16", 1, 16, 7, 127, 32, 32};
constexpr SmallFloat kTensor32{"tf32", 2, 32, 23, 127, 64, 64};

/// Writes element k of a row at `base` of the image, through `place`, which
/// maps the byte along K to an offset.
template <class Place>
void putElement(std::vector<uint8_t> &image, const SmallFloat &f, uint32_t k,
                uint32_t code, Place place) {
  uint32_t bit = k % 16 * f.bits;
  for (uint32_t b = 0; b < f.bits; ++b) {
    uint32_t at = k / 16 * f.chunkBytes + (bit + b) / 8;
    uint8_t &byte = image[place(at)];
    byte = uint8_t(byte & ~(1u << ((bit + b) % 8)));
    byte = uint8_t(byte | (code >> b & 1) << ((bit + b) % 8));
  }
}

/// Where row m and column n of D lie. Null for CTA pairs of M 128: two lane
/// halves (ISA figure 188 and following).
struct DPlace {
  uint32_t cta, lane, column;
};
inline DPlace placeOfD(bool pair, uint32_t m, uint32_t n, uint32_t totalM,
                       uint32_t totalN) {
  if (pair) {
    if (totalM == 256) {
      return {m / 128, m % 128, n};
    }
    return {m / 64, m % 64 + (n >= totalN / 2 ? 64u : 0u), n % (totalN / 2)};
  }
  return totalM == 64 ? DPlace{0, m / 16 * 32 + m % 16, n} : DPlace{0, m, n};
}

/// Two operands in K-major SWIZZLE_128B layout, and the exact products.
struct Operands {
  std::vector<uint8_t> image;
  std::vector<double> a, b; // [row][k]
  uint32_t m, n, k;
  bool pair;

  Operands(uint32_t m, uint32_t n, uint32_t k, bool pair)
      : image(size_t(pair ? 2 : 1) * kImageBytes, 0), a(m * k), b(n * k), m(m),
        n(n), k(k), pair(pair) {}

  uint32_t base(bool isB, uint32_t row) const {
    uint32_t each = (isB ? n : m) / (pair ? 2 : 1);
    return row / each * kImageBytes + (isB ? 32768 : 0);
  }
  uint32_t local(bool isB, uint32_t row) const {
    return row % ((isB ? n : m) / (pair ? 2 : 1));
  }
  void fill(bool isB, const SmallFloat &f, TestRandom &random) {
    for (uint32_t r = 0; r < (isB ? n : m); ++r) {
      for (uint32_t x = 0; x < k; ++x) {
        set(isB, f, r, x,
            f.bits == 16 || f.bits == 32 ? small(f, int(random.below(13)) - 6)
                                         : f.draw(random));
      }
    }
  }
  void set(bool isB, const SmallFloat &f, uint32_t r, uint32_t x,
           uint32_t code) {
    putElement(image, f, x, code, [&](uint32_t at) {
      return base(isB, r) + swizzle128(local(isB, r) * 128 + at);
    });
    (isB ? b : a)[r * k + x] = f.value(code);
  }
  /// The code of a small integer.
  static uint32_t small(const SmallFloat &f, int v) {
    if (v == 0) {
      return 0;
    }
    uint32_t magnitude = uint32_t(v < 0 ? -v : v);
    uint32_t top = 31u - uint32_t(__builtin_clz(magnitude));
    uint32_t fraction =
        (magnitude << (f.mantissa - top)) & ((1u << f.mantissa) - 1);
    return uint32_t(v < 0) << (f.bits - 1) | (top + f.bias) << f.mantissa |
           fraction;
  }
  double product(uint32_t r, uint32_t c) const {
    double sum = 0;
    for (uint32_t x = 0; x < k; ++x) {
      sum += a[r * k + x] * b[c * k + x];
    }
    return sum;
  }
};

inline float floatOfBits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

} // namespace gmoe::test

#endif // GMOE_TEST_RUNTIME_EMULATOR_MMAORACLE_H
