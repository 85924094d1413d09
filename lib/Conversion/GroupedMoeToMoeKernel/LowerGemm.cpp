// The warp-specialised grouped product: a load warp fills a ring of operand
// tiles, a matrix warp multiplies them into accumulators, four epilogue warps
// run the region on accumulators and store.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueRole.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::BufferSpace;
using moe_kernel::BufferType;
using moe_kernel::IndexKind;
using moe_kernel::PipelineType;
using moe_kernel::StageSide;

namespace {

class GemmLowering {
public:
  explicit GemmLowering(GemmOp op)
      : op(op), kernel(op, "gemm", kEpilogueWarps + 2), b(kernel.body),
        schedule(*op.getSchedule()), tileM(schedule.getTile()[0]),
        tileN(schedule.getTile()[1]), tileK(schedule.getTile()[2]),
        n(op.getN()), k(op.getK()), kTiles(llvm::divideCeil(k, tileK)),
        epilogue(op, kernel) {}

  void run();

private:
  void addParameters(Value rows);
  void addBuffers();
  void buildLoadRole();
  void buildMatrixRole();
  void buildEpilogueRole();
  /// The rows of rhs that make a tile: with gate and up side by side, half of
  /// them from each.
  int64_t boxesOfB() { return op.getPaired() && op.getConcatenated() ? 2 : 1; }
  Value alloc(StringRef name, BufferSpace space, ArrayRef<int64_t> shape,
              Type element) {
    return moe_kernel::AllocOp::create(
        b, BufferType::get(b.getContext(), space, shape, element), name);
  }
  Value advance(Value pipeline, Value position) {
    return moe_kernel::AdvanceOp::create(b, b.getI32Type(), pipeline, position);
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
  int64_t tileM, tileN, tileK, n, k, kTiles;
  EpilogueRole epilogue;

  Value mapA, mapB, mapScalesA, mapScalesB, offsets;
  Value a, bTile, scalesA, scalesB, tmemScalesA, tmemScalesB, accumulator;
  Value operands, accumulators;
};

void GemmLowering::addParameters(Value rows) {
  Type i8 = b.getI8Type(), i16 = b.getI16Type();
  mapA = kernel.addTensorMap(op.getLhs(), {tileM, tileK}, i8, 128);
  mapB =
      kernel.addTensorMap(op.getRhs(), {1, tileN / boxesOfB(), tileK}, i8, 128);
  // An atom of scales is 256 x 16 bits: boxes have at most 256 elements a side.
  mapScalesA = kernel.addTensorMap(
      op.getLhsScales(), {tileM / kAtomRows, 1, kAtomBytes / 2}, i16, 0);
  mapScalesB = kernel.addTensorMap(
      op.getRhsScales(), {1, tileN / kAtomRows / boxesOfB(), 1, kAtomBytes / 2},
      i16, 0);
  offsets = kernel.addMemref(op.getOffsets());
  epilogue.declareParameters(rows, offsets);
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
  epilogue.declareBuffers();
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
    Value kStart = kernel.mul(kTile, tileK), zero = kernel.constant(int64_t(0));
    Value rowAtom = kernel.div(row, kAtomRows);
    auto load = [&](Value map, ValueRange at, Value buffer,
                    int64_t offset = 0) {
      moe_kernel::LoadOp::create(b, map, at, buffer, operands, position,
                                 offset);
    };
    moe_kernel::AcquireOp::create(b, operands, position);
    moe_kernel::ExpectOp::create(b, operands, position);
    load(mapA, {row, kStart}, a);
    load(mapScalesA, {rowAtom, kTile, zero}, scalesA);
    for (int64_t box = 0, boxes = boxesOfB(); box < boxes; ++box) {
      Value first = kernel.add(kernel.div(column, boxes), box * (n / boxes));
      load(mapB, {group, first, kStart}, bTile, box * tileN / boxes * tileK);
      load(mapScalesB, {group, kernel.div(first, kAtomRows), kTile, zero},
           scalesB, box * tileN / boxes / kAtomRows * kAtomBytes);
    }
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

void GemmLowering::buildEpilogueRole() {
  auto tile = [&](Value group, Value row, Value column,
                  ValueRange carried) -> SmallVector<Value> {
    Value position = carried[0];
    Value slot = epilogue.buildTile(group, row, column, accumulator,
                                    accumulators, position, carried[1]);
    return {advance(accumulators, position), slot};
  };
  buildRole("epilogue", 0, kEpilogueWarps, /*elected=*/false,
            1 + EpilogueRole::carried, tile, [&] { epilogue.buildEnd(); });
}

void GemmLowering::run() {
  Value rows = kernel.hostRows(op.getLhs());
  kernel.requireRows(op.getLhsScales(), kernel.hostCeilDiv(rows, kAtomRows));
  moe_kernel::RequireOffsetsOp::create(kernel.host, op.getOffsets(), rows,
                                       op.getMAligned());
  addParameters(rows);
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
