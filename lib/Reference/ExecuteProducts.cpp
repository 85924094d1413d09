// gemm and wgrad: operands checked and bound, then computed.
#include "lib/Reference/EpilogueCompile.h"
#include "lib/Reference/ExecutorRun.h"
#include "lib/Reference/Wgrad.h"

using namespace mlir;
using namespace grouped_moe;
using namespace grouped_moe::reference;

LogicalResult Executor::addInputs(GemmOp op, GemmProblem &problem,
                                  bool &derived) {
  int64_t rows = array(op.getLhs()).shape[0], groups = op.getGroups();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    GemmInput in{Follows::element, &array(input), op.isPairInput(i)};
    int64_t columns = op.getColumns() * (in.pair ? 2 : 1);
    std::vector<int64_t> expected;
    switch (op.getInputKind(i)) {
    case InputKind::per_element:
      expected = {rows, columns};
      break;
    case InputKind::per_row:
      in.follows = Follows::row;
      expected = {rows};
      break;
    case InputKind::per_group:
      in.follows = Follows::group;
      expected = {in.array->elements() == 1 ? 1 : groups}; // 1: of all groups
      break;
    case InputKind::per_group_column:
      in.follows = Follows::groupColumn;
      expected = {groups, columns};
      break;
    }
    if (failed(expectShape(op, "input #" + Twine(i), *in.array, expected))) {
      return failure();
    }
    derived |= in.array->derived;
    problem.inputs.push_back(in);
  }
  if (op.getNormConst()) {
    Array &norm = array(op.getNormConst());
    for (int64_t i = 0; i < norm.elements(); ++i) {
      problem.normConst.push_back(static_cast<float>(norm.at(i)));
    }
  }
  return success();
}

static OutputForm outputFormOf(OutputKind kind) {
  switch (kind) {
  case OutputKind::plain:
    return OutputForm::plain;
  case OutputKind::row_sum:
    return OutputForm::rowSum;
  case OutputKind::group_column_sum:
    return OutputForm::groupColumnSum;
  case OutputKind::group_amax:
    return OutputForm::groupAmax;
  default:
    return OutputForm::quantized;
  }
}

LogicalResult Executor::addOutputs(GemmOp op, GemmProblem &problem) {
  int64_t rows = array(op.getLhs()).shape[0], groups = op.getGroups();
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    int64_t halves = op.isPairOutput(i) ? 2 : 1;
    int64_t columns = op.getColumns() * halves;
    std::vector<int64_t> expected = {rows, columns};
    if (op.isTransposedOutput(i)) {
      expected = {columns, rows};
      if (failed(expectPieces(op, rows))) {
        return failure();
      }
    }
    switch (op.getOutputKind(i)) {
    case OutputKind::row_sum:
      expected = {rows};
      break;
    case OutputKind::group_column_sum:
      expected = {groups, columns};
      break;
    case OutputKind::group_amax:
      expected = halves == 2 ? std::vector<int64_t>{groups, 2}
                             : std::vector<int64_t>{groups};
      break;
    default:
      break;
    }
    GemmOutput out;
    if (op.isScaleOutput(i)) {
      GemmOutput &data = problem.outputs.back();
      data.scaleForm = formOf(op.getScaleLayout(i));
      data.rule = ruleOf(op.getScaleRounding(i));
      int64_t stored = data.array->shape[op.getColumnAxis(i - 1)];
      expected = scaleShape(data.scaleForm, {rows, stored}, groups,
                            static_cast<int64_t>(op.getMAligned()));
    }
    if (failed(expectShape(op, "output #" + Twine(i), array(op.getOutputs()[i]),
                           expected))) {
      return failure();
    }
    Array &written = destination(op, i);
    if (op.isScaleOutput(i)) {
      problem.outputs.back().scales = &written;
      continue;
    }
    out.array = &written;
    out.form = outputFormOf(op.getOutputKind(i));
    out.pair = halves == 2;
    problem.outputs.push_back(out);
  }
  return success();
}

LogicalResult Executor::runGemm(GemmOp op) {
  GemmProblem problem;
  Array &lhs = array(op.getLhs());
  Array *behind = operand(op, "rhs", op.getRhs(), op.getRhsType());
  Array *scales =
      operand(op, "rhs scales", op.getRhsScales(), op.getRhsScalesType());
  if (!behind || !scales) {
    return failure();
  }
  Array &rhs = *behind;
  bool derived = lhs.derived || rhs.derived;
  Epilogue epilogue;
  if (failed(expectShape(op, "lhs scales", array(op.getLhsScales()),
                         scaleShape(formOf(op.getLhsLayout()), lhs.shape,
                                    op.getGroups(),
                                    static_cast<int64_t>(op.getMAligned())))) ||
      failed(expectShape(op, "rhs scales", *scales,
                         scaleShape(formOf(op.getRhsLayout()), rhs.shape))) ||
      failed(readEnds(op, array(op.getOffsets()), lhs.shape[0],
                      op.getMAligned(), problem.ends)) ||
      failed(addInputs(op, problem, derived)) ||
      !compileEpilogue(op, epilogue) || failed(addOutputs(op, problem))) {
    return failure();
  }
  problem.lhs = &lhs;
  problem.lhsScales = &array(op.getLhsScales());
  problem.rhs = &rhs;
  problem.rhsScales = scales;
  problem.lhsForm = formOf(op.getLhsLayout());
  problem.rhsTransposed = op.isRhsTransposed();
  problem.block = op.getLhsLayout().getBlock();
  problem.paired = op.getPaired();
  problem.concatenated = op.getConcatenated();
  problem.epilogue = &epilogue;
  // An operand that is itself off has no bound here.
  problem.withErrors = options.withErrors && !derived;
  computeGemm(problem, options.threads);
  return success();
}

Array *Executor::behindAddresses(Operation *op, const Twine &name,
                                 Value addresses, ShapedType type) {
  Array &held = array(addresses);
  std::vector<int64_t> expected(type.getShape());
  if (held.format == formatOf(type.getElementType()) &&
      held.shape == expected) {
    return &held;
  }
  op->emitOpError() << name << ": holds addresses of " << shapeText(expected)
                    << " of " << type.getElementType()
                    << ", one array a group, but what they come from is "
                    << describe(held)
                    << "; take them from an argument, each for one shape";
  return nullptr;
}

Array *Executor::operand(Operation *op, const Twine &name, Value value,
                         ShapedType type) {
  bool isAddresses = type != value.getType();
  return isAddresses ? behindAddresses(op, name, value, type) : &array(value);
}

/// The array of an output. What addresses point at is there whether the result
/// is used or not; they are an argument's, which holds what they point at.
Array *Executor::addressed(WgradOp op, unsigned i) {
  Value output = op.getOutputs()[i];
  if (!cast<ShapedType>(output.getType()).getElementType().isInteger(64)) {
    return &destination(op, i);
  }
  Array *held = behindAddresses(
      op, "output #" + Twine(i), output,
      RankedTensorType::get({op.getGroups(), op.getN(), op.getK()},
                            op.getOutputElementType(i)));
  if (held && op->getNumResults() != 0) {
    arrays[op->getResult(i)] = arrays[output];
  }
  return held;
}

LogicalResult Executor::runWgrad(WgradOp op) {
  WgradProblem problem;
  Epilogue epilogue;
  Array &lhs = array(op.getLhs()), &rhs = array(op.getRhs());
  problem.rows = lhs.shape[op.getLhsRowAxis()];
  problem.lhs = {&lhs, &array(op.getLhsScales()), op.getLhsTransposed(),
                 op.getN()};
  problem.rhs = {&rhs, &array(op.getRhsScales()), op.getRhsTransposed(),
                 op.getK()};
  problem.block = op.getLhsLayout().getBlock();
  if (failed(readEnds(op, array(op.getOffsets()), problem.rows,
                      op.getMAligned(), problem.ends)) ||
      !compileEpilogue(op, epilogue)) {
    return failure();
  }
  auto checkFactor = [&](StringRef name, const WgradFactor &factor,
                         ScaleLayoutAttr layout) -> LogicalResult {
    std::vector<int64_t> shape{problem.rows, factor.columns};
    std::vector<int64_t> scales =
        scaleShape(formOf(layout), shape, op.getGroups(),
                   static_cast<int64_t>(op.getMAligned()));
    if (factor.transposed) {
      std::swap(shape[0], shape[1]);
    }
    return failure(
        failed(expectShape(op, name, *factor.data, shape)) ||
        failed(expectShape(op, name + " scales", *factor.scales, scales)));
  };
  if (failed(checkFactor("lhs", problem.lhs, op.getLhsLayout())) ||
      failed(checkFactor("rhs", problem.rhs, op.getRhsLayout()))) {
    return failure();
  }
  bool derived = lhs.derived || rhs.derived;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    WgradInput in{&array(input), op.getInputKind(i) == InputKind::per_element};
    derived |= in.array->derived;
    problem.inputs.push_back(in);
  }
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    derived |= op.getAccumulate() && array(op.getOutputs()[i]).derived;
    Array *output = addressed(op, i);
    if (!output) {
      return failure();
    }
    problem.outputs.push_back(output);
  }
  problem.epilogue = &epilogue;
  problem.accumulate = op.getAccumulate();
  problem.withErrors = options.withErrors && !derived;
  computeWgrad(problem, options.threads);
  return success();
}
