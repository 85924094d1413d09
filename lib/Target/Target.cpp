#include "lib/Target/Target.h"

namespace grouped_moe {

static constexpr Target sm100(std::string_view chip) {
  return {chip,
          /*minPtxVersion=*/88,
          /*maxSharedBytes=*/232448,
          /*tensorColumns=*/512,
          /*tensorLanes=*/128,
          /*minTensorColumns=*/32,
          /*maxBarrierCount=*/(1 << 20) - 1,
          /*mmaM=*/128,
          /*mmaK=*/32,
          /*minMmaN=*/8,
          /*maxMmaN=*/256,
          /*stepMmaN=*/8,
          /*sms=*/148,
          /*globalBytesPerClock=*/28,
          /*l2BytesPerClock=*/48,
          /*loadLatency=*/1480};
}

static constexpr Target targets[] = {sm100("sm_100a"), sm100("sm_103a")};

const Target *lookupTarget(std::string_view chip) {
  for (const Target &target : targets) {
    if (target.chip == chip) {
      return &target;
    }
  }
  return nullptr;
}

const Target &defaultTarget() { return targets[0]; }

std::string_view supportedChips() { return "sm_100a, sm_103a"; }

} // namespace grouped_moe
