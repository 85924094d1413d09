// Builds the epilogue of a named op, one element at a time.
#ifndef DIALECT_GROUPEDMOE_IR_EQUATION_H
#define DIALECT_GROUPEDMOE_IR_EQUATION_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <array>

namespace grouped_moe {

/// A value for an element, or one for each of a pair; `second` is null then.
struct Term {
  mlir::Value first, second;
  explicit operator bool() const { return static_cast<bool>(first); }
};

/// Arithmetic on f32 in which an absent factor or addend drops out. Every
/// operation rounds once, `fma` included.
class EquationBuilder {
public:
  EquationBuilder(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  // What the op has.
  Term acc, c, bias;
  mlir::Value alpha, prob;
  bool roundPreactivation = false;
  // What it computes; those that it does not stay empty.
  Term result, preactivation, activation;
  mlir::Value dprob;

  /// alpha * acc + bias, rounded to bf16 if asked for.
  Term scaled();

  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, float y) { return mul(x, constant(y)); }
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, float y) { return add(x, constant(y)); }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value oneMinus(mlir::Value x);
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  /// NaN stays NaN.
  mlir::Value atLeast(mlir::Value x, float low);
  mlir::Value atMost(mlir::Value x, float high);
  mlir::Value relu(mlir::Value x) { return atLeast(x, 0.0f); }
  /// x where low <= y <= high, else 0.
  mlir::Value within(mlir::Value x, mlir::Value y, float low, float high);
  mlir::Value constant(float value);

private:
  mlir::Value scaled(mlir::Value acc, mlir::Value bias);

  mlir::ImplicitLocOpBuilder &b;
};

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_EQUATION_H
