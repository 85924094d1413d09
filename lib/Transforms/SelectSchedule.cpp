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
    ScheduleRequest request;
    if (failed(readOptions(request))) {
      return signalPassFailure();
    }
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

private:
  LogicalResult readOptions(ScheduleRequest &request) {
    auto refuse = [&](const Twine &message) {
      return getOperation()->emitError() << message;
    };
    request.target = target;
    request.tileM = tileM;
    request.tileN = tileN;
    request.stages = stages;
    request.cluster.assign(cluster.begin(), cluster.end());
    request.expectedRows.assign(expectedRows.begin(), expectedRows.end());
    if (!scheduler.empty()) {
      request.scheduler = symbolizeSchedulerKind(scheduler);
      if (!request.scheduler) {
        return refuse("scheduler is '" + scheduler +
                      "', expected static_persistent or "
                      "cluster_launch_control");
      }
    }
    if (!request.cluster.empty() && request.cluster.size() != 2) {
      return refuse("cluster has " + Twine(request.cluster.size()) +
                    " extents, expected 2: CTAs along M and N");
    }
    if (tileM != 0 && tileM != 128 && tileM != 256) {
      return refuse("tile-m is " + Twine(int64_t(tileM)) +
                    " rows, expected 128 or 256");
    }
    if (!llvm::all_of(expectedRows, isRowCount)) {
      return refuse("expected-rows has a number that is not 0 to 2^31 - 1");
    }
    return success();
  }
};
} // namespace
