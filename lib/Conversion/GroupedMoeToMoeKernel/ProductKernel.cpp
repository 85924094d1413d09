#include "lib/Conversion/GroupedMoeToMoeKernel/ProductKernel.h"

#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::BufferSpace;
using moe_kernel::BufferType;
using moe_kernel::ClusterAxis;
using moe_kernel::IndexKind;
using moe_kernel::PipelineType;
using moe_kernel::StageSide;

static constexpr int64_t kTileM = 128; // rows of one CTA: lanes of its memory
static constexpr int64_t kQueueStages = 2;
static constexpr int64_t kResponseBytes = 16; // of cluster launch control
static constexpr int64_t kPanelRows = 128;    // along M or N, 8-bit elements

static bool isDynamicSchedule(FusedProduct op) {
  return op.getSchedule()->getScheduler() ==
         SchedulerKind::cluster_launch_control;
}

ProductKernel::ProductKernel(FusedProduct op, StringRef name, int64_t block,
                             int64_t rowUnit)
    : kernel(op, name, kEpilogueWarps + (isDynamicSchedule(op) ? 3 : 2)),
      b(kernel.body), schedule(*op.getSchedule()),
      isPaired(schedule.getTile()[0] > kTileM),
      clusterM(schedule.getCluster()[0]), clusterN(schedule.getCluster()[1]),
      tileM(kTileM), tileN(schedule.getTile()[1]), tileK(schedule.getTile()[2]),
      block(block), epilogue(op, kernel, rowUnit) {
  kernel.setCluster(clusterM, clusterN, isPaired);
  lhs.extent = lhs.scaledRows = tileM;
  lhs.slices = clusterN;
  lhs.axis = ClusterAxis::n;
  rhs.extent = tileN / ctasOfUnit();
  rhs.scaledRows = tileN;
  rhs.slices = clusterM / ctasOfUnit();
  rhs.axis = ClusterAxis::m;
}

void ProductKernel::setTransposed(Factor &factor, bool transposed) {
  factor.transposed = transposed;
  if (transposed) {
    factor.extent = llvm::alignTo(factor.extent, kPanelRows);
    factor.boxes = factor.extent / kPanelRows;
  }
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
static int64_t perByte(Type element) {
  return 8 / element.getIntOrFloatBitWidth();
}

moe_kernel::TensorMapType ProductKernel::dataMapType(const Factor &factor,
                                                     int64_t lead) {
  SmallVector<int64_t> box(lead, 1);
  if (factor.transposed) {
    box.append({tileK / factor.slices, factor.boxExtent()});
  } else {
    box.append(
        {factor.boxExtent() / factor.slices, tileK / perByte(factor.element)});
  }
  return moe_kernel::TensorMapType::get(b.getContext(), box, b.getI8Type(),
                                        kDataSwizzle);
}

bool ProductKernel::hasFineScales() const {
  auto type = cast<MemRefType>(lhs.scalesMemref.getType());
  return isa<Float8E4M3FNType>(type.getElementType());
}

void ProductKernel::addBuffers() {
  Type i8 = b.getI8Type();
  int64_t stages = schedule.getStages();
  lhs.data =
      alloc("a", BufferSpace::shared, {stages, lhs.extent, tileK}, lhs.element);
  rhs.data =
      alloc("b", BufferSpace::shared, {stages, rhs.extent, tileK}, rhs.element);
  int64_t lhsAtoms = lhs.scaleAtoms() * atomsOfK(),
          rhsAtoms = rhs.scaleAtoms() * atomsOfK();
  lhs.scales = alloc("a_scales", BufferSpace::shared,
                     {stages, lhsAtoms, kAtomBytes}, i8);
  rhs.scales = alloc("b_scales", BufferSpace::shared,
                     {stages, rhsAtoms, kAtomBytes}, i8);
  epilogue.declareBuffers();
  int64_t accs = schedule.getAccumulators();
  accumulator = moe_kernel::AllocOp::create(
      b,
      BufferType::get(b.getContext(), BufferSpace::tensor, {accs, tileM, tileN},
                      b.getF32Type()),
      "accumulator", epilogue.getShape().overlap);
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
  // What a CTA loads is read by all units that it is sent to.
  int64_t readers = 1 + (lhs.slices - 1) + (rhs.slices - 1);
  operands = moe_kernel::PipelineOp::create(
      b, PipelineType::get(b.getContext(), stages), "operands", 1, readers,
      bytes * ctasOfUnit());
  // Two that overlap are handed over as one.
  accs = epilogue.getShape().overlap > 0 ? 1 : accs;
  accumulators = moe_kernel::PipelineOp::create(
      b, PipelineType::get(b.getContext(), accs), "accumulators", 1,
      kEpilogueThreads * ctasOfUnit(), 0);
  if (isDynamic()) {
    responses = alloc("next_tiles", BufferSpace::shared,
                      {kQueueStages, kResponseBytes}, i8);
    // Of each CTA the load, scheduler and epilogue warps, of each unit one;
    // but not the scheduler that asks.
    int64_t ctas = clusterM * clusterN;
    int64_t takers = ctas * (2 + kEpilogueWarps) + ctas / ctasOfUnit() - 1;
    queue = moe_kernel::PipelineOp::create(
        b, PipelineType::get(b.getContext(), kQueueStages), "tiles", 1, takers,
        kResponseBytes);
  }
}

ResultRange ProductKernel::buildWalk(moe_kernel::RoleOp role, unsigned carried,
                                     Build build) {
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
  b.setInsertionPointAfter(walk.op);
  return walk.op->getResults();
}

Value ProductKernel::useGroupMaps(Value group, Value used) {
  SmallVector<Value> elements;
  auto use = [&](Value maps, Value &map) {
    if (maps) {
      Type type = cast<MemRefType>(maps.getType()).getElementType();
      map = moe_kernel::MapElementOp::create(b, type, maps, group);
      elements.push_back(map);
    }
  };
  for (Factor *factor : {&lhs, &rhs}) {
    use(factor->groupMaps, factor->map);
    use(factor->groupScalesMaps, factor->scalesMap);
  }
  Value next = kernel.add(group, 1);
  Value isOther =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, next, used);
  kernel.onlyIf(isOther, [&] {
    for (Value element : elements) {
      moe_kernel::AcquireMapOp::create(b, element);
    }
  });
  return next;
}

void ProductKernel::buildLoadRole(Build build) {
  auto role = moe_kernel::RoleOp::create(b, "load", kEpilogueWarps, 1,
                                         /*elected=*/true, /*leader=*/false);
  OpBuilder::InsertionGuard guard(b);
  bool hasGroupMaps = lhs.groupMaps || rhs.groupMaps;
  auto tile = [&](ValueRange places, ValueRange carried) {
    SmallVector<Value> next;
    if (hasGroupMaps) {
      next.push_back(useGroupMaps(places[0], carried[1]));
    }
    next.insert(next.begin(), build(places, carried)[0]);
    return next;
  };
  ResultRange ended = buildWalk(role, hasGroupMaps ? 2 : 1, tile);
  if (clusterM * clusterN > 1) {
    // Units of other CTAs still arrive at this one's barriers.
    moe_kernel::DrainOp::create(b, operands, ended[0]);
  }
}

void ProductKernel::buildMatrixRole(Build build) {
  auto role = moe_kernel::RoleOp::create(b, "mma", kEpilogueWarps + 1, 1,
                                         /*elected=*/true, isPaired);
  OpBuilder::InsertionGuard guard(b);
  buildWalk(role, /*carried=*/2, build);
}

void ProductKernel::buildEpilogueRole(Build build) {
  auto role = moe_kernel::RoleOp::create(b, "epilogue", 0, kEpilogueWarps,
                                         /*elected=*/false, /*leader=*/false);
  OpBuilder::InsertionGuard guard(b);
  buildWalk(role, 1 + EpilogueRole::carried, build);
  epilogue.buildEnd();
}

Value ProductKernel::pairHalf() {
  return isPaired ? kernel.rem(kernel.index(IndexKind::cluster_m), 2) : Value();
}

void ProductKernel::loadBox(const Factor &factor, int64_t box, ValueRange lead,
                            Value first, Value k, Value position) {
  int64_t bytes = factor.boxExtent() * tileK / perByte(factor.element);
  Value slice;
  moe_kernel::ClusterAxisAttr along;
  if (factor.slices > 1) {
    bool alongM = factor.axis == ClusterAxis::m;
    Value index =
        kernel.index(alongM ? IndexKind::cluster_m : IndexKind::cluster_n);
    index = kernel.div(index, alongM ? ctasOfUnit() : 1);
    Value &sliced = factor.transposed ? k : first;
    int64_t whole = factor.transposed ? tileK : factor.boxExtent();
    sliced = kernel.add(sliced, kernel.mul(index, whole / factor.slices));
    slice = kernel.mul(index, bytes / factor.slices);
    along = moe_kernel::ClusterAxisAttr::get(b.getContext(), factor.axis);
  }
  SmallVector<Value> at(lead);
  if (factor.transposed) {
    at.append({k, first});
  } else {
    at.append({first, kernel.div(k, perByte(factor.element))});
  }
  moe_kernel::LoadOp::create(b, factor.map, at, factor.data, operands, position,
                             slice, along, box * bytes);
}

void ProductKernel::loadScales(const Factor &factor, int64_t atom,
                               ValueRange at, Value position) {
  moe_kernel::LoadOp::create(b, factor.scalesMap, at, factor.scales, operands,
                             position, /*slice=*/Value(),
                             moe_kernel::ClusterAxisAttr(), atom * kAtomBytes);
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
                                           Value position, Value accPosition,
                                           Value rhsScaleRow) {
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
                              quarters, rhsScaleRow, accumulators, operands,
                              lhs.transposed, rhs.transposed, hasFineScales());
    moe_kernel::CommitOp::create(b, operands, stage, StageSide::empty);
    scf::YieldOp::create(b, advance(operands, stage));
  }
  moe_kernel::CommitOp::create(b, accumulators, accPosition, StageSide::full);
  return {loop.getResult(0), advance(accumulators, accPosition)};
}

Value ProductKernel::scaleRow(Value column) {
  return tileN % kAtomRows == 0 ? Value() : kernel.rem(column, kAtomRows);
}

SmallVector<Value> ProductKernel::ifTileExists(Value row, Value rows,
                                               Value column, int64_t columns,
                                               Values build, Values otherwise) {
  if (clusterM * clusterN == 1) {
    return build();
  }
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, rows);
  exists = arith::AndIOp::create(b, exists, kernel.less(column, columns));
  return kernel.either(exists, build, otherwise);
}

void ProductKernel::skipAccumulators(Value position) {
  moe_kernel::WaitOp::create(b, accumulators, position);
  moe_kernel::ReleaseOp::create(b, accumulators, position);
}

void ProductKernel::buildSchedulerRole() {
  if (!isDynamic()) {
    return;
  }
  auto role = moe_kernel::RoleOp::create(b, "scheduler", kEpilogueWarps + 2, 1,
                                         /*elected=*/true, /*leader=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&role.getBody().emplaceBlock());
  moe_kernel::RequestTilesOp::create(b, responses, queue);
}

void ProductKernel::launch(Value tiles) {
  if (!isDynamic()) {
    return kernel.finishPersistent(tiles);
  }
  kernel.finish(arith::MulIOp::create(
      kernel.host, tiles, kernel.hostConstant(clusterM * clusterN)));
}
