#include "lib/Reference/IndexOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace mlir;
using namespace grouped_moe;

using Number = std::optional<int64_t>;

/// None where the result overflows or divides by zero; extents are far from
/// both, so neither has a meaning here.
static Number compute(Operation *op, int64_t a, int64_t b) {
  int64_t result = 0;
  auto divide = [&](auto quotient) -> Number {
    // Unsigned division agrees with signed division for what extents are.
    return b > 0 && a >= 0 ? Number(quotient()) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Number>(op)
      .Case<arith::AddIOp>([&](auto) -> Number {
        return __builtin_add_overflow(a, b, &result) ? std::nullopt
                                                     : Number(result);
      })
      .Case<arith::SubIOp>([&](auto) -> Number {
        return __builtin_sub_overflow(a, b, &result) ? std::nullopt
                                                     : Number(result);
      })
      .Case<arith::MulIOp>([&](auto) -> Number {
        return __builtin_mul_overflow(a, b, &result) ? std::nullopt
                                                     : Number(result);
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return divide([&] { return a / b; }); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return divide([&] { return a / b + (a % b != 0); }); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return divide([&] { return a % b; }); })
      .Case<arith::MaxSIOp>([&](auto) -> Number { return std::max(a, b); })
      .Case<arith::MinSIOp>([&](auto) -> Number { return std::min(a, b); })
      .Default([](Operation *) -> Number { return std::nullopt; });
}

LogicalResult reference::runIndexOp(Operation *op, IndexValues &values) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
      values[op->getResult(0)] = integer.getValue().getSExtValue();
      return success();
    }
  }
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    if (values.contains(cast.getIn())) {
      values[cast.getOut()] = values.lookup(cast.getIn());
      return success();
    }
  }
  bool known = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
                   arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                   arith::CeilDivUIOp, arith::RemSIOp, arith::RemUIOp,
                   arith::MaxSIOp, arith::MinSIOp>(op);
  if (!known || !llvm::all_of(op->getOperands(), [&](Value operand) {
        return values.contains(operand);
      })) {
    return op->emitOpError(
        "is not known to the reference executor, which executes grouped_moe "
        "ops, allocations, extents and arithmetic on them");
  }
  int64_t a = values.lookup(op->getOperand(0));
  int64_t b = values.lookup(op->getOperand(1));
  Number result = compute(op, a, b);
  if (!result) {
    return op->emitOpError()
           << "of " << a << " and " << b
           << " overflows or divides by zero or a negative number, which no "
              "extent needs";
  }
  values[op->getResult(0)] = *result;
  return success();
}
