#include "lib/Conversion/MoeKernelToNVVM/KernelToLLVM.h"

#include "lib/Conversion/MoeKernelToNVVM/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace grouped_moe {
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/MoeKernelToNVVM/Passes.h.inc"
} // namespace grouped_moe

void grouped_moe::buildKernelToLLVMPasses(OpPassManager &pm) {
  pm.addPass(createExpandKernelMath());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  // By the dialects' interfaces: the pass of cf alone runs on a ModuleOp only.
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createConvertNVVMToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCSEPass());
}

void grouped_moe::registerMoeKernelToNVVMPasses() {
  registerConvertMoeKernelToNVVM();
  registerExpandKernelMath();
  PassPipelineRegistration<>(
      "moe-kernel-to-llvm",
      "finish a gpu.module of kernels: arithmetic and control flow to LLVM",
      buildKernelToLLVMPasses);
}
