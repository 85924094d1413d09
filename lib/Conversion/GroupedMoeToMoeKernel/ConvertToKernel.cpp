#include "lib/Conversion/GroupedMoeToMoeKernel/Passes.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/MoeKernel/IR/MoeKernelDialect.h"
#include "lib/Analysis/ScheduleSelection.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace grouped_moe {
#define GEN_PASS_DEF_CONVERTTOKERNEL
#include "lib/Conversion/GroupedMoeToMoeKernel/Passes.h.inc"
} // namespace grouped_moe

using namespace mlir;
using namespace grouped_moe;

/// A kernel takes plain pointers: every operand must be a memref, and dense,
/// but for matrices of products, which checkStrides looks at.
static LogicalResult checkOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type) {
      return op->emitOpError()
             << "operand #" << operand.getOperandNumber() << " is of type "
             << operand.get().getType()
             << ", expected a memref: bufferize before this pass";
    }
    if (type.getMemorySpace()) {
      return op->emitOpError()
             << "operand #" << operand.getOperandNumber() << " is of type "
             << type
             << ", expected a memref without a memory space: kernels take "
                "global memory";
    }
    if (!type.getLayout().isIdentity() && !isa<GemmOp, WgradOp>(op)) {
      return op->emitOpError()
             << "operand #" << operand.getOperandNumber() << " is of type "
             << type
             << ", expected a dense row-major memref; copy it to one first";
    }
  }
  if (!op->getParentOfType<FunctionOpInterface>()) {
    return op->emitOpError() << "is outside of a function";
  }
  return success();
}

/// What the lowerings of products rely on.
template <typename Op> static LogicalResult checkProduct(Op op) {
  if (failed(checkStrides(op))) {
    return failure();
  }
  if (!op.getSchedule()) {
    return op.emitOpError() << "has no schedule: run "
                               "--grouped-moe-select-schedule, or write one";
  }
  return verifyScheduleShape(cast<FusedProduct>(op.getOperation()));
}

namespace {
struct ConvertToKernelPass
    : grouped_moe::impl::ConvertToKernelBase<ConvertToKernelPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<GemmOp, WgradOp, QuantizeOp, DequantizeOp, InterleaveGluOp>(op)) {
        ops.push_back(op);
      }
    });
    for (Operation *op : ops) {
      if (failed(checkOperands(op))) {
        return signalPassFailure();
      }
      LogicalResult lowered =
          TypeSwitch<Operation *, LogicalResult>(op)
              .Case([](GemmOp gemm) {
                return failure(failed(checkProduct(gemm)) ||
                               failed(lowerGemm(gemm)));
              })
              .Case([](WgradOp wgrad) {
                return failure(failed(checkProduct(wgrad)) ||
                               failed(lowerWgrad(wgrad)));
              })
              .Case([](QuantizeOp quantize) { return lowerQuantize(quantize); })
              .Case([](DequantizeOp dequantize) {
                return lowerDequantize(dequantize);
              })
              .Case([](InterleaveGluOp op) { return lowerInterleave(op); })
              .Default([](Operation *) { return failure(); });
      if (failed(lowered)) {
        return signalPassFailure();
      }
      op->erase();
    }
  }
};
} // namespace
