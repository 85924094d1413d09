// The report of a cluster in which nothing can proceed: what every warp waits
// for.
#include "runtime/emulator/Machine.h"

namespace gmoe::emulator {
namespace {

std::string describeWait(Cluster &c, const Warp &w, const Split &s) {
  const Instruction &i = w.program->code[s.pc];
  std::string text = "\n  " + w.place(-1) + ", lanes " + hexadecimal(s.mask) +
                     ", line " + std::to_string(i.sourceLine) + ", '" +
                     std::string(i.text) + "': ";
  switch (s.wait.kind) {
  case WaitKind::Barrier: {
    const MBarrier *b = c.barrierAt(s.wait.address);
    text += "mbarrier at shared address " + hexadecimal(s.wait.address);
    if (s.wait.byParity) {
      text +=
          ", waits for the phase of parity " + std::to_string(s.wait.parity);
    }
    if (b) {
      text += ", in phase " + std::to_string(b->phase) + " with " +
              std::to_string(b->pending) + " of " +
              std::to_string(b->expected) + " arrivals pending and " +
              std::to_string(b->transactions) + " transaction bytes pending";
    }
    break;
  }
  case WaitKind::Named: {
    const NamedBarrier &b = w.cta->named[s.wait.address];
    text += "barrier " + std::to_string(s.wait.address) + " has " +
            std::to_string(b.arrived) + " threads of " +
            (b.expected ? std::to_string(b.expected) : std::string("all"));
    break;
  }
  case WaitKind::ClusterWait:
    text += "cluster barrier has " + std::to_string(c.arrived) +
            " threads of " + std::to_string(c.liveThreads);
    break;
  case WaitKind::Lanes:
    text += "waits for lanes " + hexadecimal(s.wait.mask & w.alive & ~s.mask) +
            " of its warp";
    break;
  case WaitKind::BulkGroup:
    text += "waits for bulk groups";
    break;
  case WaitKind::Registers:
    text += "waits for " + std::to_string(s.wait.phase) +
            " registers, its CTA has " + std::to_string(w.cta->freeRegisters) +
            " free";
    break;
  case WaitKind::TmemAlloc:
    text += "waits for tensor memory columns";
    break;
  default:
    text += "can run";
  }
  return text;
}

/// The most telling cause among the waits of a stuck cluster.
FindingKind stuckOn(Cluster &c) {
  FindingKind kind = FindingKind::Deadlock;
  for (const Warp &w : c.warps) {
    for (const Split &s : w.splits) {
      if (s.mask == 0) {
        continue;
      }
      const Instruction &i = w.program->code[s.pc];
      if (s.wait.kind == WaitKind::Registers) {
        return FindingKind::RegisterBudget;
      }
      if (s.wait.kind == WaitKind::Lanes && !s.wait.byParity) {
        // Others of the warp may arrive once their own wait ends.
        bool othersWait = false;
        for (const Split &o : w.splits) {
          othersWait |= &o != &s && o.mask && o.wait.kind != WaitKind::Lanes &&
                        o.wait.kind != WaitKind::Named;
        }
        if (!othersWait && i.text.find(".aligned") != std::string::npos) {
          return FindingKind::NotConverged;
        }
      }
      const MBarrier *b = s.wait.kind == WaitKind::Barrier
                              ? c.barrierAt(s.wait.address)
                              : nullptr;
      if (b && b->pending == 0 && b->transactions != 0) {
        kind = FindingKind::TransactionBytes;
      }
    }
  }
  return kind;
}

} // namespace

void reportDeadlock(Cluster &c, const char *kind) {
  std::string text = std::string(kind) + " in kernel '" +
                     c.context->program->name +
                     "': no warp can proceed and no asynchronous operation is "
                     "in flight";
  unsigned shown = 0;
  for (const Warp &w : c.warps) {
    for (const Split &s : w.splits) {
      if (s.mask && shown++ < 64) {
        text += describeWait(c, w, s);
      }
    }
  }
  if (shown > 64) {
    text += "\n  and " + std::to_string(shown - 64) + " more";
  }
  c.failFinding(stuckOn(c), 0, text);
}

} // namespace gmoe::emulator
