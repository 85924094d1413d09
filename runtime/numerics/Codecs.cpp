#include "runtime/numerics/Codecs.h"

#include <array>
#include <cmath>
#include <limits>

namespace gmoe::numerics {
namespace {

/// A sign-magnitude format with subnormals.
struct Format {
  unsigned exponentBits, mantissaBits;
  int bias;
};
constexpr Format kE2M1{2, 1, 1}, kE2M3{2, 3, 1}, kE3M2{3, 2, 3}, kE4M3{4, 3, 7},
    kE5M2{5, 2, 15}, kF16{5, 10, 15};

double decodeMagnitude(const Format &f, uint32_t magnitude) {
  uint32_t mantissa = magnitude & ((1u << f.mantissaBits) - 1);
  uint32_t exponent = magnitude >> f.mantissaBits;
  if (exponent == 0) {
    return std::ldexp(double(mantissa), 1 - f.bias - int(f.mantissaBits));
  }
  return std::ldexp(double(mantissa + (1u << f.mantissaBits)),
                    int(exponent) - f.bias - int(f.mantissaBits));
}

/// Rounds |value| to the format's grid as if the exponent had no upper limit.
/// The result may be any code above the format's largest finite one.
uint32_t roundMagnitude(const Format &f, float value) {
  uint32_t bits = bitsOf(value) & 0x7fffffffu;
  int exponent = int(bits >> 23);
  uint64_t significand = bits & 0x7fffffu;
  if (exponent == 0) {
    exponent = 1;
  } else {
    significand |= 0x800000u;
  }
  // value = significand * 2^(exponent - 150); grid exponent of the target:
  int unbiased = exponent - 127;
  int minExponent = 1 - f.bias;
  int gridExponent =
      (unbiased < minExponent ? minExponent : unbiased) - int(f.mantissaBits);
  int shift = gridExponent - (exponent - 150);
  uint64_t rounded;
  if (shift <= 0) {
    rounded = significand << -shift;
  } else if (shift > 40) {
    rounded = 0;
  } else {
    rounded = significand >> shift;
    uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
    uint64_t half = uint64_t(1) << (shift - 1);
    if (rest > half || (rest == half && (rounded & 1))) {
      ++rounded;
    }
  }
  if (unbiased < minExponent) {
    return uint32_t(rounded);
  }
  // The hidden bit adds one to the exponent field, and so does a carry.
  return (uint32_t(unbiased + f.bias - 1) << f.mantissaBits) +
         uint32_t(rounded);
}

uint32_t signOf(float value) { return bitsOf(value) >> 31; }

uint8_t encodeFiniteOnly(const Format &f, float value) {
  uint32_t maximum = (1u << (f.exponentBits + f.mantissaBits)) - 1;
  if (std::isnan(value)) {
    return uint8_t(maximum);
  }
  uint32_t code = std::isinf(value) ? maximum : roundMagnitude(f, value);
  if (code > maximum) {
    code = maximum;
  }
  return uint8_t(code | signOf(value) << (f.exponentBits + f.mantissaBits));
}

struct Tables {
  std::array<float, 256> e2m1, e2m3, e3m2, e4m3, e5m2, e8m0;

  Tables() {
    const float nan = floatOf(0x7fffffffu);
    for (uint32_t code = 0; code < 256; ++code) {
      fill(e2m1, kE2M1, code);
      fill(e2m3, kE2M3, code);
      fill(e3m2, kE3M2, code);
      fill(e4m3, kE4M3, code);
      fill(e5m2, kE5M2, code);
      if ((code & 0x7f) == 0x7f) {
        e4m3[code] = nan;
      }
      if ((code & 0x7f) > 0x7c) {
        e5m2[code] = nan;
      }
      if ((code & 0x7f) == 0x7c) {
        e5m2[code] = code & 0x80 ? -std::numeric_limits<float>::infinity()
                                 : std::numeric_limits<float>::infinity();
      }
      e8m0[code] = code == 255 ? nan : float(std::ldexp(1.0, int(code) - 127));
    }
  }

  static void fill(std::array<float, 256> &table, const Format &f,
                   uint32_t code) {
    unsigned width = f.exponentBits + f.mantissaBits;
    float magnitude = float(decodeMagnitude(f, code & ((1u << width) - 1)));
    table[code] = code >> width & 1 ? -magnitude : magnitude;
  }
};

const Tables &tables() {
  static const Tables instance;
  return instance;
}

} // namespace

const float *e2m1Table() { return tables().e2m1.data(); }
const float *e2m3Table() { return tables().e2m3.data(); }
const float *e3m2Table() { return tables().e3m2.data(); }
const float *e4m3Table() { return tables().e4m3.data(); }
const float *e5m2Table() { return tables().e5m2.data(); }
const float *e8m0Table() { return tables().e8m0.data(); }

float decodeF16(uint16_t code) {
  uint32_t sign = uint32_t(code & 0x8000u) << 16;
  uint32_t magnitude = code & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    return floatOf(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  }
  if (magnitude < 0x400u) {
    float value = float(magnitude) * 0x1p-24f;
    return sign ? -value : value;
  }
  return floatOf(sign | ((magnitude << 13) + (112u << 23)));
}

uint8_t encodeE2M1(float value) { return encodeFiniteOnly(kE2M1, value); }
uint8_t encodeE2M3(float value) { return encodeFiniteOnly(kE2M3, value); }
uint8_t encodeE3M2(float value) { return encodeFiniteOnly(kE3M2, value); }

uint8_t encodeE4M3(float value, Overflow overflow) {
  if (std::isnan(value)) {
    return 0x7f;
  }
  uint32_t code = std::isinf(value) ? 0x7f : roundMagnitude(kE4M3, value);
  if (code > 0x7e) {
    code = overflow == Overflow::Saturate ? 0x7e : 0x7f;
  }
  return uint8_t(code | signOf(value) << 7);
}

uint8_t encodeE5M2(float value, Overflow overflow) {
  if (std::isnan(value)) {
    return 0x7f;
  }
  uint32_t code = std::isinf(value) ? 0x7c : roundMagnitude(kE5M2, value);
  if (code > 0x7b) {
    code = overflow == Overflow::Saturate ? 0x7b : 0x7c;
  }
  return uint8_t(code | signOf(value) << 7);
}

uint8_t encodeE8M0(float value, ScaleRounding rounding, Overflow overflow) {
  if (std::isnan(value)) {
    return 0xff;
  }
  uint32_t bits = bitsOf(value) & 0x7fffffffu;
  uint8_t limit = overflow == Overflow::Saturate ? 0xfe : 0xff;
  if (bits == 0x7f800000u) {
    return limit;
  }
  uint32_t code = bits >> 23;
  uint32_t mantissa = bits & 0x7fffffu;
  if (rounding == ScaleRounding::Up) {
    // Subnormals up to 2^-127 (mantissa 0x400000) stay at code 0.
    code += code == 0 ? mantissa > 0x400000u : mantissa != 0;
  }
  return code >= 0xff ? limit : uint8_t(code);
}

uint16_t encodeBF16(float value) {
  if (std::isnan(value)) {
    return 0x7fff;
  }
  uint32_t bits = bitsOf(value);
  return uint16_t((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

uint16_t encodeF16(float value) {
  if (std::isnan(value)) {
    return 0x7fff;
  }
  uint32_t code = std::isinf(value) ? 0x7c00u : roundMagnitude(kF16, value);
  if (code > 0x7c00u) {
    code = 0x7c00u;
  }
  return uint16_t(code | signOf(value) << 15);
}

} // namespace gmoe::numerics
