// The loops of a walk over tiles, whatever the tiles are.
#ifndef LIB_CONVERSION_MOEKERNELTONVVM_TILEWALK_H
#define LIB_CONVERSION_MOEKERNELTONVVM_TILEWALK_H

#include "dialect/MoeKernel/IR/MoeKernelOps.h"

namespace grouped_moe {

/// A cursor stands on a group; its values, i32, say what the walk needs of it.
struct TileWalk {
  using Values = llvm::SmallVector<mlir::Value>;

  mlir::Block &body; // of places, then carried values
  mlir::ValueRange inits;
  mlir::ResultRange results;
  int64_t groups;
  /// Answers of cluster launch control and their pipeline, or null.
  mlir::Value responses, queue;

  /// The cursor on group 0.
  Values start;
  llvm::function_ref<mlir::Value(mlir::ValueRange cursor)> tilesOf;
  /// The cursor on the next group; `next` is a group that exists, the last one
  /// when there is no next.
  llvm::function_ref<Values(mlir::ValueRange cursor, mlir::Value next)> move;
  /// What the body receives of tile `local` of a group.
  llvm::function_ref<Values(mlir::Value group, mlir::ValueRange cursor,
                            mlir::Value local)>
      places;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_MOEKERNELTONVVM_TILEWALK_H
