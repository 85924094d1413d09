// --moe-kernel-check-protocol
#include "lib/Analysis/KernelProtocol.h"
#include "lib/Transforms/MoeKernel/Passes.h"

namespace grouped_moe {
#define GEN_PASS_DEF_CHECKKERNELPROTOCOL
#include "lib/Transforms/MoeKernel/Passes.h.inc"
} // namespace grouped_moe

using namespace grouped_moe;

namespace {
struct CheckKernelProtocol
    : grouped_moe::impl::CheckKernelProtocolBase<CheckKernelProtocol> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto func : getOperation().getOps<moe_kernel::FuncOp>()) {
      if (failed(checkKernelProtocol(func))) {
        signalPassFailure();
      }
    }
  }
};
} // namespace
