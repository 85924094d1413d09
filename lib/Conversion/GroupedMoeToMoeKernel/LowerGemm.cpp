// The kernel of a grouped product: tiles of rows of each group.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/GroupMaps.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/ProductKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;

namespace {

/// The values of the walk over tiles (moe_kernel.for_tiles).
struct Place {
  explicit Place(ValueRange values)
      : group(values[0]), row(values[1]), column(values[2]), begin(values[3]),
        end(values[4]), atoms(values[5]),
        fineAtoms(values.size() > 6 ? values[6] : Value()) {}
  Value group, row, column, begin, end, atoms, fineAtoms;
};

class GemmLowering : ProductKernel {
public:
  explicit GemmLowering(GemmOp op)
      : ProductKernel(op, "gemm", op.getLhsLayout().getBlock(),
                      op.getMAligned()),
        op(op), n(op.getN()), k(op.getK()), kTiles(llvm::divideCeil(k, tileK)),
        isPerGroup(op.getLhsLayout().getGrouping() ==
                   ScaleGrouping::per_group) {}

  void run();

private:
  void addParameters(Value rows);
  void addGroupMaps();
  /// On the host: at most so many pieces of `span` rows, each of one group.
  Value hostPieces(Value rows, int64_t span) {
    return kernel.hostRaggedAtoms(
        rows, span, {op.getGroups(), static_cast<int64_t>(op.getMAligned())});
  }
  /// Atoms of the scales of lhs along K.
  int64_t lhsAtomsAcross() { return llvm::divideCeil(k, block * kAtomBlocks); }
  SmallVector<Value> lhsAtom(const Place &place, Value atomOfK);
  Walk createWalk(ValueRange inits) override;
  void buildLoadRole();
  void buildMatrixRole();
  void buildEpilogueRole();
  bool hasHalves() { return op.getPaired() && op.getConcatenated(); }
  /// Boxes of a tile's scales of B, and the atoms along N of each.
  int64_t scaleBoxes() { return hasHalves() ? 2 : 1; }
  int64_t scaleBoxAtoms() { return rhs.scaleAtoms() / scaleBoxes(); }

  GemmOp op;
  int64_t n, k, kTiles;
  bool isPerGroup; // the scales of lhs
  Value offsets;
};

void GemmLowering::addParameters(Value rows) {
  lhs.memref = op.getLhs();
  lhs.scalesMemref = op.getLhsScales();
  rhs.memref = op.getRhs();
  rhs.scalesMemref = op.getRhsScales();
  lhs.element = cast<ShapedType>(op.getLhs().getType()).getElementType();
  rhs.element = op.getRhsType().getElementType();
  setTransposed(rhs, op.isRhsTransposed());
  // With gate and up side by side, half of a tile's rows come from each: in a
  // pair, one CTA holds gate and the other one up.
  if (hasHalves() && !isPaired && !rhs.transposed) {
    rhs.boxes = 2;
  }
  lhs.map = kernel.addTensorMap(lhs.memref, dataMapType(lhs, /*lead=*/0));
  if (!op.isRhsDiscrete()) {
    rhs.map = kernel.addTensorMap(rhs.memref, dataMapType(rhs, /*lead=*/1));
  }
  // An atom of scales is 256 x 16 bits: boxes have at most 256 elements a side.
  Type i16 = b.getI16Type();
  SmallVector<int64_t> lhsBox{tileM / kAtomRows, 1, kAtomBytes / 2};
  if (isPerGroup) { // atoms in a line
    lhsBox = {1, kAtomBytes / 2};
  }
  lhs.scalesMap = kernel.addTensorMap(lhs.scalesMemref, lhsBox, i16, 0);
  if (op.isRhsDiscrete()) {
    addGroupMaps();
  } else {
    rhs.scalesMap = kernel.addTensorMap(
        rhs.scalesMemref, {1, scaleBoxAtoms(), 1, kAtomBytes / 2}, i16, 0);
  }
  offsets = kernel.addMemref(op.getOffsets());
  epilogue.declareParameters(rows);
}

/// Maps of each group's own array, and of its scales.
void GemmLowering::addGroupMaps() {
  GroupMaps maps(op, "gemm_maps", op.getOffsets());
  auto add = [&](Value addresses, Type pointee,
                 moe_kernel::TensorMapType type) {
    auto array = cast<RankedTensorType>(pointee);
    auto memref = MemRefType::get(array.getShape(), array.getElementType());
    moe_kernel::RequireAddressesOp::create(kernel.host, addresses, memref,
                                           op.getOffsets(), /*read_only=*/true);
    return kernel.addMemref(maps.addDiscrete(addresses, memref, type));
  };
  rhs.groupMaps =
      add(op.getRhs(), *op.getRhsPointee(), dataMapType(rhs, /*lead=*/0));
  rhs.groupScalesMaps =
      add(op.getRhsScales(), *op.getRhsScalesPointee(),
          moe_kernel::TensorMapType::get(b.getContext(),
                                         {scaleBoxAtoms(), 1, kAtomBytes / 2},
                                         b.getI16Type(), /*swizzle=*/0));
  maps.finish();
}

ProductKernel::Walk GemmLowering::createWalk(ValueRange inits) {
  SmallVector<Type> types(inits.size(), b.getI32Type());
  auto loop = moe_kernel::ForTilesOp::create(
      b, types, offsets, ArrayRef<int64_t>{tileM, tileN}, n, responses, queue,
      inits, raster(), epilogue.fineRows());
  return {loop, &loop.getBody().emplaceBlock(), loop.getPlaces()};
}

/// The place of the tile's atom of lhs. Past K it may be a neighbour's, which
/// nothing multiplies.
SmallVector<Value> GemmLowering::lhsAtom(const Place &place, Value atomOfK) {
  Value zero = kernel.constant(int64_t(0));
  if (!isPerGroup) {
    return {kernel.div(place.row, kAtomRows), atomOfK, zero};
  }
  Value local = kernel.sub(place.row, place.begin);
  Value down = kernel.add(place.atoms, kernel.div(local, kAtomRows));
  return {kernel.add(kernel.mul(down, lhsAtomsAcross()), atomOfK), zero};
}

void GemmLowering::buildLoadRole() {
  auto tile = [&](ValueRange places, ValueRange carried) -> SmallVector<Value> {
    Place place(places);
    Value group = place.group, row = place.row, column = place.column;
    SmallVector<Value> lead; // of places in rhs
    if (!op.isRhsDiscrete()) {
      lead.push_back(group);
    }
    auto load = [&](Value step, Value stage) {
      Value kStart = kernel.mul(step, tileK),
            zero = kernel.constant(int64_t(0));
      loadBox(lhs, 0, {}, row, kStart, stage);
      for (int64_t k = 0; k < atomsOfK(); ++k) {
        Value atom = kernel.add(kernel.mul(step, atomsOfK()), k);
        loadScales(lhs, k * lhs.scaleAtoms(), lhsAtom(place, atom), stage);
      }
      // Rows of B from half `half` of the tile's, or of gate and up.
      Value ownHalf = pairHalf();
      for (int64_t box = 0; box < rhs.boxes; ++box) {
        Value first = kernel.add(column, box * rhs.boxExtent());
        if (hasHalves()) {
          Value half = ownHalf ? ownHalf : kernel.constant(box);
          first = kernel.add(kernel.div(column, 2), kernel.mul(half, n / 2));
        } else if (ownHalf) {
          first = kernel.add(first, kernel.mul(ownHalf, tileN / 2));
        }
        loadBox(rhs, box, lead, first, kStart, stage);
      }
      for (int64_t box = 0; box < scaleBoxes(); ++box) {
        Value first = hasHalves()
                          ? kernel.add(kernel.div(column, 2), box * (n / 2))
                          : column;
        for (int64_t k = 0; k < atomsOfK(); ++k) {
          Value atom = kernel.add(kernel.mul(step, atomsOfK()), k);
          SmallVector<Value> at(lead);
          at.append({kernel.div(first, kAtomRows), atom, zero});
          loadScales(rhs, k * rhs.scaleAtoms() + box * scaleBoxAtoms(), at,
                     stage);
        }
      }
    };
    return {forStages(kernel.constant(kTiles), carried[0], load)};
  };
  ProductKernel::buildLoadRole(tile);
}

void GemmLowering::buildMatrixRole() {
  auto tile = [&](ValueRange places, ValueRange carried) {
    Value rest;
    if (int64_t left = k % tileK) {
      rest = kernel.constant(left * 4 / tileK);
    }
    return multiply(kernel.constant(kTiles), rest, carried[0], carried[1],
                    scaleRow(Place(places).column));
  };
  ProductKernel::buildMatrixRole(tile);
}

void GemmLowering::buildEpilogueRole() {
  auto build = [&](ValueRange places,
                   ValueRange carried) -> SmallVector<Value> {
    Value position = carried[0];
    Place place(places);
    Tile tile =
        epilogue.describeTile(place.group, place.row, place.column, place.end);
    epilogue.describeGroup(tile, place.begin, place.end, place.atoms,
                           place.fineAtoms);
    epilogue.describeOrder(tile, accumulators, position);
    auto wait = [&] { moe_kernel::WaitOp::create(b, accumulators, position); };
    auto take = [&](Value at, Value releases) {
      return epilogue.takeAccumulators(accumulator, accumulators, position, at,
                                       releases);
    };
    SmallVector<Value> slot = ifTileExists(
        place.row, place.end, place.column, n,
        [&] {
          return SmallVector<Value>{
              epilogue.buildTile(tile, wait, take, carried[1])};
        },
        [&] {
          skipAccumulators(position);
          return SmallVector<Value>{carried[1]};
        });
    return {advance(accumulators, position), slot[0]};
  };
  ProductKernel::buildEpilogueRole(build);
}

void GemmLowering::run() {
  Value rows = kernel.hostRows(op.getLhs());
  Value lhsAtoms = hostPieces(rows, kAtomRows);
  if (isPerGroup) {
    lhsAtoms = arith::MulIOp::create(kernel.host, lhsAtoms,
                                     kernel.hostConstant(lhsAtomsAcross()));
  }
  kernel.requireRows(op.getLhsScales(), lhsAtoms);
  moe_kernel::RequireOffsetsOp::create(kernel.host, op.getOffsets(), rows,
                                       op.getMAligned());
  addParameters(rows);
  addBuffers();
  buildEpilogueRole();
  buildLoadRole();
  buildMatrixRole();
  buildSchedulerRole();
  launch(arith::MulIOp::create(
      kernel.host, hostPieces(rows, tileM * clusterM),
      kernel.hostConstant(llvm::divideCeil(n, tileN * clusterN))));
}

} // namespace

LogicalResult grouped_moe::lowerGemm(GemmOp op) {
  GemmLowering(op).run();
  return success();
}
