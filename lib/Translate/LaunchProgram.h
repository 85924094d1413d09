// A function of host ops (moe_kernel.launch and friends) as an entry of a
// bundle.
#ifndef LIB_TRANSLATE_LAUNCHPROGRAM_H
#define LIB_TRANSLATE_LAUNCHPROGRAM_H

#include "mlir/Support/LLVM.h"
#include <memory>

namespace mlir {
class Operation;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace gmoe::abi {
struct EntryT;
} // namespace gmoe::abi

namespace grouped_moe {

/// `gpuModule` holds the lowered kernels. Emits errors at the op that a launch
/// program cannot express.
mlir::FailureOr<std::unique_ptr<gmoe::abi::EntryT>>
buildEntry(mlir::func::FuncOp func, mlir::Operation *gpuModule);

} // namespace grouped_moe

#endif // LIB_TRANSLATE_LAUNCHPROGRAM_H
