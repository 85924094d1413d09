// The loops of a walk over tiles, and where the next tile comes from.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "lib/Conversion/MoeKernelToNVVM/TileWalk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

// The outer loop's state: the linear tile t (less than 0 when there is none),
// with a queue its position, the group g under the cursor, the tiles of the
// groups before it, the cursor, then carried values. The inner loop moves the
// cursor to the group that holds t; both loops end on any contents of offsets.
LogicalResult KernelLowering::lowerWalk(Operation *op, const TileWalk &walk) {
  Location opLoc = loc;
  Type i32 = b.getI32Type();
  bool isDynamic = bool(walk.queue);
  unsigned cursorSize = walk.start.size(), g = isDynamic ? 2 : 1,
           fixed = g + 2 + cursorSize;
  Value zero = i32Const(0), one = i32Const(1);
  Value numGroups = i32Const(walk.groups),
        lastGroup = i32Const(walk.groups - 1);

  Value first = walker(), stride = walkers();
  SmallVector<Value> inits{first};
  inits.append(g + 1, zero);
  llvm::append_range(inits, walk.start);
  llvm::append_range(inits, mapped(walk.inits));
  SmallVector<Type> types(inits.size(), i32);
  SmallVector<Location> locs(inits.size(), opLoc);
  auto compare = [&](arith::CmpIPredicate predicate, Value x,
                     Value y) -> Value {
    return create<arith::CmpIOp>(predicate, x, y);
  };
  using arith::CmpIPredicate;

  auto outer = create<scf::WhileOp>(types, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&outer.getBefore(), {}, types, locs);
  SmallVector<Value> state(before->getArguments());
  Value t = state[0];
  if (isDynamic) {
    // Numbers come in any order: back to the first group for an earlier one.
    Value isBehind = compare(CmpIPredicate::slt, t, state[g + 1]);
    SmallVector<Value> start{zero, zero};
    llvm::append_range(start, walk.start);
    for (auto [i, value] : llvm::enumerate(start)) {
      state[g + i] = create<arith::SelectOp>(isBehind, value, state[g + i]);
    }
  }

  // Group, tiles before it, cursor.
  SmallVector<Type> cursorTypes(2 + cursorSize, i32);
  SmallVector<Location> cursorLocs(2 + cursorSize, opLoc);
  auto inner = create<scf::WhileOp>(cursorTypes,
                                    ValueRange(state).slice(g, 2 + cursorSize));
  {
    OpBuilder::InsertionGuard innerGuard(b);
    Block *test =
        b.createBlock(&inner.getBefore(), {}, cursorTypes, cursorLocs);
    ValueRange at = test->getArguments();
    Value next = create<arith::AddIOp>(at[1], walk.tilesOf(at.drop_front(2)));
    Value inRange = compare(CmpIPredicate::ult, at[0], numGroups);
    Value past = compare(CmpIPredicate::sge, t, next);
    create<scf::ConditionOp>(create<arith::AndIOp>(inRange, past), at);

    Block *move = b.createBlock(&inner.getAfter(), {}, cursorTypes, cursorLocs);
    ValueRange from = move->getArguments();
    Value tiles =
        create<arith::AddIOp>(from[1], walk.tilesOf(from.drop_front(2)));
    Value group = create<arith::AddIOp>(from[0], one);
    SmallVector<Value> to{group, tiles};
    llvm::append_range(to, walk.move(from.drop_front(2),
                                     create<arith::MinUIOp>(group, lastGroup)));
    create<scf::YieldOp>(to);
  }
  llvm::copy(inner.getResults(), state.begin() + g);
  Value continues = compare(CmpIPredicate::sge, t, zero);
  if (!isDynamic) {
    // t can wrap around only if the offsets are garbage.
    Value inRange = compare(CmpIPredicate::ult, state[g], numGroups);
    continues = create<arith::AndIOp>(inRange, continues);
  }
  create<scf::ConditionOp>(continues, state);

  Block *after = b.createBlock(&outer.getAfter(), {}, types, locs);
  ValueRange at = after->getArguments();
  ValueRange carried = at.drop_front(fixed);
  auto build = [&](SmallVector<Value> &next) -> LogicalResult {
    Value local = create<arith::SubIOp>(at[0], at[g + 1]);
    SmallVector<Value> arguments =
        walk.places(at[g], at.slice(g + 2, cursorSize), local);
    llvm::append_range(arguments, carried);
    for (auto [from, to] : llvm::zip(walk.body.getArguments(), arguments)) {
      map.map(from, to);
    }
    if (failed(lowerBody(walk.body))) {
      return failure();
    }
    loc = opLoc;
    auto yield = cast<moe_kernel::YieldOp>(walk.body.getTerminator());
    next = mapped(yield.getValues());
    return success();
  };

  SmallVector<Value> next, carriedNext;
  if (!isDynamic) {
    if (failed(build(carriedNext))) {
      return failure();
    }
    next = {create<arith::AddIOp>(at[0], stride)};
  } else {
    // More clusters may be launched than there are tiles.
    Value exists = compare(CmpIPredicate::ult, at[g], numGroups);
    auto ifOp = create<scf::IfOp>(carried.getTypes(), exists,
                                  /*addElseBlock=*/!carried.empty());
    {
      OpBuilder::InsertionGuard bodyGuard(b);
      b.setInsertionPointToStart(ifOp.thenBlock());
      SmallVector<Value> results;
      if (failed(build(results))) {
        return failure();
      }
      if (!carried.empty()) {
        create<scf::YieldOp>(results);
        b.setInsertionPointToStart(ifOp.elseBlock());
        create<scf::YieldOp>(carried);
      }
    }
    carriedNext.assign(ifOp.getResults().begin(), ifOp.getResults().end());
    auto queue = definingOp<PipelineOp>(op, walk.queue);
    auto responses = definingOp<AllocOp>(op, walk.responses);
    if (!queue || !responses) {
      return failure();
    }
    next = {takeTile(queue, responses, at[1], /*asks=*/false),
            advanced(at[1], queue.getPipeline().getType().getStages())};
  }
  llvm::append_range(next, at.slice(g, 2 + cursorSize));
  llvm::append_range(next, carriedNext);
  create<scf::YieldOp>(next);

  for (auto [from, to] :
       llvm::zip(walk.results, outer.getResults().drop_front(fixed))) {
    map.map(from, to);
  }
  return success();
}

Value KernelLowering::takeTile(PipelineOp queue, AllocOp responses,
                               Value position, bool asks) {
  waitForParity(barrierOf(queue, position, StageSide::full), phaseOf(position));
  Value answer = create<LLVM::LoadOp>(b.getIntegerType(128),
                                      sharedStage(responses, position),
                                      /*alignment=*/16);
  // The next answer, written by the async proxy, comes after this read.
  create<NVVM::FenceProxyOp>(
      NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  Value empty = barrierOf(queue, position, StageSide::empty);
  auto arrive = [&] {
    if (!isClustered()) {
      create<NVVM::MBarrierArriveOp>(b.getI64Type(), empty, /*count=*/Value());
      return;
    }
    Value ofFirst =
        create<NVVM::MapaOp>(inCluster(empty).getType(), empty, i32Const(0));
    create<NVVM::MBarrierArriveOp>(Type(), ofFirst, /*count=*/Value(),
                                   NVVM::MemScopeKind::CLUSTER);
  };
  if (asks) {
    // Rank 0 asks again after it has read: only the others tell it.
    if (isClustered()) {
      ifWarp(
          create<arith::CmpIOp>(arith::CmpIPredicate::ne, ctaRank, i32Const(0)),
          arrive);
    }
  } else if (currentRole && currentRole.getElected()) {
    arrive();
  } else {
    syncWarp();
    ifFirstLane(arrive);
  }
  using Query = NVVM::ClusterLaunchControlQueryType;
  Value canceled = create<NVVM::ClusterLaunchControlQueryCancelOp>(
      b.getI1Type(), Query::IS_CANCELED, answer);
  Value cta = create<NVVM::ClusterLaunchControlQueryCancelOp>(
      b.getI32Type(), Query::GET_FIRST_CTA_ID_X, answer);
  Value tile = create<arith::DivUIOp>(cta, i32Const(source.getClusterSize()));
  return create<arith::SelectOp>(canceled, tile, i32Const(-1));
}

// Rank 0 asks as soon as all have taken the answer that a stage held; every
// CTA announces the bytes of its own copy.
LogicalResult KernelLowering::lower(RequestTilesOp op) {
  auto queue = definingOp<PipelineOp>(op, op.getQueue());
  auto responses = definingOp<AllocOp>(op, op.getResponses());
  if (!queue || !responses) {
    return failure();
  }
  Type i32 = b.getI32Type();
  Value isFirst;
  if (isClustered()) {
    isFirst =
        create<arith::CmpIOp>(arith::CmpIPredicate::eq, ctaRank, i32Const(0));
  }
  auto inFirst = [&](function_ref<void()> body) {
    isFirst ? ifWarp(isFirst, body) : body();
  };
  auto loop = create<scf::WhileOp>(TypeRange(i32), ValueRange(i32Const(0)));
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {i32}, {loc});
  Value position = before->getArgument(0);
  Value full = barrierOf(queue, position, StageSide::full);
  inFirst([&] { acquire(queue, position); });
  create<NVVM::MBarrierArriveExpectTxOp>(
      Type(), full, i32Const(queue.getTransactionBytes()),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  inFirst([&] {
    create<NVVM::ClusterLaunchControlTryCancelOp>(
        isClustered() ? b.getUnitAttr() : UnitAttr(),
        sharedStage(responses, position), full);
  });
  Value tile = takeTile(queue, responses, position, /*asks=*/true);
  Value more =
      create<arith::CmpIOp>(arith::CmpIPredicate::sge, tile, i32Const(0));
  Value next = advanced(position, queue.getPipeline().getType().getStages());
  create<scf::ConditionOp>(more, ValueRange(next));
  Block *after = b.createBlock(&loop.getAfter(), {}, {i32}, {loc});
  create<scf::YieldOp>(after->getArguments());
  return success();
}
