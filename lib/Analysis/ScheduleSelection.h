// Which schedule a grouped product gets on a target, and which it may have.
#ifndef LIB_ANALYSIS_SCHEDULESELECTION_H
#define LIB_ANALYSIS_SCHEDULESELECTION_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include <string>

namespace grouped_moe {
class GemmOp;

struct ScheduleRequest {
  std::string target;
  int64_t tileN = 0; // 0: choose
};

/// Slots of an output's staging buffer: one is stored while the next is filled.
inline constexpr int64_t kStagingSlots = 2;

/// Columns that an epilogue thread works on at once. A row is a whole number of
/// chunks, so that no store needs a mask; each function takes registers for its
/// polynomial, so that regions with several work on fewer columns.
int64_t epilogueChunk(GemmOp op);

/// Bytes of shared memory by way of which an output is stored; 0 for one that
/// is not a row for each row of the product.
int64_t stagingBytes(GemmOp op, unsigned output);

/// A schedule that fits; emits an error on the op if there is none.
mlir::FailureOr<ScheduleAttr> selectSchedule(GemmOp op,
                                             const ScheduleRequest &request);
/// Checks the op's schedule against the target and the op.
mlir::LogicalResult verifySchedule(GemmOp op, const ScheduleRequest &request);

} // namespace grouped_moe

#endif // LIB_ANALYSIS_SCHEDULESELECTION_H
