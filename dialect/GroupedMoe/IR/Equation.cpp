#include "dialect/GroupedMoe/IR/Equation.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace grouped_moe;

Value EquationBuilder::constant(float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value EquationBuilder::mul(Value x, Value y) {
  if (!x || !y) {
    return x ? x : y;
  }
  return arith::MulFOp::create(b, x, y);
}

Value EquationBuilder::add(Value x, Value y) {
  if (!x || !y) {
    return x ? x : y;
  }
  return arith::AddFOp::create(b, x, y);
}

Value EquationBuilder::fma(Value x, Value y, Value z) {
  if (!x || !y || !z) {
    return add(mul(x, y), z);
  }
  return math::FmaOp::create(b, x, y, z);
}

Value EquationBuilder::oneMinus(Value x) {
  return arith::SubFOp::create(b, constant(1.0f), x);
}

Value EquationBuilder::sigmoid(Value x) { return SigmoidOp::create(b, x); }

Value EquationBuilder::tanh(Value x) { return math::TanhOp::create(b, x); }

Value EquationBuilder::atLeast(Value x, float low) {
  return arith::MaximumFOp::create(b, x, constant(low));
}

Value EquationBuilder::atMost(Value x, float high) {
  return arith::MinimumFOp::create(b, x, constant(high));
}

Value EquationBuilder::within(Value x, Value y, float low, float high) {
  auto holds = [&](arith::CmpFPredicate predicate, float bound) -> Value {
    return arith::CmpFOp::create(b, predicate, y, constant(bound));
  };
  Value zero = constant(0.0f);
  // Unordered comparisons: the gradient of NaN is NaN.
  if (std::isfinite(low)) {
    x = arith::SelectOp::create(b, holds(arith::CmpFPredicate::UGE, low), x,
                                zero);
  }
  return arith::SelectOp::create(b, holds(arith::CmpFPredicate::ULE, high), x,
                                 zero);
}

Value EquationBuilder::scaled(Value acc, Value bias) {
  Value z = fma(acc, alpha, bias);
  if (roundPreactivation) {
    z = arith::TruncFOp::create(b, b.getBF16Type(), z);
    z = arith::ExtFOp::create(b, b.getF32Type(), z);
  }
  return z;
}

Term EquationBuilder::scaled() {
  Term z{scaled(acc.first, bias.first), Value()};
  if (acc.second) {
    z.second = scaled(acc.second, bias.second);
  }
  return z;
}
