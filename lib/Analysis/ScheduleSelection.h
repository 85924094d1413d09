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

/// A schedule that fits; emits an error on the op if there is none.
mlir::FailureOr<ScheduleAttr> selectSchedule(GemmOp op,
                                             const ScheduleRequest &request);
/// Checks the op's schedule against the target and the op.
mlir::LogicalResult verifySchedule(GemmOp op, const ScheduleRequest &request);

} // namespace grouped_moe

#endif // LIB_ANALYSIS_SCHEDULESELECTION_H
