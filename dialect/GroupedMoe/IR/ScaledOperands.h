// What each op reads and writes: quantized matrices with their scales, and the
// axes along which gate and up lie.
#ifndef DIALECT_GROUPEDMOE_IR_SCALEDOPERANDS_H
#define DIALECT_GROUPEDMOE_IR_SCALEDOPERANDS_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace grouped_moe {

/// How gate and up lie along an axis of pairs.
enum class PairOrder { alternating, side_by_side };
llvm::StringRef describe(PairOrder order);

/// A matrix that an op reads or writes: an operand, or a result.
struct MatrixOperand {
  std::string name; // "lhs", "output #1"
  mlir::Value data;
  mlir::Value scales = {};
  ScaleLayoutAttr layout = {}; // null without scales
  mlir::Value offsets = {};    // the groups of a per_group layout
  bool transposed = false;     // the data alone, not its scales
};

/// Axes whose elements correspond one to one, so that they share an order.
/// Scales follow the axes of their matrix.
struct AlignedAxes {
  struct Axis {
    unsigned matrix, axis;
  };
  llvm::SmallVector<Axis> reads, writes; // of OperandFlow's matrices
  std::optional<PairOrder> order = {};   // the op's own, else as it comes
  /// What the op writes, if that is another order than it reads.
  std::optional<PairOrder> newOrder = {};
  /// The op treats each element alone, a gate like an up.
  bool singles = false;
};

struct OperandFlow {
  llvm::SmallVector<MatrixOperand> reads, writes;
  llvm::SmallVector<AlignedAxes> axes;
};

/// Of an op that reads or writes scales; nothing for other ops. The op is
/// verified.
std::optional<OperandFlow> getOperandFlow(mlir::Operation *op);

/// The layout in which `op` writes output i; null if those are no scales. The
/// op need not be verified.
ScaleLayoutAttr getWrittenLayout(mlir::Operation *op, unsigned i);

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_SCALEDOPERANDS_H
