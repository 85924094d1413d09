// What the files of the fifth-generation tensor core share: the shared-memory
// matrix descriptor and the decoded instruction descriptor.
#ifndef GMOE_RUNTIME_EMULATOR_TCGEN05_H
#define GMOE_RUNTIME_EMULATOR_TCGEN05_H

#include "runtime/emulator/Machine.h"

namespace gmoe::emulator {

enum class MmaKind : uint8_t {
  F16,
  TF32,
  F8F6F4,
  I8,
  MxF8F6F4,
  MxF4,
  MxF4NvF4
};
enum class ElementFormat : uint8_t {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  E2M3,
  E3M2,
  E2M1,
  U8,
  S8
};

/// ISA table 40: 64 bits that describe an operand in shared memory.
struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0; // bytes
  uint32_t swizzle = 0; // 0 none, 1 128B/32B atoms, 2 128B, 4 64B, 6 32B

  /// Empty, or what is wrong with `bits`.
  static std::string decode(uint64_t bits, MatrixDescriptor &out);
  uint32_t swizzled(uint32_t address) const;
  uint32_t spanBytes() const {
    return swizzle == 0 ? 16 : swizzle == 6 ? 32 : swizzle == 4 ? 64 : 128;
  }
  /// Unswizzled byte address of byte `k` of row `r` of a K-major operand.
  uint32_t kMajor(uint32_t r, uint32_t k) const {
    if (swizzle == 0) {
      return start + r % 8 * 16 + r / 8 * stride + k / 16 * leading + k % 16;
    }
    return start + r % 8 * spanBytes() + r / 8 * stride + k;
  }
  /// Of byte `m` along M or N and element `k` along K of an MN-major operand.
  uint32_t mnMajor(uint32_t m, uint32_t k) const {
    if (swizzle == 0) {
      return start + m % 16 + m / 16 * stride + k % 8 * 16 + k / 8 * leading;
    }
    uint32_t span = spanBytes();
    return start + m % span + m / span * leading + k % 8 * span +
           k / 8 * stride;
  }
};

/// A decoded and checked tcgen05.mma (ISA tables 39, 42, 43).
struct MmaShape {
  MmaKind kind = MmaKind::F16;
  bool pair = false, scaled = false, scaleE8M0 = true;
  ElementFormat a = ElementFormat::E4M3, b = ElementFormat::E4M3;
  bool saturates = false; // integers
  bool f16Result = false, negateA = false, negateB = false;
  bool mnMajorA = false, mnMajorB = false;
  uint32_t m = 0, n = 0, k = 0;
  uint32_t scaleIdA = 0, scaleIdB = 0;
  uint32_t scalesPerK = 1; // scale factors along K of one instruction
};

/// Instruction::a of an MMA: kind in bits 0-3, pair in bit 4, scales per K in
/// bits 8-11. Empty, or what is illegal.
std::string decodeShape(uint32_t settings, uint32_t descriptor, MmaShape &out);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_TCGEN05_H
