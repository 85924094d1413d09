// The state of a running cluster: CTAs, warps, barriers, tensor memory and the
// asynchronous work in flight.
#ifndef GMOE_RUNTIME_EMULATOR_MACHINE_H
#define GMOE_RUNTIME_EMULATOR_MACHINE_H

#include "runtime/core/Device.h"
#include "runtime/emulator/Finding.h"
#include "runtime/emulator/Layout.h"
#include "runtime/emulator/Memory.h"
#include "runtime/emulator/Program.h"
#include "runtime/emulator/TensorMap.h"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>

namespace gmoe::emulator {

struct Cluster;
class Hazards;
class LaunchHazards;
struct ThreadKnowledge;

/// What a thread does to memory.
enum class MemoryAccess : uint8_t { Load, Store, Atomic, MapRead, MapChange };

/// splitmix64: small, and the same on every host.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t limit) {
    return uint32_t((next() >> 32) * limit >> 32);
  }
};

struct Counters {
  uint64_t instructions = 0;       // warp instructions
  uint64_t threadInstructions = 0; // summed over active lanes
  uint64_t mmaInstructions = 0, macs = 0, cpInstructions = 0, tmaBytes = 0;
};

/// An mbarrier object (ISA 9.7.13.15). Kept beside memory: its contents are
/// opaque to PTX.
struct MBarrier {
  bool valid = false;
  uint32_t pending = 0, expected = 0;
  int32_t transactions = 0;
  uint64_t phase = 0;
  uint32_t hazard = 0; // its state in the hazard checker + 1
};

/// Who issued asynchronous work, and what it knew at that moment. Empty
/// without the hazard checker.
struct Issuer {
  std::shared_ptr<const ThreadKnowledge> knowledge;
  uint32_t thread = 0, time = 0;
  uint32_t stream = 0, position = 0; // the work itself; 0: its mbarrier's
  bool genericProxy = false;         // cp.async
  /// Generic reads, too, need a proxy fence before the work writes: the ISA
  /// asks for it around clusterlaunchcontrol; for copies nobody does it.
  bool fencesReads = false;
};

struct NamedBarrier {
  uint32_t arrived = 0, expected = 0; // expected 0: every thread of the CTA
  bool active = false;
  uint64_t generation = 0;
  uint32_t count = 0; // of true predicates, for bar.red
  uint32_t threads = 0;
  uint32_t lastCount = 0, lastThreads = 0;
};

/// A tcgen05 operation in the queue of the CTA whose thread issued it.
struct TensorOp {
  enum Kind : uint8_t { Mma, Copy, Commit } kind = Mma;
  const Instruction *instruction = nullptr;
  uint32_t warp = 0;
  uint32_t d = 0, aTmem = 0, scaleA = 0, scaleB = 0, idesc = 0;
  uint64_t aDesc = 0, bDesc = 0;
  bool accumulate = false, aInTmem = false;
  std::array<uint32_t, 8> disabledLanes{};
  uint32_t inputScale = 0; // scale-input-d
  uint32_t barrier = 0;
  uint16_t multicast = 0;
  Issuer issuer;
};

/// The tensor operations of one thread, done in the order of issue.
struct TensorQueue {
  uint32_t thread = 0; // warp * 32 + lane
  uint64_t due = 0;    // of the first
  std::deque<TensorOp> operations;
};

struct Cta {
  uint32_t rank = 0;
  Dim3 index;
  std::vector<uint8_t> shared;
  std::vector<uint16_t> barrierIndex; // by offset / 8, 0: none
  std::vector<MBarrier> barriers;
  std::array<NamedBarrier, 16> named;
  std::vector<uint32_t> tmem;          // [lane][column]
  std::array<uint8_t, 16> tmemOwner{}; // per 32 columns: 0 free, 1 + slot start
  bool allocationRelinquished = false;
  uint64_t tmemVersion = 0;              // counts deallocations
  std::vector<TensorQueue> tensorQueues; // by issuing thread
  uint32_t liveThreads = 0, threads = 0;
  uint32_t freeRegisters = 0; // given back by setmaxnreg.dec
  uint32_t firstWarp = 0, warpCount = 0;

  MBarrier *barrierAt(uint32_t offset) {
    uint32_t slot = offset / 8;
    if (offset % 8 || slot >= barrierIndex.size() || barrierIndex[slot] == 0) {
      return nullptr;
    }
    return &barriers[barrierIndex[slot] - 1];
  }
};

/// One thread's part of a cp.async.
struct ThreadCopy {
  uint64_t global = 0;
  uint32_t shared = 0, group = 0;
  uint8_t lane = 0, bytes = 0, sourceBytes = 0;
};

/// A bulk copy in flight. Sources and tensor maps are read when it completes.
struct AsyncOp {
  enum Kind : uint8_t {
    TensorLoad,
    TensorStore,
    BulkLoad,  // global to shared
    BulkStore, // shared to global
    BulkPeer,  // shared to the cluster's shared
    ClusterCancel,
    ThreadCopy,    // cp.async of a warp
    ThreadArrive,  // cp.async.mbarrier.arrive of one thread
    RegisterStore, // st.async, red.async
  } kind = TensorLoad;
  const Instruction *instruction = nullptr;
  uint64_t due = 0;
  uint32_t warp = 0, lane = 0;
  uint64_t group = 0; // of the thread's bulk groups
  bool usesGroup = false, sourceRead = false;
  uint64_t global = 0; // address or tensor map
  std::array<int32_t, 5> coordinates{};
  uint32_t dimensions = 0;
  uint32_t shared = 0, barrier = 0, bytes = 0;
  uint16_t multicast = 0;    // CTA ranks; 0: the one in the addresses
  bool pairBarrier = false;  // .cta_group::2
  uint8_t reduction = 0;     // 0 none, else Reduction + 1
  uint8_t reductionType = 0; // a Type; tensor copies take their map's
  bool rowList = false;      // gather4 and scatter4
  std::vector<uint8_t> staged;
  TensorMapDesc map;
  Issuer issuer;
  std::vector<emulator::ThreadCopy> copies;
};

enum class WaitKind : uint8_t {
  None,
  Barrier,     // mbarrier phase
  Named,       // bar.sync
  ClusterWait, // barrier.cluster.wait
  Lanes,       // other lanes of the warp must arrive here
  BulkGroup,
  CopyGroup, // cp.async
  TmemAlloc,
  Registers, // of the CTA's share, for setmaxnreg
  Yield,     // runnable again at once, after the others
};

struct Wait {
  WaitKind kind = WaitKind::None;
  bool advance = false; // resume after the instruction, not at it
  bool timedOut = false;
  uint32_t address = 0; // shared::cluster address or named barrier
  uint32_t parity = 0;
  bool byParity = false;
  uint64_t phase = 0; // generation or phase that must pass
  uint32_t mask = 0;
};

/// Lanes of a warp that share a program counter.
struct Split {
  uint32_t pc = 0, mask = 0;
  Wait wait;
};

struct PendingTmem {
  const Instruction *instruction = nullptr;
  uint32_t mask = 0, address = 0;
  bool store = false;
  std::vector<uint32_t> values;
};

/// wgmma.mma_async of one warp, not yet waited for.
struct PendingWgmma {
  const Instruction *instruction = nullptr;
  uint32_t group = 0;
  uint64_t aDesc = 0, bDesc = 0;
  bool accumulate = false;
  Issuer issuer;
};

struct alignas(128) RegisterLine {
  uint32_t lanes[32];
};

struct Warp {
  Cluster *cluster = nullptr;
  Cta *cta = nullptr;
  const Program *program = nullptr;
  uint8_t *bank[2] = {nullptr, nullptr};
  std::vector<RegisterLine> registers;
  std::vector<uint8_t> local; // per lane, program->localBytes each
  uint32_t index = 0;         // in the cluster
  uint32_t warpInCta = 0;
  uint32_t alive = 0;
  uint32_t registersHeld = 0; // a thread, by setmaxnreg
  std::vector<Split> splits;
  uint32_t current = 0; // running split
  uint32_t pc = 0;      // of the running split
  uint32_t mask = 0;
  Wait blocked;          // set by a handler that cannot proceed
  bool event = false;    // blocked or failed
  bool timedOut = false; // the current try_wait waited long enough
  uint64_t clusterGeneration = 0;
  bool clusterArrived = false;
  uint32_t clusterArrivedMask = 0;
  std::array<uint64_t, 32> bulkGroup{};
  std::array<uint32_t, 32> copyGroup{}; // of cp.async
  std::vector<PendingWgmma> wgmma;
  uint32_t wgmmaGroup = 0, wgmmaIssued = 0; // issued: position in its stream
  std::vector<uint32_t> wgmmaEnds;          // of committed groups
  std::vector<PendingTmem> pendingTmem;
  std::vector<uint32_t> defined;  // by register line: lanes that were written
  bool watched = false;           // reads of registers are checked
  std::vector<uint8_t> lateLines; // LateLoads.cpp: not yet delivered
  bool late = false;              // there are some
  /// Strong reads of the running instruction, for the hazard checker.
  std::vector<std::pair<unsigned, uint64_t>> acquires;
  const Allocation *cachedAllocation = nullptr;

  template <class T> const T *source(const Operand &o) const {
    return reinterpret_cast<const T *>(bank[o.bank] +
                                       size_t(o.line) * kLineBytes);
  }
  template <class T> T *target(const Operand &o) {
    return reinterpret_cast<T *>(bank[0] + size_t(o.line) * kLineBytes);
  }
  const Operand &operand(const Instruction &i, unsigned k) const {
    return program->operands[i.operands + k];
  }
  /// Register or constant of any width, zero-extended.
  uint64_t scalar(const Operand &o, unsigned lane) const {
    return o.bytes == 8 ? source<uint64_t>(o)[lane]
                        : uint64_t(source<uint32_t>(o)[lane]);
  }
  void setScalar(const Operand &o, unsigned lane, uint64_t value) {
    if (o.bytes == 8) {
      target<uint64_t>(o)[lane] = value;
    } else {
      target<uint32_t>(o)[lane] = uint32_t(value);
    }
  }
  bool predicate(const Operand &o, unsigned lane) const {
    return bool(source<uint32_t>(o)[0] >> lane & 1) != o.negated;
  }
  uint32_t predicateMask(const Operand &o) const {
    uint32_t bits = source<uint32_t>(o)[0];
    return o.negated ? ~bits : bits;
  }
  void setPredicate(const Operand &o, uint32_t mask, uint32_t bits) {
    uint32_t &word = *target<uint32_t>(o);
    word = (word & ~mask) | (bits & mask);
  }
  uint64_t address(const Operand &o, unsigned lane) const {
    return scalar(o, lane) + uint64_t(o.offset);
  }

  /// Host pointer for `bytes` at `address`, or null after fail().
  uint8_t *resolve(StateSpace space, uint64_t address, uint32_t bytes,
                   unsigned lane, MemoryAccess access);
  /// Turns a shared or generic address into a shared::cluster address.
  bool sharedAddress(uint64_t address, bool generic, bool anyCta, unsigned lane,
                     uint32_t &out);
  void block(const Wait &wait) {
    blocked = wait;
    event = true;
  }
  /// Stops the cluster; the message gets kernel, line, instruction and place.
  void fail(const std::string &what, int lane = -1);
  /// True when all living lanes of `members` are here; else blocks.
  bool converged(uint32_t members, uint32_t mask);
  /// The same for an error that the hazard checker lists.
  void fail(FindingKind kind, const std::string &what, int lane = -1);
  std::string place(int lane) const;
};

/// What all clusters of a launch share.
struct LaunchContext {
  const Memory *memory = nullptr;
  const Program *program = nullptr;
  const KernelLaunch *launch = nullptr;
  std::vector<uint8_t> params;
  Dim3 grid, block, cluster, clusters;
  uint32_t clusterSize = 1, smCount = 1;
  uint32_t sharedBytes = 0; // the whole window, reserved part included
  uint64_t seed = 0;
  LaunchHazards *hazards = nullptr;
  uint64_t instructionLimit = 0;
  std::atomic<uint64_t> *nextCluster = nullptr; // the first not yet begun
};

struct Cluster {
  const LaunchContext *context = nullptr;
  uint64_t id = 0;
  Dim3 index;
  std::vector<Cta> ctas;
  std::vector<Warp> warps;
  std::vector<AsyncOp> async;
  uint64_t threadCopies = 0; // orders cp.async and arrivals on them
  uint64_t tick = 0, nextDue = ~uint64_t(0);
  uint64_t effects = 0; // stores, arrivals, completions: progress made
  uint32_t arrived = 0; // at the cluster barrier, in threads
  uint64_t generation = 0;
  uint32_t liveThreads = 0;
  Random random{0};
  Counters counters;
  Status status;
  Hazards *hazards = nullptr; // null: off
  bool stop = false;          // enough findings
  std::vector<float> scratchA, scratchB;

  bool failed() const { return !status.ok(); }
  void fail(StatusCode code, std::string message) {
    if (status.ok()) {
      status = Status(code, std::move(message));
    }
  }
  /// Fails with the place of an asynchronous operation.
  void failAsync(const Instruction &i, uint32_t warp, const std::string &what);
  void failAsync(FindingKind kind, const Instruction &i, uint32_t warp,
                 const std::string &what);
  /// Fails with an error that the hazard checker lists.
  void failFinding(FindingKind kind, uint32_t line, const std::string &what);
  /// "kernel 'k', line 7, 'ld.shared.b32 ...'".
  std::string describe(const Instruction &i) const;
  Cta *ctaOf(uint32_t sharedAddress) {
    uint32_t rank = sharedAddress >> 24;
    return rank < ctas.size() ? &ctas[rank] : nullptr;
  }
  uint8_t *sharedPointer(uint32_t address, uint64_t bytes) {
    Cta *cta = ctaOf(address);
    uint64_t offset = address & 0xffffffu;
    if (!cta || offset < kReservedSharedBytes ||
        offset + bytes > cta->shared.size()) {
      return nullptr;
    }
    return cta->shared.data() + offset;
  }
  MBarrier *barrierAt(uint32_t address) {
    Cta *cta = ctaOf(address);
    return cta ? cta->barrierAt(address & 0xffffffu) : nullptr;
  }
  /// Delay in ticks of a new asynchronous operation.
  uint64_t drawDelay();
  void enqueue(AsyncOp op);
  void enqueueTensor(Cta &cta, uint32_t thread, TensorOp op);
};

// Barrier.cpp: phase accounting shared by threads and asynchronous work. Each
// returns an empty string, or what went wrong.
std::string barrierArrive(Cluster &cluster, MBarrier &b, uint32_t count);
std::string barrierExpect(Cluster &cluster, MBarrier &b, int64_t bytes);
std::string barrierComplete(Cluster &cluster, MBarrier &b, int64_t bytes);
void namedBarrierCheck(Cluster &cluster, Cta &cta, NamedBarrier &b);
void clusterBarrierCheck(Cluster &cluster);
void finishNamedBarrier(Warp &warp, const Split &split);
bool bulkGroupsPending(const Warp &warp, uint32_t mask, uint64_t allowed,
                       bool reads);

// CopyAsync.cpp
bool copyGroupsPending(const Warp &warp, uint32_t mask, const Wait &wait);
bool completeThreadOp(Cluster &cluster, AsyncOp &op);

// Tma.cpp, Tcgen05*.cpp: run one operation to its end. False: not yet finished
// (a store between reading and writing).
bool completeAsync(Cluster &cluster, AsyncOp &op);
void completeTensor(Cluster &cluster, Cta &cta, TensorOp &op);
void executeMma(Cluster &cluster, Cta &cta, TensorOp &op);
void executeCopy(Cluster &cluster, Cta &cta, TensorOp &op);
void flushTmem(Warp &warp, bool stores, bool loads);
std::string checkMma(const Cluster &cluster, const TensorOp &op);

/// RegisterBudget.cpp: registers a thread has when the kernel starts.
uint32_t initialRegisters(const Program &program, uint32_t warps);

/// Deadlock.cpp: stops a cluster that is stuck, and says on what.
void reportDeadlock(Cluster &cluster, const char *kind);

// Scheduler.cpp
void runCluster(Cluster &cluster);
void initializeCluster(Cluster &cluster, const LaunchContext &context,
                       uint64_t id);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_MACHINE_H
