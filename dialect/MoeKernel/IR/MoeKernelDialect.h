// The moe_kernel dialect and its types.
#ifndef DIALECT_MOEKERNEL_IR_MOEKERNELDIALECT_H
#define DIALECT_MOEKERNEL_IR_MOEKERNELDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Types.h"

#include "dialect/MoeKernel/IR/MoeKernelDialect.h.inc"
#include "dialect/MoeKernel/IR/MoeKernelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/MoeKernel/IR/MoeKernelAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/MoeKernel/IR/MoeKernelTypes.h.inc"

#endif // DIALECT_MOEKERNEL_IR_MOEKERNELDIALECT_H
