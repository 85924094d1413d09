// Verification and effects of interleave_glu.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

static ShapedType typeOf(Value value) {
  return cast<ShapedType>(value.getType());
}

static LogicalResult verifyInput(InterleaveGluOp op) {
  ShapedType type = typeOf(op.getInput());
  Type element = type.getElementType();
  if (!isFp8(element) && !isFloatOutput(element)) {
    InFlightDiagnostic diag =
        op.emitOpError() << "input: element type is " << element
                         << ", expected f32, f16, bf16, f8E4M3FN or f8E5M2 "
                            "(interleave_c1)";
    if (isa<Float4E2M1FNType>(element)) {
      diag << "; interleave the values before they become f4E2M1FN";
    }
    return diag;
  }
  if (type.getRank() != 2 && type.getRank() != 3) {
    return op.emitOpError()
           << "input: rank is " << type.getRank()
           << ", expected 2 (groups, 2 F) or 3 (groups, 2 F, columns) "
              "(interleave_c1)";
  }
  if (!type.hasStaticShape() || type.getNumElements() == 0) {
    return op.emitOpError()
           << "input: type is " << type
           << ", expected static positive extents (interleave_c1); groups, "
              "rows and columns of weights are part of the kernel";
  }
  if (type.getDimSize(1) % 64 != 0) {
    return op.emitOpError()
           << "input: extent 1 is " << type.getDimSize(1)
           << ", expected a multiple of 64: blocks of 32 rows of gate and of "
              "up (interleave_c2); pad each half with zeros";
  }
  return success();
}

static LogicalResult verifyOutputs(InterleaveGluOp op) {
  ShapedType data = typeOf(op.getData()), input = typeOf(op.getInput());
  if (data.getShape() != input.getShape() ||
      data.getElementType() != input.getElementType()) {
    return op.emitOpError() << "data: type is " << data
                            << ", expected the shape and elements of " << input
                            << " (interleave_c3)";
  }
  if (!isa<BaseMemRefType>(input)) {
    return success();
  }
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    unsigned number = op.getOutputs().getBeginOperandIndex() + i;
    for (OpOperand &other : op->getOpOperands()) {
      if (other.getOperandNumber() != number && other.get() == output) {
        return op.emitOpError()
               << "output #" << i << " is operand #" << other.getOperandNumber()
               << " as well, but rows do not move in place (interleave_c7); "
                  "give it memory of its own";
      }
    }
  }
  return success();
}

/// Whether scales are there, and what they are.
static LogicalResult verifyScaling(InterleaveGluOp op) {
  if (static_cast<bool>(op.getScales()) != op.getLayout().has_value()) {
    return op.emitOpError()
           << (op.getScales() ? "has scales but no layout"
                              : "has a layout but no scales")
           << ", expected both or neither (interleave_c4); "
           << (op.getScales() ? "write layout <row, whole, block = 32>"
                              : "drop the layout");
  }
  if (!op.getScales()) {
    return success();
  }
  ShapedType type = typeOf(op.getInput());
  if (type.getRank() != 3 || !isFp8(type.getElementType())) {
    return op.emitOpError()
           << "input: type is " << type
           << ", expected f8E4M3FN or f8E5M2 of rank 3 for an input with "
              "scales (interleave_c4); drop the scales and the layout";
  }
  if (type.getDimSize(2) % 32 != 0) {
    return op.emitOpError()
           << "input: extent 2 is " << type.getDimSize(2)
           << ", expected a multiple of 32 elements for an input with scales "
              "(interleave_c5); pad the columns with zeros";
  }
  StringRef names[] = {"scales", "output scales"};
  Value operands[] = {op.getScales(), op.getDataScales()};
  for (auto [name, operand] : llvm::zip(names, operands)) {
    if (failed(verifyScales(op, name, operand.getType(), *op.getLayout(), type,
                            LayoutChoice(), "interleave_c4",
                            "interleave_c5"))) {
      return failure();
    }
  }
  return verifyProducer(op, "scales", op.getScales(), *op.getLayout(),
                        "interleave_c8");
}

LogicalResult InterleaveGluOp::verify() {
  unsigned expected = getScales() ? 2 : 1;
  if (getOutputs().size() != expected) {
    return emitOpError() << "outs has " << getOutputs().size()
                         << " operands, expected " << expected
                         << (getScales() ? ": data and scales"
                                         : ": data, for ins has no scales")
                         << " (interleave_c6)";
  }
  if (failed(verifySemantics(*this, expected, "interleave_c6")) ||
      failed(verifyInput(*this)) || failed(verifyOutputs(*this))) {
    return failure();
  }
  return verifyScaling(*this);
}

/// Every byte of a destination is written, and none of it read.
void InterleaveGluOp::getEffects(EffectList &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType())) {
      continue;
    }
    if (isDpsInit(&operand)) {
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    } else {
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    }
  }
}

LogicalResult
InterleaveGluOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromOutputs(builder, *this, getOutputs(), shapes);
}
