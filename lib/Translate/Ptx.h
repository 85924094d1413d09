// NVVM kernels to PTX text, and PTX to a cubin by ptxas.
#ifndef LIB_TRANSLATE_PTX_H
#define LIB_TRANSLATE_PTX_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace grouped_moe {

/// Translates a gpu.module of llvm and nvvm operations. `llvmIr`, if given,
/// receives the optimized LLVM IR as text.
mlir::FailureOr<std::string> emitPtx(mlir::Operation *gpuModule,
                                     std::string *llvmIr = nullptr);

/// What ptxas -v says of one kernel.
struct KernelResources {
  std::string name;
  unsigned registers = 0;
  unsigned spillBytes = 0;
  unsigned stackBytes = 0; // local memory
  unsigned staticSharedBytes = 0;
};

struct Cubin {
  std::string bytes;
  std::string log;
  std::vector<KernelResources> kernels;
};

/// $GMOE_PTXAS, $CUDA_HOME/bin, /usr/local/cuda/bin, PATH; empty if none.
std::string findPtxas();
/// The version line of that ptxas; empty if it does not run.
std::string ptxasVersion(llvm::StringRef ptxas);

/// Runs ptxas; errors carry its log and are emitted at `op`.
mlir::FailureOr<Cubin> assemble(mlir::Operation *op, llvm::StringRef ptx,
                                llvm::StringRef chip, llvm::StringRef ptxas);

} // namespace grouped_moe

#endif // LIB_TRANSLATE_PTX_H
