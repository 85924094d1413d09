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

#endif // DIALECT_MOEKERNEL_IR_MOEKERNELOPS_H
