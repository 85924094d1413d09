// Operations of the grouped_moe dialect.
#ifndef DIALECT_GROUPEDMOE_IR_GROUPEDMOEOPS_H
#define DIALECT_GROUPEDMOE_IR_GROUPEDMOEOPS_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "dialect/GroupedMoe/IR/GroupedProduct.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h.inc"

namespace grouped_moe {

/// Whether an epilogue region may hold `op`: scalar arithmetic that every
/// target and the reference executor can compute.
bool isEpilogueOp(mlir::Operation *op);
/// Whether it asks for no other rounding than that of an epilogue.
bool roundsAsAsked(mlir::Operation *op);
/// Arguments and yields of the region, labelled `signature`, and its
/// operations, labelled `contents`.
mlir::LogicalResult verifyEpilogueRegion(FusedProduct op,
                                         llvm::StringRef signature,
                                         llvm::StringRef contents);

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_GROUPEDMOEOPS_H
