// Staged stores: rows of registers to shared memory, from there by the bulk
// copy engine. Each warp synchronizes only itself.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

static constexpr int64_t pieceBytes = 16;

void KernelLowering::ifFirstLane(function_ref<void()> body) {
  Value isFirst =
      create<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, i32Const(0));
  ifWarp(isFirst, body);
}

void KernelLowering::syncWarp() { create<NVVM::SyncWarpOp>(i32Const(-1)); }

LogicalResult KernelLowering::lower(AcquireStagingOp op) {
  ifFirstLane([&] {
    create<NVVM::CpAsyncBulkWaitGroupOp>(op.getPending(),
                                         /*read=*/b.getUnitAttr());
  });
  // At the end of the role the other lanes have nothing to wait for.
  if (!isa<RoleOp>(op->getParentOp()) || op->getNextNode()) {
    syncWarp();
  }
  return success();
}

LogicalResult KernelLowering::lower(StageRowOp op) {
  auto alloc = definingOp<AllocOp>(op, op.getBuffer());
  if (!alloc) {
    return failure();
  }
  int64_t rowBytes = op.getBuffer().getType().getRowBytes();
  int64_t pieces = rowBytes / pieceBytes;
  Value row = create<arith::MulIOp>(relativeThread(), i32Const(rowBytes));
  // A swizzle of S bytes: the number of the 16-byte piece in its S bytes is
  // xored with the number of the 128-byte line, modulo S / 16 (PTX ISA,
  // "Swizzling modes"). Buffers start at multiples of the pattern.
  if (pieces > 1) {
    Value line = create<arith::ShRUIOp>(row, i32Const(7 - 4));
    Value swizzle =
        create<arith::AndIOp>(line, i32Const((pieces - 1) * pieceBytes));
    row = create<arith::OrIOp>(row, swizzle);
  }
  Value slot = sharedStage(alloc, mapped(op.getSlot()));
  Value first = create<LLVM::PtrToIntOp>(b.getI32Type(), slot);
  first = create<arith::AddIOp>(first, row);

  int64_t words = rowBytes / 4;
  Type i32 = b.getI32Type();
  Value values = create<LLVM::BitcastOp>(VectorType::get({words}, i32),
                                         mapped(op.getValues()));
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value address = first;
    if (piece > 0) {
      address = create<arith::XOrIOp>(first, i32Const(piece * pieceBytes));
    }
    SmallVector<Value> elements;
    for (int64_t word = 0; word < 4; ++word) {
      elements.push_back(create<vector::ExtractOp>(values, 4 * piece + word));
    }
    Value quad =
        create<vector::FromElementsOp>(VectorType::get({4}, i32), elements);
    create<LLVM::StoreOp>(
        quad, create<LLVM::IntToPtrOp>(slot.getType(), address), pieceBytes);
  }
  return success();
}

LogicalResult KernelLowering::lower(PublishStagingOp op) {
  // Each lane's own writes, before lane 0 hands them to the other proxy.
  create<NVVM::FenceProxyOp>(
      NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  syncWarp();
  return success();
}

LogicalResult KernelLowering::lower(StoreOp op) {
  auto alloc = definingOp<AllocOp>(op, op.getBuffer());
  if (!alloc) {
    return failure();
  }
  ifFirstLane([&] {
    int64_t warpBytes = 32 * op.getBuffer().getType().getRowBytes();
    Value offset = create<arith::MulIOp>(relativeWarp(), i32Const(warpBytes));
    Value slot = sharedStage(alloc, mapped(op.getSlot()));
    Value from = create<LLVM::GEPOp>(slot.getType(), b.getI8Type(), slot,
                                     ValueRange{offset});
    // PTX counts dimensions from the fastest.
    SmallVector<Value> coordinates = mapped(op.getCoordinates());
    std::reverse(coordinates.begin(), coordinates.end());
    create<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(
        mapped(op.getMap()), from, coordinates, /*l2CacheHint=*/Value(),
        NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  });
  return success();
}

LogicalResult KernelLowering::lower(CommitStoresOp op) {
  ifFirstLane([&] { create<NVVM::CpAsyncBulkCommitGroupOp>(); });
  return success();
}
