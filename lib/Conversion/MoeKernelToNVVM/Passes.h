// Passes and pipelines from moe_kernel to LLVM dialect.
#ifndef LIB_CONVERSION_MOEKERNELTONVVM_PASSES_H
#define LIB_CONVERSION_MOEKERNELTONVVM_PASSES_H

#include "mlir/Pass/Pass.h"
#include <string>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace grouped_moe {

#define GEN_PASS_DECL
#include "lib/Conversion/MoeKernelToNVVM/Passes.h.inc"

/// Registers the passes of this folder and the pipeline `moe-kernel-to-llvm`.
void registerMoeKernelToNVVMPasses();

} // namespace grouped_moe

#endif // LIB_CONVERSION_MOEKERNELTONVVM_PASSES_H
