#include "tools/run/Signature.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Reference/Executor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/core/Launch.h"
#include "runtime/core/Text.h"
#include "llvm/Support/MathExtras.h"

#include <memory>

using namespace mlir;
using namespace gmoe;
using namespace gmoe::run;
using namespace grouped_moe;

ElementType run::elementOf(Format format) {
  switch (format) {
  case Format::f32:
    return ElementType::F32;
  case Format::f16:
    return ElementType::F16;
  case Format::bf16:
    return ElementType::BF16;
  case Format::e4m3:
    return ElementType::E4M3;
  case Format::e5m2:
    return ElementType::E5M2;
  case Format::e2m1:
    return ElementType::E2M1;
  case Format::e8m0:
    return ElementType::E8M0;
  case Format::i32:
    return ElementType::I32;
  case Format::i64:
    return ElementType::I64;
  case Format::i1:
  case Format::i8:
    break;
  }
  return ElementType::I8;
}

Format run::formatOf(ElementType element) {
  switch (element) {
  case ElementType::F32:
    return Format::f32;
  case ElementType::F16:
    return Format::f16;
  case ElementType::BF16:
    return Format::bf16;
  case ElementType::E4M3:
    return Format::e4m3;
  case ElementType::E5M2:
    return Format::e5m2;
  case ElementType::E2M1:
    return Format::e2m1;
  case ElementType::E8M0:
    return Format::e8m0;
  case ElementType::I32:
    return Format::i32;
  case ElementType::I64:
    return Format::i64;
  default:
    return Format::i8;
  }
}

static ShapedType typeOf(Value value) {
  return cast<ShapedType>(value.getType());
}
static int64_t lastExtent(Value value) {
  return typeOf(value).getShape().back();
}

/// Of the extent of scales that follows the rows of their matrix.
static ExtentRule ruleOf(ScaleLayoutAttr layout, int64_t columns,
                         GroupFacts groups) {
  int64_t span = getRaggedSpan(layout);
  if (layout.getGrouping() == ScaleGrouping::whole) {
    return [span](int64_t rows) {
      return static_cast<int64_t>(llvm::divideCeil(rows, span));
    };
  }
  bool byRow = layout.getDirection() == ScaleDirection::row;
  int64_t columnSpan = byRow ? layout.getBlock() * kAtomBlocks : kAtomRows;
  auto factor = static_cast<int64_t>(llvm::divideCeil(columns, columnSpan));
  return [span, factor, groups](int64_t rows) {
    return factor * getRaggedAtoms(rows, span, groups);
  };
}

static int argumentOf(Value value) {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  return argument ? static_cast<int>(argument.getArgNumber()) : -1;
}

/// The matrix that scales belong to; they are those of the matrix before it was
/// transposed.
static void describeScales(ArgumentFacts &facts, ShapedType type,
                           ScaleLayoutAttr layout, GroupFacts groups,
                           Value offsets, bool transposed = false) {
  facts.role = Role::Scales;
  facts.columns = transposed ? type.getDimSize(0) : type.getShape().back();
  int64_t rows = type.getDimSize(transposed ? 1 : type.getRank() - 2);
  facts.matrixRows = ShapedType::isDynamic(rows) ? kRows : rows;
  facts.byRow = type.getRank() == 2;
  bool isWholeColumn = layout.getDirection() == ScaleDirection::column &&
                       layout.getGrouping() == ScaleGrouping::whole;
  facts.rowAxis = isWholeColumn ? 1 : 0;
  facts.form = {layout.getDirection() == ScaleDirection::column,
                layout.getGrouping() == ScaleGrouping::per_group,
                layout.getBlock()};
  facts.offsets = argumentOf(offsets);
  facts.extent = ruleOf(layout, facts.columns, groups);
}

static GroupFacts groupsOf(GroupedProduct op) {
  return {op.getGroups(), static_cast<int64_t>(op.getMAligned())};
}
static GroupFacts groupsOf(WgradOp op) {
  return {op.getGroups(), static_cast<int64_t>(op.getMAligned())};
}

/// quantize and dequantize: one group without offsets.
template <typename Op> static GroupFacts groupsOf(Op op) {
  GroupFacts groups;
  if (Value offsets = op.getOffsets()) {
    groups = {cast<ShapedType>(offsets.getType()).getDimSize(0),
              static_cast<int64_t>(op.getMAligned())};
  }
  return groups;
}

static void describeDestination(ArgumentFacts &facts, GemmOp op,
                                unsigned output) {
  facts.written = true;
  OutputKind kind = op.getOutputKind(output);
  facts.byRow = kind == OutputKind::plain || kind == OutputKind::quantized ||
                kind == OutputKind::row_sum;
  facts.rowAxis = op.isTransposedOutput(output) ? 1 : 0;
  if (op.isScaleOutput(output)) {
    describeScales(facts, typeOf(op.getOutputs()[output - 1]),
                   op.getScaleLayout(output), groupsOf(op), op.getOffsets(),
                   op.isTransposedOutput(output - 1));
    facts.role = Role::Other;
    facts.byRow = false;
  }
}

/// The argument is an array of addresses of what `type` is, which are read.
static void describeAddresses(ArgumentFacts &facts, GemmOp op,
                              ShapedType type) {
  if (op.isRhsDiscrete()) {
    facts.addresses = true;
    facts.format = *grouped_moe::reference::formatOf(type.getElementType());
    facts.shape = type.getShape();
    facts.offsets = argumentOf(op.getOffsets());
  }
}

static void describeGemmUse(ArgumentFacts &facts, GemmOp op, unsigned operand) {
  unsigned firstInput = op.getInputs().getBeginOperandIndex();
  unsigned firstOutput = op.getOutputs().getBeginOperandIndex();
  if (operand >= firstOutput) {
    describeDestination(facts, op, operand - firstOutput);
    return;
  }
  if (operand >= firstInput) {
    InputKind kind = op.getInputKind(operand - firstInput);
    facts.byRow = kind == InputKind::per_element || kind == InputKind::per_row;
    facts.role =
        kind == InputKind::per_element || kind == InputKind::per_group_column
            ? Role::Addend
            : Role::Factor;
    return;
  }
  Value value = op->getOperand(operand);
  if (value == op.getLhsScales()) {
    describeScales(facts, typeOf(op.getLhs()), op.getLhsLayout(), groupsOf(op),
                   op.getOffsets());
  } else if (value == op.getRhsScales()) {
    describeScales(facts, op.getRhsType(), op.getRhsLayout(), groupsOf(op),
                   op.getOffsets());
    describeAddresses(facts, op, op.getRhsScalesType());
  } else if (value == op.getOffsets()) {
    facts.role = Role::Offsets;
    facts.aligned =
        std::max(facts.aligned, static_cast<int64_t>(op.getMAligned()));
  } else if (value == op.getNormConst()) {
    facts.role = Role::NormConst;
  } else {
    facts.role = Role::Data;
    facts.columns = op.getK();
    facts.byRow = value == op.getLhs();
    if (value == op.getRhs()) {
      describeAddresses(facts, op, op.getRhsType());
    }
  }
}

/// The offsets of an op that is no gemm.
template <typename Op>
static void describeOffsets(ArgumentFacts &facts, Op op) {
  facts.role = Role::Offsets;
  facts.aligned =
      std::max(facts.aligned, static_cast<int64_t>(op.getMAligned()));
}

static void describeWgradUse(ArgumentFacts &facts, WgradOp op,
                             unsigned operand) {
  unsigned firstInput = op.getInputs().getBeginOperandIndex();
  unsigned firstOutput = op.getOutputs().getBeginOperandIndex();
  if (operand >= firstOutput) {
    facts.written = true;
    if (op.getAccumulate()) {
      facts.role = Role::Addend;
    }
    auto type = cast<ShapedType>(op->getOperand(operand).getType());
    if (type.getElementType().isInteger(64) && op.getPointee()) {
      facts.addresses = true;
      facts.format = *grouped_moe::reference::formatOf(*op.getPointee());
      facts.shape = {op.getGroups(), op.getN(), op.getK()};
    }
    return;
  }
  if (operand >= firstInput) {
    bool perElement =
        op.getInputKind(operand - firstInput) == InputKind::per_element;
    facts.role = perElement ? Role::Addend : Role::Factor;
    return;
  }
  Value value = op->getOperand(operand);
  if (value == op.getLhsScales()) {
    describeScales(facts, typeOf(op.getLhs()), op.getLhsLayout(), groupsOf(op),
                   op.getOffsets(), op.getLhsTransposed());
  } else if (value == op.getRhsScales()) {
    describeScales(facts, typeOf(op.getRhs()), op.getRhsLayout(), groupsOf(op),
                   op.getOffsets(), op.getRhsTransposed());
  } else if (value == op.getOffsets()) {
    describeOffsets(facts, op);
  } else {
    bool isLhs = value == op.getLhs();
    facts.role = Role::Data;
    facts.byRow = facts.alongRows = true;
    facts.rowAxis = isLhs ? op.getLhsRowAxis() : op.getRhsRowAxis();
    facts.columns = isLhs ? op.getN() : op.getK();
  }
}

static void describeInterleaveUse(ArgumentFacts &facts, InterleaveGluOp op,
                                  OpOperand &use) {
  if (op.isDpsInit(&use)) {
    facts.written = true;
  } else if (use.get() == op.getInput()) {
    bool isFp8 = grouped_moe::reference::isFp8(facts.format);
    facts.role = isFp8 ? Role::Data : Role::Addend;
    facts.columns = lastExtent(use.get());
  } else {
    describeScales(facts, typeOf(op.getInput()), *op.getLayout(), GroupFacts(),
                   Value());
  }
}

static void describeUse(ArgumentFacts &facts, OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned operand = use.getOperandNumber();
  int64_t rank = cast<ShapedType>(use.get().getType()).getRank();
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    describeGemmUse(facts, gemm, operand);
  } else if (auto wgrad = dyn_cast<WgradOp>(op)) {
    describeWgradUse(facts, wgrad, operand);
  } else if (auto quantize = dyn_cast<QuantizeOp>(op)) {
    if (use.get() == quantize.getInput()) {
      facts.role = Role::QuantizeInput;
      facts.byRow = rank == 2;
    } else if (use.get() == quantize.getOffsets()) {
      describeOffsets(facts, quantize);
    } else {
      facts.written = true;
      if (use.get() == quantize.getScales()) {
        describeScales(facts, typeOf(quantize.getInput()), quantize.getLayout(),
                       groupsOf(quantize), quantize.getOffsets());
        facts.role = Role::Other;
      } else if (isStoredTransposed(quantize.getData(), quantize.getLayout())) {
        facts.rowAxis = 1;
      }
    }
  } else if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
    bool transposed =
        isStoredTransposed(dequantize.getData(), dequantize.getLayout());
    if (use.get() == dequantize.getData()) {
      facts.role = Role::Data;
      facts.rowAxis = transposed ? 1 : 0;
      facts.columns = transposed ? facts.shape.front() : lastExtent(use.get());
      facts.byRow = rank == 2;
    } else if (use.get() == dequantize.getScales()) {
      describeScales(facts, typeOf(dequantize.getData()),
                     dequantize.getLayout(), groupsOf(dequantize),
                     dequantize.getOffsets(), transposed);
    } else if (use.get() == dequantize.getOffsets()) {
      describeOffsets(facts, dequantize);
    } else {
      facts.written = true;
    }
  } else if (auto interleave = dyn_cast<InterleaveGluOp>(op)) {
    describeInterleaveUse(facts, interleave, use);
  }
}

/// Of the dynamic extent of a returned value; none where it is R.
static ExtentRule ruleOf(Value value) {
  ArgumentFacts facts;
  auto result = dyn_cast<OpResult>(value);
  Operation *op = result ? result.getOwner() : nullptr;
  if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op)) {
    describeUse(facts, *destination.getTiedOpOperand(result));
  }
  return facts.extent;
}

/// The function argument whose memory a returned value is in, -1 for none.
static int destinationOf(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!op) {
      return -1;
    }
    value = op.getTiedOpOperand(result)->get();
  }
  return static_cast<int>(cast<BlockArgument>(value).getArgNumber());
}

static std::vector<int64_t> extentsOf(ShapedType type) {
  std::vector<int64_t> shape(type.getShape());
  for (int64_t &extent : shape) {
    extent = ShapedType::isDynamic(extent) ? kRows : extent;
  }
  return shape;
}

static Expected<ArgumentFacts> describe(BlockArgument argument) {
  auto type = dyn_cast<ShapedType>(argument.getType());
  std::optional<Format> format =
      type && type.hasRank()
          ? grouped_moe::reference::formatOf(type.getElementType())
          : std::nullopt;
  unsigned number = argument.getArgNumber();
  if (!format) {
    std::string text;
    llvm::raw_string_ostream(text) << argument.getType();
    return invalidArgument(cat("argument #", number, ": type is ", text,
                               ", expected a tensor or memref of f32, f16, "
                               "bf16, FP8, i32 or i64 elements"));
  }
  ArgumentFacts facts;
  facts.name = cat("argument #", number);
  facts.format = *format;
  facts.shape = extentsOf(type);
  for (OpOperand &use : argument.getUses()) {
    describeUse(facts, use);
  }
  if (facts.written && facts.role == Role::Other) {
    facts.role = Role::Destination;
  }
  for (size_t i = 0; i < facts.shape.size(); ++i) {
    if (facts.shape[i] == kRows && i != facts.rowAxis) {
      return invalidArgument(cat(facts.name, ": extent ", i,
                                 " is dynamic, expected only the one of the "
                                 "rows to be"));
    }
  }
  return facts;
}

Expected<Signature> run::signatureOf(func::FuncOp function) {
  Signature signature;
  signature.name = function.getName().str();
  if (function.isExternal() || !function.getBody().hasOneBlock()) {
    return invalidArgument("entry \"" + signature.name +
                           "\": expected a body of one block");
  }
  for (BlockArgument argument : function.getArguments()) {
    Expected<ArgumentFacts> facts = describe(argument);
    if (!facts) {
      return Status(
          facts.status().code(),
          cat("entry \"", signature.name, "\": ", facts.status().message()));
    }
    signature.arguments.push_back(*facts);
  }
  signature.returned = function.getNumResults() != 0;
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto type = dyn_cast<ShapedType>(value.getType());
    auto format = type && type.hasRank()
                      ? grouped_moe::reference::formatOf(type.getElementType())
                      : std::nullopt;
    if (!format) {
      return invalidArgument(cat("entry \"", signature.name, "\": result #", i,
                                 " is no tensor or memref of known elements"));
    }
    ResultFacts result{cat("result #", i), destinationOf(value), *format,
                       extentsOf(type), ruleOf(value)};
    if (result.argument >= 0 &&
        signature.arguments[result.argument].addresses) {
      result.format = signature.arguments[result.argument].format;
      result.shape = signature.arguments[result.argument].shape;
    }
    signature.results.push_back(std::move(result));
  }
  auto isReturned = [&](size_t i) {
    return llvm::any_of(signature.results, [&](const ResultFacts &result) {
      return result.argument == static_cast<int>(i);
    });
  };
  // What a function on memrefs writes, and what addresses point at.
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const ArgumentFacts &facts = signature.arguments[i];
    if (facts.written &&
        (facts.addresses ? !isReturned(i) : !signature.returned)) {
      signature.results.push_back({facts.name, static_cast<int>(i),
                                   facts.format, facts.shape, facts.extent});
    }
  }
  return signature;
}

/// A dependent extent, evaluated with R for every free one.
static ExtentRule ruleOf(const std::shared_ptr<const Program> &program,
                         int32_t expression) {
  return [program, expression](int64_t rows) -> int64_t {
    std::vector<Shape> shapes;
    for (const ArgumentInfo &info : program->arguments) {
      Shape &shape = shapes.emplace_back();
      for (const Extent &extent : info.extents) {
        shape.push_back(extent.kind == ExtentKind::Static ? extent.value
                                                          : rows);
      }
    }
    ShapeRefs references;
    for (const Shape &shape : shapes) {
      references.push_back(&shape);
    }
    Expected<int64_t> value = Values(*program, references, 1).get(expression);
    return value ? *value : 0;
  };
}

Expected<Signature> run::signatureOf(const Entry &entry) {
  auto program = std::make_shared<const Program>(entry.program());
  Signature signature;
  signature.name = entry.name();
  for (const ArgumentInfo &info : entry.arguments()) {
    ArgumentFacts facts;
    facts.name = "argument \"" + info.name + "\"";
    facts.format = formatOf(info.element);
    for (const Extent &extent : info.extents) {
      facts.shape.push_back(extent.kind == ExtentKind::Static ? extent.value
                                                              : kRows);
      if (extent.kind == ExtentKind::Dependent) {
        facts.extent = ruleOf(program, extent.expr);
      }
    }
    facts.written = info.kind != ArgumentKind::Input;
    facts.byRow = !facts.shape.empty() && facts.shape[0] == kRows;
    facts.role = facts.written                  ? Role::Destination
                 : facts.format == Format::e8m0 ? Role::Scales
                 : grouped_moe::reference::isFp8(facts.format) ||
                         facts.format == Format::e2m1
                     ? Role::Data
                     : Role::Factor;
    // What matrix scales belong to is not known.
    facts.columns = facts.shape.empty() || facts.role == Role::Scales
                        ? 0
                        : facts.shape.back();
    signature.arguments.push_back(facts);
    if (facts.written) {
      signature.results.push_back(
          {facts.name, static_cast<int>(signature.arguments.size()) - 1,
           facts.format, facts.shape, facts.extent});
    }
  }
  for (const PointersContract &contract : entry.program().pointers) {
    ArgumentFacts &facts = signature.arguments[contract.argument];
    facts.addresses = true;
    facts.format = formatOf(contract.element);
    facts.shape = {facts.shape[0]};
    for (int32_t extent : contract.shape) {
      facts.shape.push_back(ruleOf(program, extent)(0));
    }
    facts.offsets = contract.groups;
    facts.written = !contract.readOnly;
    if (contract.readOnly) {
      bool isData = contract.shape.size() == 2; // scales are atoms
      facts.role = isData ? Role::Data : Role::Scales;
      facts.columns = isData ? facts.shape.back() : 0;
      continue;
    }
    facts.role = Role::Destination;
    signature.results.push_back({facts.name,
                                 static_cast<int>(contract.argument),
                                 facts.format, facts.shape, facts.extent});
  }
  for (const OffsetsContract &contract : entry.program().offsets) {
    ArgumentFacts &facts = signature.arguments[contract.argument];
    facts.role = Role::Offsets;
    facts.aligned = std::max<int64_t>(1, contract.aligned);
  }
  return signature;
}
