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

LogicalResult
grouped_moe::checkOptions(const PipelineOptions &options,
                          function_ref<LogicalResult(const Twine &)> refuse) {
  auto say = [&](const Twine &message) -> LogicalResult {
    std::string text = message.str(); // of a value: empty, printed already
    return refuse(text.empty()
                      ? "cannot read '" +
                            StringRef(options.schedule).trim().str() + "'"
                      : text);
  };
  return createSelectSchedule()->initializeOptions(options.schedule, say);
}

void grouped_moe::buildToSchedule(OpPassManager &pm,
                                  const PipelineOptions &options) {
  buildToGeneric(pm, options);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  SelectScheduleOptions select;
  select.target = options.target;
  std::unique_ptr<Pass> pass = createSelectSchedule(select);
  LogicalResult read = pass->initializeOptions(
      options.schedule, [](const Twine &) { return failure(); });
  assert(succeeded(read) && "checkOptions");
  (void)read;
  pm.addPass(std::move(pass));
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

static void registerPipeline(StringRef name, StringRef summary,
                             void (*build)(OpPassManager &,
                                           const PipelineOptions &)) {
  registerPassPipeline(
      name, summary,
      [build](OpPassManager &pm, StringRef text,
              function_ref<LogicalResult(const Twine &)> refuse) {
        CommandLineOptions options;
        if (failed(options.parseFromString(text)) ||
            failed(checkOptions(options.get(), refuse))) {
          return failure();
        }
        build(pm, options.get());
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> take) {
        take(CommandLineOptions());
      });
}

void grouped_moe::registerPipelines() {
  registerPipeline("grouped-moe-to-kernel",
                   "grouped_moe to moe_kernel launch programs", buildToKernel);
  registerPipeline("grouped-moe-to-nvvm", "grouped_moe to NVVM kernels",
                   buildToNvvm);
}
