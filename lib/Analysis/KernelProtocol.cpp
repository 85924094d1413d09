#include "lib/Analysis/KernelProtocol.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace moe_kernel;

namespace {

/// One side of one pipeline in one role.
struct SideState {
  /// The acquire or wait that opened the stage, and the op that gave it back.
  Operation *opened = nullptr;
  Operation *closed = nullptr;
  Value position;
  /// Producer: the expect of the open stage and its loads.
  ExpectOp expect;
  SmallVector<LoadOp> loads;
};

/// Arrivals of a role on a barrier in one round; nothing if they depend on
/// which thread runs.
struct Arrivals {
  int64_t count = 0;
  bool known = true;
  Operation *at = nullptr;
};

using Side = llvm::MapVector<Operation *, SideState>;
using ArrivalMap = llvm::DenseMap<Operation *, Arrivals>;

class RoleChecker {
public:
  explicit RoleChecker(RoleOp role) : role(role) {}

  LogicalResult run();

  Side filled, emptied;
  ArrivalMap full, empty;

private:
  LogicalResult visit(Operation *op);
  LogicalResult open(Side &side, Operation *op, Value pipeline, Value position);
  /// Requires an open stage at `position`.
  FailureOr<SideState *> require(Side &side, Operation *op, Value pipeline,
                                 Value position, StringRef opener);
  LogicalResult closeFill(PipelineOp pipeline, SideState &state);
  void arrive(ArrivalMap &arrivals, PipelineOp pipeline, Operation *op,
              bool oneThread);
  InFlightDiagnostic error(Operation *op, PipelineOp pipeline) {
    return op->emitOpError() << "in role '" << role.getName() << "', pipeline '"
                             << pipeline.getName() << "': ";
  }

  LogicalResult checkDrained();

  RoleOp role;
  llvm::DenseSet<Value> acquiredMaps;
  /// Pipelines that this role loads into, and those it drains last.
  llvm::MapVector<Operation *, LoadOp> loaded;
  llvm::DenseSet<Operation *> drained;
};

/// Bytes that a load in each CTA of the cluster brings to one barrier.
int64_t bytesOf(LoadOp load) {
  auto func = load->getParentOfType<FuncOp>();
  int64_t boxes = load.getAlong() ? func.getReceivers(*load.getAlong()) : 1;
  return load.getMap().getType().getBoxBytes() * boxes * func.getCtasOfUnit();
}

/// Whether `value` differs between threads of a warp, as far as its defining
/// ops show.
bool dependsOnThread(Value value, unsigned depth = 8) {
  Operation *def = value.getDefiningOp();
  if (!def || depth == 0) {
    return false;
  }
  if (auto index = dyn_cast<IndexOp>(def)) {
    return index.getKind() == IndexKind::thread ||
           index.getKind() == IndexKind::lane ||
           index.getKind() == IndexKind::warp;
  }
  return llvm::any_of(def->getOperands(), [&](Value operand) {
    return dependsOnThread(operand, depth - 1);
  });
}

} // namespace

void RoleChecker::arrive(ArrivalMap &arrivals, PipelineOp pipeline,
                         Operation *op, bool oneThread) {
  Arrivals &entry = arrivals[pipeline];
  for (Operation *parent = op->getParentOp(); parent != role;
       parent = parent->getParentOp()) {
    if (parent->getNumOperands() > 0 &&
        dependsOnThread(parent->getOperand(0))) {
      entry.known = false;
    }
  }
  // Several arrivals in the text are alternatives or rounds: keep the widest.
  int64_t threads =
      role.getElected() || oneThread ? 1 : 32 * role.getNumWarps();
  // What a cluster's other CTAs bring to the same barrier.
  if (isa<ReleaseOp>(op)) {
    threads *= op->getParentOfType<FuncOp>().getCtasOfUnit();
  } else if (auto commit = dyn_cast<CommitOp>(op);
             commit && commit.getSide() == StageSide::empty) {
    threads *= pipeline.getReaders();
  }
  // A thread of each warp gives a tile's number back, of all CTAs to rank 0,
  // which asks and need not tell itself.
  if (isa<ForTilesOp, ForGroupTilesOp, RequestTilesOp>(op)) {
    auto func = op->getParentOfType<FuncOp>();
    threads = role.getElected() ? 1 : role.getNumWarps();
    threads *= func.getClusterSize() / (role.getLeader() ? 2 : 1);
    threads -= isa<RequestTilesOp>(op);
  }
  if (threads > entry.count) {
    entry.count = threads;
    entry.at = op;
  }
}

LogicalResult RoleChecker::open(Side &side, Operation *op, Value pipeline,
                                Value position) {
  auto def = pipeline.getDefiningOp<PipelineOp>();
  SideState &state = side[def];
  if (&side == &filled && failed(closeFill(def, state))) {
    return failure();
  }
  state = SideState();
  state.opened = op;
  state.position = position;
  return success();
}

FailureOr<SideState *> RoleChecker::require(Side &side, Operation *op,
                                            Value pipeline, Value position,
                                            StringRef opener) {
  auto def = pipeline.getDefiningOp<PipelineOp>();
  SideState &state = side[def];
  if (!state.opened) {
    error(op, def) << "no " << opener << " comes before it";
    return failure();
  }
  if (state.closed) {
    InFlightDiagnostic diag = error(op, def)
                              << "the stage was given back before";
    diag.attachNote(state.closed->getLoc()) << "given back here";
    return failure();
  }
  if (state.position != position) {
    InFlightDiagnostic diag = error(op, def)
                              << "works on another position than the " << opener
                              << " before it";
    diag.attachNote(state.opened->getLoc()) << "the " << opener << " is here";
    return failure();
  }
  return &state;
}

LogicalResult RoleChecker::closeFill(PipelineOp pipeline, SideState &state) {
  if (!state.opened || (state.loads.empty() && !state.expect)) {
    return success();
  }
  if (!state.expect) {
    return error(state.loads.front(), pipeline)
           << "no expect announces the bytes of this load";
  }
  int64_t bytes = 0;
  for (LoadOp load : state.loads) {
    bytes += bytesOf(load);
  }
  if (bytes == static_cast<int64_t>(pipeline.getTransactionBytes())) {
    return success();
  }
  InFlightDiagnostic diag = error(state.expect, pipeline)
                            << "announces " << pipeline.getTransactionBytes()
                            << " bytes, but the loads of a stage bring "
                            << bytes;
  for (LoadOp load : state.loads) {
    diag.attachNote(load.getLoc()) << "brings " << bytesOf(load) << " bytes";
  }
  diag.attachNote(pipeline.getLoc()) << "transaction_bytes is set here";
  return diag;
}

LogicalResult RoleChecker::visit(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](AcquireOp acquire) {
        return open(filled, op, acquire.getPipeline(), acquire.getPosition());
      })
      .Case([&](DrainOp drain) {
        auto def = drain.getPipeline().getDefiningOp<PipelineOp>();
        SideState &state = filled[def];
        LogicalResult closed = closeFill(def, state);
        state = SideState();
        drained.insert(def);
        return closed;
      })
      .Case([&](RequestTilesOp request) {
        auto def = request.getQueue().getDefiningOp<PipelineOp>();
        filled[def].opened = emptied[def].opened = op;
        arrive(empty, def, op, /*oneThread=*/true);
        full[def].count = 1;
        return success();
      })
      .Case<ForTilesOp, ForGroupTilesOp>([&](auto walk) {
        if (Value queue = walk.getQueue()) {
          auto def = queue.template getDefiningOp<PipelineOp>();
          emptied[def].opened = op;
          arrive(empty, def, op, /*oneThread=*/true);
        }
        return success();
      })
      .Case([&](ExpectOp expect) -> LogicalResult {
        auto state = require(filled, op, expect.getPipeline(),
                             expect.getPosition(), "acquire");
        if (failed(state)) {
          return failure();
        }
        (*state)->expect = expect;
        arrive(full, expect.getPipeline().getDefiningOp<PipelineOp>(), op,
               /*oneThread=*/false);
        return success();
      })
      .Case([&](LoadOp load) -> LogicalResult {
        auto state = require(filled, op, load.getPipeline(), load.getPosition(),
                             "acquire");
        if (failed(state)) {
          return failure();
        }
        (*state)->loads.push_back(load);
        auto def = load.getPipeline().getDefiningOp<PipelineOp>();
        loaded.insert({def, load});
        drained.erase(def);
        Operation *element = load.getMap().getDefiningOp<MapElementOp>();
        if (element && !acquiredMaps.contains(load.getMap())) {
          InFlightDiagnostic diag =
              load.emitOpError()
              << "in role '" << role.getName()
              << "': copies by a map in memory, but no acquire_map of it comes "
                 "before it";
          diag.attachNote(element->getLoc()) << "the map is taken here";
          return diag;
        }
        return success();
      })
      .Case([&](AcquireMapOp acquire) {
        acquiredMaps.insert(acquire.getMap());
        return success();
      })
      .Case([&](CommitOp commit) -> LogicalResult {
        bool isFull = commit.getSide() == StageSide::full;
        auto state =
            require(isFull ? filled : emptied, op, commit.getPipeline(),
                    commit.getPosition(), isFull ? "acquire" : "wait");
        if (failed(state)) {
          return failure();
        }
        (*state)->closed = op;
        arrive(isFull ? full : empty,
               commit.getPipeline().getDefiningOp<PipelineOp>(), op,
               /*oneThread=*/false);
        return success();
      })
      .Case([&](WaitOp wait) {
        return open(emptied, op, wait.getPipeline(), wait.getPosition());
      })
      .Case([&](ReleaseOp release) -> LogicalResult {
        auto state = require(emptied, op, release.getPipeline(),
                             release.getPosition(), "wait");
        if (failed(state)) {
          return failure();
        }
        (*state)->closed = op;
        arrive(empty, release.getPipeline().getDefiningOp<PipelineOp>(), op,
               /*oneThread=*/false);
        return success();
      })
      .Case([&](CopyScalesOp copy) -> LogicalResult {
        return require(emptied, op, copy.getPipeline(), copy.getPosition(),
                       "wait");
      })
      .Case([&](MmaOp mma) -> LogicalResult {
        if (failed(require(emptied, op, mma.getPipeline(), mma.getPosition(),
                           "wait"))) {
          return failure();
        }
        return require(filled, op, mma.getAccPipeline(), mma.getAccPosition(),
                       "acquire");
      })
      .Case([&](LoadAccumulatorOp load) -> LogicalResult {
        return require(emptied, op, load.getPipeline(), load.getPosition(),
                       "wait");
      })
      .Default([](Operation *) { return success(); });
}

/// Units of other CTAs arrive at the barriers of a pipeline that this one sends
/// to, or of a pair: it must not end before.
LogicalResult RoleChecker::checkDrained() {
  for (auto &[pipeline, load] : loaded) {
    auto def = cast<PipelineOp>(pipeline);
    bool isShared =
        def.getReaders() > 1 || load->getParentOfType<FuncOp>().getPaired();
    if (isShared && !drained.contains(pipeline)) {
      return error(load, def)
             << "other CTAs give back its stages, but no drain "
                "comes after the last load";
    }
  }
  return success();
}

LogicalResult RoleChecker::run() {
  WalkResult result = role.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (isa<PipelineType>(operand.getType()) &&
          !operand.getDefiningOp<PipelineOp>()) {
        op->emitOpError() << "uses a pipeline that passed through control "
                             "flow; name it directly";
        return WalkResult::interrupt();
      }
    }
    return failed(visit(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  for (auto &[pipeline, state] : filled) {
    if (failed(closeFill(cast<PipelineOp>(pipeline), state))) {
      return failure();
    }
  }
  return checkDrained();
}

static LogicalResult checkCount(PipelineOp pipeline, StringRef side,
                                int64_t expected,
                                ArrayRef<std::pair<RoleOp, Arrivals>> roles) {
  int64_t count = 0;
  for (auto [role, arrivals] : roles) {
    if (!arrivals.known) {
      return success();
    }
    count += arrivals.count;
  }
  if (count == expected) {
    return success();
  }
  InFlightDiagnostic diag = pipeline.emitOpError()
                            << "'" << pipeline.getName() << "' has " << expected
                            << " " << side << ", but " << count
                            << " threads arrive in a round";
  for (auto [role, arrivals] : roles) {
    Location loc = arrivals.at ? arrivals.at->getLoc() : role.getLoc();
    diag.attachNote(loc) << "role '" << role.getName() << "' arrives "
                         << arrivals.count << " times here";
  }
  return diag;
}

LogicalResult grouped_moe::checkKernelProtocol(FuncOp func) {
  Block &body = func.getBody().front();
  SmallVector<std::pair<RoleOp, RoleChecker>> checkers;
  for (auto role : body.getOps<RoleOp>()) {
    checkers.emplace_back(role, RoleChecker(role));
    if (failed(checkers.back().second.run())) {
      return failure();
    }
  }
  for (auto pipeline : body.getOps<PipelineOp>()) {
    for (Operation *user : pipeline->getUsers()) {
      if (!user->getParentOfType<RoleOp>()) {
        return user->emitOpError()
               << "uses pipeline '" << pipeline.getName() << "' outside a role";
      }
    }
    SmallVector<std::pair<RoleOp, Arrivals>> producers, consumers;
    for (auto &[role, checker] : checkers) {
      if (checker.filled.contains(pipeline)) {
        producers.emplace_back(role, checker.full.lookup(pipeline));
      }
      if (checker.emptied.contains(pipeline)) {
        consumers.emplace_back(role, checker.empty.lookup(pipeline));
      }
    }
    if (producers.size() != 1 || consumers.empty()) {
      InFlightDiagnostic diag = pipeline.emitOpError()
                                << "'" << pipeline.getName()
                                << "' is filled by " << producers.size()
                                << " roles and emptied by " << consumers.size()
                                << ", expected one and at least one";
      for (auto &[role, arrivals] : producers) {
        diag.attachNote(role.getLoc())
            << "role '" << role.getName() << "' fills it";
      }
      for (auto &[role, arrivals] : consumers) {
        diag.attachNote(role.getLoc())
            << "role '" << role.getName() << "' empties it";
      }
      return diag;
    }
    if (failed(checkCount(pipeline, "producers", pipeline.getProducers(),
                          producers)) ||
        failed(checkCount(pipeline, "consumers", pipeline.getConsumers(),
                          consumers))) {
      return failure();
    }
  }
  return success();
}
