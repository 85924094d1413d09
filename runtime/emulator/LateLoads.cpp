// A tcgen05.ld delivers as late as it may: at tcgen05.wait::ld, or when an
// instruction touches one of its registers, since a true register dependence
// holds without the wait (ISA 9.7.16.6.4.5). Only the wait orders the load's
// read of tensor memory.
#include "runtime/emulator/LateLoads.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

/// Calls f(line) for each 32-bit line of a register, a vector's included.
template <class F> void eachLine(const Program &p, const Operand &o, F f) {
  if (o.kind == Operand::Vector) {
    for (uint32_t k = 0; k < o.count; ++k) {
      eachLine(p, p.operands[o.first + k], f);
    }
  } else if ((o.kind == Operand::Register || o.kind == Operand::Address) &&
             o.bank == 0) {
    for (uint32_t k = 0; k < std::max(1u, o.bytes / 4u); ++k) {
      f(o.line + k);
    }
  }
}

} // namespace

void beginLateLoad(Warp &w, const Operand &destination) {
  if (w.lateLines.empty()) {
    w.lateLines.assign(w.program->registerLines, 0);
  }
  w.late = true;
  eachLine(*w.program, destination,
           [&](uint32_t line) { w.lateLines[line] = 1; });
}

void deliverIfUsed(Warp &w, const Instruction &i) {
  bool used = false;
  for (uint32_t k = 0; k < i.operandCount; ++k) {
    eachLine(*w.program, w.operand(i, k),
             [&](uint32_t line) { used |= w.lateLines[line] != 0; });
  }
  if (used) {
    flushTmem(w, false, true);
  }
}

} // namespace gmoe::emulator
