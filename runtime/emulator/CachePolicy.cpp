// createpolicy: caches are not modelled, and a policy is opaque (ISA 9.7.9.18).
#include "runtime/emulator/Lanes.h"

namespace gmoe::emulator {
namespace {

void create(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    w.setScalar(w.operand(i, 0), unsigned(__builtin_ctz(m)), 0);
  }
}

} // namespace

bool decodePolicy(Decoder &d) {
  int kind = d.takeOneOf({"fractional", "range", "cvt"});
  if (kind < 0) {
    return false;
  }
  d.take("global");
  while (d.takeOneOf({"L2", "L2::evict_last", "L2::evict_normal",
                      "L2::evict_first", "L2::evict_unchanged"}) >= 0) {
  }
  d.instruction().handler = create;
  return d.take("b64") && d.count(1, 4) && d.dest(d.ast(0), 8);
}

} // namespace gmoe::emulator
