#include "lib/Analysis/ScheduleSelection.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Target/Target.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;

namespace {

constexpr int64_t kTileM = 128;
constexpr int64_t kRowBytes = 128; // of an operand in a stage
constexpr int64_t kMostStages = 6;
// Barriers, the tensor memory slot and alignment: what a kernel needs beside
// its stages.
constexpr int64_t kReservedBytes = 2048;

/// The operands of a product, as far as room goes.
struct Operands {
  explicit Operands(FusedProduct op) {
    auto describe = [&](auto product) {
      auto type = cast<ShapedType>(product.getLhs().getType());
      tileK = kRowBytes * 8 / type.getElementTypeBitWidth();
      atomsOfK = tileK / (kAtomBlocks * product.getLhsLayout().getBlock());
    };
    if (auto gemm = dyn_cast<GemmOp>(op.getOperation())) {
      describe(gemm);
      rhsTransposed = gemm.isRhsTransposed();
    } else {
      auto wgrad = cast<WgradOp>(op.getOperation());
      describe(wgrad);
      rhsTransposed = !wgrad.getRhsTransposed(); // rows are the slow extent
    }
  }
  /// Bytes of shared memory of a stage in one CTA, which holds half of B's rows
  /// where two multiply together.
  int64_t stageBytes(ArrayRef<int64_t> tile) const {
    int64_t held = tile[1] / (tile[0] / kTileM);
    if (rhsTransposed) {
      held = llvm::alignTo(held, kAtomRows);
    }
    return (kTileM + held) * kRowBytes + atoms(tile[1]) * kAtomBytes;
  }
  /// Columns of tensor memory: accumulators, and four for each atom of a stage.
  int64_t tensorColumns(int64_t tileN, int64_t accumulators,
                        int64_t stages) const {
    return accumulators * tileN + stages * atoms(tileN) * 4;
  }

  int64_t tileK;    // elements
  int64_t atomsOfK; // of scales along K, for each 128 rows
  bool rhsTransposed = false;

private:
  int64_t atoms(int64_t tileN) const {
    return (1 + llvm::divideCeil(tileN, kAtomRows)) * atomsOfK;
  }
};

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

/// How a weight gradient divides large groups, empty if it does not. An
/// estimate: with all rows in one group its tiles alone must occupy the chip,
/// and two parts win as soon as half of the products take longer than writing
/// one partial tile and reading two.
static SmallVector<int64_t> chooseSplit(FusedProduct op, int64_t tileN,
                                        const Target &target) {
  auto wgrad = dyn_cast<WgradOp>(op.getOperation());
  if (!wgrad) {
    return {};
  }
  int64_t tiles = llvm::divideCeil(wgrad.getN(), kTileM) *
                  llvm::divideCeil(wgrad.getK(), tileN);
  constexpr int64_t mostParts = 8;
  int64_t parts = std::min(mostParts, target.sms / tiles);
  if (parts < 2) {
    return {};
  }
  int64_t partial = kTileM * tileN * sizeof(float);
  int64_t clocks = 3 * partial / target.globalBytesPerClock;
  int64_t rows = clocks * target.mmaK / target.mmaClocks(tileN);
  return {parts, int64_t(llvm::divideCeil(rows, kAtomRows) * kAtomRows)};
}

FailureOr<ScheduleAttr>
grouped_moe::selectSchedule(FusedProduct op, const ScheduleRequest &request) {
  const Target *target = lookUp(op, request);
  if (!target) {
    return failure();
  }
  int64_t tileN =
      request.tileN ? request.tileN : std::max<int64_t>(leastWidth(op), 128);
  if (tileN < 64 || tileN > 256 || tileN % 64 != 0) {
    return op->emitOpError()
           << "tile-n is " << tileN << " columns, expected 64, 128, 192 or 256";
  }
  if (tileN < leastWidth(op)) {
    return op->emitOpError() << "tile-n is " << tileN
                             << " columns, expected 256 for concatenated gate "
                                "and up, 128 of each";
  }
  Operands operands(op);
  int64_t staged = outputBytes(op, tileN),
          bytes = operands.stageBytes({kTileM, tileN});
  int64_t stages = std::min(
      kMostStages, (target->maxSharedBytes - kReservedBytes - staged) / bytes);
  auto columns = [&](int64_t accumulators) {
    return operands.tensorColumns(tileN, accumulators, stages);
  };
  while (stages > 1 && columns(1) > target->tensorColumns) {
    --stages;
  }
  if (stages < 1) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "one stage of " << bytes << " bytes, "
                              << staged << " to stage outputs and "
                              << kReservedBytes << " reserved need "
                              << bytes + staged + kReservedBytes
                              << " bytes of shared memory, "
                              << StringRef(target->chip) << " has "
                              << target->maxSharedBytes
                              << "; use fewer or narrower outputs";
    noteOutputs(diag, op);
    return diag;
  }
  int64_t accumulators = columns(2) <= target->tensorColumns ? 2 : 1;
  return ScheduleAttr::get(op->getContext(), {kTileM, tileN, operands.tileK},
                           stages, accumulators, {1, 1},
                           SchedulerKind::static_persistent, RasterKind::row,
                           chooseSplit(op, tileN, *target));
}

/// The shape of tiles and clusters.
static LogicalResult verifyTile(FusedProduct op, ScheduleAttr schedule,
                                int64_t tileK) {
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
  if (cluster[0] * cluster[1] > 1) {
    return refuse() << "expected a cluster of 1x1 with a split (schedule_c3); "
                       "drop one";
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
  if (failed(verifyTile(op, schedule, operands.tileK))) {
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
