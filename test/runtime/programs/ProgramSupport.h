// Shared by the tests of compiled CUDA C++ programs.
#ifndef GMOE_TEST_RUNTIME_PROGRAMS_PROGRAMSUPPORT_H
#define GMOE_TEST_RUNTIME_PROGRAMS_PROGRAMSUPPORT_H

#include "test/runtime/emulator/TestSupport.h"

namespace gmoe::test {

constexpr uint64_t kSeeds = 6;

/// A device with every check of hazards, which has loaded ptx/NAME.ptx.
struct Program : Machine {
  explicit Program(const std::string &name, uint64_t seed) {
    EmulatorOptions options;
    options.scheduleSeed = seed;
    options.hazards = HazardLevel::Full;
    device = createEmulatorDevice(options);
    std::string ptx = readFile("test/runtime/programs/ptx/" + name + ".ptx");
    EXPECT_FALSE(ptx.empty()) << name;
    Status status = load(ptx);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  /// `count` elements with every bit set: a NaN in floating-point types.
  template <class T> uint64_t poisoned(size_t count) {
    std::vector<T> values(count);
    std::memset(values.data(), 0xff, count * sizeof(T));
    return upload(values);
  }
  TensorMap map(const TensorMapDesc &desc) {
    auto result = device->encodeTensorMap(desc);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result ? *result : TensorMap();
  }
  void check(const Status &status) {
    ASSERT_TRUE(status.ok()) << status.message();
  }
};

/// Parameters as the PTX ISA lays them out: each at its own alignment.
template <class... T> std::vector<uint8_t> parameters(const T &...values) {
  std::vector<uint8_t> bytes;
  (append(bytes, values, alignof(T)), ...);
  return bytes;
}

/// A row-major matrix in boxes of `boxRows` rows.
inline TensorMapDesc matrixMap(TensorMapType type, uint64_t address,
                               uint64_t rows, uint64_t columns,
                               uint64_t elementBytes, uint32_t boxRows,
                               uint32_t boxColumns, TensorMapSwizzle swizzle) {
  TensorMapDesc d;
  d.type = type;
  d.rank = 2;
  d.address = address;
  d.dims = {columns, rows};
  d.strides = {columns * elementBytes};
  d.box = {boxColumns, boxRows};
  d.swizzle = swizzle;
  return d;
}

/// Small integers that a test can reproduce.
inline uint32_t hashed(uint32_t k) {
  k = (k ^ 61) ^ (k >> 16);
  k *= 9;
  k ^= k >> 4;
  k *= 0x27d4eb2d;
  return k ^ (k >> 15);
}

} // namespace gmoe::test

#endif // GMOE_TEST_RUNTIME_PROGRAMS_PROGRAMSUPPORT_H
