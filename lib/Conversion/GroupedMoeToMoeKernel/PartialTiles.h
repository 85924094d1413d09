// Tiles whose products are divided into parts: each part leaves its sums in a
// slot of global memory, and the CTA that arrives last adds them in order.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PARTIALTILES_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PARTIALTILES_H

#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"

namespace grouped_moe {

/// Works in the 128 threads of an epilogue role, a row each.
class PartialTiles {
public:
  /// Temporaries for `slots` tiles of `columns`, and a counter for each of
  /// `tiles`.
  PartialTiles(KernelScope &kernel, int64_t slots, int64_t columns,
               int64_t tiles);

  /// Stores this thread's columns from `at` on, a vector of f32.
  void store(mlir::Value slot, mlir::Value at, mlir::Value thread,
             mlir::Value values);
  /// Whether this is the last of `parts` to arrive at the counter of a tile
  /// (i1).
  mlir::Value arrive(mlir::Value tile, mlir::Value parts);
  /// The sums of `lanes` columns from `at` on, over the slots `slot`, `slot` +
  /// `stride`, ...: `parts` of them, 0 for none.
  mlir::Value sum(mlir::Value slot, int64_t stride, mlir::Value parts,
                  mlir::Value at, mlir::Value thread, int64_t lanes);

private:
  KernelScope &kernel;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Value partials, counters;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PARTIALTILES_H
