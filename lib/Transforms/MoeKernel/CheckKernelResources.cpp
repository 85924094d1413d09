// --moe-kernel-check-resources
#include "lib/Analysis/KernelResources.h"
#include "lib/Target/Target.h"
#include "lib/Transforms/MoeKernel/Passes.h"

namespace grouped_moe {
#define GEN_PASS_DEF_CHECKKERNELRESOURCES
#include "lib/Transforms/MoeKernel/Passes.h.inc"
} // namespace grouped_moe

using namespace grouped_moe;

namespace {
struct CheckKernelResources
    : grouped_moe::impl::CheckKernelResourcesBase<CheckKernelResources> {
  using CheckKernelResourcesBase::CheckKernelResourcesBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    const Target *target = lookupTarget(chip.getValue());
    if (!target) {
      getOperation().emitError()
          << "chip '" << chip.getValue()
          << "' is not supported, expected one of " << supportedChips();
      return signalPassFailure();
    }
    for (auto func : getOperation().getOps<moe_kernel::FuncOp>()) {
      if (failed(KernelResources(func).check(*target))) {
        signalPassFailure();
      }
    }
  }
};
} // namespace
