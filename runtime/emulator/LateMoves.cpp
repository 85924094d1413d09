// Copies of registers that a tcgen05.ld has yet to deliver. A compiler may put
// `mov.b32 %f1, %r1` between the load and its tcgen05.wait::ld, because the
// inline assembly of the wait does not name the registers. ptxas honours the
// dependence, so such a copy is done again when the wait delivers; every other
// use before the wait reads poison.
#include "runtime/emulator/LateMoves.h"
#include "runtime/emulator/Hazards.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

bool startsWith(std::string_view text, std::string_view name) {
  if (!text.empty() && text[0] == '@') {
    size_t space = text.find_first_of(" \t");
    size_t begin = text.find_first_not_of(" \t", space);
    text = begin == std::string_view::npos ? "" : text.substr(begin);
  }
  return text.substr(0, name.size()) == name;
}

/// Calls f(line) for each 32-bit line of a register, a vector's included.
template <class F> void eachLine(const Program &p, const Operand &o, F f) {
  if (o.kind == Operand::Vector) {
    for (uint32_t k = 0; k < o.count; ++k) {
      eachLine(p, p.operands[o.first + k], f);
    }
  } else if (o.kind == Operand::Register && o.bank == 0) {
    for (uint32_t k = 0; k < std::max(1u, o.bytes / 4u); ++k) {
      f(o.line + k);
    }
  }
}

bool reads(const Warp &w, const Instruction &i) {
  bool late = false;
  eachLine(*w.program, w.operand(i, 1),
           [&](uint32_t line) { late |= w.lateLines[line] != 0; });
  return late;
}

void lateMove(Warp &w, const Instruction &i, uint32_t mask) {
  i.plain(w, i, mask);
  if (!w.pendingTmem.empty() && !w.lateLines.empty() && reads(w, i)) {
    w.lateMoves.push_back({&i, mask});
    eachLine(*w.program, w.operand(i, 0),
             [&](uint32_t line) { w.lateLines[line] = 1; });
  }
}

} // namespace

void markLateMoves(Program &p) {
  std::vector<uint8_t> late(p.registerLines, 0);
  bool any = false, changed = true;
  for (const Instruction &i : p.code) {
    if (startsWith(i.text, "tcgen05.ld.") && i.operandCount > 0) {
      eachLine(p, p.operands[i.operands], [&](uint32_t line) {
        late[line] = 1;
        any = true;
      });
    }
  }
  while (any && changed) {
    changed = false;
    for (Instruction &i : p.code) {
      if (i.plain || i.operandCount != 2 || !startsWith(i.text, "mov.")) {
        continue;
      }
      bool hit = false;
      eachLine(p, p.operands[i.operands + 1],
               [&](uint32_t line) { hit |= late[line] != 0; });
      if (hit) {
        i.plain = i.handler;
        i.handler = lateMove;
        changed = true;
        eachLine(p, p.operands[i.operands],
                 [&](uint32_t line) { late[line] = 1; });
      }
    }
  }
}

void beginLateLoad(Warp &w, const Operand &destination) {
  if (w.lateLines.empty()) {
    w.lateLines.assign(w.program->registerLines, 0);
  }
  eachLine(*w.program, destination,
           [&](uint32_t line) { w.lateLines[line] = 1; });
}

void finishLateMoves(Warp &w) {
  for (const auto &[instruction, mask] : w.lateMoves) {
    instruction->plain(w, *instruction, mask);
    if (Hazards *h = w.cluster->hazards) {
      h->tmemLoaded(w, *instruction, mask, true);
    }
  }
  w.lateMoves.clear();
  w.lateLines.clear();
}

} // namespace gmoe::emulator
