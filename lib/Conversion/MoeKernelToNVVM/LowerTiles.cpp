// The walk over the tiles of a ragged grouped product.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Values of the cursor.
static constexpr unsigned kCursor = 5;

// The outer loop's state: the linear tile t, the group g under the cursor, the
// tiles of the groups before it, its first and end row, the atoms of the groups
// before it, then carried values.
// The inner loop moves the cursor to the group that holds t. Offsets that are
// not ascending give empty groups, so that both loops end on any contents.
LogicalResult KernelLowering::lower(ForTilesOp op) {
  Location opLoc = loc;
  Type i32 = b.getI32Type();
  int64_t tileM = op.getTile()[0], tileN = op.getTile()[1];
  int64_t clusterM = tileM * source.getClusterM(),
          clusterN = tileN * source.getClusterN();
  int64_t tilesN = llvm::divideCeil(op.getN(), clusterN);
  int64_t groups = cast<MemRefType>(op.getOffsets().getType()).getDimSize(0);
  Value offsets = mapped(op.getOffsets());

  Value zero = i32Const(0), one = i32Const(1);
  Value numGroups = i32Const(groups), lastGroup = i32Const(groups - 1);
  Value rowsPerTile = i32Const(clusterM), tilesPerRow = i32Const(tilesN);
  // Pieces of so many rows, each times a weight.
  auto piecesOf = [&](Value begin, Value end, Value by, Value weight) -> Value {
    Value some = create<arith::CmpIOp>(arith::CmpIPredicate::sgt, end, begin);
    Value rows = create<arith::SubIOp>(end, begin);
    Value lastRow = create<arith::SubIOp>(rows, one);
    Value last = create<arith::DivUIOp>(lastRow, by);
    Value pieces = create<arith::AddIOp>(last, one);
    Value weighted = create<arith::MulIOp>(pieces, weight);
    return create<arith::SelectOp>(some, weighted, zero);
  };
  auto tilesOf = [&](Value begin, Value end) -> Value {
    return piecesOf(begin, end, rowsPerTile, tilesPerRow);
  };

  Value first = walker(), stride = walkers();
  SmallVector<Value> inits{first, zero, zero, zero, loadOffset(offsets, zero),
                           zero};
  llvm::append_range(inits, mapped(op.getInits()));
  SmallVector<Type> types(inits.size(), i32);
  SmallVector<Location> locs(inits.size(), opLoc);

  auto outer = create<scf::WhileOp>(types, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&outer.getBefore(), {}, types, locs);
  Value t = before->getArgument(0);

  // Move the cursor.
  SmallVector<Type> cursorTypes(kCursor, i32);
  SmallVector<Location> cursorLocs(kCursor, opLoc);
  auto inner = create<scf::WhileOp>(
      cursorTypes, ValueRange(before->getArguments()).slice(1, kCursor));
  {
    OpBuilder::InsertionGuard innerGuard(b);
    Block *test =
        b.createBlock(&inner.getBefore(), {}, cursorTypes, cursorLocs);
    Value tiles = tilesOf(test->getArgument(2), test->getArgument(3));
    Value next = create<arith::AddIOp>(test->getArgument(1), tiles);
    Value inRange = create<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                          test->getArgument(0), numGroups);
    Value past = create<arith::CmpIOp>(arith::CmpIPredicate::sge, t, next);
    Value moves = create<arith::AndIOp>(inRange, past);
    create<scf::ConditionOp>(moves, test->getArguments());

    Block *move = b.createBlock(&inner.getAfter(), {}, cursorTypes, cursorLocs);
    Value passed = tilesOf(move->getArgument(2), move->getArgument(3));
    Value tilesBefore = create<arith::AddIOp>(move->getArgument(1), passed);
    Value atoms = create<arith::AddIOp>(move->getArgument(4),
                                        piecesOf(move->getArgument(2),
                                                 move->getArgument(3),
                                                 i32Const(rowsOfAtom), one));
    Value group = create<arith::AddIOp>(move->getArgument(0), one);
    Value begin = move->getArgument(3);
    // Past the last group the value is not used, only the address counts.
    Value end = loadOffset(offsets, create<arith::MinUIOp>(group, lastGroup));
    create<scf::YieldOp>(ValueRange{group, tilesBefore, begin, end, atoms});
  }
  Value inRange = create<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                        inner.getResult(0), numGroups);
  // t can wrap around only if the offsets are garbage.
  Value valid = create<arith::CmpIOp>(arith::CmpIPredicate::sge, t, zero);
  SmallVector<Value> state{t};
  llvm::append_range(state, inner.getResults());
  llvm::append_range(state, before->getArguments().drop_front(1 + kCursor));
  create<scf::ConditionOp>(create<arith::AndIOp>(inRange, valid), state);

  Block *after = b.createBlock(&outer.getAfter(), {}, types, locs);
  Value local =
      create<arith::SubIOp>(after->getArgument(0), after->getArgument(2));
  Value tileRow = create<arith::DivUIOp>(local, tilesPerRow);
  Value tileColumn = create<arith::RemUIOp>(local, tilesPerRow);
  Value row = create<arith::AddIOp>(
      after->getArgument(3), create<arith::MulIOp>(tileRow, rowsPerTile));
  Value column = create<arith::MulIOp>(tileColumn, i32Const(clusterN));
  row = ownPlace(row, ClusterAxis::m, tileM);
  column = ownPlace(column, ClusterAxis::n, tileN);

  Block &body = op.getBody().front();
  Value places[] = {after->getArgument(1),
                    row,
                    column,
                    after->getArgument(3),
                    after->getArgument(4),
                    after->getArgument(5)};
  static_assert(std::size(places) == ForTilesOp::kPlaces);
  for (auto [from, to] : llvm::zip(body.getArguments(), places)) {
    map.map(from, to);
  }
  for (auto [from, to] :
       llvm::zip(body.getArguments().drop_front(ForTilesOp::kPlaces),
                 after->getArguments().drop_front(1 + kCursor))) {
    map.map(from, to);
  }
  if (failed(lowerBody(body))) {
    return failure();
  }
  loc = opLoc;
  SmallVector<Value> next{create<arith::AddIOp>(after->getArgument(0), stride)};
  llvm::append_range(next, ValueRange(after->getArguments()).slice(1, kCursor));
  auto yield = cast<moe_kernel::YieldOp>(body.getTerminator());
  llvm::append_range(next, mapped(yield.getValues()));
  create<scf::YieldOp>(next);

  for (auto [from, to] :
       llvm::zip(op.getResults(), outer.getResults().drop_front(1 + kCursor))) {
    map.map(from, to);
  }
  return success();
}
