// Arithmetic on extents between the ops of an entry.
#ifndef LIB_REFERENCE_INDEXOPS_H
#define LIB_REFERENCE_INDEXOPS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/LogicalResult.h"

namespace grouped_moe::reference {

using IndexValues = llvm::DenseMap<mlir::Value, int64_t>;

/// Sets the result of an arith op on index or integer values; a diagnostic for
/// any other op.
llvm::LogicalResult runIndexOp(mlir::Operation *op, IndexValues &values);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_INDEXOPS_H
