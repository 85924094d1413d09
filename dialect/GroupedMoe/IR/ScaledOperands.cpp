#include "dialect/GroupedMoe/IR/ScaledOperands.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace grouped_moe;

StringRef grouped_moe::describe(PairOrder order) {
  return order == PairOrder::alternating ? "in alternating blocks of 32"
                                         : "side by side";
}

ScaleLayoutAttr grouped_moe::getWrittenLayout(Operation *op, unsigned i) {
  return llvm::TypeSwitch<Operation *, ScaleLayoutAttr>(op)
      .Case([&](QuantizeOp quantize) {
        return i == 1 ? quantize.getLayout() : ScaleLayoutAttr();
      })
      .Case([&](InterleaveGluOp interleave) {
        return i == 1 ? interleave.getLayout().value_or(ScaleLayoutAttr())
                      : ScaleLayoutAttr();
      })
      .Case([](WgradOp) { return ScaleLayoutAttr(); })
      .Case([&](GroupedProduct product) {
        bool isScales = i < product.getOutputKinds().size() &&
                        i < product.getOutputs().size() &&
                        product.isScaleOutput(i);
        return isScales ? product.getScaleLayout(i) : ScaleLayoutAttr();
      })
      .Default([](Operation *) { return ScaleLayoutAttr(); });
}

namespace {
class FlowBuilder {
public:
  FlowBuilder(Operation *op) : op(op) {}

  void add(GroupedProduct product);
  void add(WgradOp wgrad);
  void add(QuantizeOp quantize);
  void add(DequantizeOp dequantize);
  void add(InterleaveGluOp interleave);

  OperandFlow flow;

private:
  unsigned read(StringRef name, Value data, Value scales = {},
                ScaleLayoutAttr layout = {}, Value offsets = {}) {
    flow.reads.push_back({name.str(), data, scales, layout, offsets,
                          layout && isStoredTransposed(data, layout)});
    return flow.reads.size() - 1;
  }
  /// Every output, with the scales that follow it.
  void write(OperandRange outputs, Value offsets);
  /// Every element of the result comes from its place in what is read.
  void alignAll(unsigned except = ~0u);

  Operation *op;
};
} // namespace

void FlowBuilder::write(OperandRange outputs, Value offsets) {
  for (auto [i, output] : llvm::enumerate(outputs)) {
    Value written = op->getNumResults() == 0 ? output : op->getResult(i);
    if (ScaleLayoutAttr layout = getWrittenLayout(op, i)) {
      MatrixOperand &matrix = flow.writes.back();
      matrix.scales = written;
      matrix.layout = layout;
      matrix.offsets = offsets;
      matrix.transposed = isStoredTransposed(matrix.data, layout);
      continue;
    }
    flow.writes.push_back({("output #" + Twine(i)).str(), written});
  }
  if (flow.writes.size() == 1) {
    flow.writes[0].name = "the output";
  }
}

void FlowBuilder::alignAll(unsigned except) {
  int64_t rank = cast<ShapedType>(flow.reads[0].data.getType()).getRank();
  bool swaps = flow.reads[0].transposed != flow.writes[0].transposed;
  for (unsigned axis = 0; axis < rank; ++axis) {
    if (axis != except) {
      flow.axes.push_back({{{0, axis}}, {{0, swaps ? 1 - axis : axis}}});
    }
  }
}

void FlowBuilder::add(QuantizeOp quantize) {
  read("input", quantize.getInput());
  write(quantize.getOutputs(), quantize.getOffsets());
  alignAll();
}

void FlowBuilder::add(DequantizeOp dequantize) {
  read("data", dequantize.getData(), dequantize.getScales(),
       dequantize.getLayout(), dequantize.getOffsets());
  write(dequantize.getOutputs(), {});
  alignAll();
}

void FlowBuilder::add(InterleaveGluOp interleave) {
  read("input", interleave.getInput(), interleave.getScales(),
       interleave.getLayout().value_or(ScaleLayoutAttr()));
  write(interleave.getOutputs(), {});
  alignAll(/*except=*/1);
  AlignedAxes halves{{{0, 1}}, {{0, 1}}, PairOrder::side_by_side};
  halves.newOrder = PairOrder::alternating;
  flow.axes.push_back(halves);
}

void FlowBuilder::add(GroupedProduct product) {
  ScaleLayoutAttr rhsLayout = product.getRhsLayout();
  unsigned lhs = read("lhs", product.getLhs(), product.getLhsScales(),
                      product.getLhsLayout(), product.getOffsets());
  unsigned rhs =
      read("rhs", product.getRhs(), product.getRhsScales(), rhsLayout);
  write(product.getOutputs(), product.getOffsets());

  // Blocks of scales run along K.
  unsigned k = rhsLayout.getDirection() == ScaleDirection::row ? 2 : 1;
  AlignedAxes summed{{{lhs, 1}, {rhs, k}}, {}};
  AlignedAxes pairs{{},
                    {},
                    product.getConcatenated() ? PairOrder::side_by_side
                                              : PairOrder::alternating};
  AlignedAxes columns;
  columns.singles = true;
  // The columns of a paired product are pairs, and E has none in it.
  (product.getPaired() ? pairs : columns).reads.push_back({rhs, 3 - k});
  for (unsigned i = 0; i < product.getInputs().size(); ++i) {
    InputKind kind = product.getInputKind(i);
    if (kind != InputKind::per_element && kind != InputKind::per_group_column) {
      continue;
    }
    unsigned matrix =
        read(("input #" + Twine(i)).str(), product.getInputs()[i]);
    (product.isPairInput(i) ? pairs : columns).reads.push_back({matrix, 1});
  }
  unsigned matrix = 0;
  for (unsigned i = 0; i < product.getOutputs().size(); ++i) {
    OutputKind kind = product.getOutputKind(i);
    if (kind == OutputKind::plain || kind == OutputKind::quantized ||
        kind == OutputKind::group_column_sum) {
      (product.isPairOutput(i) ? pairs : columns)
          .writes.push_back({matrix, product.getColumnAxis(i)});
    }
    matrix += product.isScaleOutput(i) ? 0 : 1;
  }
  flow.axes = {summed, pairs};
  if (!product.getPaired()) {
    flow.axes.push_back(columns);
  }
}

void FlowBuilder::add(WgradOp wgrad) {
  unsigned lhs = read("lhs", wgrad.getLhs(), wgrad.getLhsScales(),
                      wgrad.getLhsLayout(), wgrad.getOffsets());
  unsigned rhs = read("rhs", wgrad.getRhs(), wgrad.getRhsScales(),
                      wgrad.getRhsLayout(), wgrad.getOffsets());
  flow.reads[lhs].transposed = wgrad.getLhsTransposed();
  flow.reads[rhs].transposed = wgrad.getRhsTransposed();
  // Rows and columns of a gradient are the columns of the factors.
  AlignedAxes rows{{{lhs, 1 - wgrad.getLhsRowAxis()}}, {}};
  AlignedAxes columns{{{rhs, 1 - wgrad.getRhsRowAxis()}}, {}};
  auto readGradient = [&](const Twine &name, Value value) {
    unsigned matrix = read(name.str(), value);
    rows.reads.push_back({matrix, 1});
    columns.reads.push_back({matrix, 2});
  };
  for (unsigned i = 0; i < wgrad.getInputs().size(); ++i) {
    if (wgrad.getInputKind(i) == InputKind::per_element) {
      readGradient("input #" + Twine(i), wgrad.getInputs()[i]);
    }
  }
  write(wgrad.getOutputs(), {});
  for (unsigned i = 0; i < wgrad.getOutputs().size(); ++i) {
    if (wgrad.getAccumulate()) {
      readGradient("output #" + Twine(i), wgrad.getOutputs()[i]);
    }
    rows.writes.push_back({i, 1});
    columns.writes.push_back({i, 2});
  }
  flow.axes = {rows, columns};
}

std::optional<OperandFlow> grouped_moe::getOperandFlow(Operation *op) {
  FlowBuilder builder(op);
  bool known = llvm::TypeSwitch<Operation *, bool>(op)
                   .Case<GroupedProduct, WgradOp, QuantizeOp, DequantizeOp,
                         InterleaveGluOp>([&](auto known) {
                     builder.add(known);
                     return true;
                   })
                   .Default([](Operation *) { return false; });
  if (!known) {
    return std::nullopt;
  }
  return std::move(builder.flow);
}
