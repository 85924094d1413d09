#include "lib/Conversion/GroupedMoeToMoeKernel/GroupMaps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

static constexpr int64_t kThreads = 32;

GroupMaps::GroupMaps(Operation *op, StringRef kind, Value offsets,
                     Value hostRows)
    : kernel(op, kind, /*warps=*/kThreads / 32),
      offsets(kernel.addMemref(offsets)),
      rows(hostRows ? kernel.addIndex(hostRows) : Value()),
      groups(cast<MemRefType>(offsets.getType()).getDimSize(0)) {}

Value GroupMaps::newMaps(moe_kernel::TensorMapType type) {
  return memref::AllocOp::create(kernel.host, MemRefType::get({groups}, type));
}

Value GroupMaps::addDiscrete(Value addresses, MemRefType pointee,
                             moe_kernel::TensorMapType type) {
  Value maps = newMaps(type);
  arrays.push_back({kernel.addMapTemplate(addresses, pointee, type),
                    kernel.addOutput(maps), kernel.addMemref(addresses)});
  return maps;
}

Value GroupMaps::addCut(Value memref, int64_t axis,
                        moe_kernel::TensorMapType type) {
  Value maps = newMaps(type);
  arrays.push_back({kernel.addTensorMap(memref, type), kernel.addOutput(maps),
                    /*addresses=*/Value(), axis});
  return maps;
}

void GroupMaps::build(const Array &array, Value group, Value end) {
  ImplicitLocOpBuilder &b = kernel.body;
  if (array.addresses) {
    Value address = moe_kernel::GlobalLoadOp::create(b, b.getI64Type(),
                                                     array.addresses, group);
    moe_kernel::BuildMapOp::create(b, array.source, array.maps, group, address,
                                   ArrayRef<int64_t>(), ValueRange());
  } else {
    moe_kernel::BuildMapOp::create(b, array.source, array.maps, group,
                                   /*address=*/Value(), array.axis, end);
  }
}

void GroupMaps::finish() {
  ImplicitLocOpBuilder &b = kernel.body;
  Value group = kernel.add(kernel.mul(kernel.index(IndexKind::cta), kThreads),
                           kernel.index(IndexKind::thread));
  auto offset = [&](Value g) -> Value {
    return moe_kernel::GlobalLoadOp::create(b, b.getI32Type(), offsets, g);
  };
  kernel.onlyIf(kernel.less(group, groups), [&] {
    Value zero = kernel.constant(int64_t(0));
    Value before =
        offset(arith::MaxSIOp::create(b, kernel.add(group, -1), zero));
    Value begin =
        arith::SelectOp::create(b, kernel.equal(group, 0), zero, before);
    begin = arith::MaxSIOp::create(b, begin, zero);
    Value end = offset(group);
    if (rows) {
      end = arith::MinSIOp::create(b, end, rows);
    }
    Value hasRows =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, end, begin);
    kernel.onlyIf(hasRows, [&] {
      for (const Array &array : arrays) {
        build(array, group, end);
      }
      moe_kernel::ReleaseMapsOp::create(b);
    });
  });
  kernel.finish(kernel.hostConstant(llvm::divideCeil(groups, kThreads)));
}
