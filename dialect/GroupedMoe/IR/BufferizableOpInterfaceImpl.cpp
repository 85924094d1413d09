#include "dialect/GroupedMoe/IR/BufferizableOpInterfaceImpl.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace grouped_moe;

namespace {
/// Every op of the dialect reads its inputs and writes its destinations in
/// place. A destination also counts as read, since rows past the last offset
/// keep what is in it; interleave_glu has no offsets and writes all of it.
template <typename OpTy>
struct StructuredOpModel
    : DstBufferizableOpInterfaceExternalModel<StructuredOpModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !isa<InterleaveGluOp>(op) ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    // What addresses point at is written, not the addresses.
    auto type = cast<ShapedType>(operand.get().getType());
    return cast<DestinationStyleOpInterface>(op).isDpsInit(&operand) &&
           !type.getElementType().isInteger(64);
  }
  /// An element of the epilogue is read by the thread that then writes it.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto product = dyn_cast<FusedProduct>(op);
    return product && llvm::all_of(operands, [&](OpOperand *operand) {
             unsigned number = operand->getOperandNumber();
             unsigned firstInput = product.getInputs().getBeginOperandIndex();
             unsigned firstOutput = product.getOutputs().getBeginOperandIndex();
             if (number >= firstOutput) {
               OutputKind kind = product.getOutputKind(number - firstOutput);
               return kind == OutputKind::plain ||
                      kind == OutputKind::quantized;
             }
             return number >= firstInput &&
                    product.getInputKind(number - firstInput) ==
                        InputKind::per_element;
           });
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer)) {
        return failure();
      }
      buffers.push_back(*buffer);
    }
    SmallVector<Value> results;
    for (OpOperand &init :
         cast<DestinationStyleOpInterface>(op).getDpsInitsMutable()) {
      results.push_back(buffers[init.getOperandNumber()]);
    }
    OperationState newOp(op->getLoc(), op->getName(), buffers, TypeRange{},
                         op->getAttrs());
    newOp.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions()) {
      newOp.addRegion()->takeBody(region);
    }
    rewriter.create(newOp);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

template <typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<StructuredOpModel<Ops>>(context), ...);
}
} // namespace

void grouped_moe::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *ctx, GroupedMoeDialect *) {
    attach<GemmOp, GemmQuantOp, GemmSwigluOp, GemmGegluOp, GemmSitugluOp,
           GemmSreluOp, GemmDswigluOp, GemmDgegluOp, GemmDsreluOp, QuantizeOp,
           DequantizeOp, InterleaveGluOp, WgradOp>(*ctx);
  });
}
