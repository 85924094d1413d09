#include "lib/Analysis/ScheduleSelection.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Analysis/CostModel.h"
#include "lib/Analysis/ProductOperands.h"
#include "lib/Target/Target.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;

namespace {

constexpr int64_t kMostStages = 6;
// Barriers, the tensor memory slot and alignment: what a kernel needs beside
// its stages.
constexpr int64_t kReservedBytes = 2048;

/// Shared memory beside the operands: staging, and a sum for each of four warps
/// and each column of a tile.
int64_t outputBytes(FusedProduct op, int64_t tileN) {
  int64_t bytes = 0;
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    bytes += stagingBytes(op, i);
    if (op.getOutputKind(i) == OutputKind::group_column_sum) {
      bytes += 4 * sizeof(float) * 2 * tileN;
    }
  }
  return bytes;
}

/// One note for each output's staging.
void noteOutputs(InFlightDiagnostic &diag, FusedProduct op) {
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    if (int64_t bytes = stagingBytes(op, i)) {
      diag.attachNote(op.getOutputs()[i].getLoc())
          << "output #" << i << " is stored by way of " << bytes << " bytes";
    }
  }
}

const Target *lookUp(FusedProduct op, const ScheduleRequest &request) {
  const Target *target = lookupTarget(request.target);
  if (!target) {
    op->emitOpError() << "unknown target '" << request.target
                      << "', expected one of " << StringRef(supportedChips());
  }
  return target;
}

} // namespace

int64_t grouped_moe::epilogueChunk(FusedProduct op) {
  return op.getColumns() % 32 == 0 ? 32 : 16;
}

int64_t grouped_moe::regionLanes(FusedProduct op) {
  int64_t functions = llvm::count_if(
      op.getEpilogue().front().getOperations(), [](Operation &inner) {
        return isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
                   math::TanhOp, math::ErfOp, math::RsqrtOp, SigmoidOp>(inner);
      });
  return functions <= 2 ? 32 : 16;
}

int64_t grouped_moe::stagingBytes(FusedProduct op, unsigned output) {
  OutputKind kind = op.getOutputKind(output);
  if (kind != OutputKind::plain && kind != OutputKind::quantized) {
    return 0;
  }
  auto type = cast<ShapedType>(op.getOutputs()[output].getType());
  if (type.getElementType().isInteger(64)) {
    return 0; // addresses: stored by each thread
  }
  return kStagingSlots * kTileM * epilogueChunk(op) *
         (op.isPairOutput(output) ? 2 : 1) * type.getElementTypeBitWidth() / 8;
}

/// Columns by which two accumulators of a tile overlap, 0 if there is room.
static int64_t overlapOf(const Operands &operands, int64_t tileN,
                         int64_t accumulators, int64_t stages,
                         int64_t tensorColumns) {
  int64_t columns = operands.tensorColumns(tileN, accumulators, stages);
  if (accumulators != 2 || columns <= tensorColumns) {
    return 0;
  }
  // Accumulators start at multiples of 16 columns.
  return llvm::alignTo(columns - tensorColumns, 16);
}

int64_t grouped_moe::accumulatorOverlap(FusedProduct op) {
  ScheduleAttr schedule = *op.getSchedule();
  return overlapOf(Operands(op), schedule.getTile()[1],
                   schedule.getAccumulators(), schedule.getStages(),
                   defaultTarget().tensorColumns);
}

/// Least columns of a tile: halves side by side are whole scale atoms each.
static int64_t leastWidth(FusedProduct op) {
  return op.getPaired() && op.getConcatenated() ? 256 : 64;
}

namespace {
/// A shape of tiles and clusters that may be chosen.
struct Candidate {
  int64_t tileM, tileN, clusterM, clusterN;
};
} // namespace

/// How a weight gradient divides large groups, empty if it does not. An
/// estimate: with all rows in one group its tiles alone must occupy the chip,
/// and two parts win as soon as half of the products take longer than writing
/// one partial tile and reading two.
static SmallVector<int64_t>
chooseSplit(FusedProduct op, const Candidate &candidate, const Target &target) {
  auto wgrad = dyn_cast<WgradOp>(op.getOperation());
  if (!wgrad) {
    return {};
  }
  int64_t tileN = candidate.tileN;
  int64_t tiles =
      llvm::alignTo(llvm::divideCeil(wgrad.getN(), kTileM),
                    candidate.clusterM) *
      llvm::alignTo(llvm::divideCeil(wgrad.getK(), tileN), candidate.clusterN);
  constexpr int64_t mostParts = 8;
  int64_t parts = std::min(mostParts, target.sms / tiles);
  if (parts < 2) {
    return {};
  }
  int64_t partial = kTileM * tileN * sizeof(float);
  int64_t clocks = 3 * partial / target.globalBytesPerClock;
  bool isPair = candidate.tileM > kTileM;
  int64_t rows = clocks * target.mmaK / target.mmaClocks(tileN, isPair);
  return {parts, int64_t(llvm::divideCeil(rows, kAtomRows) * kAtomRows)};
}

/// Rows of each group: stated, or those of a static matrix divided equally.
static SmallVector<int64_t> expectedRows(FusedProduct op,
                                         const ScheduleRequest &request) {
  SmallVector<int64_t> pattern(request.expectedRows);
  if (auto stated = op->getAttrOfType<DenseI64ArrayAttr>(kExpectedRows)) {
    pattern.assign(stated.asArrayRef().begin(), stated.asArrayRef().end());
  }
  int64_t groups = op.getGroups();
  if (pattern.empty()) {
    int64_t rows = ShapedType::kDynamic;
    if (auto gemm = dyn_cast<GemmOp>(op.getOperation())) {
      rows = cast<ShapedType>(gemm.getLhs().getType()).getDimSize(0);
    }
    pattern.push_back(ShapedType::isDynamic(rows)
                          ? kAssumedRows
                          : llvm::divideCeil(rows, groups));
  }
  SmallVector<int64_t> rows;
  for (int64_t g = 0; g < groups; ++g) {
    rows.push_back(pattern[g % pattern.size()]);
  }
  return rows;
}

namespace {
struct Choice {
  ScheduleAttr schedule;
  ScheduleCost cost;
};

/// Weighs the candidates of one op.
class Selection {
public:
  Selection(FusedProduct op, const ScheduleRequest &request,
            const Target &target)
      : op(op), request(request), target(target), operands(op),
        rows(expectedRows(op, request)) {}

  FailureOr<ScheduleAttr> run();

private:
  bool isAskedFor(const Candidate &candidate) const;
  int64_t stagesThatFit(const Candidate &candidate) const;
  /// With as many stages as fit, and two accumulators if they do.
  std::optional<ScheduleAttr> fit(const Candidate &candidate) const;
  void consider(ScheduleAttr schedule);
  RasterKind raster() const;
  std::string describe(ScheduleAttr schedule) const;
  LogicalResult refuse() const;

  FusedProduct op;
  const ScheduleRequest &request;
  const Target &target;
  Operands operands;
  SmallVector<int64_t> rows;
  std::optional<Choice> best;
  unsigned considered = 0;
};
} // namespace

/// Clusters beyond what a tile needs, and launch control, must pay: an estimate
/// is no better than that.
static constexpr double kReason = 0.97;

bool Selection::isAskedFor(const Candidate &candidate) const {
  auto fits = [](int64_t asked, int64_t value) {
    return asked == 0 || asked == value;
  };
  return fits(request.tileM, candidate.tileM) &&
         fits(request.tileN, candidate.tileN) &&
         candidate.tileN >= leastWidth(op) &&
         (request.cluster.empty() ||
          (request.cluster[0] == candidate.clusterM &&
           request.cluster[1] == candidate.clusterN));
}

int64_t Selection::stagesThatFit(const Candidate &candidate) const {
  int64_t free =
      target.maxSharedBytes - kReservedBytes - outputBytes(op, candidate.tileN);
  int64_t bytes = operands.stageBytes({candidate.tileM, candidate.tileN});
  return free < bytes ? 0 : std::min(kMostStages, free / bytes);
}

std::optional<ScheduleAttr> Selection::fit(const Candidate &candidate) const {
  int64_t most = stagesThatFit(candidate), tileN = candidate.tileN;
  if (request.stages != 0) {
    most = std::min(most, request.stages);
  }
  /// The most stages for which tensor memory has room beside accumulators.
  auto stagesBeside = [&](int64_t accumulators) {
    for (int64_t stages = most; stages > 0; --stages) {
      int64_t overlap = overlapOf(operands, tileN, accumulators, stages,
                                  target.tensorColumns);
      if (overlap <= tileN / 2 &&
          operands.tensorColumns(tileN, accumulators, stages) - overlap <=
              target.tensorColumns) {
        return stages;
      }
    }
    return int64_t{0};
  };
  // A second accumulator is worth stages, but not those that hide the loads.
  int64_t accumulators = 2, stages = stagesBeside(2);
  if (stages < std::min<int64_t>(most, 3)) {
    accumulators = 1;
    stages = stagesBeside(1);
  }
  if (stages < 1 || (request.stages != 0 && stages != request.stages)) {
    return std::nullopt;
  }
  return ScheduleAttr::get(
      op->getContext(), {candidate.tileM, tileN, operands.tileK}, stages,
      accumulators, {candidate.clusterM, candidate.clusterN},
      request.scheduler.value_or(SchedulerKind::static_persistent),
      RasterKind::row, chooseSplit(op, candidate, target));
}

void Selection::consider(ScheduleAttr schedule) {
  ++considered;
  ScheduleCost cost = estimateCost(op, schedule, rows, target);
  bool isPlain =
      schedule.getCluster()[0] == schedule.getTile()[0] / kTileM &&
      schedule.getCluster()[1] == 1 &&
      schedule.getScheduler() ==
          request.scheduler.value_or(SchedulerKind::static_persistent);
  if (!best) {
    best = Choice{schedule, cost};
    return;
  }
  // Where the chip is not full nothing has to be shared or balanced.
  bool mayWin = isPlain || cost.tiles >= cost.clusters;
  if (mayWin && cost.clocks < best->cost.clocks * (isPlain ? 1 : kReason)) {
    best = Choice{schedule, cost};
  }
}

/// Along the short side where a group's tiles are taken in several rounds.
RasterKind Selection::raster() const {
  int64_t groups = llvm::count_if(rows, [](int64_t r) { return r > 0; });
  bool severalRounds =
      groups > 0 && best->cost.tiles / groups > best->cost.clusters;
  return severalRounds ? RasterKind::short_side : RasterKind::row;
}

std::string Selection::describe(ScheduleAttr schedule) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  int64_t sum = 0;
  for (int64_t r : rows) {
    sum += r;
  }
  out << schedule << ": of " << considered << " schedules, for " << rows.size()
      << " groups of " << sum << " rows together; " << best->cost.tiles
      << " cluster tiles, " << best->cost.clusters << " at once, about "
      << llvm::format("%.0f", best->cost.clocks)
      << " clocks by estimate, limited by " << best->cost.limit;
  return text;
}

LogicalResult Selection::refuse() const {
  int64_t tileM = request.tileM ? request.tileM : kTileM;
  int64_t tileN = request.tileN ? request.tileN : leastWidth(op);
  int64_t staged = outputBytes(op, tileN),
          bytes = operands.stageBytes({tileM, tileN});
  int64_t needed = staged + bytes + kReservedBytes;
  if (needed <= target.maxSharedBytes) {
    InFlightDiagnostic diag =
        op->emitOpError()
        << "no schedule has what is asked for: rows of a tile " << request.tileM
        << ", columns " << request.tileN << ", stages " << request.stages
        << " (0: any), cluster ";
    if (request.cluster.empty()) {
      diag << "any";
    } else {
      diag << request.cluster[0] << "x" << request.cluster[1];
    }
    return diag << "; ask for less, or for a shape that exists (schedule_c4, "
                   "schedule_c5)";
  }
  InFlightDiagnostic diag =
      op->emitOpError() << "one stage of " << bytes << " bytes, " << staged
                        << " to stage outputs and " << kReservedBytes
                        << " reserved need " << needed
                        << " bytes of shared memory, " << StringRef(target.chip)
                        << " has " << target.maxSharedBytes
                        << "; use fewer or narrower outputs (schedule_c5)";
  noteOutputs(diag, op);
  return diag;
}

FailureOr<ScheduleAttr> Selection::run() {
  // Plain shapes first: the others are weighed against them.
  SmallVector<Candidate> candidates;
  for (int64_t tileN : {128, 256, 192, 64}) {
    candidates.push_back({kTileM, tileN, 1, 1});
  }
  for (int64_t tileN : {256, 128}) {
    candidates.push_back({2 * kTileM, tileN, 2, 1});
  }
  for (Candidate plain : SmallVector<Candidate>(candidates)) {
    for (auto [m, n] : {std::pair<int64_t, int64_t>{2, 1}, {4, 1}, {2, 2}}) {
      if (plain.tileM == kTileM || m * n > 2) {
        candidates.push_back({plain.tileM, plain.tileN, m, n});
      }
    }
  }
  for (const Candidate &candidate : candidates) {
    if (isAskedFor(candidate)) {
      if (auto schedule = fit(candidate)) {
        consider(*schedule);
      }
    }
  }
  if (!best) {
    return refuse();
  }
  auto with = [&](SchedulerKind scheduler, RasterKind order) {
    ScheduleAttr chosen = best->schedule;
    return ScheduleAttr::get(op->getContext(), chosen.getTile(),
                             chosen.getStages(), chosen.getAccumulators(),
                             chosen.getCluster(), scheduler, order,
                             chosen.getSplit());
  };
  if (!request.scheduler) {
    consider(with(SchedulerKind::cluster_launch_control, RasterKind::row));
  }
  ScheduleAttr chosen = with(best->schedule.getScheduler(), raster());
  remark::passed(
      op->getLoc(),
      remark::RemarkOpts::name("ScheduleSelected").category("schedule"))
      << describe(chosen);
  return chosen;
}

FailureOr<ScheduleAttr>
grouped_moe::selectSchedule(FusedProduct op, const ScheduleRequest &request) {
  const Target *target = lookUp(op, request);
  if (!target) {
    return failure();
  }
  if (request.tileN != 0 &&
      (request.tileN < 64 || request.tileN > 256 || request.tileN % 64 != 0)) {
    return op->emitOpError() << "tile-n is " << request.tileN
                             << " columns, expected 64, 128, 192 or 256";
  }
  if (request.tileN != 0 && request.tileN < leastWidth(op)) {
    return op->emitOpError() << "tile-n is " << request.tileN
                             << " columns, expected 256 for concatenated gate "
                                "and up, 128 of each";
  }
  return Selection(op, request, *target).run();
}

LogicalResult grouped_moe::verifyScheduleShape(FusedProduct op) {
  ScheduleAttr schedule = *op.getSchedule();
  int64_t tileK = Operands(op).tileK;
  ArrayRef<int64_t> tile = schedule.getTile(), cluster = schedule.getCluster();
  auto refuse = [&] {
    InFlightDiagnostic diag = op->emitOpError() << "schedule: tile is ";
    llvm::interleave(tile, diag, "x");
    diag << " and cluster " << cluster[0] << "x" << cluster[1] << ", ";
    return diag;
  };
  bool isPaired = tile[0] == 2 * kTileM;
  bool isLegal = isPaired ? tile[1] == 128 || tile[1] == 256
                          : tile[0] == kTileM && tile[1] >= 64 &&
                                tile[1] <= 256 && tile[1] % 64 == 0;
  if (!isLegal || tile[2] != tileK) {
    return refuse() << "expected a tile of 128 rows by 64, 128, 192 or 256 "
                       "columns, or of 256 rows by 128 or 256, and "
                    << tileK << " of K (schedule_c4)";
  }
  if (tile[1] < leastWidth(op)) {
    return refuse() << "expected 256 columns for concatenated gate and up, 128 "
                       "of each (schedule_c4)";
  }
  bool isCluster =
      (cluster[1] == 1 && llvm::isPowerOf2_64(cluster[0]) && cluster[0] <= 4) ||
      (cluster[0] == 2 && cluster[1] == 2);
  if (!isCluster || (isPaired && cluster[0] == 1)) {
    return refuse() << "expected a cluster of 1x1, 2x1, 4x1 or 2x2 CTAs, of at "
                       "least two along M for a tile of 256 rows (schedule_c4)";
  }
  if (schedule.getSplit().empty()) {
    return success();
  }
  if (!isa<WgradOp>(op.getOperation())) {
    return op->emitOpError()
           << "schedule: split divides the rows that a wgrad adds up, but this "
              "op has none (schedule_c3); drop it";
  }
  return success();
}

LogicalResult grouped_moe::verifySchedule(FusedProduct op,
                                          const ScheduleRequest &request) {
  const Target *target = lookUp(op, request);
  if (!target) {
    return failure();
  }
  ScheduleAttr schedule = *op.getSchedule();
  ArrayRef<int64_t> tile = schedule.getTile();
  Operands operands(op);
  if (failed(verifyScheduleShape(op))) {
    return failure();
  }
  int64_t staged = outputBytes(op, tile[1]);
  int64_t shared = schedule.getStages() * operands.stageBytes(tile) + staged +
                   kReservedBytes;
  if (shared > target->maxSharedBytes) {
    InFlightDiagnostic diag =
        op->emitOpError() << "schedule: " << schedule.getStages()
                          << " stages of " << operands.stageBytes(tile)
                          << " bytes, " << staged << " to stage outputs and "
                          << kReservedBytes << " reserved need " << shared
                          << " bytes of shared memory, "
                          << StringRef(target->chip) << " has "
                          << target->maxSharedBytes
                          << "; use fewer stages (schedule_c5)";
    noteOutputs(diag, op);
    return diag;
  }
  int64_t columns = operands.tensorColumns(tile[1], schedule.getAccumulators(),
                                           schedule.getStages());
  int64_t overlap = overlapOf(operands, tile[1], schedule.getAccumulators(),
                              schedule.getStages(), target->tensorColumns);
  if (columns - overlap > target->tensorColumns || overlap > tile[1] / 2) {
    InFlightDiagnostic diag =
        op->emitOpError()
        << "schedule: " << schedule.getAccumulators() << " accumulators of "
        << tile[1] << " columns and the scales of " << schedule.getStages()
        << " stages need " << columns << " columns of tensor memory, "
        << StringRef(target->chip) << " has " << target->tensorColumns
        << "; use one accumulator, a narrower tile or fewer stages "
           "(schedule_c5)";
    if (overlap > 0) {
      diag.attachNote() << "two accumulators may share half of their columns, "
                        << tile[1] / 2 << "; here they would share " << overlap;
    }
    return diag;
  }
  return success();
}
