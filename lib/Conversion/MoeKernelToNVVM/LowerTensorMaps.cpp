// Arrays of tensor maps in global memory.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

Value KernelLowering::mapAddress(Value maps, Value index) {
  Value bytes =
      create<arith::MulIOp>(create<arith::ExtUIOp>(b.getI64Type(), index),
                            i64Const(TensorMapType::kBytes));
  return create<LLVM::GEPOp>(maps.getType(), b.getI8Type(), maps,
                             ValueRange{bytes});
}

LogicalResult KernelLowering::lower(BuildMapOp op) {
  Value from = mapped(op.getSource());
  Value to = mapAddress(mapped(op.getMaps()), mapped(op.getIndex()));
  constexpr int32_t pieceBytes = 16;
  auto piece = VectorType::get({pieceBytes / 4}, b.getI32Type());
  for (int32_t at = 0; at < TensorMapType::kBytes; at += pieceBytes) {
    auto place = [&](Value base) -> Value {
      return create<LLVM::GEPOp>(base.getType(), b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{at});
    };
    Value bytes = create<LLVM::LoadOp>(piece, place(from), pieceBytes);
    create<LLVM::StoreOp>(bytes, place(to), pieceBytes);
  }
  auto replace = [&](StringRef field, ValueRange arguments) {
    SmallVector<Value> all{to};
    llvm::append_range(all, arguments);
    create<LLVM::CallIntrinsicOp>(
        b.getStringAttr("llvm.nvvm.tensormap.replace." + field + ".p1"), all);
  };
  if (Value address = op.getAddress()) {
    replace("global.address", mapped(address));
  }
  // PTX counts dimensions from the fastest.
  int64_t last = op.getSource().getType().getBox().size() - 1;
  for (auto [axis, extent] : llvm::zip(op.getAxes(), op.getExtents())) {
    replace("global.dim", {i32Const(last - axis), mapped(extent)});
  }
  return success();
}

LogicalResult KernelLowering::lower(ReleaseMapsOp) {
  create<NVVM::FenceProxyReleaseOp>(NVVM::MemScopeKind::GPU);
  return success();
}

LogicalResult KernelLowering::lower(MapElementOp op) {
  Value address = mapAddress(mapped(op.getMaps()), mapped(op.getIndex()));
  map.map(op.getMap(),
          create<LLVM::AddrSpaceCastOp>(
              LLVM::LLVMPointerType::get(b.getContext()), address));
  return success();
}

LogicalResult KernelLowering::lower(AcquireMapOp op) {
  Value bytes =
      create<LLVM::ConstantOp>(b.getI32IntegerAttr(TensorMapType::kBytes));
  create<NVVM::FenceProxyAcquireOp>(NVVM::MemScopeKind::GPU,
                                    mapped(op.getMap()), bytes);
  return success();
}
