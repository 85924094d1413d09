// Which schedule a grouped product gets on a target, and which it may have.
#ifndef LIB_ANALYSIS_SCHEDULESELECTION_H
#define LIB_ANALYSIS_SCHEDULESELECTION_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include <string>

namespace grouped_moe {
class FusedProduct;

/// What is asked of a schedule; what is empty or 0 is chosen.
struct ScheduleRequest {
  std::string target;
  int64_t tileM = 0, tileN = 0;
  llvm::SmallVector<int64_t> cluster; // along M and N
  int64_t stages = 0;
  std::optional<SchedulerKind> scheduler;
  /// Rows that groups are expected to have; repeated for further groups.
  llvm::SmallVector<int64_t> expectedRows;
};

/// The discardable attribute of an op that says the same of its groups, and
/// takes precedence.
inline constexpr llvm::StringLiteral kExpectedRows =
    "grouped_moe.expected_rows";
/// Rows of a group where nothing is known.
inline constexpr int64_t kAssumedRows = 512;

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

/// Of the schedules that have what is asked for, the one that is expected to be
/// fastest, with the reason as an optimization remark; emits an error on the op
/// if none fits.
mlir::FailureOr<ScheduleAttr> selectSchedule(FusedProduct op,
                                             const ScheduleRequest &request);
/// Checks the shape of the op's schedule, for any target: what lowerings rely
/// on.
mlir::LogicalResult verifyScheduleShape(FusedProduct op);
/// Checks the op's schedule against the target and the op.
mlir::LogicalResult verifySchedule(FusedProduct op,
                                   const ScheduleRequest &request);

} // namespace grouped_moe

#endif // LIB_ANALYSIS_SCHEDULESELECTION_H
