#include "lib/Analysis/CostModel.h"

#include "lib/Analysis/ProductOperands.h"
#include "lib/Target/Target.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace grouped_moe;

namespace {

constexpr int64_t kQuarters = 4; // matrix instructions of a stage

/// What one CTA does for a tile, in clocks.
struct TileCost {
  double stage;    // products or loads of one stage, whichever takes longer
  double epilogue; // accumulators through the region to the outputs
  /// The part of the epilogue in front of which the next tile's products
  /// cannot begin.
  double shared;

  double period(int64_t stages) const {
    return std::max(stage * stages + shared * epilogue, epilogue);
  }
};

/// The tiles of clusters of one group, and the stages of each.
struct GroupTiles {
  int64_t tiles, stages;
};

/// Warp instructions of a column of E, for 32 rows. Counted in the PTX of
/// epilogues that differ by one thing each: functions 14 (exp, sigmoid) to 24
/// (tanh), quantized columns 5 to 6, sums of columns 6, others about 1 or 2.
double instructionsOfColumn(FusedProduct op) {
  constexpr double ofFunction = 16, ofQuantized = 6, ofColumnSum = 6,
                   ofReduced = 2, ofMatrix = 1;
  double count = 1;
  for (Operation &inner : op.getEpilogue().front().without_terminator()) {
    bool isFunction =
        isa<math::MathDialect>(inner.getDialect()) || isa<SigmoidOp>(inner);
    count += isFunction ? ofFunction : 1;
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    if (op.getInputKind(i) == InputKind::per_element) {
      count += ofMatrix * (op.isPairInput(i) ? 2 : 1);
    }
  }
  auto ofOutput = [](OutputKind kind) {
    switch (kind) {
    case OutputKind::plain:
      return ofMatrix;
    case OutputKind::quantized:
      return ofQuantized;
    case OutputKind::group_column_sum:
      return ofColumnSum;
    case OutputKind::row_sum:
    case OutputKind::group_amax:
      return ofReduced;
    default: // scales: with their data
      return 0.0;
    }
  };
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    count += ofOutput(op.getOutputKind(i)) * (op.isPairOutput(i) ? 2 : 1);
  }
  return count;
}

/// Adds up what the clusters do until the last one is done.
class Clusters {
public:
  Clusters(int64_t count, bool isDynamic)
      : isDynamic(isDynamic), done(count, 0.0) {}

  /// `tiles` more, of `period` clocks each.
  void take(int64_t tiles, double period) {
    int64_t count = done.size(), rest = tiles % count;
    // A whole round changes nothing of the order in which they are free.
    rounds += tiles / count * period;
    if (isDynamic) {
      std::make_heap(done.begin(), done.end(), std::greater<>());
      for (int64_t i = 0; i < rest; ++i) {
        std::pop_heap(done.begin(), done.end(), std::greater<>());
        done.back() += period;
        std::push_heap(done.begin(), done.end(), std::greater<>());
      }
      return;
    }
    for (int64_t i = 0; i < rest; ++i) {
      done[(next + i) % count] += period;
    }
    next = (next + tiles) % count;
  }
  double end() const { return rounds + *llvm::max_element(done); }

private:
  bool isDynamic;
  std::vector<double> done; // beside the rounds
  double rounds = 0;
  int64_t next = 0;
};

/// Of a gemm the groups' rows run along M, of a wgrad along K.
SmallVector<GroupTiles> tilesOf(FusedProduct op, ScheduleAttr schedule,
                                ArrayRef<int64_t> rows) {
  ArrayRef<int64_t> tile = schedule.getTile(), cluster = schedule.getCluster();
  auto tiles = [&](int64_t m, int64_t n) -> int64_t {
    return llvm::divideCeil(m, kTileM * cluster[0]) *
           llvm::divideCeil(n, tile[1] * cluster[1]);
  };
  auto stages = [&](int64_t k) -> int64_t {
    return llvm::divideCeil(k, tile[2]);
  };
  // Groups with more rows than that are divided (ScheduleAttr).
  ArrayRef<int64_t> split = schedule.getSplit();
  int64_t partRows = std::numeric_limits<int64_t>::max();
  if (!split.empty()) {
    int64_t all = std::accumulate(rows.begin(), rows.end(), int64_t{0});
    partRows = std::max<int64_t>(llvm::divideCeil(all, split[0]), split[1]);
    partRows = llvm::alignTo(partRows, kAtomRows);
  }
  SmallVector<GroupTiles> groups;
  for (int64_t ofGroup : rows) {
    if (auto gemm = dyn_cast<GemmOp>(op.getOperation())) {
      groups.push_back({tiles(ofGroup, gemm.getN()), stages(gemm.getK())});
    } else {
      auto wgrad = cast<WgradOp>(op.getOperation());
      int64_t parts = std::max<int64_t>(1, llvm::divideCeil(ofGroup, partRows));
      groups.push_back({tiles(wgrad.getN(), wgrad.getK()) * parts,
                        stages(std::min(ofGroup, partRows))});
    }
  }
  return groups;
}

} // namespace

ScheduleCost grouped_moe::estimateCost(FusedProduct op, ScheduleAttr schedule,
                                       ArrayRef<int64_t> rows,
                                       const Target &target) {
  Operands operands(op);
  ArrayRef<int64_t> shape = schedule.getTile(), cluster = schedule.getCluster();
  int64_t tileN = shape[1], stages = schedule.getStages();
  double products =
      kQuarters * target.mmaClocks(tileN, /*isPair=*/shape[0] > kTileM);
  double loads =
      std::max(double(operands.loadedBytes(schedule)) / target.l2BytesPerClock,
               double(target.loadLatency) / stages);
  TileCost tile;
  tile.stage = std::max(products, loads);
  double columns = op.getPaired() ? tileN / 2.0 : tileN;
  tile.epilogue = tileN + columns * instructionsOfColumn(op);
  bool fits = operands.tensorColumns(tileN, 2, stages) <= target.tensorColumns;
  tile.shared = schedule.getAccumulators() == 1 ? 1 : fits ? 0 : 0.5;

  ScheduleCost cost;
  cost.clusters = std::max<int64_t>(1, target.sms / (cluster[0] * cluster[1]));
  Clusters clusters(cost.clusters, schedule.getScheduler() ==
                                       SchedulerKind::cluster_launch_control);
  int64_t mostStages = 0;
  for (const GroupTiles &group : tilesOf(op, schedule, rows)) {
    clusters.take(group.tiles, tile.period(group.stages));
    cost.tiles += group.tiles;
    mostStages = std::max(mostStages, group.stages);
  }
  // The first stages, and the last epilogue, which nothing hides.
  cost.clocks = clusters.end() + target.loadLatency + tile.epilogue;
  cost.limit = tile.epilogue > tile.stage * mostStages ? "the epilogue"
               : loads > products                      ? "loads"
                                                       : "products";
  return cost;
}
