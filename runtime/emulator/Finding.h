// What the hazard checker reports. Each kind has a page under
// docs/findings/, named by its id.
#ifndef GMOE_RUNTIME_EMULATOR_FINDING_H
#define GMOE_RUNTIME_EMULATOR_FINDING_H

#include <cstdint>
#include <string>

namespace gmoe {

enum class FindingKind : uint8_t {
  ReadUnordered,    // a read not ordered after the write that it needs
  WriteUnordered,   // a write not ordered after another write
  OverwriteInUse,   // a write over data still being read
  Uninitialized,    // read of data that nothing wrote
  ProxyFence,       // generic access, then async proxy, without a fence
  TensorFence,      // tcgen05.fence missing between threads
  TensorMapFence,   // tensor map changed, used without acquire
  TensorMapInUse,   // tensor map changed while a copy reads it
  TransactionBytes, // transaction count over or under
  ArrivalCount,     // more arrivals than the barrier counts
  SkippedPhase,     // a wait that missed a whole phase
  BarrierLifetime,  // mbarrier used without an initialization ordered before
  TmemLeak,         // columns still allocated at exit
  TmemFree,         // double free, or a free that matches no allocation
  TmemUse,          // columns that are not allocated, or freed while in use
  OutOfBounds,      // in any space
  Misaligned,       // in any space
  NotConverged,     // `.aligned` instruction without all threads of the warp
  Deadlock,         // nothing can proceed
  RegisterBudget,   // setmaxnreg beyond the register file
  LaunchControl,    // a CLC response read early or its slot reused early
  ExitWhilePending, // a copy or a peer's access outlives the CTA
  BarrierMisuse,    // named or cluster barrier out of turn
  Count
};

/// The stable name, for instance "read-unordered".
const char *findingId(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::Deadlock;
  std::string kernel;
  uint32_t line = 0;      // of the PTX
  uint32_t otherLine = 0; // of the other party, 0: none
  std::string text;       // all of it, without the id
};

} // namespace gmoe

#endif // GMOE_RUNTIME_EMULATOR_FINDING_H
