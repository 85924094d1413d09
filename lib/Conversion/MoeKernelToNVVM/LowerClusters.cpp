// The CTA in its cluster: ranks, masks and addresses of others.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

static constexpr unsigned clusterSpace = 7; // shared memory of the cluster

void KernelLowering::syncAll() {
  if (!isClustered()) {
    create<NVVM::BarrierOp>();
    return;
  }
  create<NVVM::ClusterArriveOp>(b.getUnitAttr());
  create<NVVM::ClusterWaitOp>(b.getUnitAttr());
}

Value KernelLowering::clusterIndex(ClusterAxis axis) {
  int64_t m = source.getClusterM(), n = source.getClusterN();
  if (axis == ClusterAxis::m) {
    return m == 1   ? i32Const(0)
           : n == 1 ? ctaRank
                    : create<arith::RemUIOp>(ctaRank, i32Const(m));
  }
  return n == 1   ? i32Const(0)
         : m == 1 ? ctaRank
                  : create<arith::DivUIOp>(ctaRank, i32Const(m));
}

Value KernelLowering::isLeader() {
  Value odd = create<arith::AndIOp>(ctaRank, i32Const(1));
  return create<arith::CmpIOp>(arith::CmpIPredicate::eq, odd, i32Const(0));
}

Value KernelLowering::inLeader(Value shared) {
  // Shared addresses of a cluster have the CTA's rank from bit 24 on.
  Value address = create<LLVM::PtrToIntOp>(b.getI32Type(), shared);
  Value leader = create<arith::AndIOp>(address, i32Const(int32_t(~(1u << 24))));
  return create<LLVM::IntToPtrOp>(shared.getType(), leader);
}

Value KernelLowering::inCluster(Value shared) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), clusterSpace);
  return create<LLVM::AddrSpaceCastOp>(type, shared);
}

Value KernelLowering::ctaBits(uint64_t bits, Value shift) {
  Value shifted = create<arith::ShLIOp>(i32Const(bits), shift);
  return create<arith::TruncIOp>(b.getI16Type(), shifted);
}

/// A bit for each of `count` CTAs, `step` apart.
static uint64_t everyBit(int64_t count, int64_t step, uint64_t bits) {
  uint64_t mask = 0;
  for (int64_t i = 0; i < count; ++i) {
    mask |= bits << (i * step);
  }
  return mask;
}

Value KernelLowering::receiversOf(ClusterAxis axis) {
  int64_t m = source.getClusterM(), unit = source.getCtasOfUnit();
  int64_t count = source.getReceivers(axis);
  if (axis == ClusterAxis::n) {
    return ctaBits(everyBit(count, m, 1), clusterIndex(ClusterAxis::m));
  }
  Value first =
      create<arith::MulIOp>(clusterIndex(ClusterAxis::n), i32Const(m));
  if (unit == 2) {
    first = create<arith::OrIOp>(first,
                                 create<arith::AndIOp>(ctaRank, i32Const(1)));
  }
  return ctaBits(everyBit(count, unit, 1), first);
}

Value KernelLowering::pairMask() {
  return ctaBits(3, create<arith::AndIOp>(ctaRank, i32Const(~int64_t(1))));
}

Value KernelLowering::writersMask(PipelineOp pipeline) {
  int64_t m = source.getClusterM(), unit = source.getCtasOfUnit();
  uint64_t own = unit == 2 ? 3 : 1;
  Value leader = create<arith::AndIOp>(ctaRank, i32Const(-unit));
  Value mask = ctaBits(own, leader);
  if (pipeline.isSentAlong(ClusterAxis::m)) {
    Value first =
        create<arith::MulIOp>(clusterIndex(ClusterAxis::n), i32Const(m));
    mask = create<arith::OrIOp>(mask, ctaBits(everyBit(m, 1, 1), first));
  }
  if (pipeline.isSentAlong(ClusterAxis::n)) {
    Value first =
        create<arith::AndIOp>(clusterIndex(ClusterAxis::m), i32Const(-unit));
    uint64_t bits = everyBit(source.getClusterN(), m, own);
    mask = create<arith::OrIOp>(mask, ctaBits(bits, first));
  }
  return mask;
}

Value KernelLowering::walker() {
  Type i32 = b.getI32Type();
  return isClustered() ? create<NVVM::ClusterIdXOp>(i32).getResult()
                       : create<NVVM::BlockIdXOp>(i32).getResult();
}

Value KernelLowering::walkers() {
  Type i32 = b.getI32Type();
  return isClustered() ? create<NVVM::ClusterDimXOp>(i32).getResult()
                       : create<NVVM::GridDimXOp>(i32).getResult();
}

Value KernelLowering::ownPlace(Value place, ClusterAxis axis, int64_t tile) {
  int64_t ctas =
      axis == ClusterAxis::m ? source.getClusterM() : source.getClusterN();
  if (ctas == 1) {
    return place;
  }
  return create<arith::AddIOp>(
      place, create<arith::MulIOp>(clusterIndex(axis), i32Const(tile)));
}
