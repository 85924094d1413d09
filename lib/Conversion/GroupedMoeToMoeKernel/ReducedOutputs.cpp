// Sums and maxima over tiles. Sums are the same in every run: each tile leaves
// its part in a slot of a temporary array, and the CTA that arrives last adds
// the slots in order.
#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueOutput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;

namespace {

class ReducedOutput : public EpilogueOutput {
public:
  using EpilogueOutput::EpilogueOutput;

protected:
  Value zero() { return kernel.constant(0.0f); }
  Value load(Value memref, ValueRange at) {
    return moe_kernel::GlobalLoadOp::create(b, b.getF32Type(), memref, at);
  }
  void storeTo(Value memref, Value value, ValueRange at) {
    moe_kernel::GlobalStoreOp::create(b, value, memref, at);
  }
  /// sum of read(i) for i in [low, high), in order.
  template <typename Read> Value sumOver(Value low, Value high, Read read) {
    auto loop =
        scf::ForOp::create(b, low, high, kernel.constant(int64_t(1)), zero());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value part = read(loop.getInductionVar());
    Value sum = arith::AddFOp::create(b, loop.getRegionIterArg(0), part);
    scf::YieldOp::create(b, sum);
    return loop.getResult(0);
  }
};

/// Sums along a row. With several tiles along a row, slots are
/// [row tile][tile along the row][row].
class RowSum : public ReducedOutput {
public:
  using ReducedOutput::ReducedOutput;

  void declareParameters(Value rows) override {
    Value memref = op.getOutputs()[output];
    kernel.requireRows(memref, rows);
    result = kernel.addOutput(memref);
    if (shape.tilesAlong == 1) {
      return;
    }
    Value rowTiles = hostRowTiles(rows);
    Type f32 = b.getF32Type(), i32 = b.getI32Type();
    int64_t slots = op.getNondeterministic() ? 1 : shape.tilesAlong;
    parts = kernel.addTemporary(
        MemRefType::get({ShapedType::kDynamic, slots, kEpilogueThreads}, f32),
        rowTiles, /*zeroed=*/op.getNondeterministic());
    counters = kernel.addTemporary(MemRefType::get({ShapedType::kDynamic}, i32),
                                   rowTiles, /*zeroed=*/true);
  }
  /// Where halves of a tile come in any order, a sum for each.
  SmallVector<Value> start() override {
    return SmallVector<Value>(shape.overlap > 0 ? 2 : 1, zero());
  }
  SmallVector<Value> take(const Tile &, const Chunk &chunk, ValueRange values,
                          ValueRange carried) override {
    Value sum = addAll(values[0]);
    SmallVector<Value> next;
    for (Value before : carried) {
      next.push_back(arith::AddFOp::create(b, before, sum));
    }
    if (next.size() == 2) {
      Value isFirst = kernel.less(chunk.at, shape.columnsInOrder());
      next[0] = arith::SelectOp::create(b, isFirst, next[0], carried[0]);
      next[1] = arith::SelectOp::create(b, isFirst, carried[1], next[1]);
    }
    return next;
  }
  void leave(const Tile &tile, ValueRange sums) override {
    SmallVector<Value> carried{sums[0]};
    if (sums.size() == 2) {
      carried[0] = arith::AddFOp::create(b, sums[0], sums[1]);
    }
    if (shape.tilesAlong == 1) {
      storeRow(tile, carried[0]);
      return;
    }
    SmallVector<Value> slot{tile.rowTile, tile.columnTile, tile.thread};
    if (op.getNondeterministic()) {
      slot[1] = kernel.constant(int64_t(0));
      moe_kernel::AtomicAddOp::create(b, carried[0], parts, slot);
    } else {
      storeTo(parts, carried[0], slot);
    }
  }
  std::optional<Arrival> arrival(const Tile &tile) override {
    if (shape.tilesAlong == 1) {
      return {};
    }
    return Arrival{counters, tile.rowTile, kernel.constant(shape.tilesAlong)};
  }
  void complete(const Tile &tile) override {
    int64_t slots = op.getNondeterministic() ? 1 : shape.tilesAlong;
    Value sum = sumOver(
        kernel.constant(int64_t(0)), kernel.constant(slots),
        [&](Value i) { return load(parts, {tile.rowTile, i, tile.thread}); });
    storeRow(tile, sum);
  }

private:
  void storeRow(const Tile &tile, Value sum) {
    whereInside(tile, [&] { storeTo(result, sum, tile.threadRow); });
  }
  /// Halves of the vector, added until one element is left.
  Value addAll(Value vector) {
    int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      auto part = [&](int64_t first) -> Value {
        return vector::ExtractStridedSliceOp::create(
            b, vector, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{half},
            ArrayRef<int64_t>{1});
      };
      vector = arith::AddFOp::create(b, part(0), part(half));
    }
    return vector::ExtractOp::create(b, vector, 0);
  }

  Value result, parts, counters;
};

/// Sums down the columns of a group. Each warp adds its 32 rows, the four warps
/// meet in shared memory, and slots are [row tile][column].
class GroupColumnSum : public ReducedOutput {
public:
  using ReducedOutput::ReducedOutput;

  void declareParameters(Value rows) override {
    Value memref = op.getOutputs()[output];
    result = kernel.addOutput(memref);
    kernel.fillZero(memref); // empty groups have no tile
    if (isAtomic()) {
      return;
    }
    Value rowTiles = hostRowTiles(rows);
    parts = kernel.addTemporary(
        MemRefType::get({ShapedType::kDynamic, typeOf(output).getDimSize(1)},
                        b.getF32Type()),
        rowTiles, /*zeroed=*/false);
    counters = kernel.addTemporary(
        MemRefType::get({shape.groups * shape.tilesAlong}, b.getI32Type()),
        Value(), /*zeroed=*/true);
  }
  void declareBuffers() override {
    sums = alloc("column_sums", {1, kEpilogueWarps, localColumns()},
                 b.getF32Type());
  }
  SmallVector<Value> take(const Tile &tile, const Chunk &chunk,
                          ValueRange values, ValueRange) override {
    for (auto [half, value] : llvm::enumerate(values)) {
      Value sum =
          moe_kernel::ColumnSumOp::create(b, b.getF32Type(), widened(value));
      Value at =
          kernel.add(kernel.add(chunk.at, half * shape.tileColumns), tile.lane);
      auto put = [&] {
        moe_kernel::SharedStoreOp::create(b, sum, sums, tile.warp, at);
      };
      if (shape.chunk == kWarpRows) {
        put();
      } else {
        kernel.onlyIf(kernel.less(tile.lane, shape.chunk), put);
      }
    }
    return {};
  }
  bool wantsZeros() override { return true; }
  bool meets() override { return true; }
  void combine(const Tile &tile) override {
    forColumns(tile, [&](Value local, Value column) {
      Value sum = sumOfWarps(local);
      if (isAtomic()) {
        moe_kernel::AtomicAddOp::create(b, sum, result,
                                        ValueRange{tile.group, column});
      } else {
        storeTo(parts, sum, {tile.rowTile, column});
      }
    });
  }
  std::optional<Arrival> arrival(const Tile &tile) override {
    if (isAtomic()) {
      return {};
    }
    Value index =
        kernel.add(kernel.mul(tile.group, shape.tilesAlong), tile.columnTile);
    Value count = kernel.sub(tile.endRowTile, tile.firstRowTile);
    return Arrival{counters, index, count};
  }
  void complete(const Tile &tile) override {
    forColumns(tile, [&](Value, Value column) {
      Value sum = sumOver(tile.firstRowTile, tile.endRowTile,
                          [&](Value i) { return load(parts, {i, column}); });
      if (!resultType().isF32()) {
        sum = arith::TruncFOp::create(b, resultType(), sum);
      }
      storeTo(result, sum, {tile.group, column});
    });
  }

private:
  Type resultType() { return typeOf(output).getElementType(); }
  /// bf16 would lose what is added to it.
  bool isAtomic() { return op.getNondeterministic() && resultType().isF32(); }
  int64_t localColumns() { return halves() * shape.tileColumns; }
  Value widened(Value values) {
    if (shape.chunk == kWarpRows) {
      return values;
    }
    Value wide = kernel.splat(zero(), kWarpRows);
    return vector::InsertStridedSliceOp::create(
        b, values, wide, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  }
  Value sumOfWarps(Value local) {
    Value sum;
    for (int64_t warp = 0; warp < kEpilogueWarps; ++warp) {
      Value part = moe_kernel::SharedLoadOp::create(
          b, b.getF32Type(), sums, kernel.constant(warp), local);
      sum = sum ? arith::AddFOp::create(b, sum, part).getResult() : part;
    }
    return sum;
  }
  /// body(local column, stored column) in one thread for each of the tile's.
  template <typename Body> void forColumns(const Tile &tile, Body body) {
    for (int64_t first = 0; first < localColumns(); first += kEpilogueThreads) {
      Value local = kernel.add(tile.thread, first);
      // A tile's columns are a multiple of the threads, or half of them.
      Value isOne = localColumns() % kEpilogueThreads != 0
                        ? kernel.less(local, localColumns())
                        : Value();
      Value half = kernel.div(local, shape.tileColumns);
      Value column =
          kernel.add(tile.column, kernel.rem(local, shape.tileColumns));
      Value inside = kernel.less(column, shape.columns);
      if (isOne) {
        inside = arith::AndIOp::create(b, inside, isOne);
      }
      kernel.onlyIf(inside, [&] { body(local, columnOfThread(column, half)); });
    }
  }
  Value columnOfThread(Value column, Value half) {
    if (halves() == 1) {
      return column;
    }
    if (op.getConcatenated()) {
      return kernel.add(column, kernel.mul(half, shape.columns));
    }
    Value blocks = kernel.mul(kernel.div(column, 32), 64);
    Value within = kernel.add(kernel.mul(half, 32), kernel.rem(column, 32));
    return kernel.add(blocks, within);
  }

  Value result, parts, counters, sums;
};

/// Maxima do not depend on the order: atomics on the result.
class GroupAmax : public ReducedOutput {
public:
  using ReducedOutput::ReducedOutput;

  void declareParameters(Value) override {
    Value memref = op.getOutputs()[output];
    result = kernel.addOutput(memref);
    kernel.fillZero(memref);
  }
  bool wantsZeros() override { return true; }
  SmallVector<Value> start() override {
    return SmallVector<Value>(halves(), zero());
  }
  SmallVector<Value> take(const Tile &, const Chunk &, ValueRange values,
                          ValueRange carried) override {
    SmallVector<Value> next;
    for (auto [value, before] : llvm::zip(values, carried)) {
      Value amax = vector::ReductionOp::create(
          b, vector::CombiningKind::MAXIMUMF, math::AbsFOp::create(b, value));
      next.push_back(arith::MaximumFOp::create(b, before, amax));
    }
    return next;
  }
  void leave(const Tile &tile, ValueRange carried) override {
    SmallVector<Value> ofWarp;
    for (Value amax : carried) {
      ofWarp.push_back(moe_kernel::WarpAmaxOp::create(b, b.getF32Type(), amax));
    }
    kernel.onlyIf(kernel.equal(tile.lane, 0), [&] {
      for (auto [half, amax] : llvm::enumerate(ofWarp)) {
        SmallVector<Value> at{tile.group};
        if (typeOf(output).getRank() == 2) {
          at.push_back(kernel.constant(int64_t(half)));
        }
        moe_kernel::AtomicMaxOp::create(b, amax, result, at);
      }
    });
  }

private:
  Value result;
};

} // namespace

std::unique_ptr<EpilogueOutput>
grouped_moe::createReducedOutput(FusedProduct op, unsigned i,
                                 KernelScope &kernel,
                                 const EpilogueShape &shape) {
  switch (op.getOutputKind(i)) {
  case OutputKind::row_sum:
    return std::make_unique<RowSum>(op, i, kernel, shape);
  case OutputKind::group_column_sum:
    return std::make_unique<GroupColumnSum>(op, i, kernel, shape);
  default:
    return std::make_unique<GroupAmax>(op, i, kernel, shape);
  }
}
