#include "lib/Conversion/GroupedMoeToMoeKernel/ProductKernel.h"

#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::BufferSpace;
using moe_kernel::BufferType;
using moe_kernel::PipelineType;
using moe_kernel::StageSide;

static constexpr int64_t kQuarters = 4; // of a stage's K (moe_kernel.mma)

ProductKernel::ProductKernel(FusedProduct op, StringRef name, int64_t block,
                             int64_t rowUnit)
    : kernel(op, name, kEpilogueWarps + 2), b(kernel.body),
      schedule(*op.getSchedule()), tileM(schedule.getTile()[0]),
      tileN(schedule.getTile()[1]), tileK(schedule.getTile()[2]), block(block),
      epilogue(op, kernel, rowUnit) {
  lhs.extent = tileM;
  rhs.extent = tileN;
}

Value ProductKernel::alloc(StringRef name, BufferSpace space,
                           ArrayRef<int64_t> shape, Type element) {
  return moe_kernel::AllocOp::create(
      b, BufferType::get(b.getContext(), space, shape, element), name);
}

Value ProductKernel::advance(Value pipeline, Value position) {
  return moe_kernel::AdvanceOp::create(b, b.getI32Type(), pipeline, position);
}

/// Elements in a byte: two of 4 bits.
static int64_t perByte(Value memref) {
  return 8 / cast<MemRefType>(memref.getType()).getElementTypeBitWidth();
}

void ProductKernel::addDataMap(Factor &factor, int64_t lead) {
  SmallVector<int64_t> box(lead, 1);
  if (factor.transposed) {
    box.append({tileK, factor.boxExtent()});
  } else {
    box.append({factor.boxExtent(), tileK / perByte(factor.memref)});
  }
  factor.map = kernel.addTensorMap(factor.memref, box, b.getI8Type(), 128);
}

bool ProductKernel::hasFineScales() const {
  auto type = cast<MemRefType>(lhs.scalesMemref.getType());
  return isa<Float8E4M3FNType>(type.getElementType());
}

void ProductKernel::addBuffers() {
  Type i8 = b.getI8Type();
  int64_t stages = schedule.getStages();
  auto elementOf = [](const Factor &factor) {
    return cast<MemRefType>(factor.memref.getType()).getElementType();
  };
  lhs.data =
      alloc("a", BufferSpace::shared, {stages, tileM, tileK}, elementOf(lhs));
  rhs.data =
      alloc("b", BufferSpace::shared, {stages, tileN, tileK}, elementOf(rhs));
  int64_t lhsAtoms = tileM / kAtomRows * atomsOfK(),
          rhsAtoms = tileN / kAtomRows * atomsOfK();
  lhs.scales = alloc("a_scales", BufferSpace::shared,
                     {stages, lhsAtoms, kAtomBytes}, i8);
  rhs.scales = alloc("b_scales", BufferSpace::shared,
                     {stages, rhsAtoms, kAtomBytes}, i8);
  epilogue.declareBuffers();
  int64_t accs = schedule.getAccumulators();
  accumulator = alloc("accumulator", BufferSpace::tensor, {accs, tileM, tileN},
                      b.getF32Type());
  // One set of scale columns a stage: a stage is refilled only after the
  // products that read it, and its columns, are complete.
  lhs.tmemScales = alloc("a_scales_tmem", BufferSpace::tensor,
                         {stages, lhsAtoms, kAtomBytes}, i8);
  rhs.tmemScales = alloc("b_scales_tmem", BufferSpace::tensor,
                         {stages, rhsAtoms, kAtomBytes}, i8);

  int64_t bytes = 0;
  for (Value buffer : {lhs.data, rhs.data, lhs.scales, rhs.scales}) {
    bytes += cast<BufferType>(buffer.getType()).getStageBytes();
  }
  operands = moe_kernel::PipelineOp::create(
      b, PipelineType::get(b.getContext(), stages), "operands", 1, 1, bytes);
  accumulators =
      moe_kernel::PipelineOp::create(b, PipelineType::get(b.getContext(), accs),
                                     "accumulators", 1, kEpilogueThreads, 0);
}

void ProductKernel::buildRole(
    StringRef name, int64_t firstWarp, int64_t warps, bool elected,
    unsigned carried,
    function_ref<SmallVector<Value>(ValueRange, ValueRange)> build,
    function_ref<void()> finish) {
  auto role = moe_kernel::RoleOp::create(b, name, firstWarp, warps, elected);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&role.getBody().emplaceBlock());
  Walk walk =
      createWalk(SmallVector<Value>(carried, kernel.constant(int64_t(0))));
  for (unsigned i = 0; i < walk.places + carried; ++i) {
    walk.body->addArgument(b.getI32Type(), b.getLoc());
  }
  b.setInsertionPointToStart(walk.body);
  ValueRange arguments = walk.body->getArguments();
  SmallVector<Value> next = build(arguments.take_front(walk.places),
                                  arguments.drop_front(walk.places));
  moe_kernel::YieldOp::create(b, next);
  if (finish) {
    b.setInsertionPointAfter(walk.op);
    finish();
  }
}

void ProductKernel::loadBox(const Factor &factor, int64_t box, ValueRange lead,
                            Value first, Value k, Value position) {
  SmallVector<Value> at(lead);
  if (factor.transposed) {
    at.append({k, first});
  } else {
    at.append({first, kernel.div(k, perByte(factor.memref))});
  }
  int64_t bytes = factor.boxExtent() * tileK / perByte(factor.memref);
  moe_kernel::LoadOp::create(b, factor.map, at, factor.data, operands, position,
                             box * bytes);
}

void ProductKernel::loadScales(const Factor &factor, int64_t atom,
                               ValueRange at, Value position) {
  moe_kernel::LoadOp::create(b, factor.scalesMap, at, factor.scales, operands,
                             position, atom * kAtomBytes);
}

Value ProductKernel::forStages(Value count, Value position,
                               function_ref<void(Value, Value)> load) {
  auto loop = scf::ForOp::create(b, kernel.constant(int64_t(0)), count,
                                 kernel.constant(int64_t(1)), position);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value stage = loop.getRegionIterArg(0);
  moe_kernel::AcquireOp::create(b, operands, stage);
  moe_kernel::ExpectOp::create(b, operands, stage);
  load(loop.getInductionVar(), stage);
  scf::YieldOp::create(b, advance(operands, stage));
  return loop.getResult(0);
}

SmallVector<Value> ProductKernel::multiply(Value count, Value lastQuarters,
                                           Value position, Value accPosition) {
  moe_kernel::AcquireOp::create(b, accumulators, accPosition);
  Value zero = kernel.constant(int64_t(0));
  auto loop =
      scf::ForOp::create(b, zero, count, kernel.constant(int64_t(1)), position);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar(), stage = loop.getRegionIterArg(0);
    moe_kernel::WaitOp::create(b, operands, stage);
    for (const Factor *factor : {&lhs, &rhs}) {
      moe_kernel::CopyScalesOp::create(b, factor->scales, factor->tmemScales,
                                       operands, stage);
    }
    Value accumulate =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, step, zero);
    // What is past K is never multiplied: 0 x NaN of its scale bytes would
    // reach the sum.
    Value quarters = kernel.constant(kQuarters);
    if (lastQuarters) {
      Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                           kernel.add(step, 1), count);
      quarters = arith::SelectOp::create(b, isLast, lastQuarters, quarters);
    }
    moe_kernel::MmaOp::create(b, accumulator, accPosition, lhs.data, rhs.data,
                              lhs.tmemScales, rhs.tmemScales, stage, accumulate,
                              quarters, accumulators, operands, lhs.transposed,
                              rhs.transposed, hasFineScales());
    moe_kernel::CommitOp::create(b, operands, stage, StageSide::empty);
    scf::YieldOp::create(b, advance(operands, stage));
  }
  moe_kernel::CommitOp::create(b, accumulators, accPosition, StageSide::full);
  return {loop.getResult(0), advance(accumulators, accPosition)};
}
