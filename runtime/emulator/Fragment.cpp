#include "runtime/emulator/Fragment.h"
#include "runtime/numerics/Codecs.h"

namespace gmoe::emulator {

bool fragmentType(std::string_view name, FragmentType &out) {
  static const std::pair<std::string_view, FragmentType> kNames[] = {
      {"f16", FragmentType::F16},   {"bf16", FragmentType::BF16},
      {"tf32", FragmentType::TF32}, {"e4m3", FragmentType::E4M3},
      {"e5m2", FragmentType::E5M2}, {"s8", FragmentType::S8},
      {"u8", FragmentType::U8}};
  for (const auto &[n, type] : kNames) {
    if (n == name) {
      out = type;
      return true;
    }
  }
  return false;
}

unsigned fragmentBits(FragmentType type) {
  return type == FragmentType::TF32                                ? 32
         : type == FragmentType::F16 || type == FragmentType::BF16 ? 16
                                                                   : 8;
}

float fragmentElement(FragmentType type, uint32_t bits) {
  switch (type) {
  case FragmentType::F16:
    return numerics::decodeF16(uint16_t(bits));
  case FragmentType::BF16:
    return numerics::decodeBF16(uint16_t(bits));
  case FragmentType::TF32: // the lower 13 bits are ignored
    return numerics::floatOf(bits & 0xffffe000u);
  case FragmentType::E4M3:
    return numerics::decodeE4M3(uint8_t(bits));
  case FragmentType::E5M2:
    return numerics::decodeE5M2(uint8_t(bits));
  case FragmentType::S8:
    return float(int8_t(bits));
  case FragmentType::U8:
    return float(uint8_t(bits));
  }
  return 0;
}

static uint32_t field(uint32_t word, unsigned bits, unsigned j) {
  return bits == 32 ? word : word >> (bits * j) & ((1u << bits) - 1);
}

void readFragmentA(const Warp &w, const Operand &vector, FragmentType type,
                   unsigned k, float *out) {
  unsigned bits = fragmentBits(type), each = 32 / bits;
  for (uint32_t r = 0; r < vector.count; ++r) {
    const uint32_t *words =
        w.source<uint32_t>(w.program->operands[vector.first + r]);
    for (unsigned l = 0; l < 32; ++l) {
      unsigned row = l / 4 + (r & 1) * 8;
      unsigned column = (r >> 1) * 4 * each + l % 4 * each;
      for (unsigned j = 0; j < each; ++j) {
        out[row * k + column + j] =
            fragmentElement(type, field(words[l], bits, j));
      }
    }
  }
}

void readFragmentB(const Warp &w, const Operand &vector, FragmentType type,
                   unsigned k, float *out) {
  unsigned bits = fragmentBits(type), each = 32 / bits;
  (void)k;
  for (uint32_t r = 0; r < vector.count; ++r) {
    const uint32_t *words =
        w.source<uint32_t>(w.program->operands[vector.first + r]);
    for (unsigned l = 0; l < 32; ++l) {
      unsigned row = r * 4 * each + l % 4 * each;
      for (unsigned j = 0; j < each; ++j) {
        out[(row + j) * 8 + l / 4] =
            fragmentElement(type, field(words[l], bits, j));
      }
    }
  }
}

} // namespace gmoe::emulator
