// The walks over tiles: of the rows of each group, and of a matrix for each
// group.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "lib/Conversion/MoeKernelToNVVM/TileWalk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

Value KernelLowering::loadOffset(Value offsets, Value group) {
  Value wide = create<arith::ExtUIOp>(b.getI64Type(), group);
  Value address = create<LLVM::GEPOp>(offsets.getType(), b.getI32Type(),
                                      offsets, ValueRange{wide});
  return create<LLVM::LoadOp>(b.getI32Type(), address, /*alignment=*/4);
}

static int64_t groupsOf(Value offsets) {
  return cast<MemRefType>(offsets.getType()).getDimSize(0);
}

/// value / by, rounded up; 0 of a value that is not positive.
Value KernelLowering::piecesOf(Value value, Value by) {
  Value one = i32Const(1);
  Value some =
      create<arith::CmpIOp>(arith::CmpIPredicate::sgt, value, i32Const(0));
  Value last = create<arith::DivUIOp>(create<arith::SubIOp>(value, one), by);
  return create<arith::SelectOp>(some, create<arith::AddIOp>(last, one),
                                 i32Const(0));
}

KernelLowering::RowColumn KernelLowering::placeOf(Value local, Value tilesM,
                                                  Value tilesN, Raster raster) {
  auto div = [&](Value x, Value y) -> Value {
    return create<arith::DivUIOp>(x, y);
  };
  auto rem = [&](Value x, Value y) -> Value {
    return create<arith::RemUIOp>(x, y);
  };
  RowColumn along{div(local, tilesN), rem(local, tilesN)};
  if (raster == Raster::row) {
    return along;
  }
  Value isTall =
      create<arith::CmpIOp>(arith::CmpIPredicate::uge, tilesM, tilesN);
  // Not 0 where a tile exists.
  Value down = create<arith::MaxUIOp>(tilesM, i32Const(1));
  return {create<arith::SelectOp>(isTall, along.row, rem(local, down)),
          create<arith::SelectOp>(isTall, along.column, div(local, down))};
}

// The cursor: first and end row of the group, and the atoms of the groups
// before it. Offsets that are not ascending give empty groups.
LogicalResult KernelLowering::lower(ForTilesOp op) {
  int64_t tileM = op.getTile()[0], tileN = op.getTile()[1];
  int64_t clusterM = tileM * source.getClusterM(),
          clusterN = tileN * source.getClusterN();
  Value offsets = mapped(op.getOffsets());
  Value rowsPerTile = i32Const(clusterM),
        tilesN = i32Const(llvm::divideCeil(op.getN(), clusterN));
  // Atoms before the group are counted, of each of these many rows.
  SmallVector<int64_t> rowsPerAtom{rowsOfAtom};
  if (auto fine = static_cast<int64_t>(op.getFineRows())) {
    rowsPerAtom.push_back(fine);
  }
  auto rowsOf = [&](ValueRange cursor) -> Value {
    return create<arith::SubIOp>(cursor[1], cursor[0]);
  };
  auto tilesOf = [&](ValueRange cursor) -> Value {
    return create<arith::MulIOp>(piecesOf(rowsOf(cursor), rowsPerTile), tilesN);
  };
  auto move = [&](ValueRange cursor, Value next) -> SmallVector<Value> {
    SmallVector<Value> atoms;
    for (auto [before, rows] : llvm::zip(cursor.drop_front(2), rowsPerAtom)) {
      atoms.push_back(create<arith::AddIOp>(
          before, piecesOf(rowsOf(cursor), i32Const(rows))));
    }
    SmallVector<Value> to{cursor[1], loadOffset(offsets, next)};
    llvm::append_range(to, atoms);
    return to;
  };
  auto places = [&](Value group, ValueRange cursor,
                    Value local) -> SmallVector<Value> {
    RowColumn at = placeOf(local,
                           op.getRaster() == Raster::row
                               ? Value()
                               : piecesOf(rowsOf(cursor), rowsPerTile),
                           tilesN, op.getRaster());
    Value row = create<arith::AddIOp>(
        cursor[0], create<arith::MulIOp>(at.row, rowsPerTile));
    Value column = create<arith::MulIOp>(at.column, i32Const(clusterN));
    SmallVector<Value> found{group, ownPlace(row, ClusterAxis::m, tileM),
                             ownPlace(column, ClusterAxis::n, tileN)};
    llvm::append_range(found, cursor);
    return found;
  };
  Value zero = i32Const(0);
  SmallVector<Value> start{zero, loadOffset(offsets, zero)};
  start.append(rowsPerAtom.size(), zero);
  return lowerWalk(op, {op.getBody().front(), op.getInits(), op.getResults(),
                        groupsOf(op.getOffsets()), op.getResponses(),
                        op.getQueue(), start, tilesOf, move, places});
}

namespace {
/// Of a walk over matrices of groups.
struct Cursor {
  explicit Cursor(ValueRange values)
      : begin(values[0]), end(values[1]), atoms(values[2]), slots(values[3]) {}
  Value begin, end, atoms, slots;
};
} // namespace

LogicalResult KernelLowering::lower(ForGroupTilesOp op) {
  int64_t tileM = op.getTile()[0], tileN = op.getTile()[1];
  int64_t clusterM = tileM * source.getClusterM(),
          clusterN = tileN * source.getClusterN();
  int64_t down = llvm::divideCeil(op.getShape()[0], clusterM),
          along = llvm::divideCeil(op.getShape()[1], clusterN);
  Value offsets = mapped(op.getOffsets()), rows = mapped(op.getRows());
  Value partRows = op.getPartRows() ? mapped(op.getPartRows()) : Value();
  Value zero = i32Const(0), one = i32Const(1);
  Value tilesOfGroup = i32Const(down * along);

  auto endOf = [&](Value group) -> Value {
    Value end = create<arith::MinSIOp>(loadOffset(offsets, group), rows);
    return create<arith::MaxSIOp>(end, zero);
  };
  auto rowsOf = [&](const Cursor &c) -> Value {
    return create<arith::MaxSIOp>(create<arith::SubIOp>(c.end, c.begin), zero);
  };
  /// 0 for a group without rows.
  auto partsOf = [&](const Cursor &c) -> Value {
    Value some = create<arith::MinSIOp>(rowsOf(c), one);
    if (!partRows) {
      return some;
    }
    Value parts = piecesOf(rowsOf(c), partRows);
    Value end = create<arith::AddIOp>(
        c.slots, create<arith::MulIOp>(parts, tilesOfGroup));
    Value fits = create<arith::CmpIOp>(arith::CmpIPredicate::ule, end,
                                       i32Const(op.getSlots()));
    return create<arith::SelectOp>(fits, parts, some);
  };
  auto tilesOf = [&](ValueRange cursor) -> Value {
    Value parts = create<arith::MaxSIOp>(partsOf(Cursor(cursor)), one);
    return create<arith::MulIOp>(parts, tilesOfGroup);
  };
  auto move = [&](ValueRange cursor, Value next) -> SmallVector<Value> {
    Cursor from(cursor);
    Value atoms = create<arith::AddIOp>(
        from.atoms, piecesOf(rowsOf(from), i32Const(rowsOfAtom)));
    Value slots = from.slots;
    if (partRows) {
      Value parts = partsOf(from);
      Value several =
          create<arith::CmpIOp>(arith::CmpIPredicate::sgt, parts, one);
      Value taken = create<arith::MulIOp>(parts, tilesOfGroup);
      slots = create<arith::AddIOp>(
          slots, create<arith::SelectOp>(several, taken, zero));
    }
    return {from.end, endOf(next), atoms, slots};
  };
  auto places = [&](Value group, ValueRange cursor,
                    Value local) -> SmallVector<Value> {
    Cursor c(cursor);
    Value part = zero, tile = local, slot = zero;
    if (partRows) {
      part = create<arith::DivUIOp>(local, tilesOfGroup);
      tile = create<arith::RemUIOp>(local, tilesOfGroup);
      slot = create<arith::AddIOp>(c.slots, tile);
    }
    RowColumn at =
        placeOf(tile, i32Const(down), i32Const(along), op.getRaster());
    Value row = create<arith::MulIOp>(at.row, i32Const(clusterM));
    Value column = create<arith::MulIOp>(at.column, i32Const(clusterN));
    return {group,
            ownPlace(row, ClusterAxis::m, tileM),
            ownPlace(column, ClusterAxis::n, tileN),
            c.begin,
            create<arith::MaxSIOp>(c.begin, c.end),
            c.atoms,
            part,
            partsOf(c),
            slot};
  };
  return lowerWalk(op, {op.getBody().front(),
                        op.getInits(),
                        op.getResults(),
                        groupsOf(op.getOffsets()),
                        op.getResponses(),
                        op.getQueue(),
                        {zero, endOf(zero), zero, zero},
                        tilesOf,
                        move,
                        places});
}
