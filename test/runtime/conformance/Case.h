// A conformance case: one kernel launch with given inputs, and the bytes that
// the PTX ISA says come out. Cases run on any runtime Device.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_CASE_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_CASE_H

#include "runtime/core/Device.h"

#include <functional>
#include <string>
#include <vector>

namespace gmoe::conformance {

/// How an output element may differ from the expected one.
struct Rule {
  enum Kind {
    Bitwise,
    AnyNaN,   // NaNs equal each other: the ISA leaves the payload open
    Relative, // |got - exact| <= bound * |exact|
    Absolute, // |got - exact| <= bound
    Ulp,      // |got - exact| <= bound * ulp(exact)
  };
  enum Element { Bytes, F16, BF16, F32, F64 };
  Kind kind = Bitwise;
  Element element = Bytes;
  double bound = 0;
};

struct MapSpec {
  TensorMapDesc desc;
  int buffer = 0; // an input; -1: the output
  uint64_t offset = 0;
};

struct Case {
  std::string name;   // the instruction
  std::string kernel; // the entry in the family's module
  Dim3 grid, block, cluster;
  uint32_t sharedBytes = 0;
  /// Kernel parameters: the output's address, each input's, the tensor maps,
  /// then 32-bit scalars and blobs.
  std::vector<std::vector<uint8_t>> inputs;
  std::vector<MapSpec> maps;
  std::vector<uint32_t> scalars;
  std::vector<std::vector<uint8_t>> blobs; // parameters of bytes, aligned to 8
  std::vector<uint8_t> initial;            // of the output; 0xcc beyond it
  std::vector<uint8_t> expected;
  uint32_t stride = 8; // bytes between the elements that `rule` compares
  Rule rule;
  std::vector<double> exact; // of the inexact rules
  /// Part of the emulator's message, when no device runs the case to its end.
  std::string refusal;
};

/// Cases that share one PTX module. `{target}` in the text is the device's.
struct Family {
  std::string name;
  std::string ptx;
  bool needsBlackwell = false; // on the emulator, and on sm_100 and later
  std::vector<Case> cases;
};

struct FamilyEntry {
  const char *name;
  Family (*build)();
};
const std::vector<FamilyEntry> &allFamilies();

inline const char *moduleHeader() {
  return ".version 8.6\n.target {target}\n.address_size 64\n";
}

/// splitmix64, for inputs that are the same on every machine.
struct Draw {
  uint64_t state;
  explicit Draw(uint64_t seed) : state(seed) {}
  uint64_t operator()() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t limit) { return uint32_t((*this)() >> 32) % limit; }
};

template <class T> void appendValue(std::vector<uint8_t> &out, const T &value) {
  const uint8_t *p = reinterpret_cast<const uint8_t *>(&value);
  out.insert(out.end(), p, p + sizeof(T));
}
template <class T> std::vector<uint8_t> bytesOf(const std::vector<T> &values) {
  const uint8_t *p = reinterpret_cast<const uint8_t *>(values.data());
  return std::vector<uint8_t>(p, p + values.size() * sizeof(T));
}

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_CASE_H
