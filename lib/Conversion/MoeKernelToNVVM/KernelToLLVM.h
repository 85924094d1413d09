// The passes that finish a gpu.module of kernels: arithmetic and control flow
// to the LLVM dialect.
#ifndef LIB_CONVERSION_MOEKERNELTONVVM_KERNELTOLLVM_H
#define LIB_CONVERSION_MOEKERNELTONVVM_KERNELTOLLVM_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace grouped_moe {

/// Appends to a pass manager of gpu.module: math expansion, then scf, cf,
/// vector, arith, math and nvvm to the LLVM dialect.
void buildKernelToLLVMPasses(mlir::OpPassManager &gpuModulePM);

} // namespace grouped_moe

#endif // LIB_CONVERSION_MOEKERNELTONVVM_KERNELTOLLVM_H
