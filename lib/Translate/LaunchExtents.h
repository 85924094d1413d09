// Extents of a launch program's arrays, as expressions over those of its
// arguments.
#ifndef LIB_TRANSLATE_LAUNCHEXTENTS_H
#define LIB_TRANSLATE_LAUNCHEXTENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/abi/bundle_generated.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace grouped_moe {

/// The memref that casts start from.
mlir::Value sourceOf(mlir::Value memref);

/// Makes the expressions of an entry: numbers of places in `exprs`.
class LaunchExtents {
public:
  LaunchExtents(mlir::func::FuncOp func, std::vector<gmoe::abi::Expr> &exprs)
      : func(func), exprs(exprs) {}

  /// First of all: what the program requires of extents (RequireExtentOp).
  mlir::LogicalResult collect();

  int32_t expression(gmoe::abi::ExprKind kind, int32_t lhs, int32_t rhs,
                     int64_t value);
  int32_t constant(int64_t value) {
    return expression(gmoe::abi::ExprKind::Constant, 0, 0, value);
  }
  /// Products and quotients, of constants at once.
  int32_t times(int32_t lhs, int32_t rhs) {
    return fold(gmoe::abi::ExprKind::Mul, lhs, rhs);
  }
  int32_t over(int32_t lhs, int32_t rhs) {
    return fold(gmoe::abi::ExprKind::FloorDiv, lhs, rhs);
  }
  /// An index on the host.
  mlir::FailureOr<int32_t> evaluate(mlir::Value index);
  /// An extent of an argument or of an allocation.
  mlir::FailureOr<int32_t> extent(mlir::Value memref, int64_t axis);

  using Axis = std::pair<unsigned, int64_t>; // argument, axis
  /// The dynamic extent of an argument that an extent is, maybe by way of
  /// allocations; none if it is something else.
  std::optional<Axis> freeAxis(mlir::Value memref, int64_t axis);

private:
  int32_t fold(gmoe::abi::ExprKind kind, int32_t lhs, int32_t rhs);
  std::optional<Axis> freeAxis(mlir::Value index);
  Axis leaderOf(Axis axis);

  mlir::func::FuncOp func;
  std::vector<gmoe::abi::Expr> &exprs;
  llvm::EquivalenceClasses<Axis> leaders; // extents that are the same number
  llvm::DenseMap<Axis, mlir::OpFoldResult> required;
  llvm::DenseMap<mlir::Value, int32_t> values;
  llvm::DenseSet<Axis> active; // being evaluated: finds cycles
};

} // namespace grouped_moe

#endif // LIB_TRANSLATE_LAUNCHEXTENTS_H
