// Reads of registers that nothing wrote, or that a tcgen05.ld has not delivered
// yet.
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

bool isPending(const Warp &w, uint32_t line) {
  bool found = !w.lateLines.empty() && w.lateLines[line] != 0;
  for (const PendingTmem &p : w.pendingTmem) {
    for (uint32_t k = 0; k < p.instruction->operandCount && !p.store; ++k) {
      eachRegister(w, w.operand(*p.instruction, k), [&](const Operand &o) {
        found |= o.written && o.line == line;
      });
    }
  }
  return found;
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
    int lane = __builtin_ctz(missing);
    if (isMove) {
      // Compilers copy what they leave undefined, and what a tcgen05.ld still
      // fills (LateMoves.cpp); a use is what counts.
      sources &= ~missing;
      return;
    }
    if (isPending(w, line)) {
      find(FindingKind::ReadUnordered, w, lane,
           "reads a register that tcgen05.ld fills, before "
           "tcgen05.wait::ld");
    } else {
      find(FindingKind::Uninitialized, w, lane,
           "reads a register that nothing wrote");
    }
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

void Hazards::tmemLoaded(Warp &w, const Instruction &i, uint32_t mask,
                         bool delivered) {
  for (uint32_t k = 0; k < i.operandCount; ++k) {
    eachRegister(w, w.operand(i, k), [&](const Operand &o) {
      if (o.written) {
        uint32_t &defined = w.defined[o.line];
        defined = delivered ? defined | mask : defined & ~mask;
      }
    });
  }
  w.watched = full() || !delivered || w.pendingTmem.size() > 1;
}

} // namespace gmoe::emulator
