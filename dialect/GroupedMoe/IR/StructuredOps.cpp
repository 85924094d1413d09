#include "dialect/GroupedMoe/IR/StructuredOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace grouped_moe;

void grouped_moe::addEffects(Operation *op, OperandRange outputs,
                             EffectList &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType())) {
      continue;
    }
    unsigned first = outputs.getBeginOperandIndex();
    unsigned number = operand.getOperandNumber();
    bool written = number >= first && number < first + outputs.size();
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (written) {
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
  }
}

LogicalResult
grouped_moe::reifyFromOutputs(OpBuilder &builder, Operation *op,
                              OperandRange outputs,
                              ReifiedRankedShapedTypeDims &shapes) {
  for (Value output : outputs) {
    if (isa<RankedTensorType>(output.getType())) {
      shapes.push_back(tensor::getMixedSizes(builder, op->getLoc(), output));
    }
  }
  return success();
}

/// A misspelt attribute would be kept and mean nothing; those of others have a
/// dialect's prefix.
static LogicalResult verifyAttributes(Operation *op) {
  ArrayRef<StringAttr> known = op->getRegisteredInfo()->getAttributeNames();
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.')) {
      continue;
    }
    InFlightDiagnostic diag = op->emitOpError() << "has no attribute '" << name
                                                << "' (attributes_c1)";
    unsigned best = 1 + name.size() / 3;
    StringRef nearest;
    for (StringAttr candidate : known) {
      unsigned distance = candidate.getValue().edit_distance(name);
      if (distance <= best) {
        best = distance;
        nearest = candidate;
      }
    }
    if (!nearest.empty()) {
      diag << "; did you mean '" << nearest << "'?";
    } else {
      diag << "; drop it, or give it the prefix of a dialect";
    }
    return diag;
  }
  return success();
}

LogicalResult grouped_moe::verifySemantics(Operation *op, unsigned outputs,
                                           StringRef constraint) {
  if (failed(verifyAttributes(op))) {
    return failure();
  }
  bool tensors = isa<TensorType>(op->getOperand(0).getType());
  for (OpOperand &operand : op->getOpOperands()) {
    if (isa<TensorType>(operand.get().getType()) != tensors) {
      InFlightDiagnostic diag =
          op->emitOpError()
          << "operand #" << operand.getOperandNumber() << " is of type "
          << operand.get().getType() << " but operand #0 is of type "
          << op->getOperand(0).getType() << ", expected all tensors or all "
          << "memrefs (" << constraint << ")";
      return diag;
    }
  }
  unsigned results = tensors ? outputs : 0;
  if (op->getNumResults() != results) {
    return op->emitOpError()
           << "has " << op->getNumResults() << " results, expected " << results
           << ": one for each tensor in outs, none for "
              "memrefs ("
           << constraint << ")";
  }
  return success();
}

bool grouped_moe::isFp8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

bool grouped_moe::isFp4(Type type) { return isa<Float4E2M1FNType>(type); }

bool grouped_moe::isFloatOutput(Type type) {
  return type.isF32() || type.isF16() || type.isBF16();
}
