// Element formats of the reference executor, through llvm::APFloat: shared with
// no other part of the project, so that their mistakes cannot agree.
#ifndef LIB_REFERENCE_CODECS_H
#define LIB_REFERENCE_CODECS_H

#include <array>
#include <cstdint>

namespace grouped_moe::reference {

enum class Format : uint8_t {
  f32,
  f16,
  bf16,
  e4m3,
  e5m2,
  e2m1,
  e8m0,
  i1,
  i8,
  i32,
  i64
};

/// Bytes of one stored element; of two, for e2m1.
unsigned sizeOf(Format format);
/// Bytes of a row of elements.
int64_t storageBytes(Format format, int64_t elements);
const char *nameOf(Format format); // "f8E4M3FN": the IR's names
inline bool isFp8(Format format) {
  return format == Format::e4m3 || format == Format::e5m2;
}

/// The value of each code of a format of 8 bits, or of the 4 of e2m1, exact
/// (e8m0 0 is 2^-127).
const std::array<double, 256> &decodeTable(Format format);

/// Any float format, exact.
double decode(Format format, const void *source);

/// The largest finite value of e4m3, e5m2 or e2m1, and its exponent.
float largestOf(Format format);
int largestExponentOf(Format format);

/// To nearest even. e4m3, e5m2 and e2m1 saturate, Inf included, with NaN 0x7F;
/// e2m1 has none, the largest value stands for it. f16 and bf16 overflow to
/// Inf. NaN becomes the canonical quiet NaN with every mantissa bit set.
uint8_t encodeNarrow(Format format, float value);
uint16_t encodeHalf(Format format, double value);
/// A double rounded to `format`, one of f32, f16, bf16.
double roundTo(Format format, double value);
/// `value` of any float format to memory; not for e8m0 and e2m1.
void encode(Format format, double value, void *target);

/// The e8m0 byte of t, rounded up on the bits of the f32; 255 for Inf and NaN.
uint8_t encodeScaleUp(float t);
/// 2^(b - 127) as e8m0 has it, for a power of two; -1 when `value` is none.
int encodeScaleExact(double value);

/// 2^(127 - b): exact for b < 255; at b = 254 the subnormal 2^-127.
float scaleMultiplier(uint8_t b);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_CODECS_H
