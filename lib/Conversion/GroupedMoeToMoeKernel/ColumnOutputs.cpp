// Outputs of R rows that are quantized down their columns.
#include "lib/Conversion/GroupedMoeToMoeKernel/StoredOutput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace grouped_moe;

namespace {

/// Blocks down a column, in the 32 rows of a warp. Lane c has the scales of
/// column c of the chunk.
class ColumnOutput : public QuantizedOutput {
public:
  using QuantizedOutput::QuantizedOutput;

  void declareScales(Value rows) override;
  SmallVector<Value> take(const Tile &tile, const Chunk &chunk,
                          ValueRange values, ValueRange) override;
  int64_t fineRows() override {
    return isPerGroup && span() != kAtomRows && shape.mayEndInside() ? span()
                                                                     : 0;
  }

private:
  /// Rows of an atom.
  int64_t span() { return getRaggedSpan(layout); }
  int64_t blocksOfWarp() { return kWarpRows / layout.getBlock(); }
  /// Stages the data; the bytes of the lane's scales, the first one lowest.
  Value quantize(const Tile &tile, unsigned half, Value values,
                 const Chunk &chunk);
  void storeScales(const Tile &tile, Value first, Value codes);
  /// Atoms along the rows of the groups before the tile's, and of that one.
  std::pair<Value, Value> atomsOfGroup(const Tile &tile);

  Value atomsDown; // of the whole layout
};

} // namespace

void ColumnOutput::declareScales(Value rows) {
  Value atoms =
      kernel.hostRaggedAtoms(rows, span(), {shape.groups, shape.rowUnit});
  Value memref = scalesMemref();
  if (isPerGroup) {
    Value across = kernel.hostConstant(atomsAcross());
    kernel.requireRows(memref,
                       arith::MulIOp::create(kernel.host, atoms, across));
  } else {
    kernel.requireExtent(memref, 1, atoms);
    // One line of atoms: its second extent, R's, would be dynamic.
    memref = memref::CollapseShapeOp::create(
        kernel.host, memref,
        ArrayRef<ReassociationIndices>{{0, 1}, {2}, {3}, {4}});
  }
  scales = kernel.addOutput(memref);
  if (!isPerGroup) {
    atomsDown = kernel.addIndex(atoms);
  }
}

Value ColumnOutput::quantize(const Tile &tile, unsigned half, Value values,
                             const Chunk &chunk) {
  if (isTransposed()) {
    // A lane gets all rows of a column, as they are stored.
    Value column =
        moe_kernel::TransposeLanesOp::create(b, values.getType(), values);
    QuantizedBlock block = quantizeRow(kernel, column, format());
    stage(tile, half, block.codes, chunk);
    return block.scales;
  }
  Value amax = moe_kernel::ColumnAmaxOp::create(b, b.getF32Type(), values);
  Value code = scaleCode(kernel, amax, format());
  Value factor = dataFactor(kernel, code, format());
  Value factors =
      moe_kernel::SpreadLanesOp::create(b, values.getType(), factor);
  stage(tile, half, encode(arith::MulFOp::create(b, values, factors)), chunk);
  return code;
}

SmallVector<Value> ColumnOutput::take(const Tile &tile, const Chunk &chunk,
                                      ValueRange values, ValueRange) {
  for (auto [half, value] : llvm::enumerate(values)) {
    Value codes = quantize(tile, half, value, chunk);
    storeScales(tile, storedColumn(chunk.column, half), codes);
  }
  // Rows of the last atom that are no column.
  int64_t inLast = storedColumns % kAtomRows / 32;
  if (inLast != 0) {
    kernel.onlyIf(isLastOfRow(chunk), [&] {
      for (int64_t quarter = inLast; quarter < 4; ++quarter) {
        int64_t column = storedColumns / kAtomRows * kAtomRows + quarter * 32;
        storeScales(tile, kernel.constant(column), kernel.constant(int64_t(0)));
      }
    });
  }
  return {};
}

std::pair<Value, Value> ColumnOutput::atomsOfGroup(const Tile &tile) {
  if (fineRows() > 0) {
    Value rows = kernel.sub(tile.end, tile.begin);
    return {tile.fineAtoms, kernel.div(kernel.add(rows, span() - 1), span())};
  }
  int64_t ofTile = kEpilogueThreads / span();
  Value down = kernel.sub(tile.endRowTile, tile.firstRowTile);
  return {kernel.mul(tile.firstRowTile, ofTile), kernel.mul(down, ofTile)};
}

/// The scales of the warp's rows in stored column `first` + lane. An atom has
/// four blocks along the rows.
void ColumnOutput::storeScales(const Tile &tile, Value first, Value codes) {
  Value columnAtom = kernel.div(first, kAtomRows);
  Value row = tile.paddedWarpRow, rowAtom = kernel.div(row, span());
  Value quarter = kernel.div(kernel.rem(first, kAtomRows), 32);
  Value block = kernel.div(kernel.rem(row, span()), layout.getBlock());
  auto store = [&](Value atom) {
    moe_kernel::GlobalStoreOp::create(
        b, kernel.lowBytes(codes, blocksOfWarp()), scales,
        ValueRange{atom, tile.lane, quarter, block});
  };
  if (!isPerGroup) {
    store(kernel.add(kernel.mul(columnAtom, atomsDown), rowAtom));
    return;
  }
  auto [before, down] = atomsOfGroup(tile);
  Value base = kernel.mul(before, atomsAcross());
  Value line = kernel.add(base, kernel.mul(columnAtom, down));
  int64_t ofTile = kEpilogueThreads / span();
  Value inGroup = kernel.sub(rowAtom, kernel.mul(tile.firstRowTile, ofTile));
  Value atom = kernel.add(line, inGroup);
  if (fineRows() == 0) {
    store(atom);
    return;
  }
  // A tile may reach past the group's last atom.
  Value isWritten =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, inGroup, down);
  kernel.onlyIf(isWritten, [&] { store(atom); });
}

std::unique_ptr<EpilogueOutput>
grouped_moe::createColumnOutput(FusedProduct op, unsigned i,
                                KernelScope &kernel, const EpilogueShape &shape,
                                const Value &normConst) {
  return std::make_unique<ColumnOutput>(op, i, kernel, shape, normConst);
}
