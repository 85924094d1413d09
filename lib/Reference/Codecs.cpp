#include "lib/Reference/Codecs.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <cstring>

using namespace grouped_moe;
using namespace grouped_moe::reference;
using llvm::APFloat;
using llvm::APInt;

static const llvm::fltSemantics &semanticsOf(Format format) {
  switch (format) {
  case Format::f32:
    return APFloat::IEEEsingle();
  case Format::f16:
    return APFloat::IEEEhalf();
  case Format::bf16:
    return APFloat::BFloat();
  case Format::e4m3:
    return APFloat::Float8E4M3FN();
  case Format::e5m2:
    return APFloat::Float8E5M2();
  case Format::e2m1:
    return APFloat::Float4E2M1FN();
  case Format::e8m0:
    return APFloat::Float8E8M0FNU();
  default:
    llvm_unreachable("not a float format");
  }
}

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

static double decodeBits(Format format, uint64_t bits) {
  unsigned width = format == Format::e2m1 ? 4 : 8 * sizeOf(format);
  APFloat value(semanticsOf(format), APInt(width, bits));
  // APFloat's e8m0 has no quiet NaN of its own to convert.
  if (value.isNaN()) {
    return std::nan("");
  }
  bool lossy = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}

static uint64_t convert(Format format, double value) {
  APFloat wide(value);
  bool lossy = false;
  wide.convert(semanticsOf(format), APFloat::rmNearestTiesToEven, &lossy);
  return wide.bitcastToAPInt().getZExtValue();
}

unsigned reference::sizeOf(Format format) {
  switch (format) {
  case Format::f32:
  case Format::i32:
    return 4;
  case Format::f16:
  case Format::bf16:
    return 2;
  case Format::i64:
    return 8;
  default:
    return 1;
  }
}

int64_t reference::storageBytes(Format format, int64_t elements) {
  return format == Format::e2m1 ? (elements + 1) / 2
                                : elements * sizeOf(format);
}

const char *reference::nameOf(Format format) {
  static const char *const names[] = {
      "f32",       "f16", "bf16", "f8E4M3FN", "f8E5M2", "f4E2M1FN",
      "f8E8M0FNU", "i1",  "i8",   "i32",      "i64"};
  return names[static_cast<unsigned>(format)];
}

static std::array<double, 256> buildTable(Format format) {
  std::array<double, 256> table;
  for (unsigned byte = 0; byte < 256; ++byte) {
    table[byte] = decodeBits(format, format == Format::e2m1 ? byte & 15 : byte);
  }
  return table;
}

const std::array<double, 256> &reference::decodeTable(Format format) {
  static const std::array<double, 256> e4m3 = buildTable(Format::e4m3);
  static const std::array<double, 256> e5m2 = buildTable(Format::e5m2);
  static const std::array<double, 256> e2m1 = buildTable(Format::e2m1);
  static const std::array<double, 256> e8m0 = buildTable(Format::e8m0);
  switch (format) {
  case Format::e4m3:
    return e4m3;
  case Format::e5m2:
    return e5m2;
  case Format::e2m1:
    return e2m1;
  default:
    return e8m0;
  }
}

double reference::decode(Format format, const void *source) {
  switch (format) {
  case Format::f32: {
    float value;
    std::memcpy(&value, source, 4);
    return value;
  }
  case Format::f16:
  case Format::bf16: {
    uint16_t bits;
    std::memcpy(&bits, source, 2);
    if (format == Format::bf16) { // the upper half of an f32
      uint32_t wide = uint32_t{bits} << 16;
      float value;
      std::memcpy(&value, &wide, 4);
      return value;
    }
    return decodeBits(format, bits);
  }
  case Format::e4m3:
  case Format::e5m2:
  case Format::e2m1: // the first element of the byte
  case Format::e8m0:
    return decodeTable(format)[*static_cast<const uint8_t *>(source)];
  case Format::i1:
  case Format::i8:
    return *static_cast<const int8_t *>(source);
  case Format::i32: {
    int32_t value;
    std::memcpy(&value, source, 4);
    return value;
  }
  case Format::i64: {
    int64_t value;
    std::memcpy(&value, source, 8);
    return static_cast<double>(value);
  }
  }
  llvm_unreachable("unknown format");
}

float reference::largestOf(Format format) {
  return format == Format::e4m3   ? 448.0f
         : format == Format::e5m2 ? 57344.0f
                                  : 6.0f;
}

int reference::largestExponentOf(Format format) {
  return format == Format::e4m3 ? 8 : format == Format::e5m2 ? 15 : 2;
}

uint8_t reference::encodeNarrow(Format format, float value) {
  if (std::isnan(value)) {
    return format == Format::e2m1 ? 7 : 0x7F;
  }
  float limit = largestOf(format);
  float clamped = std::fmin(std::fmax(value, -limit), limit);
  return static_cast<uint8_t>(convert(format, std::copysign(clamped, value)));
}

uint16_t reference::encodeHalf(Format format, double value) {
  if (std::isnan(value)) {
    return 0x7FFF;
  }
  return static_cast<uint16_t>(convert(format, value));
}

double reference::roundTo(Format format, double value) {
  if (format == Format::f32 || std::isnan(value)) {
    return static_cast<float>(value);
  }
  uint16_t bits = encodeHalf(format, value);
  return decode(format, &bits);
}

void reference::encode(Format format, double value, void *target) {
  switch (format) {
  case Format::f32: {
    uint32_t bits =
        std::isnan(value) ? 0x7FFFFFFFu : bitsOf(static_cast<float>(value));
    std::memcpy(target, &bits, 4);
    return;
  }
  case Format::f16:
  case Format::bf16: {
    uint16_t bits = encodeHalf(format, value);
    std::memcpy(target, &bits, 2);
    return;
  }
  case Format::e4m3:
  case Format::e5m2:
    *static_cast<uint8_t *>(target) =
        encodeNarrow(format, static_cast<float>(value));
    return;
  default:
    llvm_unreachable("not a format of values");
  }
}

uint8_t reference::encodeScaleUp(float t) {
  uint32_t bits = bitsOf(t) & 0x7FFFFFFFu;
  uint32_t exponent = bits >> 23, mantissa = bits & 0x7FFFFFu;
  if (exponent == 255) {
    return 255;
  }
  if (exponent == 0) {
    // 2^-127 is the mantissa 0x400000 of a subnormal.
    return mantissa > 0x400000u ? 1 : 0;
  }
  // 254 with a mantissa is above the largest scale: NaN, not a saturated scale.
  return static_cast<uint8_t>(exponent + (mantissa != 0));
}

int reference::encodeScaleExact(double value) {
  int exponent = 0;
  if (!(value > 0) || std::isinf(value) ||
      std::frexp(value, &exponent) != 0.5) {
    return std::isnan(value) ? 255 : -1;
  }
  int byte = exponent - 1 + 127;
  return byte >= 0 && byte <= 254 ? byte : -1;
}

float reference::scaleMultiplier(uint8_t b) {
  return b == 255 ? std::nanf("") : std::ldexp(1.0f, 127 - int{b});
}
