// mma.sync of one warp: m16n8 shapes of halves, tf32, 8-bit floats and
// integers, and m8n8k4 of f64 (ISA 9.7.14.5). Products are exact, sums in f32
// in the order of K; integers wrap or saturate.
#include "runtime/emulator/Fragment.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/numerics/Codecs.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

/// Instruction: a: type of A; b: type of B; c: K; d: bit 0 f16 result, bit 1
/// f16 accumulator, bit 2 integers, bit 3 saturates. Operands: d, a, b, c.
void multiply(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  const unsigned k = i.c;
  float a[16 * 32], b[32 * 8];
  readFragmentA(w, w.operand(i, 1), FragmentType(i.a), k, a);
  readFragmentB(w, w.operand(i, 2), FragmentType(i.b), k, b);
  const Operand &to = w.operand(i, 0), &from = w.operand(i, 3);
  auto word = [&](const Operand &v, unsigned r) {
    return w.source<uint32_t>(w.program->operands[v.first + r]);
  };
  uint32_t result[4][32];
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned r = 0; r < 4; ++r) {
      unsigned row = l / 4 + r / 2 * 8, column = l % 4 * 2 + r % 2;
      uint32_t start = i.d & 2 ? word(from, r / 2)[l] >> (16 * (r & 1)) & 0xffff
                               : word(from, r)[l];
      if (i.d & 4) {
        int64_t sum = 0;
        for (unsigned x = 0; x < k; ++x) {
          sum += int64_t(a[row * k + x]) * int64_t(b[x * 8 + column]);
        }
        sum += int32_t(start);
        result[r][l] = uint32_t(
            i.d & 8 ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
        continue;
      }
      float sum = i.d & 2 ? numerics::decodeF16(uint16_t(start))
                          : numerics::floatOf(start);
      for (unsigned x = 0; x < k; ++x) {
        sum += a[row * k + x] * b[x * 8 + column];
      }
      result[r][l] = i.d & 1      ? numerics::encodeF16(sum)
                     : sum != sum ? 0x7fffffffu
                                  : numerics::bitsOf(sum);
    }
  }
  for (unsigned r = 0; r < to.count; ++r) {
    uint32_t *d = w.target<uint32_t>(w.program->operands[to.first + r]);
    for (unsigned l = 0; l < 32; ++l) {
      d[l] = i.d & 1 ? result[2 * r][l] | result[2 * r + 1][l] << 16
                     : result[r][l];
    }
  }
}

/// m8n8k4 of f64: a (row g, k t), b (k t, column g), c and d (g, 2t and 2t+1).
void multiply64(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  auto lanes = [&](unsigned operand, unsigned r) {
    return w.source<double>(
        w.program->operands[w.operand(i, operand).first + r]);
  };
  double result[2][32];
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned r = 0; r < 2; ++r) {
      double sum = lanes(3, r)[l];
      for (unsigned x = 0; x < 4; ++x) {
        sum = __builtin_fma(lanes(1, 0)[l / 4 * 4 + x],
                            lanes(2, 0)[(l % 4 * 2 + r) * 4 + x], sum);
      }
      result[r][l] = sum;
    }
  }
  for (unsigned r = 0; r < 2; ++r) {
    std::memcpy(
        w.target<double>(w.program->operands[w.operand(i, 0).first + r]),
        result[r], sizeof result[r]);
  }
}

bool vectorOf(Decoder &d, size_t k, size_t count, Type type, bool isDest) {
  if (d.ast(k).kind != AstOperand::Vector ||
      d.ast(k).children.size() != count) {
    return d.fail("operand " + std::to_string(k + 1) + " must be a vector of " +
                  std::to_string(count) + " registers");
  }
  return d.vector(d.ast(k), type, isDest, false);
}

} // namespace

bool decodeMmaSync(Decoder &d) {
  Instruction &i = d.instruction();
  if (!d.take("sync") || !d.take("aligned")) {
    return false;
  }
  int shape = d.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  bool doubles = shape < 0 && d.take("m8n8k4");
  if ((shape < 0 && !doubles) || !d.take("row") || !d.take("col") ||
      !d.count(4, 4)) {
    return false;
  }
  if (doubles) {
    for (unsigned k = 0; k < 4; ++k) {
      if (!d.take("f64")) {
        return false;
      }
    }
    i.handler = multiply64;
    return vectorOf(d, 0, 2, Type::F64, true) &&
           vectorOf(d, 1, 1, Type::F64, false) &&
           vectorOf(d, 2, 1, Type::F64, false) &&
           vectorOf(d, 3, 2, Type::F64, false);
  }
  i.c = 4u << shape;
  bool saturates = d.take("satfinite");
  // The four types close the mnemonic: d, a, b, c.
  size_t n = d.partCount();
  FragmentType a, b;
  const std::string result = d.part(n - 4), accumulator = d.part(n - 1);
  if (n < 8 || !fragmentType(d.part(n - 3), a) ||
      !fragmentType(d.part(n - 2), b) || fragmentBits(a) != fragmentBits(b)) {
    return false;
  }
  for (unsigned k = 0; k < 4; ++k) {
    d.take(d.part(n - 4 + k));
  }
  bool integers = a == FragmentType::S8 || a == FragmentType::U8;
  bool otherIsInteger = b == FragmentType::S8 || b == FragmentType::U8;
  unsigned bits = fragmentBits(a), k = i.c;
  bool legalK = bits == 32   ? k <= 8
                : bits == 16 ? k == 8 || k == 16
                             : k == 32 || k == 16;
  if (!legalK || integers != otherIsInteger || (saturates && !integers) ||
      (bits == 16 && a != b)) {
    return false;
  }
  if (integers) {
    if (result != "s32" || accumulator != "s32") {
      return false;
    }
    i.d = 4u | uint32_t(saturates) << 3;
  } else {
    bool halfResult = result == "f16", halfStart = accumulator == "f16";
    if ((!halfResult && result != "f32") ||
        (!halfStart && accumulator != "f32") ||
        ((halfResult || halfStart) &&
         (a == FragmentType::BF16 || a == FragmentType::TF32))) {
      return false;
    }
    i.d = uint32_t(halfResult) | uint32_t(halfStart) << 1;
  }
  i.a = uint32_t(a);
  i.b = uint32_t(b);
  i.handler = multiply;
  unsigned registersB = k * bits / 128;
  return vectorOf(d, 0, i.d & 1 ? 2 : 4, Type::B32, true) &&
         vectorOf(d, 1, 2 * registersB, Type::B32, false) &&
         vectorOf(d, 2, registersB, Type::B32, false) &&
         vectorOf(d, 3, i.d & 2 ? 2 : 4, Type::B32, false);
}

} // namespace gmoe::emulator
