#include "lib/Reference/Executor.h"

#include "lib/Reference/ExecutorRun.h"
#include "lib/Reference/Interleave.h"
#include "lib/Reference/Quantize.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace mlir;
using namespace grouped_moe;
using namespace grouped_moe::reference;

std::optional<Format> reference::formatOf(Type type) {
  using Result = std::optional<Format>;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 8:
      return Format::i8;
    case 32:
      return Format::i32;
    case 64:
      return Format::i64;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, Result>(type)
      .Case<Float32Type>([](auto) -> Result { return Format::f32; })
      .Case<Float16Type>([](auto) -> Result { return Format::f16; })
      .Case<BFloat16Type>([](auto) -> Result { return Format::bf16; })
      .Case<Float8E4M3FNType>([](auto) -> Result { return Format::e4m3; })
      .Case<Float8E5M2Type>([](auto) -> Result { return Format::e5m2; })
      .Case<Float4E2M1FNType>([](auto) -> Result { return Format::e2m1; })
      .Case<Float8E8M0FNUType>([](auto) -> Result { return Format::e8m0; })
      .Default([](Type) -> Result { return std::nullopt; });
}

std::string reference::shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text.empty() ? "scalar" : text;
}

std::string reference::describe(const Array &array) {
  return shapeText(array.shape) + "x" + nameOf(array.format);
}

ScaleForm reference::formOf(ScaleLayoutAttr layout) {
  return {layout.getDirection() == ScaleDirection::column,
          layout.getGrouping() == ScaleGrouping::per_group, layout.getBlock()};
}

ScaleRule reference::ruleOf(ScaleRounding rounding) {
  switch (rounding) {
  case ScaleRounding::rceil:
    return ScaleRule::up;
  case ScaleRounding::floor:
    return ScaleRule::floor;
  case ScaleRounding::nearest:
    break;
  }
  return ScaleRule::nearest;
}

LogicalResult Executor::expectShape(Operation *op, const Twine &name,
                                    const Array &array,
                                    const std::vector<int64_t> &expected) {
  if (array.shape == expected) {
    return success();
  }
  return op->emitOpError() << name << ": shape is " << shapeText(array.shape)
                           << ", expected " << shapeText(expected)
                           << " for the other operands' shapes; give arrays "
                              "with the same row count R";
}

LogicalResult Executor::expectPieces(Operation *op, int64_t rows) {
  constexpr int64_t piece = 32; // 16 bytes
  if (rows % piece == 0) {
    return success();
  }
  return op->emitOpError() << "has " << rows << " rows, expected a multiple of "
                           << piece
                           << " where f4E2M1FN is stored columns first; pad "
                              "the rows";
}

LogicalResult Executor::readEnds(Operation *op, const Array &offsets,
                                 int64_t rows, uint64_t aligned,
                                 std::vector<int64_t> &ends) {
  int64_t previous = 0;
  for (int64_t group = 0; group < offsets.shape[0]; ++group) {
    int32_t end;
    std::memcpy(&end, &offsets.bytes[group * 4], 4);
    auto fail = [&] {
      return op->emitOpError()
             << "offsets: group " << group << " ends at row " << end;
    };
    if (end < 0) {
      return fail() << ", expected 0 or more: offsets are cumulative ends";
    }
    if (end < previous) {
      return fail() << ", expected at least " << previous
                    << ", the end of the group in front of it: offsets are "
                       "cumulative ends and do not decrease";
    }
    if (end > rows) {
      return fail() << ", expected at most " << rows
                    << ", the rows of the matrix: enlarge the arrays to the "
                       "last offset's rows";
    }
    if (end % static_cast<int64_t>(aligned) != 0) {
      return fail() << ", expected a multiple of m_aligned, " << aligned
                    << ": pad every group to that many rows";
    }
    ends.push_back(end);
    previous = end;
  }
  return success();
}

/// The regions of the scales of a (de)quantized matrix, rows first.
template <typename Op>
LogicalResult Executor::findScales(Op op, const std::vector<int64_t> &matrix,
                                   Value scales,
                                   std::vector<ScaleRegion> &regions) {
  ScaleForm form = formOf(op.getLayout());
  std::vector<int64_t> ends;
  int64_t rows = matrix[matrix.size() - 2];
  if (op.getOffsets() && failed(readEnds(op, array(op.getOffsets()), rows,
                                         op.getMAligned(), ends))) {
    return failure();
  }
  if (failed(expectShape(op, "scales", array(scales),
                         scaleShape(form, matrix,
                                    static_cast<int64_t>(ends.size()),
                                    static_cast<int64_t>(op.getMAligned()))))) {
    return failure();
  }
  int64_t matrices = matrix.size() == 3 ? matrix[0] : 1;
  regions = scaleRegions(form, matrices, rows, matrix.back(), ends);
  return success();
}

/// The row behind the last one of the regions, in each matrix of `rows`.
static int64_t endOf(const std::vector<ScaleRegion> &regions, int64_t rows) {
  if (regions.empty() || !regions.back().form.perGroup) {
    return rows;
  }
  return regions.back().firstRow + regions.back().rows;
}

/// What an op that works on rows one by one makes of `source`: rows outside the
/// regions stay, rows that were undefined are so again. Which of the two lie
/// columns first, the flags say.
static void deriveRows(const Array &source, int64_t end, Array &target,
                       bool sourceColumnsFirst = false,
                       bool targetColumnsFirst = false) {
  int64_t known = source.definedRows(sourceColumnsFirst);
  target.defineRows(std::min(known, end), targetColumnsFirst);
  target.restKept = known >= end;
  target.derived = source.derived;
  target.isSum = false;
  target.errors.clear();
}

LogicalResult Executor::runQuantize(QuantizeOp op) {
  Array &input = array(op.getInput());
  std::vector<ScaleRegion> regions;
  bool columnsFirst =
      isColumnsFirst(array(op.getData()).format, formOf(op.getLayout()));
  std::vector<int64_t> expected = input.shape;
  if (columnsFirst) {
    std::reverse(expected.begin(), expected.end()); // of rank 2
  }
  if (failed(expectShape(op, "data", array(op.getData()), expected)) ||
      failed(findScales(op, input.shape, op.getScales(), regions)) ||
      (columnsFirst && failed(expectPieces(op, input.rows())))) {
    return failure();
  }
  Array &data = destination(op, 0), &scales = destination(op, 1);
  int64_t end = endOf(regions, input.rows());
  deriveRows(input, end, data, false, columnsFirst);
  deriveRows(input, end, scales);
  // Every atom of the regions is written; those of undefined rows say nothing.
  scales.defined = definedScales(scales, regions, end, false);
  clearDefined(scales);
  BlockRule rule{data.format, ruleOf(op.getRounding())};
  quantize(input, rule, regions, data, scales, options.threads);
  int64_t known = data.definedRows(columnsFirst);
  if (known < end) {
    scales.defined = definedScales(scales, regions, known, true);
  }
  return success();
}

LogicalResult Executor::runDequantize(DequantizeOp op) {
  Array &data = array(op.getData());
  std::vector<ScaleRegion> regions;
  bool columnsFirst = isColumnsFirst(data.format, formOf(op.getLayout()));
  std::vector<int64_t> matrix = data.shape;
  if (columnsFirst) {
    std::reverse(matrix.begin(), matrix.end()); // of rank 2
  }
  if (failed(findScales(op, matrix, op.getScales(), regions)) ||
      failed(expectShape(op, "output", array(op.getOutput()), matrix)) ||
      (columnsFirst && failed(expectPieces(op, matrix[0])))) {
    return failure();
  }
  Array &output = destination(op, 0);
  deriveRows(data, endOf(regions, output.rows()), output, columnsFirst);
  dequantize(data, array(op.getScales()), regions, output, options.threads);
  return success();
}

/// Every shape is static, so that the arrays fit.
LogicalResult Executor::runInterleave(InterleaveGluOp op) {
  Array &input = array(op.getInput()), &data = destination(op, 0);
  deriveRows(input, input.rows(), data);
  data.isSum = input.isSum;
  interleaveRows(input, data);
  if (op.getScales()) {
    Array &scales = destination(op, 1);
    deriveRows(input, input.rows(), scales);
    scales.defined = DefinedPart();
    interleaveScales(input.shape, array(op.getScales()), scales);
  }
  return success();
}

LogicalResult Executor::runExtent(Operation *op, Value shaped, Value index) {
  const std::vector<int64_t> &shape = array(shaped).shape;
  int64_t axis = indices.lookup(index);
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) {
    return op->emitOpError() << "asks for extent " << axis << " of a value of "
                             << "rank " << shape.size();
  }
  indices[op->getResult(0)] = shape[axis];
  return success();
}

LogicalResult Executor::allocate(Operation *op, ValueRange extents) {
  constexpr int64_t limit = int64_t{1} << 36; // bytes
  auto type = cast<ShapedType>(op->getResult(0).getType());
  std::optional<Format> format = formatOf(type.getElementType());
  if (!format) {
    return op->emitOpError() << "has elements of type " << type.getElementType()
                             << ", which the reference executor has not";
  }
  std::vector<int64_t> shape(type.getShape());
  int64_t bytes = sizeOf(*format); // of e2m1 twice as many
  unsigned next = 0;
  for (int64_t &extent : shape) {
    if (ShapedType::isDynamic(extent)) {
      extent = indices.lookup(extents[next++]);
    }
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes) ||
        bytes > limit) {
      return op->emitOpError() << "has the shape " << shapeText(shape)
                               << ", expected extents of 0 or more and at most "
                               << limit << " bytes";
    }
  }
  arrays[op->getResult(0)] =
      std::make_shared<Array>(*format, std::move(shape), options.fill);
  return success();
}

LogicalResult Executor::runOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<GemmOp>([&](GemmOp gemm) { return runGemm(gemm); })
      .Case<WgradOp>([&](WgradOp wgrad) { return runWgrad(wgrad); })
      .Case<QuantizeOp>([&](QuantizeOp quant) { return runQuantize(quant); })
      .Case<DequantizeOp>(
          [&](DequantizeOp dequant) { return runDequantize(dequant); })
      .Case<InterleaveGluOp>(
          [&](InterleaveGluOp op) { return runInterleave(op); })
      .Case<tensor::EmptyOp>(
          [&](auto empty) { return allocate(op, empty.getDynamicSizes()); })
      .Case<memref::AllocOp>(
          [&](auto alloc) { return allocate(op, alloc.getDynamicSizes()); })
      .Case<memref::DeallocOp>([](auto) { return success(); })
      .Case<tensor::DimOp, memref::DimOp>([&](auto dim) {
        return runExtent(op, dim.getSource(), dim.getIndex());
      })
      .Default([&](Operation *) { return runIndexOp(op, indices); });
}

/// What an argument stands for: of addresses, the arrays that they point at,
/// one behind the other.
static ShapedType heldType(BlockArgument argument) {
  auto type = dyn_cast<ShapedType>(argument.getType());
  for (OpOperand &use : argument.getUses()) {
    auto product = dyn_cast<GroupedProduct>(use.getOwner());
    if (product && product.isRhsDiscrete()) {
      if (argument == product.getRhs()) {
        return product.getRhsType();
      }
      if (argument == product.getRhsScales()) {
        return product.getRhsScalesType();
      }
    }
    auto wgrad = dyn_cast<WgradOp>(use.getOwner());
    if (wgrad && wgrad.isDpsInit(&use) && wgrad.getPointee() &&
        type.getElementType().isInteger(64)) {
      return RankedTensorType::get(
          {wgrad.getGroups(), wgrad.getN(), wgrad.getK()}, *wgrad.getPointee());
    }
  }
  return type;
}

/// The extents of the type that are static, against the array's.
static bool fits(const Array &array, ShapedType type) {
  if (formatOf(type.getElementType()) != array.format ||
      type.getRank() != static_cast<int64_t>(array.shape.size())) {
    return false;
  }
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i) && type.getDimSize(i) != array.shape[i]) {
      return false;
    }
  }
  return static_cast<int64_t>(array.bytes.size()) ==
         storageBytes(array.format, array.elements());
}

LogicalResult Executor::bindArguments(func::FuncOp function,
                                      std::vector<Array> &arguments) {
  if (function.isExternal() ||
      !llvm::hasSingleElement(function.getBody().getBlocks())) {
    return function.emitOpError("is expected to have a body of one block");
  }
  if (arguments.size() != function.getNumArguments()) {
    return function.emitOpError()
           << "has " << function.getNumArguments() << " arguments, "
           << arguments.size() << " were given";
  }
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    ShapedType type = heldType(argument);
    if (!type || !type.hasRank()) {
      return function.emitOpError()
             << "argument #" << i << ": type is " << argument.getType()
             << ", expected a ranked tensor or memref";
    }
    if (!fits(arguments[i], type)) {
      return function.emitOpError()
             << "argument #" << i << ": array is " << describe(arguments[i])
             << ", expected " << type;
    }
    arrays[argument] = std::make_shared<Array>(std::move(arguments[i]));
  }
  return success();
}

LogicalResult Executor::run(func::FuncOp function,
                            std::vector<Array> &arguments,
                            std::vector<Array> &results) {
  if (failed(bindArguments(function, arguments))) {
    return failure();
  }
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (failed(runOp(&op))) {
      return failure();
    }
  }
  for (Value value : body.getTerminator()->getOperands()) {
    if (!arrays.contains(value)) {
      return body.getTerminator()->emitOpError()
             << "returns a value of type " << value.getType()
             << ", expected a tensor or memref";
    }
    results.push_back(array(value));
  }
  for (BlockArgument argument : function.getArguments()) {
    arguments[argument.getArgNumber()] = std::move(array(argument));
  }
  return success();
}

LogicalResult reference::execute(func::FuncOp function,
                                 std::vector<Array> &arguments,
                                 const ExecuteOptions &options,
                                 std::vector<Array> &results) {
  results.clear();
  return Executor(options).run(function, arguments, results);
}
