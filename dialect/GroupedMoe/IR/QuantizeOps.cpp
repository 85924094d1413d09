// Verification of quantize and dequantize.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

static bool isQuantized(Type type) { return isFp8(type) || isFp4(type); }
static constexpr StringRef kQuantized = "f8E4M3FN, f8E5M2 or f4E2M1FN";

static Type elementOf(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

/// The matrix a quantized op works on: rank, blocked extent, element type;
/// `data` has the quantized elements.
static LogicalResult verifyMatrix(Operation *op, StringRef name, Value matrix,
                                  bool (*legal)(Type), StringRef elements,
                                  Value data, StringRef constraint) {
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
  bool packed = isFp4(elementOf(data));
  if (ShapedType::isDynamic(columns) || columns % (packed ? 64 : 32) != 0 ||
      columns == 0) {
    InFlightDiagnostic diag = op->emitOpError() << name << ": last extent is ";
    if (ShapedType::isDynamic(columns)) {
      diag << "dynamic";
    } else {
      diag << columns;
    }
    return diag << ", expected a static positive multiple of "
                << (packed ? "64 elements of f4E2M1FN" : "32 elements") << " ("
                << constraint << "); pad the columns with zeros";
  }
  for (int64_t extent : type.getShape()) {
    if (extent > kMaxExtent) {
      return op->emitOpError()
             << name << ": an extent is " << extent << ", expected at most "
             << kMaxExtent << ": kernels count in 32 bits (" << constraint
             << ")";
    }
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

/// Groups of rows, for layouts that start atoms with each of them.
static LogicalResult verifyGroups(Operation *op, Value offsets,
                                  uint64_t aligned, ScaleLayoutAttr layout,
                                  int64_t rank, const Twine &constraint) {
  bool perGroup = layout.getGrouping() == ScaleGrouping::per_group;
  if (perGroup != static_cast<bool>(offsets)) {
    return op->emitOpError()
           << "layout " << layout << (perGroup ? " needs" : " takes no")
           << " offsets (" << constraint << "); "
           << (perGroup ? "give the ends of the groups: offsets(%ends : ...)"
                        : "drop them, or use a per_group layout");
  }
  if (!perGroup) {
    return success();
  }
  auto type = cast<ShapedType>(offsets.getType());
  if (!type.getElementType().isSignlessInteger(32) || type.getRank() != 1 ||
      type.isDynamicDim(0) || type.getDimSize(0) < 1) {
    return op->emitOpError()
           << "offsets: type is " << type
           << ", expected a static number of i32, one cumulative end for each "
              "group ("
           << constraint << ")";
  }
  if (rank != 2) {
    return op->emitOpError()
           << "offsets divide the rows of a matrix, but the "
              "rank is "
           << rank << " (" << constraint << "); use a whole layout";
  }
  if (!llvm::is_contained(kAlignments, static_cast<int64_t>(aligned))) {
    return op->emitOpError()
           << "m_aligned is " << static_cast<int64_t>(aligned)
           << " rows, expected 1, 32, 128 or 256 (" << constraint
           << "); promise the largest of them that divides every offset";
  }
  return success();
}

/// Checks element type, block and direction of the scales of FP4 data.
static LogicalResult verifyFp4Scales(Operation *op, Value scales,
                                     ScaleLayoutAttr layout,
                                     const Twine &constraint) {
  Type element = elementOf(scales);
  bool isE4m3 = isa<Float8E4M3FNType>(element);
  if (!isE4m3 && !isa<Float8E8M0FNUType>(element)) {
    return op->emitOpError()
           << "scales: element type is " << element
           << ", expected f8E8M0FNU or f8E4M3FN for f4E2M1FN data ("
           << constraint << ")";
  }
  if (isE4m3 && layout.getBlock() != 16) {
    return op->emitOpError()
           << "scales: block is " << layout.getBlock()
           << " elements, expected 16 for f8E4M3FN scales (" << constraint
           << "); blocks of 32 have f8E8M0FNU scales";
  }
  if (layout.getDirection() == ScaleDirection::column) {
    return op->emitOpError()
           << "scales: layout is " << layout
           << " of f4E2M1FN data: FP4 operands are K-major only, so these "
              "would be stored transposed, which no kernel does yet ("
           << constraint << "); quantize along rows, or use FP8 data";
  }
  return success();
}

/// Layout, shape and groups of the scales of `matrix`.
template <typename Op>
static LogicalResult verifyScaleOperand(Op op, Value scales, Value matrix,
                                        bool packed) {
  ScaleLayoutAttr layout = op.getLayout();
  std::string label = (op->getName().stripDialect() + "_c").str();
  auto type = cast<ShapedType>(matrix.getType());
  LogicalResult elements =
      packed ? verifyFp4Scales(op, scales, layout, label + "3")
             : verifyScaleElements(op, "scales", scales.getType(), layout,
                                   label + "3");
  if (failed(elements) ||
      failed(verifyGroups(op, op.getOffsets(), op.getMAligned(), layout,
                          type.getRank(), label + "6"))) {
    return failure();
  }
  GroupFacts facts;
  if (op.getOffsets()) {
    facts.groups = grouped_moe::detail::extentOf(op.getOffsets(), 0);
    facts.aligned = static_cast<int64_t>(op.getMAligned());
  }
  return verifyScaleShape(op, "scales", scales.getType(), layout,
                          type.getShape(), facts, label + "4");
}

LogicalResult QuantizeOp::verify() {
  if (getOutputs().size() != 2) {
    return emitOpError()
           << "outs has " << getOutputs().size()
           << " operands, expected 2: data and scales (quantize_c5)";
  }
  if (failed(verifySemantics(*this, 2, "quantize_c5")) ||
      failed(verifyMatrix(*this, "input", getInput(), isFloatOutput,
                          "f32, f16 or bf16", getData(), "quantize_c1")) ||
      failed(verifyPartner(*this, "data", getData(), getInput(), isQuantized,
                           kQuantized, "quantize_c2")) ||
      failed(verifyScaleOperand(*this, getScales(), getInput(),
                                isFp4(elementOf(getData()))))) {
    return failure();
  }
  bool isE4m3 = isa<Float8E4M3FNType>(elementOf(getScales()));
  if (isE4m3 != (getRounding() == ScaleRounding::nearest)) {
    return emitOpError() << "rounding is "
                         << stringifyScaleRounding(getRounding())
                         << ", expected "
                         << (isE4m3 ? "nearest for f8E4M3FN"
                                    : "rceil or floor for f8E8M0FNU")
                         << " scales (quantize_c7)";
  }
  return success();
}

LogicalResult DequantizeOp::verify() {
  if (getOutputs().size() != 1) {
    return emitOpError() << "outs has " << getOutputs().size()
                         << " operands, expected 1 (dequantize_c5)";
  }
  if (failed(verifySemantics(*this, 1, "dequantize_c5")) ||
      failed(verifyMatrix(*this, "data", getData(), isQuantized, kQuantized,
                          getData(), "dequantize_c1")) ||
      failed(verifyPartner(*this, "output", getOutput(), getData(),
                           isFloatOutput, "f32, f16 or bf16",
                           "dequantize_c2")) ||
      failed(verifyProducer(*this, "scales", getScales(), getLayout(),
                            "dequantize_c7"))) {
    return failure();
  }
  return verifyScaleOperand(*this, getScales(), getData(),
                            isFp4(elementOf(getData())));
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
