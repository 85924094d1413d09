#include "dialect/GroupedMoe/IR/ScaleLayout.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;

static int64_t ceilDivExtent(int64_t extent, int64_t by) {
  return ShapedType::isDynamic(extent) ? extent : llvm::divideCeil(extent, by);
}

int64_t grouped_moe::getRaggedAtoms(int64_t extent, int64_t span,
                                    GroupFacts facts) {
  return facts.aligned % span == 0 ? llvm::divideCeil(extent, span)
                                   : extent / span + facts.groups;
}

int64_t grouped_moe::getRaggedSpan(ScaleLayoutAttr layout) {
  return layout.getDirection() == ScaleDirection::row
             ? kAtomRows
             : layout.getBlock() * kAtomBlocks;
}

bool grouped_moe::isStoredTransposed(Value data, ScaleLayoutAttr layout) {
  Type element = cast<ShapedType>(data.getType()).getElementType();
  return isa<Float4E2M1FNType>(element) &&
         layout.getDirection() == ScaleDirection::column;
}

LogicalResult grouped_moe::verifyPieces(Operation *op, StringRef name,
                                        int64_t rows, int64_t aligned,
                                        StringRef rowsConstraint,
                                        StringRef groupsConstraint) {
  if (!ShapedType::isDynamic(rows) && rows % kPieceRows != 0) {
    return op->emitOpError()
           << name << ": R is " << rows << ", expected a multiple of "
           << kPieceRows
           << " rows of f4E2M1FN that is stored transposed, 16 bytes of a "
              "column ("
           << rowsConstraint << "); pad the rows";
  }
  if (aligned % kPieceRows != 0) {
    return op->emitOpError()
           << name << ": m_aligned is " << aligned << ", expected at least "
           << kPieceRows
           << " rows where f4E2M1FN is quantized down columns: two rows share "
              "a byte, and "
           << kPieceRows << " a piece of 16 bytes, which no two groups may ("
           << groupsConstraint << "); pad the groups to a multiple of "
           << kPieceRows << " rows, or use FP8 data";
  }
  return success();
}

SmallVector<int64_t> grouped_moe::getScaleShape(ScaleLayoutAttr layout,
                                                ArrayRef<int64_t> matrix,
                                                GroupFacts facts) {
  bool byRow = layout.getDirection() == ScaleDirection::row;
  bool whole = layout.getGrouping() == ScaleGrouping::whole;
  int64_t rows = matrix[matrix.size() - 2], columns = matrix.back();
  // Atoms along the rows of the matrix and along its columns.
  int64_t columnSpan = byRow ? layout.getBlock() * kAtomBlocks : kAtomRows;
  int64_t alongColumns = ceilDivExtent(columns, columnSpan), alongRows = rows;
  if (!ShapedType::isDynamic(rows)) {
    int64_t span = getRaggedSpan(layout);
    alongRows = whole ? llvm::divideCeil(rows, span)
                      : getRaggedAtoms(rows, span, facts);
  }
  SmallVector<int64_t> shape;
  if (whole) {
    shape.append(matrix.begin(), matrix.end() - 2);
    // The blocked direction of a column layout is the rows: its scales are
    // those of the transposed matrix.
    shape.push_back(byRow ? alongRows : alongColumns);
    shape.push_back(byRow ? alongColumns : alongRows);
  } else {
    bool dynamic =
        ShapedType::isDynamic(alongRows) || ShapedType::isDynamic(alongColumns);
    shape.push_back(dynamic ? ShapedType::kDynamic : alongRows * alongColumns);
  }
  shape.append({32, 4, 4});
  return shape;
}

LogicalResult grouped_moe::verifyScaleShape(Operation *op, StringRef name,
                                            Type scales, ScaleLayoutAttr layout,
                                            ArrayRef<int64_t> matrix,
                                            GroupFacts facts,
                                            StringRef constraint) {
  auto type = cast<ShapedType>(scales);
  SmallVector<int64_t> expected = getScaleShape(layout, matrix, facts);
  bool matches = type.getRank() == static_cast<int64_t>(expected.size());
  // Only what follows the rows of a matrix may be dynamic; it is checked when
  // the kernel is launched.
  size_t rowAxis = layout.getDirection() == ScaleDirection::column &&
                   layout.getGrouping() == ScaleGrouping::whole;
  for (size_t i = 0; matches && i < expected.size(); ++i) {
    bool byRows = i == rowAxis && matrix.size() == 2;
    matches = (byRows && type.isDynamicDim(i)) ||
              (byRows && ShapedType::isDynamic(expected[i])) ||
              type.getDimSize(i) == expected[i];
  }
  if (matches) {
    return success();
  }
  auto print = [](Diagnostic &diag, ArrayRef<int64_t> shape) {
    if (shape.empty()) {
      diag << "empty (rank 0)";
    }
    llvm::interleave(
        shape,
        [&](int64_t extent) {
          if (ShapedType::isDynamic(extent)) {
            diag << "?";
          } else {
            diag << extent;
          }
        },
        [&] { diag << "x"; });
  };
  InFlightDiagnostic diag = op->emitOpError() << name << ": scale shape is ";
  print(*diag.getUnderlyingDiagnostic(), type.getShape());
  diag << ", expected ";
  print(*diag.getUnderlyingDiagnostic(), expected);
  diag << " for layout " << layout << " of a matrix of shape ";
  print(*diag.getUnderlyingDiagnostic(), matrix);
  return diag << " (" << constraint << ")";
}

LogicalResult grouped_moe::verifyScaleElements(Operation *op, StringRef name,
                                               Type scales,
                                               ScaleLayoutAttr layout,
                                               StringRef constraint) {
  auto type = cast<ShapedType>(scales);
  if (!isa<Float8E8M0FNUType>(type.getElementType())) {
    return op->emitOpError()
           << name << ": element type is " << type.getElementType()
           << ", expected f8E8M0FNU (" << constraint << ")";
  }
  if (layout.getBlock() != 32) {
    return op->emitOpError()
           << name << ": block is " << layout.getBlock()
           << " elements, but FP8 data has one scale every 32 elements ("
           << constraint << "); block 16 is for FP4 data";
  }
  return success();
}

LogicalResult grouped_moe::verifyScaleFormat(Operation *op, StringRef name,
                                             Type scales,
                                             ScaleLayoutAttr layout, Type data,
                                             StringRef constraint) {
  if (!isa<Float4E2M1FNType>(data)) {
    return verifyScaleElements(op, name, scales, layout, constraint);
  }
  Type element = cast<ShapedType>(scales).getElementType();
  bool isFine = isa<Float8E8M0FNUType>(element) ||
                (isa<Float8E4M3FNType>(element) && layout.getBlock() == 16);
  if (!isFine) {
    return op->emitOpError()
           << name << ": elements are " << element << ", " << layout.getBlock()
           << " elements of f4E2M1FN a block, expected "
              "f8E8M0FNU with blocks of 32 or 16, or f8E4M3FN with blocks of "
              "16 ("
           << constraint << ")";
  }
  return success();
}

LogicalResult grouped_moe::verifyScales(Operation *op, StringRef name,
                                        Type scales, ScaleLayoutAttr layout,
                                        ShapedType matrix, LayoutChoice choice,
                                        StringRef layoutConstraint,
                                        StringRef shapeConstraint) {
  Type data = matrix.getElementType();
  if (failed(verifyScaleFormat(op, name, scales, layout, data,
                               layoutConstraint))) {
    return failure();
  }
  choice.down &= !isa<Float4E2M1FNType>(data); // FP4 operands are K-major only
  bool byRow = layout.getDirection() == ScaleDirection::row;
  bool whole = layout.getGrouping() == ScaleGrouping::whole;
  bool fits = whole ? byRow || choice.down : byRow && choice.groups;
  if (!fits) {
    InFlightDiagnostic diag = op->emitOpError()
                              << name << ": layout is " << layout
                              << ", expected <row, whole, block = "
                              << layout.getBlock() << ">";
    if (choice.down) {
      diag << ", or <column, whole, block = 32> for data (L, K, N)";
    }
    if (choice.groups) {
      diag << " or <row, per_group, block = " << layout.getBlock() << ">";
    }
    return diag << " (" << layoutConstraint << "); quantize "
                << (choice.down ? "along K" : "along rows")
                << " with that layout";
  }
  return verifyScaleShape(op, name, scales, layout, matrix.getShape(),
                          choice.groups.value_or(GroupFacts()),
                          shapeConstraint);
}
