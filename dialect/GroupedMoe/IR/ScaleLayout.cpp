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

SmallVector<int64_t> grouped_moe::getScaleShape(ScaleLayoutAttr layout,
                                                ArrayRef<int64_t> matrix,
                                                int64_t groups) {
  int64_t rows = matrix[matrix.size() - 2], columns = matrix.back();
  // The blocked direction of a column layout is the rows: its scales are those
  // of the transposed matrix.
  if (layout.getDirection() == ScaleDirection::column) {
    std::swap(rows, columns);
  }
  SmallVector<int64_t> shape;
  if (layout.getGrouping() == ScaleGrouping::whole) {
    shape.append(matrix.begin(), matrix.end() - 2);
    shape.push_back(ceilDivExtent(rows, kAtomRows));
    shape.push_back(
        ceilDivExtent(ceilDivExtent(columns, layout.getBlock()), kAtomBlocks));
  } else {
    // Every group starts a new atom: at most floor(R / rows of an atom) + L.
    bool byRow = layout.getDirection() == ScaleDirection::row;
    int64_t ragged = byRow ? rows : columns;
    int64_t other =
        byRow ? ceilDivExtent(ceilDivExtent(columns, layout.getBlock()),
                              kAtomBlocks)
              : ceilDivExtent(rows, kAtomRows);
    int64_t span = byRow ? kAtomRows : layout.getBlock() * kAtomBlocks;
    bool dynamic =
        ShapedType::isDynamic(ragged) || ShapedType::isDynamic(other);
    shape.push_back(dynamic ? ShapedType::kDynamic
                            : other * (ragged / span + groups));
  }
  shape.append({32, 4, 4});
  return shape;
}

LogicalResult grouped_moe::verifyScales(Operation *op, StringRef name,
                                        Value scales, ScaleLayoutAttr layout,
                                        ArrayRef<int64_t> matrix,
                                        int64_t groups,
                                        StringRef layoutConstraint,
                                        StringRef shapeConstraint) {
  auto type = cast<ShapedType>(scales.getType());
  if (!isa<Float8E8M0FNUType>(type.getElementType())) {
    return op->emitOpError()
           << name << ": element type is " << type.getElementType()
           << ", expected f8E8M0FNU (" << layoutConstraint << ")";
  }
  if (layout.getBlock() != 32) {
    return op->emitOpError()
           << name << ": block is " << layout.getBlock()
           << " elements, but FP8 data has one scale every 32 elements ("
           << layoutConstraint << "); block 16 is for FP4 data";
  }
  if (layout.getDirection() != ScaleDirection::row ||
      layout.getGrouping() != ScaleGrouping::whole) {
    return op->emitOpError()
           << name << ": layout is " << layout
           << ", expected <row, whole, block = 32> (" << layoutConstraint
           << "); quantize along rows with that layout";
  }
  SmallVector<int64_t> expected = getScaleShape(layout, matrix, groups);
  bool matches = type.getRank() == static_cast<int64_t>(expected.size());
  for (size_t i = 0; matches && i < expected.size(); ++i) {
    // Only what follows the rows of a matrix may be dynamic; it is checked when
    // the kernel is launched.
    bool byRows = i == 0 && matrix.size() == 2;
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
  return diag << " (" << shapeConstraint << ")";
}
