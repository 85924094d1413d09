// Pass pipelines, one builder for each stage.
#ifndef LIB_PIPELINES_PIPELINES_H
#define LIB_PIPELINES_PIPELINES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace llvm {
class Twine;
} // namespace llvm
namespace mlir {
class OpPassManager;
} // namespace mlir

namespace grouped_moe {

struct PipelineOptions {
  std::string target = "sm_100a";
  /// Options of grouped-moe-select-schedule beside the target:
  /// "tile-n=256 cluster=2,1".
  std::string schedule;
};

/// Whether the options can be read; `refuse` gets the reason.
llvm::LogicalResult checkOptions(
    const PipelineOptions &options,
    llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> refuse);

// The options of these must be readable.
/// grouped_moe on tensors or memrefs -> the same, checked, without named ops.
void buildToGeneric(mlir::OpPassManager &pm, const PipelineOptions &options);
/// ... -> the same with schedules.
void buildToSchedule(mlir::OpPassManager &pm, const PipelineOptions &options);
/// ... -> launch programs and moe_kernel functions, checked.
void buildToKernel(mlir::OpPassManager &pm, const PipelineOptions &options);
/// ... -> a gpu.module of llvm and nvvm operations.
void buildToNvvm(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Registers --grouped-moe-to-kernel and --grouped-moe-to-nvvm.
void registerPipelines();

} // namespace grouped_moe

#endif // LIB_PIPELINES_PIPELINES_H
