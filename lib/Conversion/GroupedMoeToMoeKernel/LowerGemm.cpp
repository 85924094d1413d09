// The warp-specialised grouped product: a load warp fills a ring of operand
// tiles, a matrix warp multiplies them into accumulators, four epilogue warps
// run the region on accumulators and store, rows by way of shared memory.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Analysis/ScheduleSelection.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::BufferSpace;
using moe_kernel::BufferType;
using moe_kernel::IndexKind;
using moe_kernel::PipelineType;
using moe_kernel::StageSide;

namespace {

constexpr int64_t kEpilogueWarps = 4; // 128 threads, one accumulator row each
constexpr int64_t kWarpRows = 32;

class GemmLowering {
public:
  explicit GemmLowering(GemmOp op)
      : op(op), kernel(op, "gemm", kEpilogueWarps + 2), b(kernel.body),
        schedule(*op.getSchedule()), tileM(schedule.getTile()[0]),
        tileN(schedule.getTile()[1]), tileK(schedule.getTile()[2]),
        n(op.getN()), k(op.getK()), kTiles(llvm::divideCeil(k, tileK)),
        chunk(epilogueChunk(op)) {}

  void run();

private:
  void addParameters();
  void addBuffers();
  void buildLoadRole();
  void buildMatrixRole();
  void buildEpilogueRole();
  bool isRowScalar(unsigned i);
  Value loadInput(unsigned i, Value group, Value row, Value column);
  Type stagedElement(unsigned i);
  Value convert(unsigned i, Value value);
  void storeStaged(ArrayRef<Value> rows, Value row, Value column, Value slot);
  QuantizedBlock quantize(unsigned i, Value value);
  Value collectScales(Value word, Value scale, Value at);
  void storeLines(ArrayRef<std::pair<unsigned, Value>> lines, Value row,
                  Value column, Value at, Value last);
  SmallVector<Value> inlineRegion(ArrayRef<Value> arguments);

  Value alloc(StringRef name, BufferSpace space, ArrayRef<int64_t> shape,
              Type element) {
    return moe_kernel::AllocOp::create(
        b, BufferType::get(b.getContext(), space, shape, element), name);
  }
  Value advance(Value pipeline, Value position) {
    return moe_kernel::AdvanceOp::create(b, b.getI32Type(), pipeline, position);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, x, kernel.constant(y));
  }
  Value div(Value x, int64_t y) {
    return arith::DivUIOp::create(b, x, kernel.constant(y));
  }

  /// A role whose body walks the tiles; `build` returns the carried values.
  void buildRole(StringRef name, int64_t firstWarp, int64_t warps, bool elected,
                 unsigned carried,
                 function_ref<SmallVector<Value>(Value group, Value row,
                                                 Value column, ValueRange)>
                     build,
                 function_ref<void()> finish = {});

  GemmOp op;
  KernelScope kernel;
  ImplicitLocOpBuilder &b;
  ScheduleAttr schedule;
  int64_t tileM, tileN, tileK, n, k, kTiles, chunk;

  Value mapA, mapB, mapScalesA, mapScalesB, offsets;
  SmallVector<Value> inputs;
  /// For each output: the array of a scale output; else the map and the staging
  /// buffer of its stores.
  SmallVector<Value> scaleOutputs, outputMaps, staging;
  Value a, bTile, scalesA, scalesB, tmemScalesA, tmemScalesB, accumulator;
  Value operands, accumulators;
};

void GemmLowering::addParameters() {
  Type i8 = b.getI8Type(), i16 = b.getI16Type();
  mapA = kernel.addTensorMap(op.getLhs(), {tileM, tileK}, i8, 128);
  mapB = kernel.addTensorMap(op.getRhs(), {1, tileN, tileK}, i8, 128);
  // An atom of scales is 256 x 16 bits: boxes have at most 256 elements a side.
  mapScalesA = kernel.addTensorMap(
      op.getLhsScales(), {tileM / kAtomRows, 1, kAtomBytes / 2}, i16, 0);
  mapScalesB = kernel.addTensorMap(
      op.getRhsScales(), {1, tileN / kAtomRows, 1, kAtomBytes / 2}, i16, 0);
  offsets = kernel.addMemref(op.getOffsets());
  for (Value input : op.getInputs()) {
    inputs.push_back(kernel.addMemref(input));
  }
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    bool isScale = op.isScaleOutput(i);
    scaleOutputs.push_back(isScale ? kernel.addOutput(output) : Value());
    if (isScale) {
      outputMaps.push_back(Value());
      continue;
    }
    Type element = stagedElement(i);
    int64_t rowBytes = chunk * element.getIntOrFloatBitWidth() / 8;
    outputMaps.push_back(kernel.addOutputMap(
        output, {kWarpRows, chunk}, element, rowBytes == 16 ? 0 : rowBytes));
  }
}

void GemmLowering::addBuffers() {
  Type element = cast<MemRefType>(op.getLhs().getType()).getElementType();
  Type i8 = b.getI8Type();
  int64_t stages = schedule.getStages();
  int64_t atomsA = tileM / kAtomRows, atomsB = tileN / kAtomRows;
  a = alloc("a", BufferSpace::shared, {stages, tileM, tileK}, element);
  bTile = alloc("b", BufferSpace::shared, {stages, tileN, tileK}, element);
  scalesA =
      alloc("a_scales", BufferSpace::shared, {stages, atomsA, kAtomBytes}, i8);
  scalesB =
      alloc("b_scales", BufferSpace::shared, {stages, atomsB, kAtomBytes}, i8);
  for (unsigned i = 0; i < outputMaps.size(); ++i) {
    staging.push_back(
        outputMaps[i] ? alloc("output" + std::to_string(i), BufferSpace::shared,
                              {kStagingSlots, tileM, chunk}, stagedElement(i))
                      : Value());
  }
  int64_t accs = schedule.getAccumulators();
  accumulator = alloc("accumulator", BufferSpace::tensor, {accs, tileM, tileN},
                      b.getF32Type());
  // One set of scale columns a stage: a stage is refilled only after the
  // products that read it, and its columns, are complete.
  tmemScalesA = alloc("a_scales_tmem", BufferSpace::tensor,
                      {stages, atomsA, kAtomBytes}, i8);
  tmemScalesB = alloc("b_scales_tmem", BufferSpace::tensor,
                      {stages, atomsB, kAtomBytes}, i8);

  auto stageBytes = [](Value v) {
    return cast<BufferType>(v.getType()).getStageBytes();
  };
  operands = moe_kernel::PipelineOp::create(
      b, PipelineType::get(b.getContext(), stages), "operands", 1, 1,
      stageBytes(a) + stageBytes(bTile) + stageBytes(scalesA) +
          stageBytes(scalesB));
  accumulators =
      moe_kernel::PipelineOp::create(b, PipelineType::get(b.getContext(), accs),
                                     "accumulators", 1, kEpilogueWarps * 32, 0);
}

void GemmLowering::buildRole(
    StringRef name, int64_t firstWarp, int64_t warps, bool elected,
    unsigned carried,
    function_ref<SmallVector<Value>(Value, Value, Value, ValueRange)> build,
    function_ref<void()> finish) {
  auto role = moe_kernel::RoleOp::create(b, name, firstWarp, warps, elected);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&role.getBody().emplaceBlock());
  SmallVector<Value> inits(carried, kernel.constant(int64_t(0)));
  SmallVector<Type> types(carried, b.getI32Type());
  auto loop = moe_kernel::ForTilesOp::create(
      b, types, offsets, ArrayRef<int64_t>{tileM, tileN}, n, inits);
  Block &body = loop.getBody().emplaceBlock();
  for (unsigned i = 0; i < 3 + carried; ++i) {
    body.addArgument(b.getI32Type(), b.getLoc());
  }
  b.setInsertionPointToStart(&body);
  SmallVector<Value> next =
      build(body.getArgument(0), body.getArgument(1), body.getArgument(2),
            body.getArguments().drop_front(3));
  moe_kernel::YieldOp::create(b, next);
  if (finish) {
    b.setInsertionPointAfter(loop);
    finish();
  }
}

void GemmLowering::buildLoadRole() {
  auto tile = [&](Value group, Value row, Value column,
                  ValueRange carried) -> SmallVector<Value> {
    auto loop = scf::ForOp::create(b, kernel.constant(int64_t(0)),
                                   kernel.constant(kTiles),
                                   kernel.constant(int64_t(1)), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value kTile = loop.getInductionVar(), position = loop.getRegionIterArg(0);
    Value kStart = mul(kTile, tileK), zero = kernel.constant(int64_t(0));
    Value rowAtom = div(row, kAtomRows), columnAtom = div(column, kAtomRows);
    auto load = [&](Value map, ValueRange at, Value buffer) {
      moe_kernel::LoadOp::create(b, map, at, buffer, operands, position);
    };
    moe_kernel::AcquireOp::create(b, operands, position);
    moe_kernel::ExpectOp::create(b, operands, position);
    load(mapA, {row, kStart}, a);
    load(mapB, {group, column, kStart}, bTile);
    load(mapScalesA, {rowAtom, kTile, zero}, scalesA);
    load(mapScalesB, {group, columnAtom, kTile, zero}, scalesB);
    scf::YieldOp::create(b, advance(operands, position));
    return {loop.getResult(0)};
  };
  buildRole("load", kEpilogueWarps, 1, /*elected=*/true, 1, tile);
}

void GemmLowering::buildMatrixRole() {
  auto tile = [&](Value, Value, Value,
                  ValueRange carried) -> SmallVector<Value> {
    Value accPosition = carried[1];
    moe_kernel::AcquireOp::create(b, accumulators, accPosition);
    Value zero = kernel.constant(int64_t(0));
    auto loop =
        scf::ForOp::create(b, zero, kernel.constant(kTiles),
                           kernel.constant(int64_t(1)), carried.take_front());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value kTile = loop.getInductionVar();
      Value position = loop.getRegionIterArg(0);
      moe_kernel::WaitOp::create(b, operands, position);
      moe_kernel::CopyScalesOp::create(b, scalesA, tmemScalesA, operands,
                                       position);
      moe_kernel::CopyScalesOp::create(b, scalesB, tmemScalesB, operands,
                                       position);
      Value accumulate =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ne, kTile, zero);
      // Blocks past K are never multiplied: 0 x NaN of their scale bytes would
      // reach the sum.
      int64_t block = op.getLhsLayout().getBlock();
      Value blocks = kernel.constant(tileK / block);
      if (int64_t rest = (k % tileK) / block) {
        Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, kTile,
                                           kernel.constant(kTiles - 1));
        blocks =
            arith::SelectOp::create(b, last, kernel.constant(rest), blocks);
      }
      moe_kernel::MmaOp::create(b, accumulator, accPosition, a, bTile,
                                tmemScalesA, tmemScalesB, position, accumulate,
                                blocks, accumulators, operands);
      moe_kernel::CommitOp::create(b, operands, position, StageSide::empty);
      scf::YieldOp::create(b, advance(operands, position));
    }
    moe_kernel::CommitOp::create(b, accumulators, accPosition, StageSide::full);
    return {loop.getResult(0), advance(accumulators, accPosition)};
  };
  buildRole("mma", kEpilogueWarps + 1, 1, /*elected=*/true, 2, tile);
}

bool GemmLowering::isRowScalar(unsigned i) {
  InputKind kind = op.getInputKind(i);
  return kind == InputKind::per_row || kind == InputKind::per_group;
}

/// An input as `chunk` f32 values; scalars of a row are splat.
Value GemmLowering::loadInput(unsigned i, Value group, Value row,
                              Value column) {
  Type element = cast<MemRefType>(inputs[i].getType()).getElementType();
  Type type = element, f32 = b.getF32Type();
  SmallVector<Value> at;
  switch (op.getInputKind(i)) {
  case InputKind::per_element:
    at = {row, column};
    break;
  case InputKind::per_row:
    at = {row};
    break;
  case InputKind::per_group:
    at = {group};
    break;
  case InputKind::per_group_column:
    at = {group, column};
    break;
  }
  bool scalar = isRowScalar(i);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    Value codes = moe_kernel::GlobalLoadOp::create(
        b, VectorType::get(chunk, b.getI8Type()), inputs[i], at);
    return moe_kernel::DecodeOp::create(b, VectorType::get(chunk, f32), codes,
                                        TypeAttr::get(element));
  }
  if (!scalar) {
    type = VectorType::get(chunk, element);
    f32 = VectorType::get(chunk, f32);
  }
  Value value = moe_kernel::GlobalLoadOp::create(b, type, inputs[i], at);
  if (!element.isF32()) {
    value = arith::ExtFOp::create(b, f32, value);
  }
  return scalar ? kernel.splat(value, chunk) : value;
}

/// What an output's rows are staged as: 8-bit floats as bytes.
Type GemmLowering::stagedElement(unsigned i) {
  Type element =
      cast<MemRefType>(op.getOutputs()[i].getType()).getElementType();
  return element.getIntOrFloatBitWidth() == 8 ? b.getI8Type() : element;
}

/// `chunk` f32 values in the type of an output that is not quantized.
Value GemmLowering::convert(unsigned i, Value value) {
  Type element =
      cast<MemRefType>(op.getOutputs()[i].getType()).getElementType();
  auto type = VectorType::get(chunk, stagedElement(i));
  if (type.getElementType().isInteger(8)) {
    return moe_kernel::EncodeOp::create(b, type, value, TypeAttr::get(element));
  }
  return element.isF32() ? value
                         : arith::TruncFOp::create(b, type, value).getResult();
}

/// Stores this thread's row of a chunk of each output that has one. `row` is
/// the first of the warp.
void GemmLowering::storeStaged(ArrayRef<Value> rows, Value row, Value column,
                               Value slot) {
  moe_kernel::AcquireStagingOp::create(b, kStagingSlots - 1);
  for (auto [values, buffer] : llvm::zip(rows, staging)) {
    if (values) {
      moe_kernel::StageRowOp::create(b, values, buffer, slot);
    }
  }
  moe_kernel::PublishStagingOp::create(b);
  for (auto [values, map, buffer] : llvm::zip(rows, outputMaps, staging)) {
    if (values) {
      moe_kernel::StoreOp::create(b, map, ValueRange{row, column}, buffer,
                                  slot);
    }
  }
  moe_kernel::CommitStoresOp::create(b);
}

/// One block of an output and its scale, which is the next output's.
QuantizedBlock GemmLowering::quantize(unsigned i, Value value) {
  Type format = cast<MemRefType>(op.getOutputs()[i].getType()).getElementType();
  ScaleRounding rounding =
      op.getOutputKind(i + 1) == OutputKind::row_scales_floor
          ? ScaleRounding::floor
          : ScaleRounding::rceil;
  return quantizeBlock(kernel, value, format, rounding);
}

/// Adds the scale of the block at column `at` of the tile to the four of its
/// atom line; the first block starts a line, so that those past N are 0.
Value GemmLowering::collectScales(Value word, Value scale, Value at) {
  Value shift = mul(
      div(arith::RemUIOp::create(b, at, kernel.constant(32 * kAtomBlocks)), 32),
      8);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, shift,
                                        kernel.constant(int64_t(0)));
  Value before =
      arith::SelectOp::create(b, isFirst, kernel.constant(int64_t(0)), word);
  return arith::OrIOp::create(b, before,
                              arith::ShLIOp::create(b, scale, shift));
}

/// Stores the four scales of a row in each output's atom line, when its last
/// block is there.
void GemmLowering::storeLines(ArrayRef<std::pair<unsigned, Value>> lines,
                              Value row, Value column, Value at, Value last) {
  auto rem = [&](Value x, int64_t y) -> Value {
    return arith::RemUIOp::create(b, x, kernel.constant(y));
  };
  Value isFull = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       rem(at, 32 * kAtomBlocks),
                                       kernel.constant(32 * (kAtomBlocks - 1)));
  auto store =
      scf::IfOp::create(b, arith::OrIOp::create(b, isFull, last).getResult(),
                        /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(store.thenBlock());
  SmallVector<Value> line{div(row, kAtomRows), div(column, 32 * kAtomBlocks),
                          rem(row, 32), div(rem(row, kAtomRows), 32),
                          kernel.constant(int64_t(0))};
  for (auto [i, word] : lines) {
    Value bytes = vector::BitCastOp::create(
        b, VectorType::get(kAtomBlocks, b.getI8Type()), kernel.splat(word, 1));
    moe_kernel::GlobalStoreOp::create(b, bytes, scaleOutputs[i], line);
  }
}

/// The region's operations on `chunk` elements at once.
SmallVector<Value> GemmLowering::inlineRegion(ArrayRef<Value> arguments) {
  Block &region = op.getEpilogue().front();
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(region.getArguments(), arguments)) {
    mapping.map(from, to);
  }
  for (Operation &inner : region.without_terminator()) {
    OperationState state(inner.getLoc(), inner.getName());
    for (Value operand : inner.getOperands()) {
      state.operands.push_back(mapping.lookup(operand));
    }
    for (Type type : inner.getResultTypes()) {
      state.types.push_back(VectorType::get(chunk, type));
    }
    state.attributes = inner.getAttrs();
    state.propertiesAttr = inner.getPropertiesAsAttribute();
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      state.propertiesAttr = Attribute();
      state.attributes.clear();
      state.addAttribute(
          "value", DenseElementsAttr::get(cast<ShapedType>(state.types[0]),
                                          constant.getValue()));
    }
    mapping.map(inner.getResults(), b.create(state)->getResults());
  }
  SmallVector<Value> yielded;
  for (Value value : region.getTerminator()->getOperands()) {
    yielded.push_back(mapping.lookup(value));
  }
  return yielded;
}

void GemmLowering::buildEpilogueRole() {
  auto tile = [&](Value group, Value tileRow, Value tileColumn,
                  ValueRange carried) -> SmallVector<Value> {
    Value position = carried[0], zero = kernel.constant(int64_t(0));
    Value row = add(tileRow, kernel.index(IndexKind::thread));
    // Scalars of the row do not depend on the product: loaded while it runs.
    SmallVector<Value> scalars(inputs.size());
    for (unsigned i = 0; i < inputs.size(); ++i) {
      if (isRowScalar(i)) {
        scalars[i] = loadInput(i, group, row, Value());
      }
    }
    moe_kernel::WaitOp::create(b, accumulators, position);
    // Columns of this tile inside the matrix.
    Value left = arith::SubIOp::create(b, kernel.constant(n), tileColumn);
    Value width = arith::MinUIOp::create(b, left, kernel.constant(tileN));
    Value step = kernel.constant(chunk);
    Value warpRow = add(tileRow, mul(kernel.index(IndexKind::warp), kWarpRows));
    // The staging slot goes on from tile to tile; scales fill a word a line.
    SmallVector<Value> inits{carried[1]};
    inits.append(llvm::count_if(scaleOutputs, [](Value v) { return !!v; }),
                 zero);
    auto loop = scf::ForOp::create(b, zero, width, step, inits);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value at = loop.getInductionVar(), slot = loop.getRegionIterArg(0);
      Value acc = moe_kernel::LoadAccumulatorOp::create(
          b, VectorType::get(chunk, b.getF32Type()), accumulator, accumulators,
          position, at);
      // Released as soon as its last column is in registers, so that the next
      // tile's products overlap this one's stores.
      Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                         add(at, step), width);
      auto release = scf::IfOp::create(b, last, /*withElseRegion=*/false);
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(release.thenBlock());
        moe_kernel::ReleaseOp::create(b, accumulators, position);
      }
      Value column = add(tileColumn, at);
      SmallVector<Value> arguments{acc};
      for (unsigned i = 0; i < inputs.size(); ++i) {
        arguments.push_back(scalars[i] ? scalars[i]
                                       : loadInput(i, group, row, column));
      }
      SmallVector<Value> values = inlineRegion(arguments);
      SmallVector<Value> rows(outputMaps.size());
      SmallVector<Value> next{
          arith::XOrIOp::create(b, slot, kernel.constant(int64_t(1)))};
      SmallVector<std::pair<unsigned, Value>> lines;
      for (unsigned i = 0, from = 0; i < outputMaps.size(); ++i) {
        if (op.getOutputKind(i) == OutputKind::quantized) {
          QuantizedBlock quantized = quantize(i, values[from++]);
          rows[i] = quantized.codes;
          Value word = collectScales(loop.getRegionIterArg(next.size()),
                                     quantized.scale, at);
          lines.emplace_back(i + 1, word);
          next.push_back(word);
        } else if (!op.isScaleOutput(i)) {
          rows[i] = convert(i, values[from++]);
        }
      }
      storeStaged(rows, warpRow, column, slot);
      if (!lines.empty()) {
        storeLines(lines, row, column, at, last);
      }
      scf::YieldOp::create(b, next);
    }
    return {advance(accumulators, position), loop.getResult(0)};
  };
  auto drain = [&] { moe_kernel::AcquireStagingOp::create(b, /*pending=*/0); };
  buildRole("epilogue", 0, kEpilogueWarps, /*elected=*/false, 2, tile, drain);
}

void GemmLowering::run() {
  Value rows = kernel.hostRows(op.getLhs());
  kernel.requireRows(op.getLhsScales(), kernel.hostCeilDiv(rows, kAtomRows));
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    InputKind kind = op.getInputKind(i);
    if (kind == InputKind::per_element || kind == InputKind::per_row) {
      kernel.requireRows(input, rows);
    }
  }
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    kernel.requireRows(output, op.isScaleOutput(i)
                                   ? kernel.hostCeilDiv(rows, kAtomRows)
                                   : rows);
  }
  moe_kernel::RequireOffsetsOp::create(kernel.host, op.getOffsets(), rows,
                                       op.getMAligned());
  addParameters();
  addBuffers();
  buildEpilogueRole();
  buildLoadRole();
  buildMatrixRole();
  Value tiles =
      arith::MulIOp::create(kernel.host, kernel.hostCeilDiv(rows, tileM),
                            kernel.hostConstant(llvm::divideCeil(n, tileN)));
  Value sms =
      moe_kernel::SmCountOp::create(kernel.host, kernel.host.getIndexType());
  kernel.finish(arith::MinUIOp::create(kernel.host, sms, tiles));
}

} // namespace

LogicalResult grouped_moe::lowerGemm(GemmOp op) {
  if (!op.getSchedule()) {
    return op.emitOpError() << "has no schedule: run "
                               "--grouped-moe-select-schedule, or write one";
  }
  GemmLowering(op).run();
  return success();
}
