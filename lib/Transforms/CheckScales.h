// Follows quantized matrices and pairs through a function.
#ifndef LIB_TRANSFORMS_CHECKSCALES_H
#define LIB_TRANSFORMS_CHECKSCALES_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace grouped_moe {

/// Refuses ops that read a matrix otherwise than another op of `function` wrote
/// it, or than another one reads it.
mlir::LogicalResult checkScales(mlir::Operation *function);

} // namespace grouped_moe

#endif // LIB_TRANSFORMS_CHECKSCALES_H
