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

namespace {
/// The quantized elements: packed two a byte, stored transposed or not.
struct DataFacts {
  DataFacts(Value data, ScaleLayoutAttr layout)
      : packed(isFp4(elementOf(data))),
        transposed(isStoredTransposed(data, layout)) {}
  bool packed, transposed;
};
} // namespace

/// The matrix a quantized op works on: rank, blocked extent, element type;
/// `transposed` if its own columns come first.
static LogicalResult verifyMatrix(Operation *op, StringRef name, Value matrix,
                                  bool (*legal)(Type), StringRef elements,
                                  DataFacts data, bool transposed,
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
  if (data.transposed && type.getRank() != 2) {
    return op->emitOpError()
           << name
           << ": rank is 3, expected 2 where f4E2M1FN is quantized down "
              "columns, for a sum over rows ("
           << constraint
           << "); quantize weights along rows: FP4 operands are K-major only";
  }
  int64_t columns = type.getShape()[transposed ? 0 : type.getRank() - 1];
  bool packed = data.packed && !data.transposed; // along a row
  if (ShapedType::isDynamic(columns) || columns % (packed ? 64 : 32) != 0 ||
      columns == 0) {
    InFlightDiagnostic diag = op->emitOpError()
                              << name << (transposed ? ": first" : ": last")
                              << " extent is ";
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
                                   StringRef elements, bool transposed,
                                   StringRef constraint) {
  auto type = cast<ShapedType>(partner.getType());
  auto expected = cast<ShapedType>(matrix.getType());
  if (!legal(type.getElementType())) {
    return op->emitOpError()
           << name << ": element type is " << type.getElementType()
           << ", expected " << elements << " (" << constraint << ")";
  }
  SmallVector<int64_t> own(type.getShape()), other(expected.getShape());
  if (transposed && own.size() == 2) { // both as the wide one, rows first
    SmallVector<int64_t> &narrow = isFp4(type.getElementType()) ? own : other;
    std::swap(narrow[0], narrow[1]);
  }
  bool same = own.size() == other.size();
  for (size_t i = 0; same && i < own.size(); ++i) {
    same = mayEqual(own[i], other[i]);
  }
  // Only rows may be dynamic; a column count is part of the kernel.
  if (!same || own.back() != other.back()) {
    InFlightDiagnostic diag = op->emitOpError()
                              << name << ": type is " << type
                              << ", expected the shape of " << expected;
    if (transposed) {
      diag << ", transposed: f4E2M1FN down columns is stored columns first";
    }
    return diag << " (" << constraint << ")";
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
  return success();
}

/// Layout, shape and groups of the scales of `matrix`, R rows first.
template <typename Op>
static LogicalResult verifyScaleOperand(Op op, Value scales,
                                        ArrayRef<int64_t> matrix,
                                        DataFacts data) {
  ScaleLayoutAttr layout = op.getLayout();
  std::string label = (op->getName().stripDialect() + "_c").str();
  LogicalResult elements =
      data.packed ? verifyFp4Scales(op, scales, layout, label + "3")
                  : verifyScaleElements(op, "scales", scales.getType(), layout,
                                        label + "3");
  if (failed(elements) ||
      failed(verifyGroups(op, op.getOffsets(), op.getMAligned(), layout,
                          matrix.size(), label + "6"))) {
    return failure();
  }
  GroupFacts facts;
  if (op.getOffsets()) {
    facts.groups = grouped_moe::detail::extentOf(op.getOffsets(), 0);
    facts.aligned = static_cast<int64_t>(op.getMAligned());
  }
  int64_t aligned = op.getOffsets() ? facts.aligned : kPieceRows;
  if (data.transposed &&
      failed(verifyPieces(op, "data", matrix.front(), aligned, label + "1",
                          label + "6"))) {
    return failure();
  }
  return verifyScaleShape(op, "scales", scales.getType(), layout, matrix, facts,
                          label + "4");
}

LogicalResult QuantizeOp::verify() {
  if (getOutputs().size() != 2) {
    return emitOpError()
           << "outs has " << getOutputs().size()
           << " operands, expected 2: data and scales (quantize_c5)";
  }
  DataFacts data(getData(), getLayout());
  auto input = cast<ShapedType>(getInput().getType());
  if (failed(verifySemantics(*this, 2, "quantize_c5")) ||
      failed(verifyMatrix(*this, "input", getInput(), isFloatOutput,
                          "f32, f16 or bf16", data, /*transposed=*/false,
                          "quantize_c1")) ||
      failed(verifyPartner(*this, "data", getData(), getInput(), isQuantized,
                           kQuantized, data.transposed, "quantize_c2"))) {
    return failure();
  }
  SmallVector<int64_t> matrix(input.getShape());
  if (data.transposed && ShapedType::isDynamic(matrix[0])) {
    matrix[0] = cast<ShapedType>(getData().getType()).getDimSize(1);
  }
  if (failed(verifyScaleOperand(*this, getScales(), matrix, data))) {
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
  DataFacts data(getData(), getLayout());
  if (failed(verifySemantics(*this, 1, "dequantize_c5")) ||
      failed(verifyMatrix(*this, "data", getData(), isQuantized, kQuantized,
                          data, data.transposed, "dequantize_c1")) ||
      failed(verifyPartner(*this, "output", getOutput(), getData(),
                           isFloatOutput, "f32, f16 or bf16", data.transposed,
                           "dequantize_c2")) ||
      failed(verifyProducer(*this, "scales", getScales(), getLayout(),
                            "dequantize_c7"))) {
    return failure();
  }
  SmallVector<int64_t> matrix(cast<ShapedType>(getData().getType()).getShape());
  if (data.transposed) {
    std::swap(matrix[0], matrix[1]);
  }
  return verifyScaleOperand(*this, getScales(), matrix, data);
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
