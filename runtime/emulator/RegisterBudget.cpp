// setmaxnreg: warps trade registers of the CTA's share (ISA 9.7.19.5).
#include "runtime/emulator/Lanes.h"

namespace gmoe::emulator {
namespace {

/// a: registers a thread; b: 1 increase, 0 decrease.
void setMaximum(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  if (i.b) {
    if (w.registersHeld >= i.a) {
      return; // ISA: no effect
    }
    uint32_t more = (i.a - w.registersHeld) * 32;
    if (more > w.cta->freeRegisters) {
      Wait wait;
      wait.kind = WaitKind::Registers;
      wait.phase = more;
      w.block(wait);
      return;
    }
    w.cta->freeRegisters -= more;
  } else {
    if (w.registersHeld <= i.a) {
      return;
    }
    w.cta->freeRegisters += (w.registersHeld - i.a) * 32;
  }
  w.registersHeld = i.a;
  ++w.cluster->effects;
}

} // namespace

uint32_t initialRegisters(const Program &program, uint32_t warps) {
  constexpr uint32_t kRegistersPerSm = 65536, kStep = 8, kMost = 248;
  if (program.maximumRegisters) {
    return program.maximumRegisters;
  }
  // What ptxas can give each thread when one CTA has the SM.
  uint32_t each = kRegistersPerSm / (warps * 32) / kStep * kStep;
  return std::min(each, kMost);
}

bool decodeRegisterBudget(Decoder &d) {
  Instruction &i = d.instruction();
  i.b = d.take("inc");
  if ((!i.b && !d.take("dec")) || !d.take("sync") || !d.take("aligned") ||
      !d.take("u32") || !d.count(1, 1) ||
      d.ast(0).kind != AstOperand::Integer) {
    return false;
  }
  if (d.ast(0).value < 24 || d.ast(0).value > 256 || d.ast(0).value % 8) {
    return d.fail("setmaxnreg takes a multiple of 8 from 24 to 256");
  }
  i.a = uint32_t(d.ast(0).value);
  i.handler = setMaximum;
  return true;
}

} // namespace gmoe::emulator
