#include "lib/Reference/EpilogueCompile.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace grouped_moe;
using namespace grouped_moe::reference;

static std::optional<Format> scalarFormat(Type type) {
  if (type.isF32()) {
    return Format::f32;
  }
  if (type.isF16()) {
    return Format::f16;
  }
  if (type.isBF16()) {
    return Format::bf16;
  }
  if (type.isInteger(1)) {
    return Format::i1;
  }
  if (type.isInteger(32)) {
    return Format::i32;
  }
  return std::nullopt;
}

static double roundEven(double x) { return std::nearbyint(x); }
static double reciprocalRoot(double x) { return 1.0 / std::sqrt(x); }
static double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

using DoubleFunction = double (*)(double);

static DoubleFunction functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, DoubleFunction>(op)
      .Case<math::FloorOp>([](auto) -> DoubleFunction { return std::floor; })
      .Case<math::CeilOp>([](auto) -> DoubleFunction { return std::ceil; })
      .Case<math::TruncOp>([](auto) -> DoubleFunction { return std::trunc; })
      .Case<math::RoundEvenOp>([](auto) { return roundEven; })
      .Case<math::SqrtOp>([](auto) -> DoubleFunction { return std::sqrt; })
      .Case<math::RsqrtOp>([](auto) { return reciprocalRoot; })
      .Case<math::ExpOp>([](auto) -> DoubleFunction { return std::exp; })
      .Case<math::Exp2Op>([](auto) -> DoubleFunction { return std::exp2; })
      .Case<math::LogOp>([](auto) -> DoubleFunction { return std::log; })
      .Case<math::Log2Op>([](auto) -> DoubleFunction { return std::log2; })
      .Case<math::TanhOp>([](auto) -> DoubleFunction { return std::tanh; })
      .Case<math::ErfOp>([](auto) -> DoubleFunction { return std::erf; })
      .Case<SigmoidOp>([](auto) { return sigmoid; })
      .Default([](Operation *) -> DoubleFunction { return nullptr; });
}

static std::optional<StepKind> stepKindOf(Operation *op) {
  auto is = [](StepKind kind) {
    return [kind](Operation *) -> std::optional<StepKind> { return kind; };
  };
  return llvm::TypeSwitch<Operation *, std::optional<StepKind>>(op)
      .Case<arith::ConstantOp>(is(StepKind::constant))
      .Case<arith::SelectOp>(is(StepKind::select))
      .Case<arith::CmpFOp>(is(StepKind::cmpf))
      .Case<arith::CmpIOp>(is(StepKind::cmpi))
      .Case<arith::BitcastOp>(is(StepKind::bitcast))
      .Case<arith::AddFOp>(is(StepKind::add))
      .Case<arith::SubFOp>(is(StepKind::sub))
      .Case<arith::MulFOp>(is(StepKind::mul))
      .Case<arith::DivFOp>(is(StepKind::div))
      .Case<arith::NegFOp>(is(StepKind::neg))
      .Case<arith::MaximumFOp>(is(StepKind::maximum))
      .Case<arith::MinimumFOp>(is(StepKind::minimum))
      .Case<arith::MaxNumFOp>(is(StepKind::maxnum))
      .Case<arith::MinNumFOp>(is(StepKind::minnum))
      .Case<arith::ExtFOp, arith::TruncFOp>(is(StepKind::convert))
      .Case<arith::SIToFPOp>(is(StepKind::fromSigned))
      .Case<arith::UIToFPOp>(is(StepKind::fromUnsigned))
      .Case<arith::AndIOp>(is(StepKind::andi))
      .Case<arith::OrIOp>(is(StepKind::ori))
      .Case<arith::XOrIOp>(is(StepKind::xori))
      .Case<arith::AddIOp>(is(StepKind::addi))
      .Case<arith::SubIOp>(is(StepKind::subi))
      .Case<arith::MulIOp>(is(StepKind::muli))
      .Case<arith::ShLIOp>(is(StepKind::shl))
      .Case<arith::ShRUIOp>(is(StepKind::shru))
      .Case<arith::ShRSIOp>(is(StepKind::shrs))
      .Case<arith::ExtUIOp>(is(StepKind::extu))
      .Case<arith::ExtSIOp>(is(StepKind::exts))
      .Case<arith::TruncIOp>(is(StepKind::trunci))
      .Case<math::AbsFOp>(is(StepKind::abs))
      .Case<math::FmaOp>(is(StepKind::fma))
      .Case<math::CopySignOp>(is(StepKind::copysign))
      .Default([](Operation *inner) -> std::optional<StepKind> {
        if (functionOf(inner)) {
          return StepKind::function;
        }
        return std::nullopt;
      });
}

/// Whether an error of the operands that depend on the accumulator has a bound
/// through this step.
static bool isBounded(const Step &step, bool a, bool b) {
  switch (step.kind) {
  case StepKind::add:
  case StepKind::sub:
  case StepKind::mul:
  case StepKind::fma:
  case StepKind::neg:
  case StepKind::abs:
  case StepKind::convert:
  case StepKind::maximum:
  case StepKind::minimum:
  case StepKind::maxnum:
  case StepKind::minnum:
    return true;
  case StepKind::div:
    return !b;
  case StepKind::select:
    return !a;
  default:
    return false;
  }
}

static bool readAttributes(Operation *op, Step &step) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue())) {
      step.floatValue = static_cast<float>(value.getValueAsDouble());
      return true;
    }
    auto value = dyn_cast<IntegerAttr>(constant.getValue());
    if (!value) {
      return false;
    }
    step.intValue = static_cast<int32_t>(value.getValue().getSExtValue());
    return true;
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    step.predicate = static_cast<unsigned>(compare.getPredicate());
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    step.predicate = static_cast<unsigned>(compare.getPredicate());
  }
  if (auto truncate = dyn_cast<arith::TruncFOp>(op)) {
    auto mode = truncate.getRoundingmode();
    return !mode || *mode == arith::RoundingMode::to_nearest_even;
  }
  return true;
}

bool reference::compileEpilogue(FusedProduct op, Epilogue &epilogue) {
  Block &body = op.getEpilogue().front();
  llvm::DenseMap<Value, int> registers;
  std::vector<bool> dependent; // on the accumulator
  for (BlockArgument argument : body.getArguments()) {
    registers[argument] = epilogue.registers++;
    dependent.push_back(argument.getArgNumber() < (op.getPaired() ? 2 : 1));
  }
  for (Operation &inner : body.without_terminator()) {
    std::optional<StepKind> kind = stepKindOf(&inner);
    Step step;
    if (!kind || inner.getNumResults() != 1 || inner.getNumOperands() > 3 ||
        !readAttributes(&inner, step)) {
      inner.emitOpError("is not known to the reference executor");
      return false;
    }
    step.kind = *kind;
    step.function = functionOf(&inner);
    step.approximate =
        step.function && !isa<math::FloorOp, math::CeilOp, math::TruncOp,
                              math::RoundEvenOp, math::SqrtOp>(inner);
    std::optional<Format> type = scalarFormat(inner.getResult(0).getType());
    if (!type) {
      inner.emitOpError() << "has a result of type "
                          << inner.getResult(0).getType()
                          << ", expected f32, f16, bf16, i1 or i32";
      return false;
    }
    step.type = *type;
    bool depends[3] = {false, false, false};
    int *operands[3] = {&step.a, &step.b, &step.c};
    for (auto [i, operand] : llvm::enumerate(inner.getOperands())) {
      *operands[i] = registers.lookup(operand);
      depends[i] = dependent[*operands[i]];
      std::optional<Format> from = scalarFormat(operand.getType());
      if (!from) {
        inner.emitOpError() << "has an operand of type " << operand.getType()
                            << ", expected f32, f16, bf16, i1 or i32";
        return false;
      }
      if (i == 0) {
        step.from = *from;
      }
    }
    bool any = depends[0] || depends[1] || depends[2];
    if (any && !isBounded(step, depends[0], depends[1])) {
      epilogue.bounded = false;
    }
    step.target = epilogue.registers++;
    dependent.push_back(any);
    registers[inner.getResult(0)] = step.target;
    epilogue.steps.push_back(step);
  }
  for (Value value : body.getTerminator()->getOperands()) {
    epilogue.yields.push_back(registers.lookup(value));
  }
  return true;
}
