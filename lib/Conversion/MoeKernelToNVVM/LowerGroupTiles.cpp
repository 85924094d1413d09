// The walk over the tiles of a matrix for each group.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

namespace {
/// The cursor: a group and what comes before it, in the order of the loops'
/// state behind the linear index.
struct Cursor {
  static constexpr unsigned kValues = 6;
  explicit Cursor(ValueRange values)
      : group(values[0]), tiles(values[1]), begin(values[2]), end(values[3]),
        atoms(values[4]), slots(values[5]) {}
  Value group, tiles, begin, end, atoms, slots;
};
} // namespace

// As in the walk over rows (LowerTiles.cpp) an inner loop moves the cursor to
// the group of the linear index; both loops end on any contents of offsets.
LogicalResult KernelLowering::lower(ForGroupTilesOp op) {
  Location opLoc = loc;
  Type i32 = b.getI32Type();
  int64_t tileM = op.getTile()[0], tileN = op.getTile()[1];
  int64_t clusterM = tileM * source.getClusterM(),
          clusterN = tileN * source.getClusterN();
  int64_t tilesAlong = llvm::divideCeil(op.getShape()[1], clusterN);
  int64_t groups = cast<MemRefType>(op.getOffsets().getType()).getDimSize(0);
  Value offsets = mapped(op.getOffsets()), rows = mapped(op.getRows());
  Value partRows = op.getPartRows() ? mapped(op.getPartRows()) : Value();

  Value zero = i32Const(0), one = i32Const(1);
  Value numGroups = i32Const(groups), lastGroup = i32Const(groups - 1);
  Value tilesOfGroup =
      i32Const(llvm::divideCeil(op.getShape()[0], clusterM) * tilesAlong);
  auto endOf = [&](Value group) -> Value {
    return create<arith::MinSIOp>(loadOffset(offsets, group), rows);
  };
  auto rowsOf = [&](const Cursor &c) -> Value {
    return create<arith::MaxSIOp>(create<arith::SubIOp>(c.end, c.begin), zero);
  };
  auto ceilDiv = [&](Value value, Value by) -> Value {
    Value rounded =
        create<arith::AddIOp>(value, create<arith::SubIOp>(by, one));
    return create<arith::DivUIOp>(rounded, by);
  };
  /// 0 for a group without rows.
  auto partsOf = [&](const Cursor &c) -> Value {
    Value some = create<arith::MinSIOp>(rowsOf(c), one);
    if (!partRows) {
      return some;
    }
    Value parts = ceilDiv(rowsOf(c), partRows);
    Value end = create<arith::AddIOp>(
        c.slots, create<arith::MulIOp>(parts, tilesOfGroup));
    Value fits = create<arith::CmpIOp>(arith::CmpIPredicate::ule, end,
                                       i32Const(op.getSlots()));
    return create<arith::SelectOp>(fits, parts, some);
  };
  auto tilesOf = [&](const Cursor &c) -> Value {
    Value parts = create<arith::MaxSIOp>(partsOf(c), one);
    return create<arith::MulIOp>(parts, tilesOfGroup);
  };

  Value first = walker(), stride = walkers();
  SmallVector<Value> inits{first, zero, zero, zero, endOf(zero), zero, zero};
  llvm::append_range(inits, mapped(op.getInits()));
  SmallVector<Type> types(inits.size(), i32);
  SmallVector<Location> locs(inits.size(), opLoc);
  auto outer = create<scf::WhileOp>(types, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&outer.getBefore(), {}, types, locs);
  Value t = before->getArgument(0);

  SmallVector<Type> cursorTypes(Cursor::kValues, i32);
  SmallVector<Location> cursorLocs(Cursor::kValues, opLoc);
  auto inner = create<scf::WhileOp>(
      cursorTypes,
      ValueRange(before->getArguments()).slice(1, Cursor::kValues));
  {
    OpBuilder::InsertionGuard innerGuard(b);
    Block *test =
        b.createBlock(&inner.getBefore(), {}, cursorTypes, cursorLocs);
    Cursor at(test->getArguments());
    Value next = create<arith::AddIOp>(at.tiles, tilesOf(at));
    Value inRange =
        create<arith::CmpIOp>(arith::CmpIPredicate::ult, at.group, numGroups);
    Value past = create<arith::CmpIOp>(arith::CmpIPredicate::sge, t, next);
    create<scf::ConditionOp>(create<arith::AndIOp>(inRange, past),
                             test->getArguments());

    Block *move = b.createBlock(&inner.getAfter(), {}, cursorTypes, cursorLocs);
    Cursor from(move->getArguments());
    Value tiles = create<arith::AddIOp>(from.tiles, tilesOf(from));
    Value atoms = create<arith::AddIOp>(
        from.atoms, ceilDiv(rowsOf(from), i32Const(rowsOfAtom)));
    Value slots = from.slots;
    if (partRows) {
      Value parts = partsOf(from);
      Value several =
          create<arith::CmpIOp>(arith::CmpIPredicate::sgt, parts, one);
      Value taken = create<arith::MulIOp>(parts, tilesOfGroup);
      slots = create<arith::AddIOp>(
          slots, create<arith::SelectOp>(several, taken, zero));
    }
    Value group = create<arith::AddIOp>(from.group, one);
    // Past the last group the value is not used, only the address counts.
    Value end = endOf(create<arith::MinUIOp>(group, lastGroup));
    create<scf::YieldOp>(ValueRange{group, tiles, from.end, end, atoms, slots});
  }
  Value inRange = create<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                        inner.getResult(0), numGroups);
  // t can wrap around only if the offsets are garbage.
  Value valid = create<arith::CmpIOp>(arith::CmpIPredicate::sge, t, zero);
  SmallVector<Value> state{t};
  llvm::append_range(state, inner.getResults());
  llvm::append_range(state,
                     before->getArguments().drop_front(1 + Cursor::kValues));
  create<scf::ConditionOp>(create<arith::AndIOp>(inRange, valid), state);

  Block *after = b.createBlock(&outer.getAfter(), {}, types, locs);
  Cursor at(ValueRange(after->getArguments()).drop_front());
  Value local = create<arith::SubIOp>(after->getArgument(0), at.tiles);
  Value part = zero, tile = local, slot = zero;
  if (partRows) {
    part = create<arith::DivUIOp>(local, tilesOfGroup);
    tile = create<arith::RemUIOp>(local, tilesOfGroup);
    slot = create<arith::AddIOp>(at.slots, tile);
  }
  Value along = i32Const(tilesAlong);
  Value row = create<arith::MulIOp>(create<arith::DivUIOp>(tile, along),
                                    i32Const(clusterM));
  Value column = create<arith::MulIOp>(create<arith::RemUIOp>(tile, along),
                                       i32Const(clusterN));
  row = ownPlace(row, ClusterAxis::m, tileM);
  column = ownPlace(column, ClusterAxis::n, tileN);
  Value end = create<arith::MaxSIOp>(at.begin, at.end);
  Block &body = op.getBody().front();
  Value places[] = {at.group, row,  column,      at.begin, end,
                    at.atoms, part, partsOf(at), slot};
  static_assert(std::size(places) == ForGroupTilesOp::kPlaces);
  for (auto [from, to] : llvm::zip(body.getArguments(), places)) {
    map.map(from, to);
  }
  auto carried = after->getArguments().drop_front(1 + Cursor::kValues);
  for (auto [from, to] : llvm::zip(
           body.getArguments().drop_front(ForGroupTilesOp::kPlaces), carried)) {
    map.map(from, to);
  }
  if (failed(lowerBody(body))) {
    return failure();
  }
  loc = opLoc;
  SmallVector<Value> next{create<arith::AddIOp>(after->getArgument(0), stride)};
  llvm::append_range(
      next, ValueRange(after->getArguments()).slice(1, Cursor::kValues));
  auto yield = cast<moe_kernel::YieldOp>(body.getTerminator());
  llvm::append_range(next, mapped(yield.getValues()));
  create<scf::YieldOp>(next);

  for (auto [from, to] :
       llvm::zip(op.getResults(),
                 outer.getResults().drop_front(1 + Cursor::kValues))) {
    map.map(from, to);
  }
  return success();
}
