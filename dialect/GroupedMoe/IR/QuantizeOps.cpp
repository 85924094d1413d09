// Verification of quantize and dequantize.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

/// The matrix a quantized op works on: rank, blocked extent, element type.
static LogicalResult verifyMatrix(Operation *op, StringRef name, Value matrix,
                                  bool (*legal)(Type), StringRef elements,
                                  StringRef constraint) {
  auto type = cast<ShapedType>(matrix.getType());
  if (!legal(type.getElementType())) {
    return op->emitOpError()
           << name << ": element type is " << type.getElementType()
           << ", expected " << elements << " (" << constraint << ")";
  }
  if (type.getRank() != 2 && type.getRank() != 3) {
    return op->emitOpError()
           << name << ": rank is " << type.getRank()
           << ", expected 2 (rows, columns) or 3 (groups, rows, columns) ("
           << constraint << ")";
  }
  int64_t columns = type.getShape().back();
  if (ShapedType::isDynamic(columns) || columns % 32 != 0 || columns == 0) {
    InFlightDiagnostic diag = op->emitOpError() << name << ": last extent is ";
    if (ShapedType::isDynamic(columns)) {
      diag << "dynamic";
    } else {
      diag << columns;
    }
    return diag << ", expected a static positive multiple of 32 elements ("
                << constraint << "); pad the columns with zeros";
  }
  if (type.getRank() == 3 && (type.isDynamicDim(0) || type.isDynamicDim(1))) {
    return op->emitOpError() << name << ": shape of a rank-3 operand must be "
                             << "static (" << constraint
                             << "); only the row count of a matrix is dynamic";
  }
  return success();
}

static LogicalResult verifyPartner(Operation *op, StringRef name, Value partner,
                                   Value matrix, bool (*legal)(Type),
                                   StringRef elements, StringRef constraint) {
  auto type = cast<ShapedType>(partner.getType());
  auto expected = cast<ShapedType>(matrix.getType());
  if (!legal(type.getElementType())) {
    return op->emitOpError()
           << name << ": element type is " << type.getElementType()
           << ", expected " << elements << " (" << constraint << ")";
  }
  bool same = type.getRank() == expected.getRank();
  for (int64_t i = 0; same && i < type.getRank(); ++i) {
    same = mayEqual(type.getDimSize(i), expected.getDimSize(i));
  }
  // Only rows may be dynamic; a column count is part of the kernel.
  if (!same || type.getShape().back() != expected.getShape().back()) {
    return op->emitOpError()
           << name << ": type is " << type << ", expected the shape of "
           << expected << " (" << constraint << ")";
  }
  return success();
}

LogicalResult QuantizeOp::verify() {
  if (getOutputs().size() != 2) {
    return emitOpError()
           << "outs has " << getOutputs().size()
           << " operands, expected 2: data and scales (quantize_c5)";
  }
  if (failed(verifySemantics(*this, 2, "quantize_c5")) ||
      failed(verifyMatrix(*this, "input", getInput(), isFloatOutput,
                          "f32, f16 or bf16", "quantize_c1")) ||
      failed(verifyPartner(*this, "data", getData(), getInput(), isFp8,
                           "f8E4M3FN or f8E5M2", "quantize_c2"))) {
    return failure();
  }
  auto shape = cast<ShapedType>(getInput().getType()).getShape();
  return verifyScales(*this, "scales", getScales(), getLayout(), shape,
                      "quantize_c3", "quantize_c4");
}

LogicalResult DequantizeOp::verify() {
  if (getOutputs().size() != 1) {
    return emitOpError() << "outs has " << getOutputs().size()
                         << " operands, expected 1 (dequantize_c5)";
  }
  if (failed(verifySemantics(*this, 1, "dequantize_c5")) ||
      failed(verifyMatrix(*this, "data", getData(), isFp8, "f8E4M3FN or f8E5M2",
                          "dequantize_c1")) ||
      failed(verifyPartner(*this, "output", getOutput(), getData(),
                           isFloatOutput, "f32, f16 or bf16",
                           "dequantize_c2"))) {
    return failure();
  }
  auto shape = cast<ShapedType>(getData().getType()).getShape();
  return verifyScales(*this, "scales", getScales(), getLayout(), shape,
                      "dequantize_c3", "dequantize_c4");
}

void QuantizeOp::getEffects(EffectList &effects) {
  addEffects(*this, getOutputs(), effects);
}
void DequantizeOp::getEffects(EffectList &effects) {
  addEffects(*this, getOutputs(), effects);
}
LogicalResult
QuantizeOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromOutputs(builder, *this, getOutputs(), shapes);
}
LogicalResult
DequantizeOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromOutputs(builder, *this, getOutputs(), shapes);
}
