// Reads of registers that nothing wrote.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {
namespace {

/// Calls f(operand) for the registers of an operand.
template <class F> void eachRegister(const Warp &w, const Operand &o, F f) {
  if (o.kind == Operand::Vector) {
    for (uint32_t k = 0; k < o.count; ++k) {
      eachRegister(w, w.program->operands[o.first + k], f);
    }
  } else if (o.bank == 0 && o.kind != Operand::None &&
             o.kind != Operand::Constant) {
    f(o);
  }
}

} // namespace

void Hazards::checkRegisters(Warp &w, const Instruction &i, uint32_t mask) {
  bool isMove = i.text.compare(0, 4, "mov.") == 0;
  uint32_t sources = ~0u;
  auto read = [&](uint32_t line) {
    uint32_t missing = mask & ~w.defined[line];
    if (missing == 0) {
      return;
    }
    if (isMove) {
      // Compilers copy what they leave undefined; a use is what counts.
      sources &= ~missing;
      return;
    }
    find(FindingKind::Uninitialized, w, __builtin_ctz(missing),
         "reads a register that nothing wrote");
    w.defined[line] |= missing; // said once
  };
  if (i.guarded) {
    read(i.guardLine);
  }
  for (uint32_t k = 0; k < i.operandCount; ++k) {
    eachRegister(w, w.operand(i, k), [&](const Operand &o) {
      if (!o.written) {
        read(o.line);
      }
    });
  }
  for (uint32_t k = 0; k < i.operandCount; ++k) {
    eachRegister(w, w.operand(i, k), [&](const Operand &o) {
      if (o.written) {
        uint32_t &defined = w.defined[o.line];
        defined = (defined & ~mask) | (mask & sources);
      }
    });
  }
}

} // namespace gmoe::emulator
