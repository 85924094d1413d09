// Parsing, verification and canonicalization of the generic grouped product.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

int64_t GemmOp::getRows() {
  return cast<ShapedType>(getLhs().getType()).getDimSize(0);
}
int64_t GemmOp::getN() {
  return cast<ShapedType>(getRhs().getType()).getDimSize(1);
}
int64_t GemmOp::getK() {
  return cast<ShapedType>(getRhs().getType()).getDimSize(2);
}
int64_t GemmOp::getGroups() {
  return cast<ShapedType>(getRhs().getType()).getDimSize(0);
}

void GemmOp::getEffects(EffectList &effects) {
  addEffects(*this, getOutputs(), effects);
}
LogicalResult GemmOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromOutputs(builder, *this, getOutputs(), shapes);
}

void GemmOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  if (region.empty() || region.getNumArguments() == 0) {
    return;
  }
  setName(region.getArgument(0), "acc");
}

static StringRef expectedShapeText(InputKind kind) {
  switch (kind) {
  case InputKind::per_element:
    return "(R, N)";
  case InputKind::per_row:
    return "(R)";
  case InputKind::per_group:
    return "(L)";
  case InputKind::per_group_column:
    return "(L, N)";
  }
  return "";
}

static InFlightDiagnostic emitExtent(InFlightDiagnostic diag, int64_t extent) {
  if (ShapedType::isDynamic(extent)) {
    diag << "dynamic";
  } else {
    diag << extent;
  }
  return diag;
}

static LogicalResult verifyOperands(GemmOp op) {
  auto lhs = cast<ShapedType>(op.getLhs().getType());
  auto rhs = cast<ShapedType>(op.getRhs().getType());
  auto offsets = cast<ShapedType>(op.getOffsets().getType());
  if (lhs.getRank() != 2) {
    return op.emitOpError() << "lhs: rank is " << lhs.getRank()
                            << ", expected 2: (R, K) (gemm_c1)";
  }
  if (!isFp8(lhs.getElementType())) {
    return op.emitOpError()
           << "lhs: element type is " << lhs.getElementType()
           << ", expected f8E4M3FN or f8E5M2 (gemm_c1); quantize it with "
              "grouped_moe.quantize";
  }
  if (rhs.getRank() != 3) {
    return op.emitOpError() << "rhs: rank is " << rhs.getRank()
                            << ", expected 3: (L, N, K) (gemm_c2)";
  }
  if (rhs.getElementType() != lhs.getElementType()) {
    return op.emitOpError() << "rhs: element type is " << rhs.getElementType()
                            << ", expected that of lhs, "
                            << lhs.getElementType() << " (gemm_c2)";
  }
  int64_t k = op.getK(), n = op.getN(), groups = op.getGroups();
  if (ShapedType::isDynamic(k) || k <= 0 || k % 32 != 0) {
    return emitExtent(op.emitOpError() << "K is ", k)
           << ", expected a static positive multiple of 32 elements, the scale "
              "block (gemm_c3); pad K with zeros";
  }
  if (ShapedType::isDynamic(n) || n <= 0 || n % 16 != 0) {
    return emitExtent(op.emitOpError() << "N is ", n)
           << ", expected a static positive multiple of 16 columns (gemm_c3); "
              "pad N with zeros";
  }
  if (ShapedType::isDynamic(groups) || groups < 1) {
    return emitExtent(op.emitOpError() << "L, the number of groups, is ",
                      groups)
           << ", expected a static count of at least 1 (gemm_c3)";
  }
  if (lhs.getDimSize(1) != k) {
    return emitExtent(op.emitOpError() << "lhs: K is ", lhs.getDimSize(1))
           << ", expected " << k << " as in rhs (gemm_c2)";
  }
  if (!offsets.getElementType().isSignlessInteger(32) ||
      offsets.getRank() != 1 || offsets.getDimSize(0) != groups) {
    return op.emitOpError()
           << "offsets: type is " << offsets << ", expected " << groups
           << " elements of i32, one cumulative end for each "
              "group of rhs (gemm_c6)";
  }
  if (op.getMAligned() != 128 && op.getMAligned() != 256) {
    return op.emitOpError() << "m_aligned is " << op.getMAligned()
                            << " rows, expected 128 or 256 (gemm_c7); pad the "
                               "groups to a multiple of 128 rows";
  }
  return success();
}

static LogicalResult verifyInputs(GemmOp op) {
  if (op.getInputKinds().size() != op.getInputs().size()) {
    return op.emitOpError()
           << "has " << op.getInputs().size() << " inputs and "
           << op.getInputKinds().size() << " input kinds (gemm_c8)";
  }
  int64_t rows = op.getRows(), n = op.getN(), groups = op.getGroups();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (!symbolizeInputKind(op.getInputKinds()[i])) {
      return op.emitOpError() << "input #" << i << ": unknown kind "
                              << op.getInputKinds()[i] << " (gemm_c8)";
    }
    InputKind kind = op.getInputKind(i);
    auto type = cast<ShapedType>(input.getType());
    SmallVector<int64_t> expected;
    switch (kind) {
    case InputKind::per_element:
      expected = {rows, n};
      break;
    case InputKind::per_row:
      expected = {rows};
      break;
    case InputKind::per_group:
      expected = {groups};
      break;
    case InputKind::per_group_column:
      expected = {groups, n};
      break;
    }
    bool matches = type.getRank() == static_cast<int64_t>(expected.size());
    for (size_t d = 0; matches && d < expected.size(); ++d) {
      bool rowDim = d == 0 && (kind == InputKind::per_element ||
                               kind == InputKind::per_row);
      matches = rowDim ? mayEqual(type.getDimSize(d), expected[d])
                       : type.getDimSize(d) == expected[d];
    }
    if (!matches) {
      InFlightDiagnostic diag =
          op.emitOpError() << "input #" << i << ": type is " << type
                           << ", expected the shape " << expectedShapeText(kind)
                           << " of a " << stringifyInputKind(kind)
                           << " input, with N = " << n << " and L = " << groups
                           << " (gemm_c8)";
      return diag;
    }
    Type element = type.getElementType();
    bool isMatrix = kind == InputKind::per_element;
    if (!isFloatOutput(element) && !(isMatrix && isFp8(element))) {
      return op.emitOpError()
             << "input #" << i << ": element type is " << element
             << ", expected f32, f16"
             << (isMatrix ? ", bf16, f8E4M3FN or f8E5M2" : " or bf16")
             << " (gemm_c8)";
    }
  }
  return success();
}

/// One output, whose kind is known.
static LogicalResult verifyOutput(GemmOp op, unsigned i) {
  auto type = cast<ShapedType>(op.getOutputs()[i].getType());
  OutputKind kind = op.getOutputKind(i);
  StringRef name = stringifyOutputKind(kind);
  if (op.isScaleOutput(i)) {
    if (i == 0 || op.getOutputKind(i - 1) != OutputKind::quantized) {
      return op.emitOpError() << "output #" << i << ": " << name
                              << " must follow its quantized output (gemm_c9)";
    }
    auto layout = ScaleLayoutAttr::get(op.getContext(), ScaleDirection::row,
                                       ScaleGrouping::whole, 32);
    return verifyScales(op, ("output #" + Twine(i)).str(), op.getOutputs()[i],
                        layout, {op.getRows(), op.getN()}, op.getGroups(),
                        "gemm_c9", "gemm_c9");
  }
  if (type.getRank() != 2 || !mayEqual(type.getDimSize(0), op.getRows()) ||
      type.getDimSize(1) != op.getN()) {
    return op.emitOpError()
           << "output #" << i << ": type is " << type
           << ", expected the shape (R, N) with N = " << op.getN()
           << " (gemm_c9)";
  }
  Type element = type.getElementType();
  if (kind == OutputKind::quantized) {
    if (i + 1 == op.getOutputs().size() || !op.isScaleOutput(i + 1)) {
      return op.emitOpError() << "output #" << i
                              << ": quantized must be followed by its scales, "
                                 "row_scales_rceil or row_scales_floor "
                                 "(gemm_c9)";
    }
    if (!isFp8(element) || op.getN() % 32 != 0) {
      return op.emitOpError()
             << "output #" << i << ": quantized is " << type
             << ", expected f8E4M3FN or f8E5M2 and N a multiple of 32, the "
                "block (gemm_c9)";
    }
    return success();
  }
  if (!isFloatOutput(element) && !isFp8(element)) {
    return op.emitOpError()
           << "output #" << i << ": element type is " << element
           << ", expected f32, f16, bf16, f8E4M3FN or f8E5M2 (gemm_c9)";
  }
  return success();
}

static LogicalResult verifyOutputs(GemmOp op) {
  if (op.getOutputs().empty()) {
    return op.emitOpError()
           << "outs has 0 operands, expected 1 or more (gemm_c9)";
  }
  if (op.getOutputKinds().size() != op.getOutputs().size()) {
    return op.emitOpError()
           << "has " << op.getOutputs().size() << " outputs and "
           << op.getOutputKinds().size() << " output kinds (gemm_c9)";
  }
  for (auto [i, kind] : llvm::enumerate(op.getOutputKinds())) {
    if (!symbolizeOutputKind(kind)) {
      return op.emitOpError()
             << "output #" << i << ": unknown kind " << kind << " (gemm_c9)";
    }
  }
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    if (failed(verifyOutput(op, i))) {
      return failure();
    }
    auto type = cast<ShapedType>(output.getType());
    // Two values would race for one place.
    for (unsigned j = 0; isa<MemRefType>(type) && j < i; ++j) {
      if (op.getOutputs()[j] == output) {
        return op.emitOpError() << "outputs #" << j << " and #" << i
                                << " are the same memref, give each its own "
                                   "(gemm_c9)";
      }
    }
  }
  return success();
}

/// Operands that follow the rows of lhs: their static counts must agree even
/// where lhs itself is dynamic.
static LogicalResult verifyRowCounts(GemmOp op) {
  std::string firstName = "lhs";
  int64_t first = op.getRows();
  auto check = [&](const Twine &name, Value value) -> LogicalResult {
    int64_t rows = cast<ShapedType>(value.getType()).getDimSize(0);
    if (ShapedType::isDynamic(first)) {
      first = rows;
      firstName = name.str();
    }
    if (mayEqual(rows, first)) {
      return success();
    }
    return op.emitOpError() << name << ": has " << rows << " rows but "
                            << firstName << " has " << first << " (gemm_c12)";
  };
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    InputKind kind = op.getInputKind(i);
    if ((kind == InputKind::per_element || kind == InputKind::per_row) &&
        failed(check("input #" + Twine(i), input))) {
      return failure();
    }
  }
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    if (!op.isScaleOutput(i) && failed(check("output #" + Twine(i), output))) {
      return failure();
    }
  }
  return success();
}

/// The op's layout against that of the op which made the scales.
static LogicalResult verifyProducer(GemmOp op, StringRef name, Value scales,
                                    ScaleLayoutAttr layout) {
  auto producer = scales.getDefiningOp<QuantizeOp>();
  if (!producer || producer.getLayout() == layout) {
    return success();
  }
  InFlightDiagnostic diag = op.emitOpError()
                            << name << ": layout is " << layout
                            << " but the scales were written as "
                            << producer.getLayout() << " (gemm_c13)";
  diag.attachNote(producer.getLoc()) << "the scales are made here";
  return diag;
}

LogicalResult GemmOp::verify() {
  if (failed(verifySemantics(*this, getOutputs().size(), "gemm_c12")) ||
      failed(verifyOperands(*this))) {
    return failure();
  }
  auto shapeOf = [](Value v) {
    return cast<ShapedType>(v.getType()).getShape();
  };
  if (failed(verifyProducer(*this, "lhs", getLhsScales(), getLhsLayout())) ||
      failed(verifyProducer(*this, "rhs", getRhsScales(), getRhsLayout())) ||
      failed(verifyScales(*this, "lhs scales", getLhsScales(), getLhsLayout(),
                          shapeOf(getLhs()), getGroups(), "gemm_c4",
                          "gemm_c5")) ||
      failed(verifyScales(*this, "rhs scales", getRhsScales(), getRhsLayout(),
                          shapeOf(getRhs()), getGroups(), "gemm_c4",
                          "gemm_c5")) ||
      failed(verifyInputs(*this)) || failed(verifyOutputs(*this)) ||
      failed(verifyRowCounts(*this))) {
    return failure();
  }
  return success();
}

LogicalResult GemmOp::verifyRegions() {
  Block &body = getEpilogue().front();
  if (body.getNumArguments() != getInputs().size() + 1) {
    return emitOpError() << "epilogue has " << body.getNumArguments()
                         << " arguments, expected " << getInputs().size() + 1
                         << ": the accumulator and one for each input "
                            "(gemm_c10)";
  }
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    if (!argument.getType().isF32()) {
      return emitOpError() << "epilogue argument #" << i << ": type is "
                           << argument.getType()
                           << ", expected f32 (gemm_c10); inputs of other "
                              "types are converted before the region";
    }
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != getNumYields()) {
    return emitOpError() << "epilogue yields "
                         << (yield ? yield.getValues().size() : 0)
                         << " values, expected " << getNumYields()
                         << ": one for each output (gemm_c10)";
  }
  for (Operation &op : body.without_terminator()) {
    if (!isEpilogueOp(&op)) {
      InFlightDiagnostic diag =
          emitOpError() << "epilogue holds '" << op.getName()
                        << "', which is not a scalar operation of arith or "
                           "math that a kernel can compute (gemm_c11)";
      diag.attachNote(op.getLoc()) << "the operation is here";
      return diag;
    }
  }
  return success();
}

namespace {
/// Drops inputs that the region does not use, and merges equal ones: fewer
/// loads, the same numbers.
struct SimplifyInputs : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    Block &body = op.getEpilogue().front();
    SmallVector<std::pair<Value, int32_t>> kept;
    SmallVector<Value> inputs;
    SmallVector<int32_t> kinds;
    SmallVector<unsigned> keptArgument;
    llvm::BitVector erased(body.getNumArguments());
    SmallVector<std::pair<unsigned, unsigned>> merged;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      if (body.getArgument(i + 1).use_empty()) {
        erased.set(i + 1);
        continue;
      }
      std::pair<Value, int32_t> key(input, op.getInputKinds()[i]);
      auto it = llvm::find(kept, key);
      if (it != kept.end()) {
        merged.emplace_back(i + 1, keptArgument[it - kept.begin()]);
        erased.set(i + 1);
        continue;
      }
      kept.push_back(key);
      keptArgument.push_back(i + 1);
      inputs.push_back(input);
      kinds.push_back(key.second);
    }
    if (erased.none()) {
      return rewriter.notifyMatchFailure(op, "every input is used, once");
    }
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [from, to] : merged) {
        body.getArgument(from).replaceAllUsesWith(body.getArgument(to));
      }
      body.eraseArguments(erased);
      op.getInputsMutable().assign(inputs);
      op.setInputKinds(kinds);
    });
    return success();
  }
};
} // namespace

void GemmOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<SimplifyInputs>(context);
}
