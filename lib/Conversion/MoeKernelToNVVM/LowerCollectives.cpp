// Collectives of a warp, of a role and of the grid, and what they share.
#include "lib/Conversion/MoeKernelToNVVM/InlinePtx.h"
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <functional>

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

static constexpr int64_t lanes = 32;
/// PTX ISA, bar: a CTA has barriers 0 to 15; 0 is the CTA's.
static constexpr int64_t mostBarriers = 16;

//===- warp ---------------------------------------------------------------===//

Value KernelLowering::warpMax(Value value) {
  return create<NVVM::ReduxOp>(b.getF32Type(), value, NVVM::ReduxKind::FMAX,
                               i32Const(-1), /*abs=*/true, /*nan=*/true);
}

Value KernelLowering::laneBit(unsigned bit) {
  Value masked = create<arith::AndIOp>(lane, i32Const(1 << bit));
  return create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked, i32Const(0));
}

LogicalResult KernelLowering::lower(WarpAmaxOp op) {
  map.map(op.getAmax(), warpMax(mapped(op.getValue())));
  return success();
}

LogicalResult KernelLowering::lower(ColumnAmaxOp op) {
  Value values = mapped(op.getValues());
  SmallVector<Value> bits;
  for (unsigned bit = 0; bit < 5; ++bit) {
    bits.push_back(laneBit(bit));
  }
  // Depth first, so that few maxima are live at a time.
  std::function<Value(int64_t, unsigned)> pick = [&](int64_t first,
                                                     unsigned bit) -> Value {
    if (bit == 0) {
      return warpMax(create<vector::ExtractOp>(values, first));
    }
    Value low = pick(first, bit - 1);
    Value high = pick(first + (1 << (bit - 1)), bit - 1);
    return create<arith::SelectOp>(bits[bit - 1], high, low);
  };
  map.map(op.getAmax(), pick(0, 5));
  return success();
}

LogicalResult KernelLowering::lower(ColumnSumOp op) {
  SmallVector<Value> sums;
  for (int64_t i = 0; i < lanes; ++i) {
    sums.push_back(create<vector::ExtractOp>(mapped(op.getValues()), i));
  }
  // In each step a lane keeps the half of its columns that its bit names and
  // sends the other half to its partner.
  for (int bit = 4; bit >= 0; --bit) {
    int64_t half = int64_t(1) << bit;
    Value upper = laneBit(bit);
    SmallVector<Value> next;
    for (int64_t i = 0; i < half; ++i) {
      Value keep = create<arith::SelectOp>(upper, sums[i + half], sums[i]);
      Value send = create<arith::SelectOp>(upper, sums[i], sums[i + half]);
      Value received = create<NVVM::ShflOp>(
          b.getF32Type(), i32Const(-1), send, i32Const(half), i32Const(31),
          NVVM::ShflKind::bfly, /*return_value_and_is_valid=*/UnitAttr());
      next.push_back(create<arith::AddFOp>(keep, received));
    }
    sums = next;
  }
  map.map(op.getSum(), sums.front());
  return success();
}

LogicalResult KernelLowering::lower(SpreadLanesOp op) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lanes; ++i) {
    elements.push_back(create<NVVM::ShflOp>(
        b.getF32Type(), i32Const(-1), mapped(op.getValue()), i32Const(i),
        i32Const(31), NVVM::ShflKind::idx,
        /*return_value_and_is_valid=*/UnitAttr()));
  }
  map.map(op.getValues(),
          create<vector::FromElementsOp>(
              cast<VectorType>(op.getValues().getType()), elements));
  return success();
}

LogicalResult KernelLowering::lower(TransposeLanesOp op) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lanes; ++i) {
    elements.push_back(create<vector::ExtractOp>(mapped(op.getValues()), i));
  }
  // Each step exchanges one bit of the lane's number with that bit of the
  // element's.
  for (int bit = 4; bit >= 0; --bit) {
    int64_t half = int64_t(1) << bit;
    Value upper = laneBit(bit);
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & half) {
        continue;
      }
      Value low = elements[i], high = elements[i + half];
      Value send = create<arith::SelectOp>(upper, low, high);
      Value received = create<NVVM::ShflOp>(
          b.getF32Type(), i32Const(-1), send, i32Const(half), i32Const(31),
          NVVM::ShflKind::bfly, /*return_value_and_is_valid=*/UnitAttr());
      elements[i] = create<arith::SelectOp>(upper, received, low);
      elements[i + half] = create<arith::SelectOp>(upper, high, received);
    }
  }
  map.map(op.getTransposed(),
          create<vector::FromElementsOp>(
              cast<VectorType>(op.getTransposed().getType()), elements));
  return success();
}

//===- role ---------------------------------------------------------------===//

FailureOr<Value> KernelLowering::barrier(Operation *op, Value predicate) {
  int64_t id = 0, warps = source.getWarps();
  if (currentRole) {
    warps = currentRole.getNumWarps();
    // Roles of several warps count from 1.
    for (RoleOp role : roles) {
      id += role.getNumWarps() > 1;
      if (role == currentRole) {
        break;
      }
    }
    if (warps > 1 && id >= mostBarriers) {
      return op->emitOpError()
             << "needs barrier " << id << " of a CTA, which has "
             << mostBarriers << "; use fewer roles of several warps";
    }
  }
  if (warps == 1) {
    if (!predicate) {
      syncWarp();
      return Value();
    }
    return create<NVVM::VoteSyncOp>(b.getI1Type(), i32Const(-1), predicate,
                                    NVVM::VoteSyncKind::any)
        .getResult();
  }
  Value barrierId = i32Const(id), threads = i32Const(lanes * warps);
  if (!predicate) {
    create<NVVM::BarrierOp>(TypeRange(), barrierId, threads,
                            NVVM::BarrierReductionAttr(), Value());
    return Value();
  }
  // nvvm.barrier reduces on barrier 0 only.
  return create<LLVM::CallIntrinsicOp>(
             b.getI1Type(),
             b.getStringAttr("llvm.nvvm.barrier.cta.red.or.aligned.count"),
             ValueRange{barrierId, threads, predicate})
      .getResults();
}

LogicalResult KernelLowering::lower(BarrierOp op) { return barrier(op, {}); }

//===- grid ---------------------------------------------------------------===//

LogicalResult KernelLowering::lower(LastArrivalOp op) {
  // The role's writes come before its first thread's arrivals, which release
  // them; those of the last CTA acquire them for its role.
  if (failed(barrier(op, {}))) {
    return failure();
  }
  Value isFirst = create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                        relativeThread(), i32Const(0));
  SmallVector<Type> flags(op.getCounters().size(), b.getI1Type());
  auto ifOp = create<scf::IfOp>(flags, isFirst, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    SmallVector<Value> arrived;
    for (auto [counters, index, count] :
         llvm::zip(op.getCounters(), op.getIndices(), op.getCounts())) {
      Value bound = create<arith::SubIOp>(mapped(count), i32Const(1));
      Value address = globalAddress(cast<MemRefType>(counters.getType()),
                                    mapped(counters), mapped(index));
      Value old = inline_ptx::atomicIncAcqRel(b, loc, address, bound);
      arrived.push_back(
          create<arith::CmpIOp>(arith::CmpIPredicate::eq, old, bound));
    }
    create<scf::YieldOp>(arrived);
    b.setInsertionPointToStart(ifOp.elseBlock());
    Value no = create<arith::ConstantOp>(b.getBoolAttr(false));
    create<scf::YieldOp>(SmallVector<Value>(flags.size(), no));
  }
  for (auto [result, flag] : llvm::zip(op.getLast(), ifOp.getResults())) {
    FailureOr<Value> last = barrier(op, flag);
    if (failed(last)) {
      return failure();
    }
    map.map(result, *last);
  }
  return success();
}

LogicalResult KernelLowering::lower(AtomicMaxOp op) {
  Value address =
      globalAddress(cast<MemRefType>(op.getMemref().getType()),
                    mapped(op.getMemref()), mapped(op.getIndices()));
  // Magnitudes order as their bits do, NaN above infinity.
  Value bits = create<arith::BitcastOp>(b.getI32Type(), mapped(op.getValue()));
  bits = create<arith::AndIOp>(bits, i32Const(0x7fffffff));
  inline_ptx::reduceMaxU32(b, loc, address, bits);
  return success();
}

LogicalResult KernelLowering::lower(AtomicAddOp op) {
  Value address =
      globalAddress(cast<MemRefType>(op.getMemref().getType()),
                    mapped(op.getMemref()), mapped(op.getIndices()));
  inline_ptx::reduceAddF32(b, loc, address, mapped(op.getValue()));
  return success();
}

//===- shared scalars -----------------------------------------------------===//

Value KernelLowering::sharedScalar(AllocOp alloc, Value row, Value column) {
  int64_t columns = alloc.getBuffer().getType().getShape().back();
  Value index = create<arith::MulIOp>(row, i32Const(columns));
  index = create<arith::AddIOp>(index, column);
  Value first = sharedAt(resources.getPlace(alloc).offset);
  return create<LLVM::GEPOp>(first.getType(), b.getF32Type(), first,
                             ValueRange{index});
}

LogicalResult KernelLowering::lower(SharedStoreOp op) {
  auto alloc = definingOp<AllocOp>(op, op.getBuffer());
  if (!alloc) {
    return failure();
  }
  create<LLVM::StoreOp>(
      mapped(op.getValue()),
      sharedScalar(alloc, mapped(op.getRow()), mapped(op.getColumn())),
      /*alignment=*/4);
  return success();
}

LogicalResult KernelLowering::lower(SharedLoadOp op) {
  auto alloc = definingOp<AllocOp>(op, op.getBuffer());
  if (!alloc) {
    return failure();
  }
  Value address =
      sharedScalar(alloc, mapped(op.getRow()), mapped(op.getColumn()));
  map.map(op.getValue(), create<LLVM::LoadOp>(b.getF32Type(), address,
                                              /*alignment=*/4));
  return success();
}
