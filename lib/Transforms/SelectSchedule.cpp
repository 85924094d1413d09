#include "lib/Transforms/Passes.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "lib/Analysis/ScheduleSelection.h"

namespace grouped_moe {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "lib/Transforms/Passes.h.inc"
} // namespace grouped_moe

using namespace mlir;
using namespace grouped_moe;

namespace {
struct SelectSchedulePass
    : grouped_moe::impl::SelectScheduleBase<SelectSchedulePass> {
  using SelectScheduleBase::SelectScheduleBase;

  void runOnOperation() override {
    ScheduleRequest request{target, tileN};
    WalkResult result = getOperation()->walk([&](FusedProduct op) {
      if (!op.getSchedule()) {
        FailureOr<ScheduleAttr> schedule = selectSchedule(op, request);
        if (failed(schedule)) {
          return WalkResult::interrupt();
        }
        op->setAttr("schedule", *schedule);
        ++chosen;
      }
      return failed(verifySchedule(op, request)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }
};
} // namespace
