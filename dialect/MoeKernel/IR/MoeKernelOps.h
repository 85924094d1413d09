// Operations of the moe_kernel dialect.
#ifndef DIALECT_MOEKERNEL_IR_MOEKERNELOPS_H
#define DIALECT_MOEKERNEL_IR_MOEKERNELOPS_H

#include "dialect/MoeKernel/IR/MoeKernelDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialect/MoeKernel/IR/MoeKernelOps.h.inc"

namespace moe_kernel {
/// The strides of a row-major array, dense or with padding between rows:
/// static, descending to 1, no offset. Without the first extent they say where
/// every element is. Fails for other layouts.
mlir::FailureOr<llvm::SmallVector<int64_t>>
rowMajorStrides(mlir::MemRefType type);
} // namespace moe_kernel

#endif // DIALECT_MOEKERNEL_IR_MOEKERNELOPS_H
