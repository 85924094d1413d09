// Verification of weight gradients.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace grouped_moe;

void WgradOp::getEffects(EffectList &effects) {
  addEffects(*this, getOutputs(), effects);
  if (getPointee()) { // memory that no operand stands for
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}
LogicalResult WgradOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromOutputs(builder, *this, getOutputs(), shapes);
}
void WgradOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  if (!region.empty() && region.getNumArguments() != 0) {
    setName(region.getArgument(0), "acc");
  }
}

namespace {
/// One of the two factors.
struct Factor {
  StringRef name;
  Value data, scales;
  ScaleLayoutAttr layout;
  bool transposed;

  ShapedType type() const { return cast<ShapedType>(data.getType()); }
  int64_t columns() const { return type().getDimSize(transposed ? 0 : 1); }
  int64_t rows() const { return type().getDimSize(transposed ? 1 : 0); }
};
} // namespace

static LogicalResult verifyData(WgradOp op, const Factor &factor,
                                StringRef letter) {
  ShapedType type = factor.type();
  if (type.getRank() != 2) {
    return op.emitOpError()
           << factor.name << ": rank is " << type.getRank() << ", expected 2: "
           << (factor.transposed ? "(" + letter + ", R)"
                                 : "(R, " + letter + ")")
           << " (wgrad_c1)";
  }
  bool packed = isFp4(type.getElementType());
  if (!isFp8(type.getElementType()) && !packed) {
    return op.emitOpError()
           << factor.name << ": element type is " << type.getElementType()
           << ", expected f8E4M3FN, f8E5M2 or f4E2M1FN (wgrad_c1); quantize it "
              "down its columns with grouped_moe.quantize";
  }
  if (packed && !factor.transposed) {
    return op.emitOpError()
           << factor.name << ": is (R, " << letter
           << ") of f4E2M1FN, expected (" << letter << ", R) and "
           << factor.name
           << "_transposed (wgrad_c1): FP4 operands are K-major only, and the "
              "sum runs over R; grouped_moe.quantize down columns, and gemm, "
              "store it so";
  }
  int64_t columns = factor.columns();
  if (ShapedType::isDynamic(columns) || columns <= 0 || columns % 16 != 0) {
    InFlightDiagnostic diag = op.emitOpError()
                              << factor.name << ": " << letter << " is ";
    if (ShapedType::isDynamic(columns)) {
      diag << "dynamic";
    } else {
      diag << columns;
    }
    return diag << ", expected a static positive multiple of 16 (wgrad_c2); "
                   "pad it with zeros";
  }
  int64_t rows = factor.rows(), unit = packed ? kPieceRows : 16;
  if (factor.transposed && !ShapedType::isDynamic(rows) && rows % unit != 0) {
    return op.emitOpError()
           << factor.name << ": R is " << rows << ", expected a multiple of "
           << unit
           << " of a transposed operand: multiples of 16 bytes from column to "
              "column (wgrad_c2); pad it"
           << (packed ? "" : ", or do not transpose");
  }
  if (columns > kMaxExtent || rows > kMaxExtent) {
    return op.emitOpError() << factor.name << ": type is " << type
                            << ", expected extents of at most " << kMaxExtent
                            << ": kernels count in 32 bits (wgrad_c2)";
  }
  return success();
}

static LogicalResult verifyFactorScales(WgradOp op, const Factor &factor) {
  std::string name = (factor.name + " scales").str();
  if (failed(verifyProducer(op, factor.name, factor.scales, factor.layout,
                            "wgrad_c11")) ||
      failed(verifyScaleFormat(op, name, factor.scales.getType(), factor.layout,
                               factor.type().getElementType(), "wgrad_c3"))) {
    return failure();
  }
  if (factor.layout.getDirection() != ScaleDirection::column ||
      factor.layout.getGrouping() != ScaleGrouping::per_group) {
    return op.emitOpError()
           << name << ": layout is " << factor.layout
           << ", expected <column, per_group, block = "
           << factor.layout.getBlock()
           << "> (wgrad_c3): the product runs along the rows of each group; "
              "quantize down the columns with that layout";
  }
  GroupFacts facts{op.getGroups(), static_cast<int64_t>(op.getMAligned())};
  return verifyScaleShape(op, name, factor.scales.getType(), factor.layout,
                          {factor.rows(), factor.columns()}, facts, "wgrad_c4");
}

/// One matrix instruction multiplies operands of one width, and reads scales
/// of one format.
static LogicalResult verifyAlike(WgradOp op, const Factor &lhs,
                                 const Factor &rhs) {
  Type element = lhs.type().getElementType(),
       other = rhs.type().getElementType();
  if (isFp4(element) != isFp4(other)) {
    return op.emitOpError()
           << "rhs: element type is " << other << " beside a lhs of " << element
           << ", expected FP8 or f4E2M1FN of both "
              "(wgrad_c1); quantize both alike";
  }
  auto elementOf = [](Value scales) {
    return cast<ShapedType>(scales.getType()).getElementType();
  };
  Type format = elementOf(lhs.scales), otherFormat = elementOf(rhs.scales);
  int64_t block = lhs.layout.getBlock(), otherBlock = rhs.layout.getBlock();
  if (format == otherFormat && block == otherBlock) {
    return success();
  }
  return op.emitOpError() << "rhs scales: elements are " << otherFormat
                          << " in blocks of " << otherBlock
                          << ", expected those of lhs, " << format
                          << " in blocks of " << block
                          << " (wgrad_c3); quantize both alike";
}

static LogicalResult verifyGroups(WgradOp op, bool packed) {
  auto offsets = cast<ShapedType>(op.getOffsets().getType());
  if (!offsets.getElementType().isSignlessInteger(32) ||
      offsets.getRank() != 1 || offsets.isDynamicDim(0) ||
      offsets.getDimSize(0) < 1) {
    return op.emitOpError()
           << "offsets: type is " << offsets
           << ", expected a static number of i32, one cumulative end for each "
              "group (wgrad_c5)";
  }
  int64_t groups = offsets.getDimSize(0);
  auto tiles = [](int64_t extent) { return (extent + 127) / 128; };
  int64_t all = tiles(op.getN());
  if (groups > kMaxExtent ||
      __builtin_mul_overflow(all, tiles(op.getK()), &all) ||
      __builtin_mul_overflow(all, groups, &all) || all > kMaxExtent) {
    return op.emitOpError()
           << "L is " << groups << ", N " << op.getN() << ", K " << op.getK()
           << ", expected at most " << kMaxExtent
           << " tiles of 128 x 128: kernels count in 32 bits (wgrad_c2)";
  }
  uint64_t aligned = op.getMAligned();
  if (aligned != 1 && aligned != 32 && aligned != 128 && aligned != 256) {
    return op.emitOpError() << "m_aligned is " << static_cast<int64_t>(aligned)
                            << " rows, expected 1, 32, 128 or 256 (wgrad_c6)";
  }
  if (packed && aligned < 128) {
    return op.emitOpError()
           << "m_aligned is " << static_cast<int64_t>(aligned)
           << " rows, expected 128 or 256 of f4E2M1FN operands "
              "(wgrad_c6): one instruction sums 64 rows, and needs scales for "
              "all of them; pad the groups to a multiple of 128 rows, or use "
              "FP8 data";
  }
  if (aligned == 1 && (op.getLhsTransposed() || op.getRhsTransposed())) {
    return op.emitOpError()
           << "m_aligned is 1 row with a transposed "
           << (op.getLhsTransposed() ? "lhs" : "rhs")
           << ", expected 32, 128 or 256 (wgrad_c6): copies along its rows "
              "start at multiples of 16 bytes; store it with the rows as "
              "the first extent, or pad the groups to a multiple of 32 rows";
  }
  return success();
}

/// The shape (L, N, K).
static bool isGradient(WgradOp op, ShapedType type) {
  return type.getRank() == 3 && type.getDimSize(0) == op.getGroups() &&
         type.getDimSize(1) == op.getN() && type.getDimSize(2) == op.getK();
}
static std::string shapeText(WgradOp op) {
  return "(L, N, K) = (" + std::to_string(op.getGroups()) + ", " +
         std::to_string(op.getN()) + ", " + std::to_string(op.getK()) + ")";
}

static LogicalResult verifyInputs(WgradOp op) {
  if (op.getInputKinds().size() != op.getInputs().size()) {
    return op.emitOpError()
           << "has " << op.getInputs().size() << " inputs and "
           << op.getInputKinds().size() << " input kinds (wgrad_c7)";
  }
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    std::optional<InputKind> kind = symbolizeInputKind(op.getInputKinds()[i]);
    auto type = cast<ShapedType>(input.getType());
    bool fits = false;
    if (kind == InputKind::per_group) {
      fits = type.getRank() == 1 &&
             (type.getDimSize(0) == op.getGroups() || type.getDimSize(0) == 1);
    } else if (kind == InputKind::per_element) {
      fits = isGradient(op, type);
    }
    if (!fits || !isFloatOutput(type.getElementType())) {
      return op.emitOpError()
             << "input #" << i << ": type is " << type << " as "
             << (kind ? stringifyInputKind(*kind) : "an unknown kind")
             << ", expected per_group with L = " << op.getGroups()
             << " or 1, or per_element with " << shapeText(op)
             << ", of f32, f16 or bf16 (wgrad_c7)";
    }
  }
  return success();
}

static LogicalResult verifyOutputs(WgradOp op) {
  if (op.getOutputs().empty() ||
      op.getOutputKinds().size() != op.getOutputs().size()) {
    return op.emitOpError()
           << "has " << op.getOutputs().size() << " outputs and "
           << op.getOutputKinds().size()
           << " output kinds, expected 1 or more, and as many (wgrad_c8)";
  }
  bool hasPointers = false;
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    auto type = cast<ShapedType>(output.getType());
    if (symbolizeOutputKind(op.getOutputKinds()[i]) != OutputKind::plain) {
      return op.emitOpError()
             << "output #" << i << ": only plain outputs exist (wgrad_c8); "
             << "quantize the result with an op of its own";
    }
    bool isPointers = type.getElementType().isInteger(64);
    hasPointers |= isPointers;
    if (output.getDefiningOp<tensor::EmptyOp>() &&
        (isPointers || op.getAccumulate())) {
      return op.emitOpError()
             << "output #" << i << ": is an empty tensor, but the op "
             << (isPointers ? "reads the addresses in it"
                            : "adds to what it holds")
             << " (wgrad_c8); pass an argument of the function"
             << (isPointers ? "" : ", or drop `accumulate`");
    }
    bool fits =
        isPointers ? type.getRank() == 1 && type.getDimSize(0) == op.getGroups()
                   : isGradient(op, type);
    if (!fits || !isFloatOutput(op.getOutputElementType(i))) {
      return op.emitOpError()
             << "output #" << i << ": type is " << type << ", expected "
             << shapeText(op)
             << " of f32, f16 or bf16, or L = " << op.getGroups()
             << " addresses of i64 and the attribute pointee, one of these "
                "types (wgrad_c8)";
    }
  }
  if (op.getPointee() && !hasPointers) {
    return op.emitOpError() << "pointee is given, but no output is an array of "
                               "i64 addresses (wgrad_c8); drop it";
  }
  return success();
}

/// An output is written while other operands are read: only an element that one
/// thread reads and then writes may share its place.
static LogicalResult verifyPlaces(WgradOp op) {
  unsigned firstInput = op.getInputs().getBeginOperandIndex();
  unsigned firstOutput = op.getOutputs().getBeginOperandIndex();
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    if (!isa<MemRefType>(output.getType())) {
      continue;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      bool isElement =
          number >= firstInput && number < firstOutput &&
          op.getInputKind(number - firstInput) == InputKind::per_element;
      if (operand.get() == output && number != firstOutput + i && !isElement) {
        return op.emitOpError()
               << "output #" << i << " is the same memref as operand #"
               << number << ", give it its own (wgrad_c8)";
      }
    }
  }
  return success();
}

LogicalResult WgradOp::verify() {
  Factor lhs{"lhs", getLhs(), getLhsScales(), getLhsLayout(),
             getLhsTransposed()};
  Factor rhs{"rhs", getRhs(), getRhsScales(), getRhsLayout(),
             getRhsTransposed()};
  if (failed(verifySemantics(*this, getOutputs().size(), "wgrad_c10")) ||
      failed(verifyData(*this, lhs, "N")) ||
      failed(verifyData(*this, rhs, "K")) ||
      failed(verifyGroups(*this, isFp4(lhs.type().getElementType())))) {
    return failure();
  }
  if (!mayEqual(lhs.rows(), rhs.rows())) {
    return emitOpError() << "rhs: has " << rhs.rows() << " rows but lhs has "
                         << lhs.rows() << " (wgrad_c2)";
  }
  if (failed(verifyFactorScales(*this, lhs)) ||
      failed(verifyFactorScales(*this, rhs)) ||
      failed(verifyAlike(*this, lhs, rhs)) || failed(verifyInputs(*this)) ||
      failed(verifyOutputs(*this))) {
    return failure();
  }
  return verifyPlaces(*this);
}

LogicalResult WgradOp::verifyRegions() {
  return verifyEpilogueRegion(*this, "wgrad_c9", "wgrad_c9");
}
