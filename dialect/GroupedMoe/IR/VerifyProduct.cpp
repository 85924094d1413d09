// What every grouped product must keep to, whatever its epilogue computes.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/GroupedMoe/IR/ScaledOperands.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

/// Blocks of 32 columns alternate; side by side, each half is whole scale
/// atoms.
static LogicalResult verifyPairs(GroupedProduct op) {
  int64_t n = op.getN();
  int64_t unit = (op.getPaired() ? 2 : 1) * (op.getConcatenated() ? 128 : 32);
  if ((op.getPaired() || op.getConcatenated()) && n % unit != 0) {
    return op->emitOpError()
           << "N is " << n << ", expected a multiple of " << unit
           << " columns for "
           << (op.getConcatenated() ? "halves of whole scale atoms of 128"
                                    : "gate and up in alternating blocks of 32")
           << " (gemm_c14); pad each half with zeros";
  }
  return success();
}

static LogicalResult verifyNormConst(GroupedProduct op) {
  Value value = op.getNormConst();
  if (!value) {
    return success();
  }
  auto type = cast<ShapedType>(value.getType());
  if (!type.getElementType().isF32() || type.getRank() != 1 ||
      (type.getDimSize(0) != 1 && type.getDimSize(0) != op.getGroups())) {
    return op->emitOpError()
           << "norm_const: type is " << type << ", expected 1 element, or "
           << op.getGroups() << " (L), of f32 (gemm_c15)";
  }
  bool scales = false;
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    scales |= op.isScaleOutput(i);
  }
  if (!scales) {
    return op->emitOpError() << "norm_const is given, but no output is "
                                "quantized (gemm_c15); drop it";
  }
  return success();
}

static InFlightDiagnostic emitExtent(InFlightDiagnostic diag, int64_t extent) {
  if (ShapedType::isDynamic(extent)) {
    diag << "dynamic";
  } else {
    diag << extent;
  }
  return diag;
}

static LogicalResult verifyOperands(GroupedProduct op) {
  auto lhs = cast<ShapedType>(op.getLhs().getType());
  ShapedType rhs = op.getRhsType();
  auto offsets = cast<ShapedType>(op.getOffsets().getType());
  if (lhs.getRank() != 2) {
    return op->emitOpError() << "lhs: rank is " << lhs.getRank()
                             << ", expected 2: (R, K) (gemm_c1)";
  }
  bool isFp4Product = isFp4(lhs.getElementType());
  if (!isFp8(lhs.getElementType()) && !isFp4Product) {
    return op->emitOpError()
           << "lhs: element type is " << lhs.getElementType()
           << ", expected f8E4M3FN, f8E5M2 or f4E2M1FN (gemm_c1); quantize it "
              "with grouped_moe.quantize";
  }
  if (rhs.getRank() != 3) {
    return op->emitOpError()
           << "rhs: rank is " << rhs.getRank() << ", expected 3: "
           << (op.isRhsTransposed() ? "(L, K, N)" : "(L, N, K)")
           << " (gemm_c2)";
  }
  if (isFp4(rhs.getElementType()) != isFp4Product ||
      (!isFp4Product && !isFp8(rhs.getElementType()))) {
    return op->emitOpError()
           << "rhs: element type is " << rhs.getElementType() << ", expected "
           << (isFp4Product ? "f4E2M1FN" : "f8E4M3FN or f8E5M2")
           << " beside a lhs of " << lhs.getElementType()
           << " (gemm_c2); quantize both to FP8, or both to FP4";
  }
  int64_t k = op.getK(), n = op.getN(), groups = op.getGroups();
  int64_t unitOfK = isFp4Product ? 64 : 32;
  if (ShapedType::isDynamic(k) || k <= 0 || k % unitOfK != 0) {
    return emitExtent(op->emitOpError() << "K is ", k)
           << ", expected a static positive multiple of " << unitOfK
           << " elements, " << (isFp4Product ? "32 bytes" : "the scale block")
           << " (gemm_c3); pad K with zeros";
  }
  if (ShapedType::isDynamic(n) || n <= 0 || n % 16 != 0) {
    return emitExtent(op->emitOpError() << "N is ", n)
           << ", expected a static positive multiple of 16 columns (gemm_c3); "
              "pad N with zeros";
  }
  if (ShapedType::isDynamic(groups) || groups < 1) {
    return emitExtent(op->emitOpError() << "L, the number of groups, is ",
                      groups)
           << ", expected a static count of at least 1 (gemm_c3)";
  }
  if (std::max({k, n, groups, op.getRows()}) > kMaxExtent) {
    return op->emitOpError() << "N is " << n << ", K " << k << ", L " << groups
                             << ", expected extents of at most " << kMaxExtent
                             << ": kernels count in 32 bits (gemm_c3)";
  }
  if (lhs.getDimSize(1) != k) {
    return emitExtent(op->emitOpError() << "lhs: K is ", lhs.getDimSize(1))
           << ", expected " << k << " as in rhs (gemm_c2)";
  }
  if (!offsets.getElementType().isSignlessInteger(32) ||
      offsets.getRank() != 1 || offsets.getDimSize(0) != groups) {
    return op->emitOpError()
           << "offsets: type is " << offsets << ", expected " << groups
           << " elements of i32, one cumulative end for each "
              "group of rhs (gemm_c6)";
  }
  auto aligned = static_cast<int64_t>(op.getMAligned());
  if (!llvm::is_contained(kAlignments, aligned)) {
    return op->emitOpError()
           << "m_aligned is " << aligned
           << " rows, expected 1, 32, 128 or 256 (gemm_c7); promise the "
              "largest of them that divides every offset";
  }
  return verifyPairs(op);
}

static StringRef expectedShapeText(InputKind kind) {
  switch (kind) {
  case InputKind::per_element:
    return "(R, N)";
  case InputKind::per_row:
    return "(R)";
  case InputKind::per_group:
    return "(L), or (1) for one value of all groups,";
  case InputKind::per_group_column:
    return "(L, N)";
  }
  return "";
}

/// "N = 48", or what N stands for with pairs.
static std::string columnsText(GroupedProduct op) {
  int64_t columns = op.getColumns();
  std::string text = "N = " + std::to_string(columns);
  if (columns % 32 == 0) {
    text += " or, of pairs, " + std::to_string(2 * columns);
  }
  return text;
}

/// E columns, or 2 E where blocks of 32 can alternate.
static bool fitsColumns(GroupedProduct op, int64_t extent) {
  int64_t columns = op.getColumns();
  return extent == columns || (columns % 32 == 0 && extent == 2 * columns);
}

static bool fitsInput(GroupedProduct op, ShapedType type, InputKind kind) {
  bool hasColumns =
      kind == InputKind::per_element || kind == InputKind::per_group_column;
  bool byRow = kind == InputKind::per_element || kind == InputKind::per_row;
  if (type.getRank() != (hasColumns ? 2 : 1)) {
    return false;
  }
  bool isShared = kind == InputKind::per_group && type.getDimSize(0) == 1;
  bool first = byRow ? mayEqual(type.getDimSize(0), op.getRows())
                     : isShared || type.getDimSize(0) == op.getGroups();
  return first && (!hasColumns || fitsColumns(op, type.getDimSize(1)));
}

static LogicalResult verifyInputs(GroupedProduct op) {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    InputKind kind = op.getInputKind(i);
    auto type = cast<ShapedType>(input.getType());
    if (!fitsInput(op, type, kind)) {
      return op->emitOpError()
             << "input #" << i << ": type is " << type
             << ", expected the shape " << expectedShapeText(kind) << " of a "
             << stringifyInputKind(kind) << " input, with " << columnsText(op)
             << " and L = " << op.getGroups() << " (gemm_c8)";
    }
    Type element = type.getElementType();
    bool isMatrix = kind == InputKind::per_element;
    if (!isFloatOutput(element) && !(isMatrix && isFp8(element))) {
      return op->emitOpError()
             << "input #" << i << ": element type is " << element
             << ", expected f32, f16"
             << (isMatrix ? ", bf16, f8E4M3FN or f8E5M2" : " or bf16")
             << " (gemm_c8)";
    }
  }
  return success();
}

static GroupFacts factsOf(GroupedProduct op) {
  return {op.getGroups(), static_cast<int64_t>(op.getMAligned())};
}

/// Scales that follow the rows come in whole atoms of a group: `verb` says what
/// the product does with them.
static LogicalResult verifyAtomStarts(GroupedProduct op, StringRef name,
                                      ScaleLayoutAttr layout, StringRef verb) {
  int64_t aligned = factsOf(op).aligned;
  if (layout.getGrouping() == ScaleGrouping::per_group ||
      aligned % kAtomRows == 0) {
    return success();
  }
  StringRef direction = stringifyScaleDirection(layout.getDirection());
  return op->emitOpError() << name << ": layout is " << layout
                           << ", whose atoms of " << kAtomRows
                           << " rows groups would share where m_aligned is "
                           << aligned << ", expected at least " << kAtomRows
                           << " (gemm_c16); " << verb << " them as <"
                           << direction
                           << ", per_group, block = " << layout.getBlock()
                           << ">, or pad the groups to a multiple of "
                           << kAtomRows << " rows";
}

static InFlightDiagnostic outputError(GroupedProduct op, unsigned i) {
  return op->emitOpError() << "output #" << i << ": ";
}

static LogicalResult verifyScaleOutput(GroupedProduct op, unsigned i) {
  StringRef name = stringifyOutputKind(op.getOutputKind(i));
  if (i == 0 || op.getOutputKind(i - 1) != OutputKind::quantized) {
    return outputError(op, i)
           << name << " must follow its quantized output (gemm_c9)";
  }
  auto data = cast<ShapedType>(op.getOutputs()[i - 1].getType());
  auto type = cast<ShapedType>(op.getOutputs()[i].getType());
  bool isFp4 = isa<Float4E2M1FNType>(data.getElementType());
  ScaleRounding rounding = op.getScaleRounding(i);
  Type element = type.getElementType();
  if (rounding == ScaleRounding::nearest) {
    if (!isa<Float8E4M3FNType>(element) || !isFp4) {
      return outputError(op, i)
             << name << ": elements are " << element << " for data of "
             << data.getElementType()
             << ", expected f8E4M3FN scales of f4E2M1FN data, 16 elements a "
                "block (gemm_c9); FP8 data takes f8E8M0FNU scales, rounded "
                "rceil or floor";
    }
  } else if (!isa<Float8E8M0FNUType>(element)) {
    return outputError(op, i)
           << "element type is " << element << ", expected f8E8M0FNU for "
           << name << " (gemm_c9)";
  }
  ScaleLayoutAttr layout = op.getScaleLayout(i);
  if (!isFp4 && layout.getBlock() != 32) {
    return outputError(op, i)
           << name << ": block is " << layout.getBlock()
           << " elements, but data of " << data.getElementType()
           << " has one scale every 32 elements (gemm_c9); blocks of 16 are "
              "for f4E2M1FN data";
  }
  std::string place = ("output #" + Twine(i)).str();
  if (failed(verifyAtomStarts(op, place, layout, "write"))) {
    return failure();
  }
  return verifyScaleShape(
      op, place, type, layout,
      {op.getRows(), data.getDimSize(op.getColumnAxis(i - 1))}, factsOf(op),
      "gemm_c9");
}

static LogicalResult verifyReduction(GroupedProduct op, unsigned i) {
  OutputKind kind = op.getOutputKind(i);
  auto type = cast<ShapedType>(op.getOutputs()[i].getType());
  Type element = type.getElementType();
  int64_t rank = type.getRank();
  bool fits = false;
  StringRef shape, elements = "f32";
  bool isLegal = element.isF32();
  switch (kind) {
  case OutputKind::row_sum:
    shape = "(R)";
    fits = rank == 1 && mayEqual(type.getDimSize(0), op.getRows());
    break;
  case OutputKind::group_column_sum:
    shape = "(L, N)";
    elements = "f32 or bf16";
    isLegal |= element.isBF16();
    fits = rank == 2 && type.getDimSize(0) == op.getGroups() &&
           fitsColumns(op, type.getDimSize(1));
    break;
  default:
    shape = "(L) or, of pairs, (L, 2)";
    fits = (rank == 1 || (rank == 2 && type.getDimSize(1) == 2)) &&
           type.getDimSize(0) == op.getGroups();
    break;
  }
  if (fits && isLegal) {
    return success();
  }
  return outputError(op, i)
         << "type is " << type << ", expected the shape " << shape << " of a "
         << stringifyOutputKind(kind) << ", of " << elements << ", with "
         << columnsText(op) << " and L = " << op.getGroups() << " (gemm_c9)";
}

/// One output, whose kind is known.
static LogicalResult verifyOutput(GroupedProduct op, unsigned i) {
  OutputKind kind = op.getOutputKind(i);
  if (op.isScaleOutput(i)) {
    return verifyScaleOutput(op, i);
  }
  if (kind != OutputKind::plain && kind != OutputKind::quantized) {
    return verifyReduction(op, i);
  }
  auto type = cast<ShapedType>(op.getOutputs()[i].getType());
  unsigned columnAxis = op.getColumnAxis(i), rowAxis = 1 - columnAxis;
  if (type.getRank() != 2 ||
      !mayEqual(type.getDimSize(rowAxis), op.getRows()) ||
      !fitsColumns(op, type.getDimSize(columnAxis))) {
    return outputError(op, i)
           << "type is " << type << ", expected the shape "
           << (op.isTransposedOutput(i)
                   ? "(N, R), as f4E2M1FN data down columns is stored,"
                   : "(R, N)")
           << " with " << columnsText(op) << " (gemm_c9)";
  }
  if (op.isTransposedOutput(i) &&
      failed(verifyPieces(op, ("output #" + Twine(i)).str(),
                          type.getDimSize(rowAxis), factsOf(op).aligned,
                          "gemm_c9", "gemm_c16"))) {
    return failure();
  }
  Type element = type.getElementType();
  if (kind == OutputKind::quantized) {
    if (i + 1 == op.getOutputs().size() || !op.isScaleOutput(i + 1)) {
      return outputError(op, i) << "quantized must be followed by its scales, "
                                   "such as row_scales_rceil (gemm_c9)";
    }
    if ((!isFp8(element) && !isa<Float4E2M1FNType>(element)) ||
        op.getColumns() % 32 != 0) {
      return outputError(op, i)
             << "quantized is " << type
             << ", expected f8E4M3FN, f8E5M2 or f4E2M1FN and N a multiple of "
                "32, the block (gemm_c9)";
    }
    return success();
  }
  if (!isFloatOutput(element) && !isFp8(element)) {
    return outputError(op, i)
           << "element type is " << element
           << ", expected f32, f16, bf16, f8E4M3FN or f8E5M2 (gemm_c9)";
  }
  return success();
}

/// A memref of outs is written while other operands are read, and zeroed before
/// if it is a reduction. Only an element that one thread reads and then writes
/// may share its place.
static LogicalResult verifyPlace(GroupedProduct op, unsigned i) {
  Value output = op.getOutputs()[i];
  OutputKind kind = op.getOutputKind(i);
  bool byElement = kind == OutputKind::plain || kind == OutputKind::quantized;
  unsigned firstInput = op.getInputs().getBeginOperandIndex();
  unsigned firstOutput = op.getOutputs().getBeginOperandIndex();
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (operand.get() != output || number == firstOutput + i) {
      continue;
    }
    if (number >= firstOutput) {
      unsigned other = number - firstOutput;
      return op->emitOpError()
             << "outputs #" << std::min(i, other) << " and #"
             << std::max(i, other)
             << " are the same memref, give each its own (gemm_c9)";
    }
    bool isElement =
        number >= firstInput && byElement &&
        op.getInputKind(number - firstInput) == InputKind::per_element;
    if (!isElement) {
      return outputError(op, i)
             << "is the same memref as operand #" << number
             << ", which is read while it is written; give it its own "
                "(gemm_c9)";
    }
  }
  return success();
}

static LogicalResult verifyOutputs(GroupedProduct op) {
  if (op.getOutputs().empty()) {
    return op->emitOpError()
           << "outs has 0 operands, expected 1 or more (gemm_c9)";
  }
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    if (failed(verifyOutput(op, i))) {
      return failure();
    }
    auto type = cast<ShapedType>(output.getType());
    if (isa<MemRefType>(type) && failed(verifyPlace(op, i))) {
      return failure();
    }
  }
  return success();
}

static LogicalResult verifyKinds(GroupedProduct op) {
  if (op.getOutputKinds().size() != op.getOutputs().size()) {
    return op->emitOpError()
           << "has " << op.getOutputs().size() << " outputs and "
           << op.getOutputKinds().size() << " output kinds (gemm_c9)";
  }
  for (auto [i, kind] : llvm::enumerate(op.getOutputKinds())) {
    if (!symbolizeOutputKind(kind)) {
      return outputError(op, i) << "unknown kind " << kind << " (gemm_c9)";
    }
  }
  return success();
}

/// Operands that follow the rows of lhs: their static counts must agree even
/// where lhs itself is dynamic.
static LogicalResult verifyRowCounts(GroupedProduct op) {
  std::string firstName = "lhs";
  int64_t first = op.getRows();
  auto check = [&](const Twine &name, Value value,
                   unsigned axis = 0) -> LogicalResult {
    int64_t rows = cast<ShapedType>(value.getType()).getDimSize(axis);
    if (ShapedType::isDynamic(first)) {
      first = rows;
      firstName = name.str();
    }
    if (mayEqual(rows, first)) {
      return success();
    }
    return op->emitOpError() << name << ": has " << rows << " rows but "
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
    OutputKind kind = op.getOutputKind(i);
    bool byRow = kind == OutputKind::plain || kind == OutputKind::quantized ||
                 kind == OutputKind::row_sum;
    if (byRow && failed(check("output #" + Twine(i), output,
                              op.isTransposedOutput(i) ? 1 : 0))) {
      return failure();
    }
  }
  return success();
}

LogicalResult grouped_moe::verifyProducer(Operation *op, StringRef name,
                                          Value scales, ScaleLayoutAttr layout,
                                          StringRef constraint) {
  // The producer may stand later in the text and not be verified yet.
  Operation *producer = scales.getDefiningOp();
  ScaleLayoutAttr written;
  if (producer) {
    unsigned number = cast<OpResult>(scales).getResultNumber();
    written = getWrittenLayout(producer, number);
  }
  if (!written || written == layout) {
    return success();
  }
  InFlightDiagnostic diag = op->emitOpError()
                            << name << ": layout is " << layout
                            << " but the scales were written as " << written
                            << " (" << constraint << ")";
  diag.attachNote(producer->getLoc()) << "the scales are made here";
  return diag;
}

/// One matrix instruction reads scales of one format.
static LogicalResult verifySameScales(GroupedProduct op) {
  Type lhs = cast<ShapedType>(op.getLhsScales().getType()).getElementType(),
       rhs = op.getRhsScalesType().getElementType();
  int64_t lhsBlock = op.getLhsLayout().getBlock(),
          rhsBlock = op.getRhsLayout().getBlock();
  if (lhs == rhs && lhsBlock == rhsBlock) {
    return success();
  }
  return op->emitOpError() << "rhs scales: elements are " << rhs
                           << " in blocks of " << rhsBlock
                           << ", expected those of lhs, " << lhs
                           << " in blocks of " << lhsBlock
                           << " (gemm_c4); quantize both alike";
}

LogicalResult grouped_moe::verifyProduct(GroupedProduct op) {
  auto verifySide = [&](StringRef name, Value scales, ScaleLayoutAttr layout) {
    return verifyProducer(op, name, scales, layout, "gemm_c13");
  };
  if (failed(verifySemantics(op, op.getOutputs().size(), "gemm_c12")) ||
      failed(verifyRhsAddresses(op)) || failed(verifyOperands(op)) ||
      failed(verifySide("lhs", op.getLhsScales(), op.getLhsLayout())) ||
      failed(verifySide("rhs", op.getRhsScales(), op.getRhsLayout())) ||
      failed(verifyScales(
          op, "lhs scales", op.getLhsScales().getType(), op.getLhsLayout(),
          cast<ShapedType>(op.getLhs().getType()),
          {/*down=*/false, factsOf(op)}, "gemm_c4", "gemm_c5")) ||
      failed(verifyAtomStarts(op, "lhs scales", op.getLhsLayout(), "read")) ||
      failed(verifyScales(op, "rhs scales", op.getRhsScalesType(),
                          op.getRhsLayout(), op.getRhsType(),
                          {/*down=*/true, std::nullopt}, "gemm_c4",
                          "gemm_c5")) ||
      failed(verifySameScales(op)) || failed(verifyInputs(op)) ||
      failed(verifyKinds(op)) || failed(verifyOutputs(op)) ||
      failed(verifyNormConst(op))) {
    return failure();
  }
  return verifyRowCounts(op);
}
