#include "lib/Conversion/GroupedMoeToMoeKernel/PartialTiles.h"

#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueOutput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace grouped_moe;

// Slots are [column / 4][row][4]: the lanes of a warp touch 512 bytes together.
static constexpr int64_t kQuad = 4;

PartialTiles::PartialTiles(KernelScope &kernel, int64_t slots, int64_t columns,
                           int64_t tiles)
    : kernel(kernel), b(kernel.body) {
  partials = kernel.addTemporary(
      MemRefType::get({slots, columns / kQuad, kEpilogueThreads, kQuad},
                      b.getF32Type()),
      Value(), /*zeroed=*/false);
  counters = kernel.addTemporary(MemRefType::get({tiles}, b.getI32Type()),
                                 Value(), /*zeroed=*/true);
}

void PartialTiles::store(Value slot, Value at, Value thread, Value values) {
  int64_t lanes = cast<VectorType>(values.getType()).getDimSize(0);
  Value quad = kernel.div(at, kQuad), zero = kernel.constant(int64_t(0));
  for (int64_t first = 0; first < lanes; first += kQuad) {
    Value part = vector::ExtractStridedSliceOp::create(
        b, values, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{kQuad},
        ArrayRef<int64_t>{1});
    moe_kernel::GlobalStoreOp::create(
        b, part, partials,
        ValueRange{slot, kernel.add(quad, first / kQuad), thread, zero});
  }
}

Value PartialTiles::arrive(Value tile, Value parts) {
  return moe_kernel::LastArrivalOp::create(b, TypeRange{b.getI1Type()},
                                           counters, tile, parts)
      .getLast()
      .front();
}

Value PartialTiles::sum(Value slot, int64_t stride, Value parts, Value at,
                        Value thread, int64_t lanes) {
  Value zero = kernel.constant(int64_t(0));
  Value start = kernel.splat(kernel.constant(0.0f), lanes);
  auto loop =
      scf::ForOp::create(b, zero, parts, kernel.constant(int64_t(1)), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value from = kernel.add(slot, kernel.mul(loop.getInductionVar(), stride));
  Value quad = kernel.div(at, kQuad), sum = loop.getRegionIterArg(0);
  Value values = start;
  auto type = VectorType::get(kQuad, b.getF32Type());
  for (int64_t first = 0; first < lanes; first += kQuad) {
    Value part = moe_kernel::GlobalLoadOp::create(
        b, type, partials,
        ValueRange{from, kernel.add(quad, first / kQuad), thread, zero});
    values = vector::InsertStridedSliceOp::create(
        b, part, values, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
  }
  scf::YieldOp::create(b, arith::AddFOp::create(b, sum, values).getResult());
  return loop.getResult(0);
}
