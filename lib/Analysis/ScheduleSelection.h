// Which schedule a grouped product gets on a target, and which it may have.
#ifndef LIB_ANALYSIS_SCHEDULESELECTION_H
#define LIB_ANALYSIS_SCHEDULESELECTION_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include <string>

namespace grouped_moe {
class FusedProduct;

struct ScheduleRequest {
  std::string target;
  int64_t tileN = 0; // 0: choose
};

/// Slots of an output's staging buffer: one is stored while the next is filled.
inline constexpr int64_t kStagingSlots = 2;

/// Columns that an epilogue thread works on at once: a row is a whole number of
/// chunks, so that no store needs a mask.
int64_t epilogueChunk(FusedProduct op);
/// Elements of a chunk that the region's operations work on at once: regions
/// with several functions would otherwise run out of registers.
int64_t regionLanes(FusedProduct op);

/// Columns that the two accumulators of the op's schedule share, so that they
/// and the scales fit tensor memory; 0 if they need not.
int64_t accumulatorOverlap(FusedProduct op);

/// Bytes of shared memory by way of which an output is stored.
int64_t stagingBytes(FusedProduct op, unsigned output);

/// A schedule that fits; emits an error on the op if there is none.
mlir::FailureOr<ScheduleAttr> selectSchedule(FusedProduct op,
                                             const ScheduleRequest &request);
/// Checks the op's schedule against the target and the op.
mlir::LogicalResult verifySchedule(FusedProduct op,
                                   const ScheduleRequest &request);

} // namespace grouped_moe

#endif // LIB_ANALYSIS_SCHEDULESELECTION_H
