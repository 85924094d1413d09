// The kernel of a weight gradient: all tiles of every group's matrix, products
// along the group's rows.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/GroupMaps.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/PartialTiles.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/ProductKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace grouped_moe;

namespace {

/// The values of the walk over tiles (moe_kernel.for_group_tiles).
struct Place {
  explicit Place(ValueRange values)
      : group(values[0]), row(values[1]), column(values[2]), begin(values[3]),
        end(values[4]), atoms(values[5]), part(values[6]), parts(values[7]),
        slot(values[8]) {}
  Value group, row, column, begin, end, atoms, part, parts, slot;
};

class WgradLowering : ProductKernel {
public:
  explicit WgradLowering(WgradOp op)
      : ProductKernel(op, "wgrad", op.getLhsLayout().getBlock(), op.getN()),
        op(op), n(op.getN()), k(op.getK()),
        tilesAlong(llvm::divideCeil(k, tileN)),
        tilesOfGroup(llvm::divideCeil(n, tileM) * tilesAlong),
        clustersOfGroup(llvm::divideCeil(n, tileM * clusterM) *
                        llvm::divideCeil(k, tileN * clusterN)),
        split(schedule.getSplit()), atomSpan(getRaggedSpan(op.getLhsLayout())),
        isCut(op.getMAligned() % op.getLhsLayout().getBlock() != 0) {}

  LogicalResult run();

private:
  void addFactor(Factor &factor, Value memref, Value scales, bool transposed);
  void addCutMaps();
  void addParameters();
  void requireShapes();
  Walk createWalk(ValueRange inits) override;
  void buildLoadRole();
  void buildMatrixRole();
  void buildEpilogueRole();

  /// The rows of a tile's part: the first one, and how many.
  struct Span {
    Value first, rows;
  };
  Span spanOf(const Place &place);
  Value ceilDiv(Value value, int64_t by) {
    return kernel.div(kernel.add(value, by - 1), by);
  }
  Value isPositive(Value value) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, value,
                                 kernel.constant(int64_t(0)));
  }
  SmallVector<Value> buildTile(const Place &place, Value position, Value slot);
  Value leavePart(const Place &place, const Tile &tile, Value position);

  /// Of the walk, each for the tiles of a cluster. Divided groups have more
  /// than R / parts rows each, so that there are fewer than `parts`; the last
  /// part of each may be short of rows.
  int64_t slots() { return (2 * split[0] - 1) * clustersOfGroup; }
  int64_t ctas() { return clusterM * clusterN; }
  /// Where this CTA leaves its tile of part 0; other parts follow at multiples
  /// of all tiles of a part.
  Value ownSlot(const Place &place);
  int64_t slotsOfPart() { return clustersOfGroup * ctas(); }

  WgradOp op;
  int64_t n, k, tilesAlong, tilesOfGroup, clustersOfGroup;
  ArrayRef<int64_t> split;
  int64_t atomSpan; // rows of an atom of scales
  bool isCut;       // groups end within blocks
  Value hostRows, rows, offsets, partRows;
  std::optional<PartialTiles> partials;
};

void WgradLowering::addFactor(Factor &factor, Value memref, Value scales,
                              bool transposed) {
  factor.memref = memref;
  factor.scalesMemref = scales;
  factor.element = cast<MemRefType>(memref.getType()).getElementType();
  // Rows, the extent of the products, are the slow one unless the op says that
  // the operand is stored transposed.
  setTransposed(factor, !transposed);
  if (!isCut) {
    factor.map = kernel.addTensorMap(memref, dataMapType(factor, /*lead=*/0));
  }
  factor.scalesMap =
      kernel.addTensorMap(scales, {1, kAtomBytes / 2}, b.getI16Type(), 0);
}

/// Maps that end with each group's rows: what lies behind them in a block of
/// its last products is read as 0.
void WgradLowering::addCutMaps() {
  GroupMaps maps(op, "wgrad_maps", op.getOffsets(), hostRows);
  auto add = [&](Factor &factor, int64_t rowAxis) {
    factor.groupMaps = kernel.addMemref(
        maps.addCut(factor.memref, rowAxis, dataMapType(factor, /*lead=*/0)));
  };
  add(lhs, op.getLhsRowAxis());
  add(rhs, op.getRhsRowAxis());
  maps.finish();
}

/// What the launch checks.
void WgradLowering::requireShapes() {
  kernel.requireExtent(op.getRhs(), op.getRhsRowAxis(), hostRows);
  for (Value data : {op.getLhs(), op.getRhs()}) {
    if (isStoredTransposed(data, op.getLhsLayout())) {
      kernel.requireMultiple(data, 1, kPieceRows);
    }
  }
  Value atoms = kernel.hostRaggedAtoms(
      hostRows, atomSpan,
      {op.getGroups(), static_cast<int64_t>(op.getMAligned())});
  auto require = [&](Value scales, int64_t columns) {
    Value across = kernel.hostConstant(llvm::divideCeil(columns, kAtomRows));
    kernel.requireRows(scales,
                       arith::MulIOp::create(kernel.host, atoms, across));
  };
  require(op.getLhsScales(), n);
  require(op.getRhsScales(), k);
  moe_kernel::RequireOffsetsOp::create(kernel.host, op.getOffsets(), hostRows,
                                       op.getMAligned());
}

void WgradLowering::addParameters() {
  addFactor(lhs, op.getLhs(), op.getLhsScales(), op.getLhsTransposed());
  addFactor(rhs, op.getRhs(), op.getRhsScales(), op.getRhsTransposed());
  if (isCut) {
    addCutMaps();
  }
  offsets = kernel.addMemref(op.getOffsets());
  rows = kernel.addIndex(hostRows);
  if (!split.empty()) {
    Value part = arith::MaxUIOp::create(kernel.host,
                                        kernel.hostCeilDiv(hostRows, split[0]),
                                        kernel.hostConstant(split[1]));
    part =
        arith::MulIOp::create(kernel.host, kernel.hostCeilDiv(part, kAtomRows),
                              kernel.hostConstant(kAtomRows));
    partRows = kernel.addIndex(part);
    partials.emplace(kernel, slots() * ctas(), tileN,
                     op.getGroups() * tilesOfGroup);
  }
  epilogue.declareParameters(/*rows=*/Value());
}

ProductKernel::Walk WgradLowering::createWalk(ValueRange inits) {
  SmallVector<Type> types(inits.size(), b.getI32Type());
  auto loop = moe_kernel::ForGroupTilesOp::create(
      b, types, offsets, rows, ArrayRef<int64_t>{tileM, tileN},
      ArrayRef<int64_t>{n, k}, partRows, partRows ? slots() : 0, responses,
      queue, inits, raster());
  return {loop, &loop.getBody().emplaceBlock(),
          moe_kernel::ForGroupTilesOp::kPlaces};
}

WgradLowering::Span WgradLowering::spanOf(const Place &place) {
  Value whole = kernel.sub(place.end, place.begin);
  if (!partRows) {
    return {place.begin, whole};
  }
  Value before = arith::MulIOp::create(b, place.part, partRows);
  Value left = kernel.sub(whole, before);
  Value part = arith::MinUIOp::create(b, left, partRows);
  Value isDivided = arith::CmpIOp::create(
      b, arith::CmpIPredicate::sgt, place.parts, kernel.constant(int64_t(1)));
  return {kernel.add(place.begin, before),
          arith::SelectOp::create(b, isDivided, part, whole)};
}

void WgradLowering::buildLoadRole() {
  auto tile = [&](ValueRange places, ValueRange carried) -> SmallVector<Value> {
    Place place(places);
    Span span = spanOf(place);
    // Atoms of a group: those along its rows are neighbours.
    Value down = ceilDiv(kernel.sub(place.end, place.begin), atomSpan);
    Value firstAtom = kernel.div(kernel.sub(span.first, place.begin), atomSpan);
    // Groups whose atoms span fewer rows start at multiples of 128.
    Value atomsBefore = kernel.mul(place.atoms, kAtomRows / atomSpan);
    auto load = [&](Value step, Value stage) {
      Value row = kernel.add(span.first, kernel.mul(step, tileK));
      auto loadFactor = [&](Factor &factor, Value first, Value own,
                            int64_t columns) {
        for (int64_t box = 0; box < factor.boxes; ++box) {
          loadBox(factor, box, {}, kernel.add(own, box * factor.boxExtent()),
                  row, stage);
        }
        Value base =
            kernel.mul(atomsBefore, llvm::divideCeil(columns, kAtomRows));
        // Past the group's last atom it may be any: nothing multiplies it.
        for (int64_t atom = 0; atom < factor.scaleAtoms(); ++atom) {
          Value across = kernel.add(kernel.div(first, kAtomRows), atom);
          Value at = kernel.add(base, kernel.mul(across, down));
          at = kernel.add(kernel.add(at, firstAtom),
                          kernel.mul(step, atomsOfK()));
          for (int64_t k = 0; k < atomsOfK(); ++k) {
            loadScales(factor, k * factor.scaleAtoms() + atom,
                       {kernel.add(at, k), kernel.constant(int64_t(0))}, stage);
          }
        }
      };
      Value ownColumn = place.column; // of the half that this CTA holds
      if (Value half = pairHalf()) {
        ownColumn = kernel.add(ownColumn, kernel.mul(half, tileN / 2));
      }
      loadFactor(lhs, place.row, place.row, n);
      loadFactor(rhs, place.column, ownColumn, k);
    };
    return {forStages(ceilDiv(span.rows, tileK), carried[0], load)};
  };
  ProductKernel::buildLoadRole(tile);
}

void WgradLowering::buildMatrixRole() {
  auto tile = [&](ValueRange places, ValueRange carried) -> SmallVector<Value> {
    Place place(places);
    Span span = spanOf(place);
    Value count = ceilDiv(span.rows, tileK);
    Value before = kernel.mul(kernel.add(count, -1), tileK);
    Value lastQuarters =
        ceilDiv(kernel.sub(span.rows, before), tileK / kQuarters);
    // The accumulators of a group without rows stay with the epilogue.
    return kernel.either(
        isPositive(place.parts),
        [&] {
          return multiply(count, lastQuarters, carried[0], carried[1],
                          scaleRow(place.column));
        },
        [&] { return SmallVector<Value>(carried); });
  };
  ProductKernel::buildMatrixRole(tile);
}

Value WgradLowering::ownSlot(const Place &place) {
  Value slot = kernel.mul(place.slot, ctas());
  if (ctas() == 1) {
    return slot;
  }
  Value own =
      kernel.mul(kernel.index(moe_kernel::IndexKind::cluster_m), clusterN);
  own = kernel.add(own, kernel.index(moe_kernel::IndexKind::cluster_n));
  return kernel.add(slot, own);
}

/// Stores the sums of one of several parts; whether all are there (i1).
Value WgradLowering::leavePart(const Place &place, const Tile &tile,
                               Value position) {
  moe_kernel::WaitOp::create(b, accumulators, position);
  Value slot =
      kernel.add(ownSlot(place), kernel.mul(place.part, slotsOfPart()));
  epilogue.forChunks(
      tile, {},
      [&](Value at, Value, Value releases, ValueRange) -> SmallVector<Value> {
        SmallVector<Value> values = epilogue.takeAccumulators(
            accumulator, accumulators, position, at, releases);
        partials->store(slot, at, tile.thread, values[0]);
        return {};
      });
  Value index = kernel.mul(place.group, tilesOfGroup);
  index =
      kernel.add(index, kernel.mul(kernel.div(place.row, tileM), tilesAlong));
  index = kernel.add(index, kernel.div(place.column, tileN));
  return partials->arrive(index, place.parts);
}

SmallVector<Value> WgradLowering::buildTile(const Place &place, Value position,
                                            Value slot) {
  Tile tile = epilogue.describeTile(place.group, place.row, place.column,
                                    kernel.constant(n));
  epilogue.describeOrder(tile, accumulators, position);
  Value one = kernel.constant(int64_t(1));
  Value hasRows = isPositive(place.parts);
  Value isWhole =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place.parts, one);
  Value isReady =
      op.getAccumulate()
          ? hasRows
          : arith::ConstantOp::create(b, b.getBoolAttr(true)).getResult();
  if (partials) {
    Value isDivided =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, place.parts, one);
    isReady = kernel.either(
        isDivided,
        [&] { return SmallVector<Value>{leavePart(place, tile, position)}; },
        [&] { return SmallVector<Value>{isReady}; })[0];
  }
  auto wait = [&] {
    kernel.onlyIf(isWhole, [&] {
      moe_kernel::WaitOp::create(b, accumulators, position);
    });
  };
  int64_t lanes = epilogue.getShape().chunk;
  Value slotOfTile = partials ? ownSlot(place) : Value();
  // From tensor memory, from slots, or zero for a group without rows.
  auto take = [&](Value at, Value releases) -> SmallVector<Value> {
    return kernel.either(
        isWhole,
        [&] {
          return epilogue.takeAccumulators(accumulator, accumulators, position,
                                           at, releases);
        },
        [&] {
          Value sum = partials
                          ? partials->sum(slotOfTile, slotsOfPart(),
                                          place.parts, at, tile.thread, lanes)
                          : kernel.splat(kernel.constant(0.0f), lanes);
          return SmallVector<Value>{sum};
        });
  };
  Value nextSlot = kernel.either(
      isReady,
      [&] {
        return SmallVector<Value>{epilogue.buildTile(tile, wait, take, slot)};
      },
      [&] { return SmallVector<Value>{slot}; })[0];
  Value next = arith::SelectOp::create(
      b, hasRows, advance(accumulators, position), position);
  return {next, nextSlot};
}

void WgradLowering::buildEpilogueRole() {
  auto build = [&](ValueRange places, ValueRange carried) {
    Place place(places);
    Value position = carried[0], slot = carried[1];
    return ifTileExists(
        place.row, kernel.constant(n), place.column, k,
        [&] { return buildTile(place, position, slot); },
        [&] {
          Value hasRows = isPositive(place.parts);
          kernel.onlyIf(hasRows, [&] { skipAccumulators(position); });
          Value next = arith::SelectOp::create(
              b, hasRows, advance(accumulators, position), position);
          return SmallVector<Value>{next, slot};
        });
  };
  ProductKernel::buildEpilogueRole(build);
}

LogicalResult WgradLowering::run() {
  // Of the walk; a grid of one CTA for each is no longer.
  int64_t clusters = op.getGroups() * clustersOfGroup;
  int64_t tiles = clusters + (split.empty() ? 0 : slots());
  if (tiles > std::numeric_limits<int32_t>::max() / ctas()) {
    return op.emitOpError()
           << "schedule: " << tiles << " clusters of " << ctas()
           << " tiles, expected at most 2^31 - 1 tiles (wgrad_c2); use larger "
              "tiles, or fewer parts";
  }
  hostRows = memref::DimOp::create(kernel.host, op.getLhs(),
                                   int64_t(op.getLhsRowAxis()));
  requireShapes();
  addParameters();
  addBuffers();
  buildEpilogueRole();
  buildLoadRole();
  buildMatrixRole();
  buildSchedulerRole();
  launch(kernel.hostConstant(tiles));
  return success();
}

} // namespace

/// Accumulation is an input: what the output held, added to the value.
static void readOutputs(WgradOp op) {
  Block &body = op.getEpilogue().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  OpBuilder b(yield);
  SmallVector<int32_t> kinds(op.getInputKinds());
  SmallVector<Value> outputs(op.getOutputs());
  for (auto [i, output] : llvm::enumerate(outputs)) {
    op.getInputsMutable().append(output);
    kinds.push_back(static_cast<int32_t>(InputKind::per_element));
    Value before = body.addArgument(b.getF32Type(), output.getLoc());
    Value sum =
        arith::AddFOp::create(b, op.getLoc(), before, yield.getValues()[i]);
    yield.getValuesMutable()[i].set(sum);
  }
  op.setInputKinds(kinds);
}

LogicalResult grouped_moe::lowerWgrad(WgradOp op) {
  if (op.getAccumulate()) {
    readOutputs(op);
  }
  return WgradLowering(op).run();
}
