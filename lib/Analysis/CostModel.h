// What a schedule is expected to cost: an estimate from a target's facts, to
// compare schedules of one op with. It was measured on no chip.
#ifndef LIB_ANALYSIS_COSTMODEL_H
#define LIB_ANALYSIS_COSTMODEL_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"

namespace grouped_moe {
class FusedProduct;
struct Target;

struct ScheduleCost {
  double clocks = 0;
  int64_t tiles = 0, clusters = 0; // of clusters; at once
  /// What a tile waits for: "products", "loads" or "the epilogue".
  llvm::StringRef limit;
};

/// What the op's kernel costs with `schedule` if its groups have `rows` rows.
ScheduleCost estimateCost(FusedProduct op, ScheduleAttr schedule,
                          llvm::ArrayRef<int64_t> rows, const Target &target);

} // namespace grouped_moe

#endif // LIB_ANALYSIS_COSTMODEL_H
