#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"

#include "lib/Conversion/MoeKernelToNVVM/Tcgen05.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

static constexpr unsigned sharedSpace = 3;

KernelLowering::KernelLowering(FuncOp source, LLVM::LLVMFuncOp target,
                               const KernelResources &resources)
    : source(source), target(target), resources(resources),
      b(target.getContext()), loc(source.getLoc()),
      roles(source.getBody().front().getOps<RoleOp>()) {}

Value KernelLowering::i32Const(int64_t value) {
  return create<arith::ConstantOp>(b.getI32IntegerAttr(value));
}

Value KernelLowering::i64Const(int64_t value) {
  return create<arith::ConstantOp>(b.getI64IntegerAttr(value));
}

Value KernelLowering::relativeThread() {
  int64_t first = currentRole ? currentRole.getFirstWarp() : 0;
  return first == 0 ? thread
                    : create<arith::SubIOp>(thread, i32Const(32 * first));
}

Value KernelLowering::relativeWarp() {
  int64_t first = currentRole ? currentRole.getFirstWarp() : 0;
  return first == 0 ? warp : create<arith::SubIOp>(warp, i32Const(first));
}

Value KernelLowering::sharedAt(int64_t offset) {
  if (offset == 0) {
    return sharedBase;
  }
  return create<LLVM::GEPOp>(sharedBase.getType(), b.getI8Type(), sharedBase,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

LogicalResult KernelLowering::run() {
  Block &body = source.getBody().front();
  Block *entry = target.addEntryBlock(b);
  for (auto [from, to] :
       llvm::zip(body.getArguments(), entry->getArguments())) {
    map.map(from, to);
  }
  source.walk([&](Operation *op) {
    Value pipeline =
        TypeSwitch<Operation *, Value>(op)
            .Case([](MmaOp mma) { return mma.getAccPipeline(); })
            .Case([](LoadAccumulatorOp load) { return load.getPipeline(); })
            .Default([](Operation *) { return Value(); });
    if (pipeline && pipeline.getDefiningOp()) {
      tensorAccesses[pipeline.getDefiningOp()].push_back(op);
    }
  });

  b.setInsertionPointToStart(entry);
  emitThreadIds();
  emitPrologue();
  if (failed(lowerBody(body))) {
    return failure();
  }
  loc = source.getLoc();
  emitEpilogue();
  create<LLVM::ReturnOp>(ValueRange());
  return success();
}

void KernelLowering::emitThreadIds() {
  Type i32 = b.getI32Type();
  int32_t threads = 32 * source.getWarps();
  auto range = LLVM::ConstantRangeAttr::get(b.getContext(), APInt(32, 0),
                                            APInt(32, threads));
  thread = create<NVVM::ThreadIdXOp>(i32, range);
  lane = create<arith::AndIOp>(thread, i32Const(31));
  warp = create<arith::ShRUIOp>(thread, i32Const(5));
  if (isClustered()) {
    ctaRank = create<NVVM::ClusterId>(i32);
  }
  if (!roles.empty()) {
    // Lane 0's value for all: tells the compiler that it is uniform.
    warp = create<NVVM::ShflOp>(i32, i32Const(-1), warp, i32Const(0),
                                i32Const(31), NVVM::ShflKind::idx,
                                /*return_value_and_is_valid=*/UnitAttr());
  }
}

void KernelLowering::ifWarp(Value condition, function_ref<void()> body) {
  auto ifOp = create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

void KernelLowering::ifElected(function_ref<void()> body) {
  Value elected =
      create<NVVM::ElectSyncOp>(b.getI1Type(), /*membermask=*/Value());
  ifWarp(elected, body);
}

void KernelLowering::initBarriers() {
  for (auto pipeline : source.getBody().front().getOps<PipelineOp>()) {
    loc = pipeline.getLoc();
    PipelinePlace place = resources.getPlace(pipeline);
    Value producers = i32Const(pipeline.getProducers());
    Value consumers = i32Const(pipeline.getConsumers());
    int64_t stages = pipeline.getPipeline().getType().getStages();
    for (int64_t i = 0; i < stages; ++i) {
      int64_t at = i * KernelResources::barrierBytes;
      create<NVVM::MBarrierInitOp>(sharedAt(place.fullOffset + at), producers,
                                   Value());
      create<NVVM::MBarrierInitOp>(sharedAt(place.emptyOffset + at), consumers,
                                   Value());
    }
  }
  loc = source.getLoc();
  create<NVVM::FenceMbarrierInitOp>();
}

void KernelLowering::emitPrologue() {
  if (resources.getSharedBytes() > 0) {
    sharedBase = create<LLVM::AddressOfOp>(
        LLVM::LLVMPointerType::get(b.getContext(), sharedSpace),
        dynamicSharedName);
  }
  SmallVector<Value> maps;
  for (BlockArgument argument : source.getBody().getArguments()) {
    if (isa<TensorMapType>(argument.getType())) {
      maps.push_back(mapped(argument));
    }
  }
  bool hasPipelines = !source.getBody().front().getOps<PipelineOp>().empty();
  bool hasTensor = resources.getAllocatedColumns() > 0;
  if (!hasPipelines && !hasTensor) {
    return;
  }

  setupWarp = roles.empty() ? 0 : roles.front().getFirstWarp();
  allocatingWarp = source.getWarps() - 1;
  for (RoleOp role : roles) {
    if (role.getElected() &&
        role.walk([](MmaOp) { return WalkResult::interrupt(); })
            .wasInterrupted()) {
      allocatingWarp = role.getFirstWarp();
    }
  }

  Value isSetup = create<arith::CmpIOp>(arith::CmpIPredicate::eq, warp,
                                        i32Const(setupWarp));
  ifWarp(isSetup, [&] {
    ifElected([&] {
      for (Value tensorMap : maps) {
        create<NVVM::PrefetchOp>(NVVM::PrefetchCacheLevelAttr(),
                                 NVVM::CacheEvictionPriorityAttr(), tensorMap,
                                 Value(), /*tensormap=*/true, /*uniform=*/false,
                                 /*in_param_space=*/true);
      }
      if (hasPipelines) {
        initBarriers();
      }
    });
  });
  if (hasTensor) {
    Value allocates = create<arith::CmpIOp>(arith::CmpIPredicate::eq, warp,
                                            i32Const(allocatingWarp));
    ifWarp(allocates, [&] {
      tcgen05::alloc(b, loc, sharedAt(resources.getTensorSlotOffset()),
                     resources.getAllocatedColumns(), ctaGroup());
    });
  }
  syncAll();
  if (hasTensor) {
    tensorBase = create<LLVM::LoadOp>(b.getI32Type(),
                                      sharedAt(resources.getTensorSlotOffset()),
                                      /*alignment=*/4);
  }
}

void KernelLowering::emitEpilogue() {
  if (resources.getAllocatedColumns() == 0) {
    return;
  }
  // In a cluster also before others end: they write to this CTA's memory.
  syncAll();
  Value allocates = create<arith::CmpIOp>(arith::CmpIPredicate::eq, warp,
                                          i32Const(allocatingWarp));
  ifWarp(allocates, [&] {
    tcgen05::dealloc(b, loc, tensorBase, resources.getAllocatedColumns(),
                     ctaGroup());
  });
}

LogicalResult KernelLowering::lowerRole(RoleOp role) {
  currentRole = role;
  int64_t first = role.getFirstWarp(), count = role.getNumWarps();
  Value inRole;
  if (count == 1) {
    inRole =
        create<arith::CmpIOp>(arith::CmpIPredicate::eq, warp, i32Const(first));
  } else {
    Value relative = create<arith::SubIOp>(warp, i32Const(first));
    inRole = create<arith::CmpIOp>(arith::CmpIPredicate::ult, relative,
                                   i32Const(count));
  }
  if (role.getLeader()) {
    inRole = create<arith::AndIOp>(inRole, isLeader());
  }
  LogicalResult result = success();
  ifWarp(inRole, [&] {
    if (role.getElected()) {
      ifElected([&] { result = lowerBody(role.getBody().front()); });
    } else {
      result = lowerBody(role.getBody().front());
    }
  });
  currentRole = RoleOp();
  return result;
}

LogicalResult KernelLowering::lowerBody(Block &block) {
  for (Operation &op : block) {
    loc = op.getLoc();
    if (failed(lowerOp(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AllocOp, PipelineOp, ReturnOp, YieldOp>(
          [](Operation *) { return success(); })
      .Case([&](RoleOp role) { return lowerRole(role); })
      .Case<IndexOp, ForTilesOp, ForGroupTilesOp, RequestTilesOp, PointeeOp,
            AdvanceOp, PhaseOp, AcquireOp, ExpectOp, WaitOp, ReleaseOp,
            CommitOp, DrainOp, LoadOp, CopyScalesOp, MmaOp, LoadAccumulatorOp,
            GlobalLoadOp, GlobalStoreOp, EncodeOp, DecodeOp, EncodeScaleOp,
            AcquireStagingOp, StageRowOp, PublishStagingOp, StoreOp,
            CommitStoresOp, ColumnAmaxOp, ColumnSumOp, SpreadLanesOp,
            TransposeLanesOp, WarpAmaxOp, BarrierOp, LastArrivalOp, SigmoidOp,
            AtomicMaxOp, AtomicAddOp, SharedStoreOp, SharedLoadOp, BuildMapOp,
            ReleaseMapsOp, MapElementOp, AcquireMapOp>(
          [&](auto typed) { return lower(typed); })
      .Default([&](Operation *other) { return cloneOp(other); });
}

LogicalResult KernelLowering::cloneOp(Operation *op) {
  if (isa<MoeKernelDialect>(op->getDialect())) {
    return op->emitOpError() << "cannot stand in a kernel";
  }
  auto isForeign = [](Type type) {
    return isa<BaseMemRefType, TensorType>(type) ||
           isa<MoeKernelDialect>(type.getDialect());
  };
  if (llvm::any_of(op->getOperandTypes(), isForeign) ||
      llvm::any_of(op->getResultTypes(), isForeign)) {
    return op->emitOpError()
           << "takes or returns a memref, tensor or moe_kernel value inside a "
              "kernel; use moe_kernel.global_load and global_store";
  }
  Operation *clone = b.cloneWithoutRegions(*op, map);
  for (auto [from, to] : llvm::zip(op->getRegions(), clone->getRegions())) {
    for (Block &block : from) {
      Block *copy = &to.emplaceBlock();
      map.map(&block, copy);
      for (BlockArgument argument : block.getArguments()) {
        map.map(argument,
                copy->addArgument(argument.getType(), argument.getLoc()));
      }
    }
    for (Block &block : from) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(map.lookup(&block));
      if (failed(lowerBody(block))) {
        return failure();
      }
    }
  }
  return success();
}

LogicalResult KernelLowering::lower(IndexOp op) {
  Type i32 = b.getI32Type();
  Value result;
  switch (op.getKind()) {
  case IndexKind::thread:
    result = relativeThread();
    break;
  case IndexKind::warp:
    result = relativeWarp();
    break;
  case IndexKind::lane:
    result = lane;
    break;
  case IndexKind::cta:
    result = create<NVVM::BlockIdXOp>(i32);
    break;
  case IndexKind::ctas:
    result = create<NVVM::GridDimXOp>(i32);
    break;
  case IndexKind::cluster_m:
    result = clusterIndex(ClusterAxis::m);
    break;
  case IndexKind::cluster_n:
    result = clusterIndex(ClusterAxis::n);
    break;
  }
  map.map(op.getIndex(), result);
  return success();
}
