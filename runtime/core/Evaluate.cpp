#include "runtime/core/Evaluate.h"

#include "runtime/core/Text.h"

#include <algorithm>
#include <limits>

using namespace gmoe;

namespace {

/// Rounds towards negative infinity. False on overflow; rhs is not 0.
bool floorDiv(int64_t lhs, int64_t rhs, int64_t &result) {
  if (lhs == std::numeric_limits<int64_t>::min() && rhs == -1) {
    return false;
  }
  result = lhs / rhs;
  if (lhs % rhs != 0 && (lhs < 0) != (rhs < 0)) {
    --result;
  }
  return true;
}

/// Rounds towards positive infinity. False on overflow; rhs is not 0.
bool ceilDiv(int64_t lhs, int64_t rhs, int64_t &result) {
  if (lhs == std::numeric_limits<int64_t>::min() && rhs == -1) {
    return false;
  }
  result = lhs / rhs;
  if (lhs % rhs != 0 && (lhs < 0) == (rhs < 0)) {
    ++result;
  }
  return true;
}

bool compute(ExprKind kind, int64_t lhs, int64_t rhs, int64_t &result) {
  switch (kind) {
  case ExprKind::Add:
    return !__builtin_add_overflow(lhs, rhs, &result);
  case ExprKind::Sub:
    return !__builtin_sub_overflow(lhs, rhs, &result);
  case ExprKind::Mul:
    return !__builtin_mul_overflow(lhs, rhs, &result);
  case ExprKind::CeilDiv:
    return ceilDiv(lhs, rhs, result);
  case ExprKind::FloorDiv:
    return floorDiv(lhs, rhs, result);
  case ExprKind::Min:
    result = std::min(lhs, rhs);
    return true;
  case ExprKind::Max:
    result = std::max(lhs, rhs);
    return true;
  default:
    return false;
  }
}

} // namespace

Values::Values(const Program &program, const ShapeRefs &shapes,
               uint32_t smCount)
    : program(program), value(program.exprs.size(), 0),
      state(program.exprs.size(), State::Known) {
  for (size_t i = 0; i < program.exprs.size(); ++i) {
    const Expr &expr = program.exprs[i];
    switch (expr.kind) {
    case ExprKind::Constant:
      value[i] = expr.value;
      continue;
    case ExprKind::SmCount:
      value[i] = smCount;
      continue;
    case ExprKind::Dim: {
      if (const Shape *shape = shapes[expr.lhs]) {
        value[i] = (*shape)[expr.rhs];
        continue;
      }
      const Extent &extent = program.arguments[expr.lhs].extents[expr.rhs];
      if (extent.kind == ExtentKind::Free) {
        state[i] = State::Open;
      } else {
        value[i] = value[extent.expr];
        state[i] = state[extent.expr];
      }
      continue;
    }
    default:
      break;
    }
    if (State s = std::max(state[expr.lhs], state[expr.rhs]);
        s != State::Known) {
      state[i] = s;
      continue;
    }
    bool divides =
        expr.kind == ExprKind::CeilDiv || expr.kind == ExprKind::FloorDiv;
    if (divides && value[expr.rhs] == 0) {
      state[i] = State::DivisionByZero;
    } else if (!compute(expr.kind, value[expr.lhs], value[expr.rhs],
                        value[i])) {
      state[i] = State::Overflow;
    }
  }
}

Status Values::failure(int32_t expr) const {
  switch (state[expr]) {
  case State::Open:
    // Name the open extent: the first one is as good as any.
    for (size_t i = 0; i <= static_cast<size_t>(expr); ++i) {
      const Expr &dim = program.exprs[i];
      if (dim.kind == ExprKind::Dim && state[i] == State::Open) {
        return invalidArgument(
            cat("axis ", dim.rhs, " of argument ", dim.lhs, " \"",
                program.arguments[dim.lhs].name,
                "\" is free: give the shape of that argument"));
      }
    }
    return invalidArgument("an extent is free: give every input's shape");
  case State::DivisionByZero:
    return invalidArgument(cat("expression ", expr, " divides by zero"));
  default:
    return invalidArgument(
        cat("expression ", expr,
            " overflows 64 bits: the extents of the arguments are too large"));
  }
}
