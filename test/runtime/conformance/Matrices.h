// Small integers as codes of the element types of matrix instructions.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_MATRICES_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_MATRICES_H

#include "test/runtime/conformance/Exact.h"

#include <string>

namespace gmoe::conformance {

struct ElementCode {
  unsigned bits = 0;
  const Format *format = nullptr; // null: an integer
  unsigned shift = 0;             // tf32 lies in the upper bits
  bool isSigned = true;

  uint32_t encode(int v) const {
    if (!format) {
      return bits == 32 ? uint32_t(v) : uint32_t(v) & ((1u << bits) - 1);
    }
    Exact x = fromInteger(uint64_t(int64_t(v)), true);
    return uint32_t(conformance::encode(*format, x, Round::Nearest)) << shift;
  }
};

inline ElementCode elementCode(const std::string &name) {
  if (name == "f16") {
    return {16, &kF16};
  }
  if (name == "bf16") {
    return {16, &kBF16};
  }
  if (name == "tf32") {
    return {32, &kTF32, 13};
  }
  if (name == "f32") {
    return {32, &kF32};
  }
  if (name == "e4m3") {
    return {8, &kE4M3};
  }
  if (name == "e5m2") {
    return {8, &kE5M2};
  }
  return {name == "s32" ? 32u : 8u, nullptr, 0, name[0] == 's'};
}

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_MATRICES_H
