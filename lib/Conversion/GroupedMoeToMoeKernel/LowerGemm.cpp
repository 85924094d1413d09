// The warp-specialised grouped product: a load warp fills a ring of operand
// tiles, a matrix warp multiplies them into accumulators, four epilogue warps
// run the region on accumulators and store.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Columns that an epilogue thread works on at once. A row is a whole number of
/// chunks, so that no store needs a mask; each function takes registers for its
/// polynomial, so that regions with several work on fewer columns.
int64_t chooseChunk(GemmOp op) {
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    if (op.getOutputKind(i) == OutputKind::quantized) {
      return 32; // a block is one thread's
    }
  }
  int64_t functions = llvm::count_if(
      op.getEpilogue().front().getOperations(), [](Operation &inner) {
        return isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
                   math::TanhOp, math::ErfOp, math::RsqrtOp>(inner);
      });
  return op.getN() % 32 == 0 && functions <= 2 ? 32 : 16;
}

class GemmLowering {
public:
  explicit GemmLowering(GemmOp op)
      : op(op), kernel(op, "gemm", kEpilogueWarps + 2), b(kernel.body),
        schedule(*op.getSchedule()), tileM(schedule.getTile()[0]),
        tileN(schedule.getTile()[1]), tileK(schedule.getTile()[2]),
        n(op.getN()), k(op.getK()), kTiles(llvm::divideCeil(k, tileK)),
        chunk(chooseChunk(op)) {}

  void run();

private:
  void addParameters();
  void addBuffers();
  void buildLoadRole();
  void buildMatrixRole();
  void buildEpilogueRole();
  bool isRowScalar(unsigned i);
  Value loadInput(unsigned i, Value group, Value row, Value column);
  void storeOutput(unsigned i, Value value, Value row, Value column);
  void storeQuantized(unsigned i, Value value, Value row, Value column);
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
                     build);

  GemmOp op;
  KernelScope kernel;
  ImplicitLocOpBuilder &b;
  ScheduleAttr schedule;
  int64_t tileM, tileN, tileK, n, k, kTiles, chunk;

  Value mapA, mapB, mapScalesA, mapScalesB, offsets;
  SmallVector<Value> inputs, outputs;
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
  for (Value output : op.getOutputs()) {
    outputs.push_back(kernel.addOutput(output));
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
    function_ref<SmallVector<Value>(Value, Value, Value, ValueRange)> build) {
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

/// Stores `chunk` f32 values in the output's type.
void GemmLowering::storeOutput(unsigned i, Value value, Value row,
                               Value column) {
  Type element = cast<MemRefType>(outputs[i].getType()).getElementType();
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    value =
        moe_kernel::EncodeOp::create(b, VectorType::get(chunk, b.getI8Type()),
                                     value, TypeAttr::get(element));
  } else if (!element.isF32()) {
    value = arith::TruncFOp::create(b, VectorType::get(chunk, element), value);
  }
  moe_kernel::GlobalStoreOp::create(b, value, outputs[i],
                                    ValueRange{row, column});
}

/// Stores one block and its scale, which is the next output.
void GemmLowering::storeQuantized(unsigned i, Value value, Value row,
                                  Value column) {
  Type format = cast<MemRefType>(outputs[i].getType()).getElementType();
  ScaleRounding rounding =
      op.getOutputKind(i + 1) == OutputKind::row_scales_floor
          ? ScaleRounding::floor
          : ScaleRounding::rceil;
  QuantizedBlock quantized = quantizeBlock(kernel, value, format, rounding);
  moe_kernel::GlobalStoreOp::create(b, quantized.codes, outputs[i],
                                    ValueRange{row, column});
  Value block = div(column, 32);
  auto rem = [&](Value x, int64_t y) -> Value {
    return arith::RemUIOp::create(b, x, kernel.constant(y));
  };
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), quantized.scale);
  moe_kernel::GlobalStoreOp::create(
      b, byte, outputs[i + 1],
      ValueRange{div(row, kAtomRows), div(block, kAtomBlocks), rem(row, 32),
                 div(rem(row, kAtomRows), 32), rem(block, kAtomBlocks)});
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
    auto loop = scf::ForOp::create(b, zero, width, step);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value at = loop.getInductionVar();
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
      for (unsigned i = 0, next = 0; i < outputs.size(); ++i) {
        if (op.getOutputKind(i) == OutputKind::quantized) {
          storeQuantized(i, values[next++], row, column);
        } else if (!op.isScaleOutput(i)) {
          storeOutput(i, values[next++], row, column);
        }
      }
    }
    return {advance(accumulators, position)};
  };
  buildRole("epilogue", 0, kEpilogueWarps, /*elected=*/false, 1, tile);
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
