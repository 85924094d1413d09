// State and helpers shared by the files that lower one kernel.
#ifndef LIB_CONVERSION_MOEKERNELTONVVM_KERNELLOWERING_H
#define LIB_CONVERSION_MOEKERNELTONVVM_KERNELLOWERING_H

#include "dialect/MoeKernel/IR/MoeKernelOps.h"
#include "lib/Analysis/KernelResources.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace grouped_moe {

struct TileWalk;

/// Name of the dynamic shared memory of a module of kernels.
inline constexpr llvm::StringLiteral dynamicSharedName = "dyn_smem";

/// Rows of a scale atom, in which the walks over tiles count groups.
inline constexpr int64_t rowsOfAtom = 128;

/// Lowers one moe_kernel.func into the body of an llvm.func. Ops of other
/// dialects are cloned with their operands mapped.
class KernelLowering {
public:
  KernelLowering(moe_kernel::FuncOp source, mlir::LLVM::LLVMFuncOp target,
                 const KernelResources &resources);

  mlir::LogicalResult run();

private:
  //===- Structure (KernelLowering.cpp)
  //-------------------------------------===//

  void emitThreadIds();
  void emitPrologue();
  void emitEpilogue();
  void initBarriers();
  mlir::LogicalResult lowerRole(moe_kernel::RoleOp role);
  mlir::LogicalResult lowerBody(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult cloneOp(mlir::Operation *op);
  mlir::LogicalResult lower(moe_kernel::IndexOp op);
  /// Runs `body` in the elected thread of the current warp.
  void ifElected(llvm::function_ref<void()> body);
  void ifWarp(mlir::Value condition, llvm::function_ref<void()> body);

  //===- Clusters (LowerClusters.cpp)
  //------------------------------------------===//

  mlir::NVVM::CTAGroupKind ctaGroup() {
    return source.getPaired() ? mlir::NVVM::CTAGroupKind::CTA_2
                              : mlir::NVVM::CTAGroupKind::CTA_1;
  }
  bool isClustered() { return source.getClusterSize() > 1; }
  /// Waits for all threads of the CTA, or of the cluster.
  void syncAll();
  /// The CTA's place in its cluster along an axis.
  mlir::Value clusterIndex(moe_kernel::ClusterAxis axis);
  /// i1: this CTA issues the matrix work of its pair.
  mlir::Value isLeader();
  /// The same address in the shared memory of the pair's leader.
  mlir::Value inLeader(mlir::Value shared);
  /// A shared address as one of the cluster's.
  mlir::Value inCluster(mlir::Value shared);
  /// Masks of CTAs (i16): the receivers of a box; the pair; the CTAs whose
  /// loads this unit has read.
  mlir::Value receiversOf(moe_kernel::ClusterAxis axis);
  mlir::Value pairMask();
  mlir::Value writersMask(moe_kernel::PipelineOp pipeline);
  mlir::Value ctaBits(uint64_t bits, mlir::Value shift);
  /// The number of this walker, a CTA or a cluster, and how many there are.
  mlir::Value walker();
  mlir::Value walkers();
  /// This CTA's part of a place that its cluster takes.
  mlir::Value ownPlace(mlir::Value place, moe_kernel::ClusterAxis axis,
                       int64_t tile);

  //===- Tiles (LowerTiles.cpp)
  //---------------------------------------------===//

  mlir::LogicalResult lower(moe_kernel::ForTilesOp op);
  mlir::LogicalResult lower(moe_kernel::ForGroupTilesOp op);
  /// Rows of an atom of scales.
  static constexpr int64_t rowsOfAtom = 128;
  /// An element of the array of i32 `offsets`.
  mlir::Value loadOffset(mlir::Value offsets, mlir::Value group);
  mlir::Value piecesOf(mlir::Value value, mlir::Value by);
  /// Tile `local` of tilesM x tilesN, in the raster's order.
  struct RowColumn {
    mlir::Value row, column;
  };
  RowColumn placeOf(mlir::Value local, mlir::Value tilesM, mlir::Value tilesN,
                    moe_kernel::Raster raster);

  // (LowerWalk.cpp)
  mlir::LogicalResult lowerWalk(mlir::Operation *op, const TileWalk &walk);
  mlir::LogicalResult lower(moe_kernel::RequestTilesOp op);
  /// The number that a stage of the queue holds, -1 for none; gives it back.
  /// `asks`: in the role that asks for the next one.
  mlir::Value takeTile(moe_kernel::PipelineOp queue,
                       moe_kernel::AllocOp responses, mlir::Value position,
                       bool asks);

  //===- Pipelines and bulk copies (LowerPipelines.cpp)
  //---------------------===//

  mlir::LogicalResult lower(moe_kernel::AdvanceOp op);
  mlir::LogicalResult lower(moe_kernel::PhaseOp op);
  mlir::LogicalResult lower(moe_kernel::AcquireOp op);
  mlir::LogicalResult lower(moe_kernel::ExpectOp op);
  mlir::LogicalResult lower(moe_kernel::WaitOp op);
  mlir::LogicalResult lower(moe_kernel::ReleaseOp op);
  mlir::LogicalResult lower(moe_kernel::CommitOp op);
  mlir::LogicalResult lower(moe_kernel::DrainOp op);
  mlir::LogicalResult lower(moe_kernel::LoadOp op);
  mlir::Value advanced(mlir::Value position, int64_t stages);
  void acquire(moe_kernel::PipelineOp pipeline, mlir::Value position);
  /// Whether `handOver` stands between accesses of accumulators by its role and
  /// by another one. Only then it needs a tcgen05 fence: not on the path of a
  /// tile past its group, whose accumulators are given back unread.
  bool guardsAccess(mlir::Operation *handOver, moe_kernel::PipelineOp pipeline);
  /// Spins until the phase of parity `parity` is complete.
  void waitForParity(mlir::Value barrier, mlir::Value parity);
  mlir::Value stageOf(mlir::Value position, int64_t stages);
  mlir::Value phaseOf(mlir::Value position);
  mlir::Value barrierOf(moe_kernel::PipelineOp pipeline, mlir::Value position,
                        moe_kernel::StageSide side);
  mlir::Value sharedStage(moe_kernel::AllocOp alloc, mlir::Value position);

  //===- Arrays of tensor maps (LowerTensorMaps.cpp)
  //------------------------===//

  mlir::LogicalResult lower(moe_kernel::BuildMapOp op);
  mlir::LogicalResult lower(moe_kernel::ReleaseMapsOp op);
  mlir::LogicalResult lower(moe_kernel::MapElementOp op);
  mlir::LogicalResult lower(moe_kernel::AcquireMapOp op);
  mlir::Value mapAddress(mlir::Value maps, mlir::Value index);

  //===- Tensor memory and matrix work (LowerMatrix.cpp)
  //--------------------===//

  mlir::LogicalResult lower(moe_kernel::CopyScalesOp op);
  mlir::LogicalResult lower(moe_kernel::MmaOp op);
  mlir::LogicalResult lower(moe_kernel::LoadAccumulatorOp op);
  /// Tensor memory address (i32) of a buffer's stage.
  mlir::Value tensorStage(moe_kernel::AllocOp alloc, mlir::Value position);

  //===- Staged stores (LowerStores.cpp)
  //------------------------------------===//

  mlir::LogicalResult lower(moe_kernel::AcquireStagingOp op);
  mlir::LogicalResult lower(moe_kernel::StageRowOp op);
  mlir::LogicalResult lower(moe_kernel::PublishStagingOp op);
  mlir::LogicalResult lower(moe_kernel::StoreOp op);
  mlir::LogicalResult lower(moe_kernel::CommitStoresOp op);
  /// Runs `body` in lane 0: bulk groups belong to one thread.
  void ifFirstLane(llvm::function_ref<void()> body);
  void syncWarp();

  //===- Warps, roles and CTAs (LowerCollectives.cpp)
  //-----------------------===//

  mlir::LogicalResult lower(moe_kernel::ColumnAmaxOp op);
  mlir::LogicalResult lower(moe_kernel::ColumnSumOp op);
  mlir::LogicalResult lower(moe_kernel::SpreadLanesOp op);
  mlir::LogicalResult lower(moe_kernel::TransposeLanesOp op);
  mlir::LogicalResult lower(moe_kernel::WarpAmaxOp op);
  mlir::LogicalResult lower(moe_kernel::BarrierOp op);
  mlir::LogicalResult lower(moe_kernel::LastArrivalOp op);
  mlir::LogicalResult lower(moe_kernel::AtomicMaxOp op);
  mlir::LogicalResult lower(moe_kernel::AtomicAddOp op);
  mlir::LogicalResult lower(moe_kernel::SharedStoreOp op);
  mlir::LogicalResult lower(moe_kernel::SharedLoadOp op);
  mlir::Value warpMax(mlir::Value value);
  mlir::Value laneBit(unsigned bit);
  /// The barrier of the threads that run this: of the role or of the CTA.
  /// With `predicate` (i1): whether it is true in one of them.
  mlir::FailureOr<mlir::Value> barrier(mlir::Operation *op,
                                       mlir::Value predicate);
  mlir::Value sharedScalar(moe_kernel::AllocOp alloc, mlir::Value row,
                           mlir::Value column);

  //===- Elements (LowerElements.cpp)
  //---------------------------------------===//

  mlir::LogicalResult lower(moe_kernel::GlobalLoadOp op);
  mlir::LogicalResult lower(moe_kernel::GlobalStoreOp op);
  mlir::LogicalResult lower(moe_kernel::PointeeOp op);
  mlir::LogicalResult lower(moe_kernel::EncodeOp op);
  mlir::LogicalResult lower(moe_kernel::DecodeOp op);
  mlir::LogicalResult lower(moe_kernel::EncodeScaleOp op);
  mlir::Value globalAddress(mlir::MemRefType type, mlir::Value base,
                            mlir::ValueRange indices);

  //===- Functions (LowerFunctions.cpp)
  //--------------------------------------===//

  mlir::LogicalResult lower(moe_kernel::SigmoidOp op);
  mlir::Value approximate(llvm::StringRef intrinsic, mlir::Value values);

  //===- Helpers
  //------------------------------------------------------------===//

  template <typename OpT, typename... Args> OpT create(Args &&...args) {
    return OpT::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value i32Const(int64_t value);
  mlir::Value i64Const(int64_t value);
  /// `thread` or `warp` counted from the role's first.
  mlir::Value relativeThread();
  mlir::Value relativeWarp();
  mlir::Value sharedAt(int64_t offset);
  /// The op that defines a buffer or pipeline; reports when it is not visible.
  template <typename OpT>
  OpT definingOp(mlir::Operation *user, mlir::Value value) {
    auto op = value.getDefiningOp<OpT>();
    if (!op) {
      user->emitOpError() << "uses a " << value.getType()
                          << " that is not the result of "
                          << OpT::getOperationName()
                          << "; buffers and pipelines cannot pass through "
                             "control flow";
    }
    return op;
  }
  mlir::Value mapped(mlir::Value value) { return map.lookupOrDefault(value); }
  llvm::SmallVector<mlir::Value> mapped(mlir::ValueRange values) {
    return llvm::map_to_vector(values,
                               [&](mlir::Value v) { return mapped(v); });
  }

  moe_kernel::FuncOp source;
  mlir::LLVM::LLVMFuncOp target;
  const KernelResources &resources;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::IRMapping map;

  llvm::SmallVector<moe_kernel::RoleOp> roles;
  /// What reads or writes accumulators, by the pipeline that guards them.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>>
      tensorAccesses;
  /// The role being lowered, and whether it touches tensor memory.
  moe_kernel::RoleOp currentRole;

  mlir::Value ctaRank; // in the cluster
  mlir::Value sharedBase, thread, lane, warp, tensorBase;
  int64_t allocatingWarp = 0, setupWarp = 0;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_MOEKERNELTONVVM_KERNELLOWERING_H
