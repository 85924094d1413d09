#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"
#include "dialect/GroupedMoe/IR/UnusedOutputs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.cpp.inc"
#include "dialect/GroupedMoe/IR/GroupedMoeEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/GroupedMoe/IR/GroupedMoeAttrs.cpp.inc"
#include <limits>

using namespace mlir;
using namespace grouped_moe;

void GroupedMoeDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/GroupedMoe/IR/GroupedMoeAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GroupedMoe/IR/GroupedMoeOps.cpp.inc"
      >();
}

void GroupedMoeDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  populateUnusedOutputPatterns(patterns);
}

LogicalResult
ScaleLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        ScaleDirection, ScaleGrouping, int64_t block) {
  if (block != 16 && block != 32) {
    return emitError() << "scale layout: block is " << block
                       << " elements, expected 16 or 32 (layout_c1)";
  }
  return success();
}

/// Rounded up to a multiple of 128 they fit 32 bits.
static constexpr int64_t kMostSplitRows = int64_t{1} << 30;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> tile, int64_t stages,
                                   int64_t accumulators,
                                   ArrayRef<int64_t> cluster, SchedulerKind,
                                   RasterKind, ArrayRef<int64_t> split) {
  if (tile.size() != 3 || cluster.size() != 2) {
    return emitError() << "schedule: tile has " << tile.size()
                       << " and cluster has " << cluster.size()
                       << " extents, expected 3 (M, N, K) and 2 (M, N) "
                          "(schedule_c1)";
  }
  auto positive = [](int64_t v) { return v > 0; };
  if (!llvm::all_of(tile, positive) || !llvm::all_of(cluster, positive) ||
      stages < 1 || accumulators < 1) {
    return emitError()
           << "schedule: every extent must be positive (schedule_c1)";
  }
  if (stages > 32 || accumulators > 2) {
    return emitError() << "schedule: stages is " << stages
                       << " and accumulators is " << accumulators
                       << ", expected at most 32 and at most 2 (schedule_c2)";
  }
  if (!split.empty() && (split.size() != 2 || split[0] < 2 || split[0] > 1024 ||
                         split[1] < 1 || split[1] > kMostSplitRows)) {
    return emitError() << "schedule: split is [" << split
                       << "], expected [parts, rows], 2 to 1024 parts of "
                          "1 to 2^30 rows (schedule_c3)";
  }
  return success();
}

bool grouped_moe::isRowCount(int64_t rows) {
  return rows >= 0 && rows <= std::numeric_limits<int32_t>::max();
}

/// A hint: wrong rows cost time, not results.
LogicalResult
GroupedMoeDialect::verifyOperationAttribute(Operation *op,
                                            NamedAttribute attribute) {
  if (attribute.getName() != "grouped_moe.expected_rows") {
    return op->emitOpError()
           << "has no attribute " << attribute.getName()
           << ", expected grouped_moe.expected_rows (attributes_c2)";
  }
  auto rows = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  if (!rows || rows.empty() || !llvm::all_of(rows.asArrayRef(), isRowCount)) {
    return op->emitOpError()
           << "grouped_moe.expected_rows is " << attribute.getValue()
           << ", expected rows of groups: array<i64: ...>, at least one, each "
              "0 to 2^31 - 1 (attributes_c2)";
  }
  return success();
}
