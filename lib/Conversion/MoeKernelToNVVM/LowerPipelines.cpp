// Ring positions, barriers and bulk copies. A position is the stage in bits
// 0-7 and the phase in bit 8.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "lib/Conversion/MoeKernelToNVVM/Tcgen05.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

static constexpr int64_t phaseBit = 8;
static constexpr int64_t stageMask = (1 << phaseBit) - 1;

Value KernelLowering::stageOf(Value position, int64_t stages) {
  if (stages == 1) {
    return i32Const(0);
  }
  return create<arith::AndIOp>(position, i32Const(stageMask));
}

Value KernelLowering::phaseOf(Value position) {
  return create<arith::ShRUIOp>(position, i32Const(phaseBit));
}

Value KernelLowering::barrierOf(PipelineOp pipeline, Value position,
                                StageSide side) {
  PipelinePlace place = resources.getPlace(pipeline);
  Value first =
      sharedAt(side == StageSide::full ? place.fullOffset : place.emptyOffset);
  int64_t stages = pipeline.getPipeline().getType().getStages();
  if (stages == 1) {
    return first;
  }
  Value bytes = create<arith::MulIOp>(stageOf(position, stages),
                                      i32Const(KernelResources::barrierBytes));
  return create<LLVM::GEPOp>(first.getType(), b.getI8Type(), first,
                             ValueRange{bytes});
}

Value KernelLowering::sharedStage(AllocOp alloc, Value position) {
  BufferPlace place = resources.getPlace(alloc);
  Value first = sharedAt(place.offset);
  int64_t stages = alloc.getBuffer().getType().getStages();
  if (stages == 1) {
    return first;
  }
  Value bytes =
      create<arith::MulIOp>(stageOf(position, stages), i32Const(place.stride));
  return create<LLVM::GEPOp>(first.getType(), b.getI8Type(), first,
                             ValueRange{bytes});
}

void KernelLowering::waitForParity(Value barrier, Value parity) {
  auto loop = create<scf::WhileOp>(TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  // In a cluster threads of other CTAs arrive too.
  auto scope =
      isClustered() ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA;
  Value complete = create<NVVM::MBarrierTryWaitOp>(b.getI1Type(), barrier,
                                                   parity, Value(), scope);
  Value yes = create<arith::ConstantOp>(b.getBoolAttr(true));
  Value again = create<arith::XOrIOp>(complete, yes);
  create<scf::ConditionOp>(again, ValueRange());
  b.createBlock(&loop.getAfter());
  create<scf::YieldOp>();
}

Value KernelLowering::advanced(Value position, int64_t stages) {
  Value flip = i32Const(1 << phaseBit);
  if (stages == 1) {
    return create<arith::XOrIOp>(position, flip);
  }
  Value next = create<arith::AddIOp>(position, i32Const(1));
  Value stage = create<arith::AndIOp>(next, i32Const(stageMask));
  Value wraps =
      create<arith::CmpIOp>(arith::CmpIPredicate::eq, stage, i32Const(stages));
  Value phase = create<arith::AndIOp>(position, flip);
  Value first = create<arith::XOrIOp>(phase, flip);
  return create<arith::SelectOp>(wraps, first, next);
}

LogicalResult KernelLowering::lower(AdvanceOp op) {
  map.map(op.getNext(), advanced(mapped(op.getPosition()),
                                 op.getPipeline().getType().getStages()));
  return success();
}

LogicalResult KernelLowering::lower(PhaseOp op) {
  map.map(op.getPhase(), phaseOf(mapped(op.getPosition())));
  return success();
}

void KernelLowering::acquire(PipelineOp pipeline, Value position) {
  // A fresh barrier passes a wait for the parity before its first phase.
  Value parity = create<arith::XOrIOp>(phaseOf(position), i32Const(1));
  waitForParity(barrierOf(pipeline, position, StageSide::empty), parity);
}

bool KernelLowering::guardsAccess(Operation *handOver, PipelineOp pipeline) {
  auto role = handOver->getParentOfType<RoleOp>();
  return llvm::any_of(tensorAccesses.lookup(pipeline), [&](Operation *access) {
    if (access->getParentOfType<RoleOp>() != role) {
      return false;
    }
    // Of accumulators that overlap, the rest is read after their release: the
    // next one, on whatever path, gives it back.
    auto load = dyn_cast<LoadAccumulatorOp>(access);
    auto buffer =
        load ? load.getAccumulator().getDefiningOp<AllocOp>() : AllocOp();
    bool isLate = isa<ReleaseOp>(handOver) && buffer && buffer.getOverlap() > 0;
    return isLate || !insideMutuallyExclusiveRegions(handOver, access);
  });
}

LogicalResult KernelLowering::lower(AcquireOp op) {
  auto pipeline = definingOp<PipelineOp>(op, op.getPipeline());
  if (!pipeline) {
    return failure();
  }
  acquire(pipeline, mapped(op.getPosition()));
  if (guardsAccess(op, pipeline)) {
    tcgen05::fenceAfter(b, loc);
  }
  return success();
}

LogicalResult KernelLowering::lower(DrainOp op) {
  auto pipeline = definingOp<PipelineOp>(op, op.getPipeline());
  if (!pipeline) {
    return failure();
  }
  int64_t stages = op.getPipeline().getType().getStages();
  auto loop = create<scf::ForOp>(i32Const(0), i32Const(stages), i32Const(1),
                                 mapped(op.getPosition()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = loop.getRegionIterArg(0);
  acquire(pipeline, position);
  create<scf::YieldOp>(advanced(position, stages));
  return success();
}

LogicalResult KernelLowering::lower(WaitOp op) {
  auto pipeline = definingOp<PipelineOp>(op, op.getPipeline());
  if (!pipeline) {
    return failure();
  }
  Value position = mapped(op.getPosition());
  waitForParity(barrierOf(pipeline, position, StageSide::full),
                phaseOf(position));
  if (guardsAccess(op, pipeline)) {
    tcgen05::fenceAfter(b, loc);
  }
  return success();
}

LogicalResult KernelLowering::lower(ExpectOp op) {
  auto pipeline = definingOp<PipelineOp>(op, op.getPipeline());
  if (!pipeline) {
    return failure();
  }
  Value barrier =
      barrierOf(pipeline, mapped(op.getPosition()), StageSide::full);
  auto expect = [&] {
    create<NVVM::MBarrierArriveExpectTxOp>(
        Type(), barrier, i32Const(pipeline.getTransactionBytes()),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  };
  if (source.getPaired()) { // the leader announces the bytes of both
    ifWarp(isLeader(), expect);
  } else {
    expect();
  }
  return success();
}

LogicalResult KernelLowering::lower(ReleaseOp op) {
  auto pipeline = definingOp<PipelineOp>(op, op.getPipeline());
  if (!pipeline) {
    return failure();
  }
  if (guardsAccess(op, pipeline)) {
    tcgen05::fenceBefore(b, loc);
  }
  Value barrier =
      barrierOf(pipeline, mapped(op.getPosition()), StageSide::empty);
  if (source.getPaired()) {
    create<NVVM::MBarrierArriveOp>(Type(), inCluster(inLeader(barrier)),
                                   /*count=*/Value(),
                                   NVVM::MemScopeKind::CLUSTER);
  } else {
    create<NVVM::MBarrierArriveOp>(b.getI64Type(), barrier, /*count=*/Value());
  }
  return success();
}

LogicalResult KernelLowering::lower(CommitOp op) {
  auto pipeline = definingOp<PipelineOp>(op, op.getPipeline());
  if (!pipeline) {
    return failure();
  }
  Value barrier = barrierOf(pipeline, mapped(op.getPosition()), op.getSide());
  Value mask;
  if (op.getSide() == StageSide::empty &&
      (source.getPaired() || pipeline.getReaders() > 1)) {
    mask = writersMask(pipeline);
  } else if (source.getPaired()) {
    mask = pairMask();
  }
  tcgen05::commit(b, loc, barrier, mask, ctaGroup());
  return success();
}

LogicalResult KernelLowering::lower(LoadOp op) {
  auto pipeline = definingOp<PipelineOp>(op, op.getPipeline());
  auto buffer = definingOp<AllocOp>(op, op.getBuffer());
  if (!pipeline || !buffer) {
    return failure();
  }
  Value position = mapped(op.getPosition());
  Value destination = sharedStage(buffer, position);
  if (op.getOffset() != 0) {
    destination =
        create<LLVM::GEPOp>(destination.getType(), b.getI8Type(), destination,
                            ArrayRef<LLVM::GEPArg>{int32_t(op.getOffset())});
  }
  if (op.getSlice()) {
    destination =
        create<LLVM::GEPOp>(destination.getType(), b.getI8Type(), destination,
                            ValueRange{mapped(op.getSlice())});
  }
  Value barrier = barrierOf(pipeline, position, StageSide::full);
  Value mask = op.getAlong() ? receiversOf(*op.getAlong()) : Value();
  bool isCtaOnly = !mask && !source.getPaired();
  if (!isCtaOnly) {
    destination = inCluster(destination);
  }
  NVVM::CTAGroupKindAttr group;
  if (source.getPaired()) {
    barrier = inLeader(barrier);
    group = NVVM::CTAGroupKindAttr::get(b.getContext(), ctaGroup());
  }
  // PTX counts dimensions from the fastest.
  SmallVector<Value> coordinates = mapped(op.getCoordinates());
  std::reverse(coordinates.begin(), coordinates.end());
  create<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(
      destination, mapped(op.getMap()), coordinates, barrier,
      /*im2colOffsets=*/ValueRange(), mask, /*l2CacheHint=*/Value(),
      NVVM::TMALoadMode::TILE, isCtaOnly, group, /*predicate=*/Value());
  return success();
}
