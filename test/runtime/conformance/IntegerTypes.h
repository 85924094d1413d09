// Integer types as the cases see them, and tuples of edge values.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_INTEGERTYPES_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_INTEGERTYPES_H

#include "test/runtime/conformance/Elementwise.h"

namespace gmoe::conformance {

using Wide = __int128;

/// A type's name, its width, and how its register bits read.
struct IntType {
  const char *name;
  unsigned bits;
  bool isSigned;
  uint64_t mask() const {
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }
  Wide value(uint64_t v) const {
    v &= mask();
    return isSigned && (v >> (bits - 1) & 1) ? Wide(v) - ((Wide(1) << bits))
                                             : Wide(v);
  }
  Wide lowest() const { return isSigned ? -(Wide(1) << (bits - 1)) : 0; }
  Wide highest() const { return (Wide(1) << (bits - isSigned)) - 1; }
};
constexpr IntType kTypes[] = {{"u16", 16, false}, {"s16", 16, true},
                              {"u32", 32, false}, {"s32", 32, true},
                              {"u64", 64, false}, {"s64", 64, true}};

inline std::vector<uint64_t> few(unsigned bits) {
  std::vector<uint64_t> all = integerEdges(bits);
  return {all[0], all[1],  all[3],  all[6],  all[7],
          all[9], all[10], all[11], all[14], all[16]};
}
inline Columns one(unsigned bits) {
  return cross({integerEdges(bits)}, 200, bits);
}
inline Columns two(unsigned bits) {
  return cross({integerEdges(bits), integerEdges(bits)}, 300, bits);
}
inline Columns three(unsigned bits) {
  return cross({few(bits), few(bits), few(bits)}, 300, bits);
}

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_INTEGERTYPES_H
