// The happens-before checker of one cluster. Threads, asynchronous copies and
// tensor operations tell it what they access and how they synchronize; it
// reports accesses that nothing orders, whatever order they happened to run in.
// How it thinks is in docs/rationale/hazard_checker.md.
#ifndef GMOE_RUNTIME_EMULATOR_HAZARDS_H
#define GMOE_RUNTIME_EMULATOR_HAZARDS_H

#include "runtime/emulator/EmulatorDevice.h"
#include "runtime/emulator/Finding.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Shadow.h"

#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

namespace gmoe::emulator {

/// What a synchronization carries from one thread to another.
struct Knowledge {
  Clock strict; // ordered, scopes respected
  Clock loose;  // ordered if scopes are ignored: enough to reuse a buffer
  Clock proxy;  // fenced from the generic to the async proxy
  Clock before; // behind a tcgen05.fence::before_thread_sync
  Clock maps;   // released towards readers of tensor maps

  void join(const Knowledge &o) {
    strict.join(o.strict);
    loose.join(o.loose);
    proxy.join(o.proxy);
    before.join(o.before);
    maps.join(o.maps);
  }
};

/// What the lanes of a warp that know the same know.
struct ThreadKnowledge : Knowledge {
  Clock after;      // behind a tcgen05.fence::after_thread_sync
  Knowledge fenced; // what a relaxed release hands on, since the last fence
  Knowledge seen;   // what relaxed loads saw, until the next fence
  bool hasFenced = false, hasSeen = false;
};

/// Releases by way of one object: barriers, flags in memory.
struct ReleaseState {
  Knowledge cluster; // released at cluster scope or wider
  std::vector<std::pair<uint32_t, Knowledge>> local; // by CTA rank, any scope
  Knowledge &of(uint32_t rank);
};

/// A clock of another cluster's components, which is shared and never changes.
using ClusterClock = std::shared_ptr<const Clock>;
/// What both know.
ClusterClock joined(const ClusterClock &a, const ClusterClock &b);

struct StreamInfo {
  enum Kind : uint8_t {
    BarrierPhases,
    BulkReads,
    BulkWrites,
    TensorQueue,
    TmemLoads,
    TmemStores,
    CopyGroups, // of cp.async, in the generic proxy
    Wgmma,
  } kind = BarrierPhases;
  uint32_t warp = 0, lane = 0; // the issuer; of a barrier: CTA rank
  uint32_t address = 0;        // of a barrier
};

/// What all clusters of a launch share: flags in global memory, findings.
class LaunchHazards {
public:
  LaunchHazards(HazardLevel level, size_t limit)
      : level_(level), limit_(limit) {}
  HazardLevel level() const { return level_; }
  /// True when the launch has found enough and may stop.
  bool report(Finding finding);
  bool enough() const { return enough_.load(std::memory_order_relaxed); }
  std::vector<Finding> take();
  /// What releases of tensor maps in a cluster cover, at its end.
  void addMapReleases(uint64_t cluster, Clock released);
  bool isReleased(const GlobalWrite &write) const;

  /// What the releases of a cluster at one address carry: in full for its own
  /// threads, the strict clock for other clusters.
  struct Release {
    ReleaseState own;
    ClusterClock strict;
  };
  struct Flag {
    std::map<uint64_t, Release> byCluster;
  };
  std::mutex mutex;
  std::unordered_map<uint64_t, Flag> flags;
  /// Held from the record of an atomic access to its effect: the last record
  /// is then that of the last value, whichever clusters race for it.
  std::mutex atomics;

private:
  HazardLevel level_;
  size_t limit_;
  std::mutex mutex_;
  std::atomic<bool> enough_{false};
  std::vector<Finding> findings_;
  std::unordered_map<uint64_t, Clock> mapReleases_; // by cluster
};

class Hazards {
public:
  enum Access : uint8_t { Read, Write, Atomic };

  explicit Hazards(LaunchHazards &launch) : launch_(launch) {}
  void begin(Cluster &cluster);
  bool full() const { return launch_.level() == HazardLevel::Full; }

  // Threads and memory (HazardMemory.cpp).
  void shared(Warp &w, unsigned lane, Cta &cta, uint32_t offset, uint32_t bytes,
              Access access);
  void global(Warp &w, unsigned lane, const Allocation &a, uint64_t offset,
              uint32_t bytes, Access access);
  /// To be held while an atomic access is recorded and takes effect.
  std::unique_lock<std::mutex> orderAtomic() {
    return std::unique_lock<std::mutex>(launch_.atomics);
  }
  /// What a strong access releases, before it takes effect.
  void releaseAccess(Warp &w, unsigned lane, uint64_t address, Access access);
  /// What it acquires, after it has read.
  void acquireAccess(Warp &w, unsigned lane, uint64_t address);

  // Fences and barriers (HazardSync.cpp).
  void fence(Warp &w, uint32_t mask, MemoryScope scope);
  /// fence.mbarrier_init
  void initFence(Warp &w, uint32_t mask);
  void proxyFence(Warp &w, uint32_t mask);
  void beforeThreadSync(Warp &w, uint32_t mask);
  void afterThreadSync(Warp &w, uint32_t mask);
  void warpSync(Warp &w, uint32_t members);
  void arriveNamed(Warp &w, uint32_t mask, NamedBarrier &b);
  void completeNamed(NamedBarrier &b);
  void leaveNamed(Warp &w, uint32_t mask, NamedBarrier &b);
  void arriveCluster(Warp &w, uint32_t mask, bool relaxed);
  void completeCluster();
  void leaveCluster(Warp &w, uint32_t mask);
  void initBarrier(Warp &w, unsigned lane, uint32_t address, MBarrier &b);
  void arrive(Warp &w, uint32_t mask, uint32_t address, MBarrier &b,
              Order order, MemoryScope scope);
  void completePhase(MBarrier &b);
  /// `byParity`: the parity may name an older phase.
  void wait(Warp &w, uint32_t mask, uint32_t address, MBarrier &b, Order order,
            MemoryScope scope, bool byParity);
  void exit(Warp &w, uint32_t mask);
  void end();

  // Asynchronous work (HazardAsync.cpp).
  Issuer issue(Warp &w, unsigned lane);
  Issuer issueBulk(Warp &w, unsigned lane, uint64_t group);
  Issuer issueTensor(Warp &w, unsigned lane, bool isCommit);
  void bulkWait(Warp &w, uint32_t mask, uint64_t allowed, bool reads);
  /// cp.async: knowledge of a warp, and a stream for each lane.
  Issuer issueCopy(Warp &w, uint32_t mask);
  void threadCopy(const AsyncOp &op, const ThreadCopy &copy);
  /// `whole`: copies of the open group count as well.
  void copyWait(Warp &w, uint32_t mask, uint64_t allowed, bool whole);
  void copyArrive(const AsyncOp &op, uint32_t position, MBarrier &b);
  Issuer issueWgmma(Warp &w, uint32_t mask);
  void wgmmaWait(Warp &w, uint32_t mask, uint32_t position);
  /// Any asynchronous read of shared memory through the async proxy.
  void readShared(const Instruction &i, uint32_t warp, const Issuer &issuer,
                  const Cta &cta, uint32_t offset, uint32_t bytes);
  /// Asynchronous work signals a barrier.
  void signalUse(const Instruction &i, uint32_t warp, const Issuer &issuer,
                 const MBarrier &b, uint32_t address);
  void asyncWriteShared(const AsyncOp &op, Cta &cta, uint32_t offset,
                        uint64_t bytes, const MBarrier *signals);
  void asyncReadShared(const AsyncOp &op, Cta &cta, uint32_t offset,
                       uint64_t bytes, const MBarrier *signals = nullptr);
  void asyncReadGlobal(const AsyncOp &op, const Allocation &a, uint64_t offset,
                       uint64_t bytes);
  void asyncWriteGlobal(const AsyncOp &op, const Allocation &a, uint64_t offset,
                        uint64_t bytes);

  // Tensor maps in global memory (HazardMaps.cpp).
  /// fence.proxy.tensormap::generic.release and .acquire.
  void releaseMaps(Warp &w, uint32_t mask);
  void acquireMap(Warp &w, unsigned lane, uint64_t address);
  /// A copy reads its map, which it keeps in mind.
  void mapRead(const AsyncOp &op, const Allocation &a, const MBarrier *signals);

  // Tensor memory and tensor operations (HazardTensor.cpp).
  void tensorAccess(const TensorOp &op, Cta &cta, uint32_t lane, uint32_t lanes,
                    uint32_t column, uint32_t columns, Access access);
  void commit(const TensorOp &op, Cta &cta, MBarrier &b, uint32_t address);
  void allocateTmem(Warp &w, uint32_t mask, uint32_t column, uint32_t columns);
  void freeTmem(Warp &w, uint32_t mask, uint32_t column, uint32_t columns);
  /// tcgen05.ld or st by a warp.
  void tmemAccess(Warp &w, uint32_t mask, uint32_t lane, uint32_t lanes,
                  uint32_t column, uint32_t columns, bool store);
  // Registers (RegisterCheck.cpp).
  void checkRegisters(Warp &w, const Instruction &i, uint32_t mask);
  void tmemWait(Warp &w, uint32_t mask, bool stores);

  void add(FindingKind kind, uint32_t line, const std::string &what) {
    report(kind, line, what, Record());
  }
  /// A finding of the running instruction of a warp.
  void find(FindingKind kind, Warp &w, int lane, const std::string &what,
            Record other = Record());
  /// Of asynchronous work.
  void findAsync(FindingKind kind, const Instruction &i, uint32_t warp,
                 const std::string &what, Record other = Record());

private:
  struct LaneClass {
    uint32_t mask = 0;
    std::shared_ptr<ThreadKnowledge> knowledge;
  };
  struct WarpState {
    std::vector<LaneClass> classes;
    uint32_t now = 1, whole = 0;
    uint32_t loads = 0, stores = 0; // streams of tensor memory accesses
    uint32_t loadPosition = 0, storePosition = 0;
  };
  struct BarrierState {
    uint32_t stream = 0;
    uint32_t phases = 0; // completed, over all lives of the object
    Record init;
    bool fenced = false; // the initialization, towards the async proxy
    ReleaseState open, done;
    Record lastRemote; // arrival of a thread of another CTA
    Record lastCommit; // of one, by the phase that its arrival is in
    uint32_t base = 0; // phases of earlier lives of the object
  };
  struct Queue {
    uint32_t stream = 0, position = 0;
    uint32_t lastIssue = 0; // of an operation
  };
  struct BulkStreams {
    uint32_t reads = 0, writes = 0, issued = 0, instruction = 0;
  };
  struct CtaState {
    std::vector<Cell> shared; // by word
    std::vector<Cell> tmem;   // by 16 lanes and column
    std::array<Record, 16> allocation;
    Clock exits;                       // what the threads knew when they left
    std::map<uint32_t, Record> copies; // the last into it, by stream
  };
  struct MapUse {
    Record reads[2];
  };
  /// An acquire of a tensor map, and the released changes it covers.
  struct MapAcquire {
    uint32_t thread, time;
    Clock covers;
  };

  WarpState &state(const Warp &w) { return warps_[w.index]; }
  LaneClass &classOf(WarpState &s, unsigned lane);
  ThreadKnowledge &own(LaneClass &c);
  /// Calls f(class) for classes made to lie within `mask`.
  template <class F> void each(Warp &w, uint32_t mask, F f);
  static void release(const Knowledge &from, Knowledge &to, uint32_t warp,
                      uint32_t mask, bool whole, uint32_t now);
  void releaseTo(Warp &w, uint32_t mask, ReleaseState &to, Order order,
                 MemoryScope scope);
  void acquireFrom(Warp &w, uint32_t mask, const ReleaseState &from,
                   Order order, MemoryScope scope);
  bool initialized(const ThreadKnowledge &k, uint32_t thread,
                   const BarrierState &s) const;
  uint32_t newStream(StreamInfo::Kind kind, uint32_t warp, uint32_t lane,
                     uint32_t address);
  uint32_t threadOf(const Warp &w, unsigned lane) const {
    return w.index * 32 + lane;
  }
  uint32_t indexOf(const Instruction &i) const;
  std::string describe(Record r) const;
  void report(FindingKind kind, uint32_t line, const std::string &text,
              Record other);
  /// Whether a write by another cluster is known to have happened.
  bool knowsForeign(const GlobalWrite &write) const {
    auto it = clusters_.find(write.cluster);
    return it != clusters_.end() &&
           it->second->knows(write.write.component(), write.write.time());
  }
  /// Asynchronous work as its accesses are checked.
  struct Work {
    const Instruction *instruction;
    uint32_t warp;
    const Issuer *issuer;
  };
  enum class Standing : uint8_t { Ordered, Unfenced, Unordered };
  /// How an earlier access stands to asynchronous work.
  Standing standing(const Issuer &issuer, Record earlier, bool isWrite,
                    bool reads) const;
  /// Who accesses tensor memory, and the record to leave there.
  struct TensorUse {
    const ThreadKnowledge &knowledge;
    uint32_t warp;
    Record record;
  };
  template <class Say>
  void tensorUse(const TensorUse &use, Cta &cta, uint32_t lane, uint32_t lanes,
                 uint32_t column, uint32_t columns, Access access, Say say);
  /// All that the lanes know is now behind a fence of the clock's kind.
  void putBehind(Warp &w, uint32_t mask, Clock Knowledge::*clock);
  /// The cells of a column range of tensor memory, made on first use.
  template <class F>
  void tmemCells(Cta &cta, uint32_t lane, uint32_t lanes, uint32_t column,
                 uint32_t columns, F f);
  bool hasAcquired(const Issuer &issuer, uint64_t address, Record change) const;
  bool checkChangedMap(const AsyncOp &op, const Allocation &a, uint64_t offset);
  void checkRead(const Work &work, Record write, const std::string &where);
  void checkWrite(const Work &work, Record earlier, bool wasWrite,
                  const std::string &where);
  void readCells(const Work &work, Cell *cells, size_t count, Record record,
                 uint64_t address);
  void writeCells(const Work &work, Cell *cells, size_t count, Record record,
                  uint64_t address);
  uint32_t warpOf(Record r) const;
  void remoteAccesses(const Cta &cta);
  void checkReaders(const Work &work, uint32_t address, uint64_t bytes);
  void exitFinding(const std::string &what, Record other);
  void remember(Cell &cell, Record r, const Clock &known);
  FindingKind refine(FindingKind kind, const Instruction &i,
                     Record other) const;
  bool fresh(FindingKind kind, uint32_t instruction, Record other);

  LaunchHazards &launch_;
  Cluster *cluster_ = nullptr;
  std::vector<WarpState> warps_;
  std::vector<CtaState> ctas_;
  std::vector<StreamInfo> streams_;
  std::vector<BarrierState> barriers_;             // by MBarrier::hazard - 1
  std::unordered_map<uint32_t, Queue> queues_;     // by thread
  std::unordered_map<uint32_t, BulkStreams> bulk_; // by thread
  std::unordered_map<uint32_t, uint32_t> copies_;  // streams by thread
  std::unordered_map<uint32_t, Queue> wgmma_;      // by warp
  uint32_t copyStream(uint32_t thread);
  /// Every role reads what launch control answers: all readers of such words,
  /// by shared address.
  std::unordered_map<uint32_t, std::vector<Record>> answers_;
  std::unordered_map<uint64_t, ReleaseState> flags_; // by shared address
  std::unordered_map<const NamedBarrier *, std::pair<Knowledge, Knowledge>>
      named_;
  Knowledge clusterOpen_, clusterDone_;
  std::unordered_map<uint64_t, MapUse> maps_; // tensor maps in global memory
  std::unordered_map<uint64_t, std::vector<MapAcquire>> acquires_;
  Clock mapReleases_;
  std::unordered_map<uint64_t, ClusterClock> clusters_; // known of the others
  std::set<uint64_t> reported_;
};

template <class F> void Hazards::each(Warp &w, uint32_t mask, F f) {
  WarpState &s = state(w);
  for (size_t k = 0; k < s.classes.size(); ++k) {
    uint32_t inside = s.classes[k].mask & mask;
    if (inside == 0) {
      continue;
    }
    if (inside != s.classes[k].mask) {
      LaneClass rest = s.classes[k];
      rest.mask &= ~mask;
      s.classes[k].mask = inside;
      s.classes.push_back(std::move(rest));
    }
    f(s.classes[k]);
  }
}

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_HAZARDS_H
