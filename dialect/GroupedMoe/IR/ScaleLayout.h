// Shapes of blocked scale tensors.
#ifndef DIALECT_GROUPEDMOE_IR_SCALELAYOUT_H
#define DIALECT_GROUPEDMOE_IR_SCALELAYOUT_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class Operation;
class Value;
} // namespace mlir

namespace grouped_moe {

/// Rows (columns, for a column layout) of a scale atom, and scales along the
/// blocked direction in it.
inline constexpr int64_t kAtomRows = 128;
inline constexpr int64_t kAtomBlocks = 4;
inline constexpr int64_t kAtomBytes = 512;

/// The shape of the scale tensor of a matrix of shape [L x] rows x columns;
/// extents that depend on a dynamic extent are dynamic. `groups` counts for
/// per-group layouts only.
llvm::SmallVector<int64_t> getScaleShape(ScaleLayoutAttr layout,
                                         llvm::ArrayRef<int64_t> matrix,
                                         int64_t groups);

/// Checks element type, shape and layout of a scale operand; `constraint` is
/// the label of the shape constraint, `name` the operand's.
mlir::LogicalResult verifyScales(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value scales, ScaleLayoutAttr layout,
                                 llvm::ArrayRef<int64_t> matrix, int64_t groups,
                                 llvm::StringRef layoutConstraint,
                                 llvm::StringRef shapeConstraint);

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_SCALELAYOUT_H
