// Codecs between f32 and the narrow formats of MX and NVFP4 data: e2m1, e2m3,
// e3m2, e4m3 (fn), e5m2, e8m0, and bf16 and f16. Encoding rounds to nearest
// even unless stated; NaN and overflow follow PTX `cvt` (ISA 9.7.9.21).
#ifndef GMOE_RUNTIME_NUMERICS_CODECS_H
#define GMOE_RUNTIME_NUMERICS_CODECS_H

#include <cstdint>
#include <cstring>

namespace gmoe::numerics {

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// Overflow of a narrowing conversion: to the largest finite magnitude
/// (PTX .satfinite), or to Inf or NaN, whichever the format has.
enum class Overflow { Saturate, Infinity };

/// How the e8m0 encoder rounds a value that is not a power of two.
enum class ScaleRounding { Up, Zero };

/// One entry per code; formats below 8 bits ignore the upper bits.
const float *e2m1Table(); // 256 entries
const float *e2m3Table();
const float *e3m2Table();
const float *e4m3Table();
const float *e5m2Table();
const float *e8m0Table(); // code 0 is 2^-127, code 255 is NaN

inline float decodeE2M1(uint8_t code) { return e2m1Table()[code]; }
inline float decodeE2M3(uint8_t code) { return e2m3Table()[code]; }
inline float decodeE3M2(uint8_t code) { return e3m2Table()[code]; }
inline float decodeE4M3(uint8_t code) { return e4m3Table()[code]; }
inline float decodeE5M2(uint8_t code) { return e5m2Table()[code]; }
inline float decodeE8M0(uint8_t code) { return e8m0Table()[code]; }
inline float decodeBF16(uint16_t code) { return floatOf(uint32_t(code) << 16); }
float decodeF16(uint16_t code);

/// NaN becomes the positive maximum, since the format has no NaN.
uint8_t encodeE2M1(float value);
uint8_t encodeE2M3(float value);
uint8_t encodeE3M2(float value);
/// NaN becomes 0x7F. Without saturation overflow becomes NaN, with the sign.
uint8_t encodeE4M3(float value, Overflow overflow = Overflow::Saturate);
/// NaN becomes 0x7F. Without saturation overflow becomes Inf.
uint8_t encodeE5M2(float value, Overflow overflow = Overflow::Saturate);
/// The sign is dropped; NaN becomes 0xFF, and overflow too without saturation,
/// 0xFE with it. Zero and all below 2^-127 become code 0.
uint8_t encodeE8M0(float value, ScaleRounding rounding,
                   Overflow overflow = Overflow::Saturate);

/// NaN becomes 0x7FFF.
uint16_t encodeBF16(float value);
uint16_t encodeF16(float value);

} // namespace gmoe::numerics

#endif // GMOE_RUNTIME_NUMERICS_CODECS_H
