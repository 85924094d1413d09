#include "lib/Pipelines/Pipelines.h"

#include "lib/Conversion/GroupedMoeToMoeKernel/Passes.h"
#include "lib/Conversion/MoeKernelToNVVM/KernelToLLVM.h"
#include "lib/Conversion/MoeKernelToNVVM/Passes.h"
#include "lib/Transforms/MoeKernel/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace grouped_moe;

/// Operands and results become dense row-major buffers.
static void addBufferization(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createResultsToArguments());
}

void grouped_moe::buildToGeneric(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createCheckScales());
  pm.addPass(createGeneralizeNamedOps());
}

void grouped_moe::buildToSchedule(OpPassManager &pm,
                                  const PipelineOptions &options) {
  buildToGeneric(pm, options);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  SelectScheduleOptions select;
  select.target = options.target;
  std::unique_ptr<Pass> pass = createSelectSchedule(select);
  auto refuse = [](const Twine &message) -> LogicalResult {
    llvm::errs() << "error: options of the schedule: " << message << "\n";
    return failure();
  };
  // Without the pass the next one refuses ops without a schedule.
  if (succeeded(pass->initializeOptions(options.schedule, refuse))) {
    pm.addPass(std::move(pass));
  }
}

void grouped_moe::buildToKernel(OpPassManager &pm,
                                const PipelineOptions &options) {
  buildToSchedule(pm, options);
  addBufferization(pm);
  pm.addPass(createConvertToKernel());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  CheckKernelResourcesOptions resources;
  resources.chip = options.target;
  pm.addPass(createCheckKernelResources(resources));
  pm.addPass(createCheckKernelProtocol());
}

void grouped_moe::buildToNvvm(OpPassManager &pm,
                              const PipelineOptions &options) {
  buildToKernel(pm, options);
  ConvertMoeKernelToNVVMOptions nvvm;
  nvvm.chip = options.target;
  pm.addPass(createConvertMoeKernelToNVVM(nvvm));
  buildKernelToLLVMPasses(pm.nest<gpu::GPUModuleOp>());
  // .loc directives: a message about a PTX line can name the op.
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  lines.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
}

namespace {
struct CommandLineOptions : PassPipelineOptions<CommandLineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("chip to compile for"),
                             llvm::cl::init("sm_100a")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("options of grouped-moe-select-schedule, in braces")};
  PipelineOptions get() const { return {target, schedule}; }
};
} // namespace

void grouped_moe::registerPipelines() {
  PassPipelineRegistration<CommandLineOptions>(
      "grouped-moe-to-kernel", "grouped_moe to moe_kernel launch programs",
      [](OpPassManager &pm, const CommandLineOptions &options) {
        buildToKernel(pm, options.get());
      });
  PassPipelineRegistration<CommandLineOptions>(
      "grouped-moe-to-nvvm", "grouped_moe to NVVM kernels",
      [](OpPassManager &pm, const CommandLineOptions &options) {
        buildToNvvm(pm, options.get());
      });
}
