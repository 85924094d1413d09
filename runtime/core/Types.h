// Plain types shared by every device: launch dimensions and resolved tensor
// maps.
#ifndef GMOE_RUNTIME_CORE_TYPES_H
#define GMOE_RUNTIME_CORE_TYPES_H

#include <array>
#include <cstdint>

namespace gmoe {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// Element types of a tensor map, with the values of the CUDA driver's
/// CUtensorMapDataType (cuda.h).
enum class TensorMapType : uint32_t {
  U8 = 0,
  U16 = 1,
  U32 = 2,
  S32 = 3,
  U64 = 4,
  S64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9,
  F32Ftz = 10,
  TF32 = 11,
  TF32Ftz = 12,
  U4Align8B = 13,  // 16U4_ALIGN8B
  U4Align16B = 14, // 16U4_ALIGN16B
  U6Align16B = 15, // 16U6_ALIGN16B
};

/// Swizzle of a tensor map, with the values of CUtensorMapSwizzle (cuda.h).
enum class TensorMapSwizzle : uint32_t {
  None = 0,
  B32 = 1,
  B64 = 2,
  B128 = 3,
  B128Atom32B = 4,
  B128Atom32BFlip8B = 5,
  B128Atom64B = 6,
};

/// The arguments of cuTensorMapEncodeTiled. Dimension 0 is the fastest.
struct TensorMapDesc {
  TensorMapType type = TensorMapType::U8;
  uint32_t rank = 0;                 // 1..5
  uint64_t address = 0;              // device address, 16-byte aligned
  std::array<uint64_t, 5> dims{};    // elements
  std::array<uint64_t, 4> strides{}; // bytes, of dimensions 1..rank-1
  std::array<uint32_t, 5> box{};     // elements
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
  uint32_t interleave = 0; // CUtensorMapInterleave
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  uint32_t l2Promotion = 0; // CUtensorMapL2promotion
  uint32_t oobFill = 0;     // CUtensorMapFloatOOBfill: 0 zero, 1 NaN
};

/// The opaque 128-byte object that a kernel takes by value.
struct alignas(64) TensorMap {
  std::array<uint8_t, 128> bytes{};
};

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_TYPES_H
