// Executes a function of grouped_moe ops from the ops' equations: the measure
// of every other way to run one.
#ifndef LIB_REFERENCE_EXECUTOR_H
#define LIB_REFERENCE_EXECUTOR_H

#include "lib/Reference/Array.h"
#include "llvm/Support/LogicalResult.h"

#include <optional>
#include <vector>

namespace mlir {
class Type;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace grouped_moe::reference {

struct ExecuteOptions {
  unsigned threads = 0; // 0: as many as the machine has
  /// What a new buffer holds before an op writes it.
  uint8_t fill = 0xFF;
  /// Compute Array::errors of gemm outputs: twice the time.
  bool withErrors = false;
};

/// The format of a shaped type's elements; none for those that arrays have not.
std::optional<Format> formatOf(mlir::Type elementType);

/// `arguments` has one array for each of the function's; memrefs are updated in
/// place. The body is one block of grouped_moe ops, allocations, extents and
/// arithmetic on them; anything else is refused with a diagnostic on the op, as
/// are arrays whose shapes do not fit.
llvm::LogicalResult execute(mlir::func::FuncOp function,
                            std::vector<Array> &arguments,
                            const ExecuteOptions &options,
                            std::vector<Array> &results);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_EXECUTOR_H
