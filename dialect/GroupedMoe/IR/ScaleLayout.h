// Shapes of blocked scale tensors.
#ifndef DIALECT_GROUPEDMOE_IR_SCALELAYOUT_H
#define DIALECT_GROUPEDMOE_IR_SCALELAYOUT_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir {
class Operation;
class ShapedType;
class Type;
class Value;
} // namespace mlir

namespace grouped_moe {

/// Rows (columns, for a column layout) of a scale atom, and scales along the
/// blocked direction in it.
inline constexpr int64_t kAtomRows = 128;
inline constexpr int64_t kAtomBlocks = 4;
inline constexpr int64_t kAtomBytes = 512;

/// How a matrix is divided into groups of rows.
struct GroupFacts {
  int64_t groups = 1;
  int64_t aligned = 1; // every group starts at a multiple of that many rows
};

/// Atoms along the ragged extent, `extent` elements of which lie in groups,
/// that hold the scales however the groups divide it: every group starts a new
/// atom of `span` elements.
int64_t getRaggedAtoms(int64_t extent, int64_t span, GroupFacts facts);
/// What `m_aligned` may be: scales of columns come in blocks of 32 rows, atoms
/// span 128, tiles up to 256; 1 promises nothing.
inline constexpr int64_t kAlignments[] = {1, 32, 128, 256};
/// Elements along the ragged extent, the rows, that an atom spans.
int64_t getRaggedSpan(ScaleLayoutAttr layout);

/// FP4 operands are K-major only: what is quantized down columns, to be summed
/// over rows, is stored as (columns, rows).
bool isStoredTransposed(mlir::Value data, ScaleLayoutAttr layout);
/// Rows of such data: whole pieces of 16 bytes, and so every group's.
inline constexpr int64_t kPieceRows = 32;
/// Checks the rows of such data: the static ones, and what groups start at.
mlir::LogicalResult verifyPieces(mlir::Operation *op, llvm::StringRef name,
                                 int64_t rows, int64_t aligned,
                                 llvm::StringRef rowsConstraint,
                                 llvm::StringRef groupsConstraint);

/// The shape of the scale tensor of a matrix of shape [L x] rows x columns;
/// extents that depend on a dynamic extent are dynamic.
llvm::SmallVector<int64_t> getScaleShape(ScaleLayoutAttr layout,
                                         llvm::ArrayRef<int64_t> matrix,
                                         GroupFacts facts);

/// Checks the shape of a scale operand; `name` is the operand's, `constraint`
/// the label.
mlir::LogicalResult verifyScaleShape(mlir::Operation *op, llvm::StringRef name,
                                     mlir::Type scales, ScaleLayoutAttr layout,
                                     llvm::ArrayRef<int64_t> matrix,
                                     GroupFacts facts,
                                     llvm::StringRef constraint);

/// Checks element type and block of the scales of FP8 data.
mlir::LogicalResult verifyScaleElements(mlir::Operation *op,
                                        llvm::StringRef name, mlir::Type scales,
                                        ScaleLayoutAttr layout,
                                        llvm::StringRef constraint);

/// The same for data of any narrow type: FP4 data also has blocks of 16, with
/// scales of f8E8M0FNU or f8E4M3FN.
mlir::LogicalResult verifyScaleFormat(mlir::Operation *op, llvm::StringRef name,
                                      mlir::Type scales, ScaleLayoutAttr layout,
                                      mlir::Type data,
                                      llvm::StringRef constraint);

/// The layouts that an operand takes beside the whole one along rows.
struct LayoutChoice {
  bool down = false;                // whole, down columns
  std::optional<GroupFacts> groups; // along rows of these groups
};

/// Checks element type, layout and shape of the scales of an operand.
mlir::LogicalResult verifyScales(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Type scales, ScaleLayoutAttr layout,
                                 mlir::ShapedType matrix, LayoutChoice choice,
                                 llvm::StringRef layoutConstraint,
                                 llvm::StringRef shapeConstraint);

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_SCALELAYOUT_H
