#include "lib/Conversion/GroupedMoeToMoeKernel/GroupMaps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

static constexpr int64_t kThreads = 32;

GroupMaps::GroupMaps(Operation *op, StringRef kind, Value offsets)
    : kernel(op, kind, /*warps=*/kThreads / 32),
      offsets(kernel.addMemref(offsets)),
      groups(cast<MemRefType>(offsets.getType()).getDimSize(0)) {}

Value GroupMaps::add(Value addresses, MemRefType pointee,
                     moe_kernel::TensorMapType type) {
  Value maps =
      memref::AllocOp::create(kernel.host, MemRefType::get({groups}, type));
  arrays.push_back({kernel.addMapTemplate(addresses, pointee, type),
                    kernel.addMemref(addresses), kernel.addOutput(maps)});
  return maps;
}

/// i1
Value GroupMaps::hasRows(Value group) {
  ImplicitLocOpBuilder &b = kernel.body;
  auto offset = [&](Value g) -> Value {
    return moe_kernel::GlobalLoadOp::create(b, b.getI32Type(), offsets, g);
  };
  Value zero = kernel.constant(int64_t(0));
  Value before = offset(arith::MaxSIOp::create(b, kernel.add(group, -1), zero));
  Value begin =
      arith::SelectOp::create(b, kernel.equal(group, 0), zero, before);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, offset(group),
                               begin);
}

void GroupMaps::finish() {
  ImplicitLocOpBuilder &b = kernel.body;
  Value group = kernel.add(kernel.mul(kernel.index(IndexKind::cta), kThreads),
                           kernel.index(IndexKind::thread));
  kernel.onlyIf(kernel.less(group, groups), [&] {
    kernel.onlyIf(hasRows(group), [&] {
      for (const Array &array : arrays) {
        Value address = moe_kernel::GlobalLoadOp::create(
            b, b.getI64Type(), array.addresses, group);
        moe_kernel::BuildMapOp::create(b, array.source, array.maps, group,
                                       address, ArrayRef<int64_t>(),
                                       ValueRange());
      }
      moe_kernel::ReleaseMapsOp::create(b);
    });
  });
  kernel.finish(kernel.hostConstant(llvm::divideCeil(groups, kThreads)));
}
