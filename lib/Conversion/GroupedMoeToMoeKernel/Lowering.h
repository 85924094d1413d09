// One function for each op: builds its kernel and the launch in its place.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_LOWERING_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_LOWERING_H

#include "mlir/Support/LLVM.h"

namespace grouped_moe {
class GemmOp;
class QuantizeOp;
class DequantizeOp;
class InterleaveGluOp;
class WgradOp;

/// The op must be on memrefs; products need their schedule. The op itself is
/// left for the caller to erase.
mlir::LogicalResult lowerGemm(GemmOp op);
/// Whether kernels can take the memrefs that are not dense.
mlir::LogicalResult checkStrides(GemmOp op);
mlir::LogicalResult checkStrides(WgradOp op);
mlir::LogicalResult lowerWgrad(WgradOp op);
mlir::LogicalResult lowerQuantize(QuantizeOp op);
mlir::LogicalResult lowerDequantize(DequantizeOp op);
mlir::LogicalResult lowerInterleave(InterleaveGluOp op);

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_LOWERING_H
