#include "dialect/GroupedMoe/IR/NamedOps.h"

#include "dialect/GroupedMoe/IR/Equation.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace grouped_moe;

InputKind grouped_moe::kindOf(InputRole role) {
  switch (role) {
  case InputRole::c:
    return InputKind::per_element;
  case InputRole::alpha:
    return InputKind::per_group;
  case InputRole::bias:
    return InputKind::per_group_column;
  case InputRole::prob:
    return InputKind::per_row;
  }
  return InputKind::per_element;
}

namespace {
/// What an op of this name takes and computes, whatever its attributes.
struct NamedFacts {
  bool takesC = false, pairsC = false;
  bool computesDprob = false, computesActivation = false;
  bool pairsResult = false;
  bool hasPreactivation = true;
};
NamedFacts factsOf(Operation *op) {
  if (isa<GemmDswigluOp, GemmDgegluOp>(op)) {
    return {true, true, true, false, true, false};
  }
  if (isa<GemmDsreluOp>(op)) {
    return {true, false, true, true, false, false};
  }
  return {};
}
} // namespace

static bool hasValue(NamedFacts facts, NamedValue value) {
  switch (value) {
  case NamedValue::result:
    return true;
  case NamedValue::preactivation:
    return facts.hasPreactivation;
  case NamedValue::dprob:
    return facts.computesDprob;
  case NamedValue::activation:
    return facts.computesActivation;
  }
  return false;
}

static LogicalResult verifyRoles(NamedProduct op, NamedFacts facts) {
  bool seen[4] = {};
  GroupedProduct product = op;
  for (auto [i, value] : llvm::enumerate(op.getInputRoles())) {
    InputRole role = op.getInputRole(i);
    if (role == InputRole::c && !facts.takesC) {
      return op->emitOpError()
             << "input #" << i
             << ": c is no operand of this op, expected alpha, bias or prob "
                "(named_c1)";
    }
    if (seen[value]) {
      return op->emitOpError()
             << "input #" << i << ": " << stringifyInputRole(role)
             << " is given twice (named_c1)";
    }
    seen[value] = true;
    // Bias and c have a value for each accumulator; c of gradients, a pair.
    bool wants = role == InputRole::c      ? facts.pairsC
                 : role == InputRole::bias ? product.getPaired()
                                           : product.isPairInput(i);
    if (product.isPairInput(i) != wants) {
      return op->emitOpError()
             << "input #" << i << ": type is "
             << product.getInputs()[i].getType() << ", expected "
             << product.getColumns() * (wants ? 2 : 1) << " columns for "
             << stringifyInputRole(role) << " (named_c2)";
    }
  }
  if (facts.takesC && !seen[static_cast<int>(InputRole::c)]) {
    return op->emitOpError() << "has no c, expected the saved tensor of the "
                                "forward pass as c (named_c1)";
  }
  return success();
}

static LogicalResult verifyValues(NamedProduct op, NamedFacts facts) {
  GroupedProduct product = op;
  if (op.getOutputValues().size() != product.getOutputs().size()) {
    return op->emitOpError()
           << "has " << product.getOutputs().size() << " outputs and "
           << op.getOutputValues().size() << " output values (named_c3)";
  }
  for (auto [i, number] : llvm::enumerate(op.getOutputValues())) {
    if (product.isScaleOutput(i)) {
      continue;
    }
    std::optional<NamedValue> value = symbolizeNamedValue(number);
    if (!value || !hasValue(facts, *value)) {
      InFlightDiagnostic diag = op->emitOpError()
                                << "output #" << i << ": is of ";
      if (value) {
        diag << stringifyNamedValue(*value);
      } else {
        diag << "an unknown value";
      }
      diag << ", which this op does not compute (named_c3); it has result";
      for (NamedValue known : {NamedValue::preactivation, NamedValue::dprob,
                               NamedValue::activation}) {
        if (hasValue(facts, known)) {
          diag << ", " << stringifyNamedValue(known);
        }
      }
      return diag;
    }
    bool pairs = *value == NamedValue::preactivation ? product.getPaired()
                 : *value == NamedValue::result      ? facts.pairsResult
                                                     : false;
    if (product.isPairOutput(i) != pairs) {
      return op->emitOpError()
             << "output #" << i << ": type is "
             << product.getOutputs()[i].getType() << ", but "
             << stringifyNamedValue(*value) << " is "
             << (pairs ? "two values" : "one value") << " for each of "
             << product.getColumns() << " columns (named_c4)";
    }
  }
  return success();
}

/// Bounds that divide.
static LogicalResult verifyNumbers(NamedProduct op) {
  for (NamedAttribute attribute : op->getAttrs()) {
    auto number = dyn_cast<FloatAttr>(attribute.getValue());
    if (!number || op->getDiscardableAttr(attribute.getName())) {
      continue; // no number of the op's own
    }
    double value = number.getValueAsDouble();
    bool isSigned = attribute.getName() == "offset";
    if (!number.getType().isF32() || !std::isfinite(value) ||
        (!isSigned && !(value > 0))) {
      return op->emitOpError()
             << attribute.getName().getValue() << " is " << number
             << ", expected a finite" << (isSigned ? "" : " positive")
             << " f32 (named_c5)";
    }
  }
  return success();
}

LogicalResult grouped_moe::verifyNamedProduct(NamedProduct op) {
  NamedFacts facts = factsOf(op);
  for (int32_t role : op.getInputRoles()) {
    if (!symbolizeInputRole(role)) {
      return op->emitOpError()
             << "has an unknown input role, " << role << " (named_c1)";
    }
  }
  if (op.getInputRoles().size() != GroupedProduct(op).getInputs().size()) {
    return op->emitOpError()
           << "has " << op.getInputRoles().size() << " input roles for "
           << GroupedProduct(op).getInputs().size() << " inputs (named_c1)";
  }
  if (failed(verifyProduct(GroupedProduct(op)))) {
    return failure();
  }
  return failure(failed(verifyRoles(op, facts)) ||
                 failed(verifyValues(op, facts)) || failed(verifyNumbers(op)));
}

/// The region's arguments by what they are.
static void bindArguments(EquationBuilder &eq, NamedProduct op, Block &body) {
  GroupedProduct product = op;
  unsigned next = 0;
  auto take = [&](bool pair) {
    Term term{body.getArgument(next++), Value()};
    if (pair) {
      term.second = body.getArgument(next++);
    }
    return term;
  };
  eq.acc = take(product.getPaired());
  for (unsigned i = 0; i < op.getInputRoles().size(); ++i) {
    Term term = take(product.isPairInput(i));
    switch (op.getInputRole(i)) {
    case InputRole::c:
      eq.c = term;
      break;
    case InputRole::alpha:
      eq.alpha = term.first;
      break;
    case InputRole::bias:
      eq.bias = term;
      break;
    case InputRole::prob:
      eq.prob = term.first;
      break;
    }
  }
}

static SmallVector<Value> yieldedValues(EquationBuilder &eq, NamedProduct op) {
  GroupedProduct product = op;
  SmallVector<Value> values;
  for (unsigned i = 0; i < op.getOutputValues().size(); ++i) {
    if (product.isScaleOutput(i)) {
      continue;
    }
    Term term;
    switch (op.getOutputValue(i)) {
    case NamedValue::result:
      term = eq.result;
      break;
    case NamedValue::preactivation:
      term = eq.preactivation;
      break;
    case NamedValue::dprob:
      term.first = eq.dprob;
      break;
    case NamedValue::activation:
      term = eq.activation;
      break;
    }
    values.push_back(term.first);
    if (product.isPairOutput(i)) {
      values.push_back(term.second);
    }
  }
  return values;
}

/// Fills an empty region with the equation; what the op's outputs do not need
/// is left out.
static void buildEpilogue(Region &region, NamedProduct op) {
  GroupedProduct product = op;
  ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
  unsigned arguments = product.getNumEpilogueArguments();
  SmallVector<Type> types(arguments, b.getF32Type());
  SmallVector<Location> locs(arguments, op->getLoc());
  Block *body = b.createBlock(&region, {}, types, locs);
  EquationBuilder eq(b);
  eq.roundPreactivation = op.getRoundPreactivation();
  bindArguments(eq, op, *body);
  op.buildEquation(eq);
  YieldOp::create(b, yieldedValues(eq, op));
  for (Operation &dead : llvm::make_early_inc_range(llvm::reverse(*body))) {
    if (isOpTriviallyDead(&dead)) {
      dead.erase();
    }
  }
}

llvm::BitVector grouped_moe::getUnusedInputs(NamedProduct op) {
  GroupedProduct product = op;
  Region region;
  buildEpilogue(region, op);
  llvm::BitVector unused(product.getInputs().size());
  unsigned next = product.getPaired() ? 2 : 1;
  for (unsigned i = 0; i < unused.size(); ++i) {
    unsigned count = product.isPairInput(i) ? 2 : 1;
    unused[i] = llvm::all_of(region.getArguments().slice(next, count),
                             [](Value value) { return value.use_empty(); });
    next += count;
  }
  return unused;
}

GemmOp grouped_moe::generalize(OpBuilder &builder, NamedProduct op) {
  GroupedProduct product = op;
  ImplicitLocOpBuilder b(op->getLoc(), builder);
  SmallVector<int32_t> kinds;
  for (unsigned i = 0; i < product.getInputs().size(); ++i) {
    kinds.push_back(static_cast<int32_t>(product.getInputKind(i)));
  }
  auto typeAttr = [](std::optional<Type> type) {
    return type ? TypeAttr::get(*type) : TypeAttr();
  };
  auto gemm = GemmOp::create(
      b, op->getResultTypes(), product.getLhs(), product.getLhsScales(),
      product.getRhs(), product.getRhsScales(), product.getOffsets(),
      product.getNormConst(), product.getInputs(), product.getOutputs(),
      product.getLhsLayout(), product.getRhsLayout(),
      b.getDenseI32ArrayAttr(kinds),
      b.getDenseI32ArrayAttr(product.getOutputKinds()),
      b.getI64IntegerAttr(product.getMAligned()),
      product.getPaired() ? b.getUnitAttr() : UnitAttr(),
      product.getConcatenated() ? b.getUnitAttr() : UnitAttr(),
      op.getNondeterministic() ? b.getUnitAttr() : UnitAttr(),
      typeAttr(product.getRhsPointee()),
      typeAttr(product.getRhsScalesPointee()),
      op.getSchedule().value_or(ScheduleAttr()));
  gemm->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  buildEpilogue(gemm.getEpilogue(), op);
  return gemm;
}

unsigned grouped_moe::generalizeAll(Operation *root) {
  SmallVector<NamedProduct> ops;
  root->walk([&](NamedProduct op) { ops.push_back(op); });
  for (NamedProduct op : ops) {
    OpBuilder builder(op);
    op->replaceAllUsesWith(generalize(builder, op));
    op->erase();
  }
  return ops.size();
}
