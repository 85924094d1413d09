// The named grouped products, and the gemm that each stands for.
#ifndef DIALECT_GROUPEDMOE_IR_NAMEDOPS_H
#define DIALECT_GROUPEDMOE_IR_NAMEDOPS_H

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "llvm/ADT/BitVector.h"

namespace grouped_moe {

/// Puts the gemm that `op` stands for in front of it; the caller replaces it.
/// Locations are those of `op`.
GemmOp generalize(mlir::OpBuilder &builder, NamedProduct op);

/// The inputs on which no output depends. Without them the others are the same:
/// an equation treats an absent input only where it would use it.
llvm::BitVector getUnusedInputs(NamedProduct op);

/// Replaces every named op inside `root`; returns how many.
unsigned generalizeAll(mlir::Operation *root);

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_NAMEDOPS_H
