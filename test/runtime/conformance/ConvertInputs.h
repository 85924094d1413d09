// Values that conversions round: what lies at, beside and between the target's.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_CONVERTINPUTS_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_CONVERTINPUTS_H

#include "test/runtime/conformance/FloatReference.h"

#include <algorithm>

namespace gmoe::conformance {

const char *const kRounds[] = {"rn", "rz", "rm", "rp"};
constexpr Round kRoundValues[] = {Round::Nearest, Round::Zero, Round::Down,
                                  Round::Up};

/// Values at, next to and halfway between the target's values.
inline std::vector<uint64_t> floatsAround(const Format &from,
                                          const Format &to) {
  std::vector<uint64_t> v =
      floatEdges(unsigned(from.exponentBits), unsigned(from.mantissaBits));
  int extra = from.mantissaBits - to.mantissaBits;
  uint64_t step = to.width() <= 8 ? 1 : 37;
  for (uint64_t code = 0; code < 2 * to.signBit() && extra > 0; code += step) {
    if (to.width() > 16) {
      break;
    }
    Exact x = decode(to, code);
    if (x.nan || x.infinite) {
      continue;
    }
    uint64_t at = encode(from, x, Round::Nearest);
    uint64_t half = uint64_t(1) << (extra - 1);
    for (uint64_t delta :
         {uint64_t(0), uint64_t(1), half - 1, half, half + 1}) {
      v.push_back(at + delta);
    }
  }
  Draw draw(uint64_t(from.width() * 64 + to.width()));
  for (unsigned k = 0; k < 1500; ++k) {
    uint64_t r = draw();
    if (k % 2 && from.exponentBits >= to.exponentBits) { // in or near the range
      int low = 1 - to.bias() - to.mantissaBits - 2, high = to.bias() + 2;
      int e = low + int(draw() % uint64_t(high - low + 1)) + from.bias();
      e = std::clamp(e, 0, (1 << from.exponentBits) - 2);
      r = (r & (from.signBit() | (from.smallestNormal() - 1))) |
          uint64_t(e) << from.mantissaBits;
    }
    v.push_back(r & (2 * from.signBit() - 1));
  }
  return v;
}

inline Columns column(std::vector<uint64_t> v) { return {std::move(v)}; }

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_CONVERTINPUTS_H
