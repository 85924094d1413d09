// Outputs of R rows: converted or quantized, staged in shared memory, stored by
// bulk copies.
#include "lib/Conversion/GroupedMoeToMoeKernel/StoredOutput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace grouped_moe;

void StoredOutput::declareParameters(Value rows) {
  Value memref = op.getOutputs()[output];
  if (rows) {
    kernel.requireExtent(memref, isTransposed() ? 1 : 0, rows);
  }
  if (isTransposed()) {
    kernel.requireMultiple(memref, 1, kPieceRows);
  }
  int64_t rowBytes =
      stagedColumns() * stagedElement().getIntOrFloatBitWidth() / 8;
  SmallVector<int64_t> box{kWarpRows, stagedColumns()};
  if (isOfGroups()) {
    box.insert(box.begin(), 1);
  }
  map = kernel.addOutputMap(memref, box, stagedElement(),
                            rowBytes == 16 ? 0 : rowBytes);
  if (splitsWarps()) {
    rowsOfThreads = kernel.addOutput(memref);
  }
}

void StoredOutput::declareBuffers() {
  for (unsigned half = 0; half < halves(); ++half) {
    buffers.push_back(alloc(half == 0 ? "output" : "up_output",
                            {kStagingSlots, kEpilogueThreads, stagedColumns()},
                            stagedElement()));
  }
}

void StoredOutput::store(const Tile &tile, const Chunk &chunk) {
  // The map ends where a matrix of a group does, but not where a group does.
  if (isOfGroups() || !tile.isInside) {
    storeBoxes(tile, chunk);
  } else {
    kernel.onlyIf(tile.warpIsInside, [&] { storeBoxes(tile, chunk); });
  }
}

Type StoredOutput::stagedElement() {
  Type element = elementType();
  return element.getIntOrFloatBitWidth() <= 8 ? b.getI8Type() : element;
}

void StoredOutput::stage(const Tile &tile, unsigned half, Value row,
                         const Chunk &chunk) {
  auto toStaging = [&]() -> SmallVector<Value> {
    moe_kernel::StageRowOp::create(b, row, buffers[half], chunk.slot);
    return {};
  };
  if (!splitsWarps()) {
    toStaging();
    return;
  }
  kernel.either(tile.warpIsInside, toStaging, [&]() -> SmallVector<Value> {
    kernel.onlyIf(tile.isInside, [&] {
      moe_kernel::GlobalStoreOp::create(
          b, row, rowsOfThreads,
          ValueRange{tile.threadRow, storedColumn(chunk.column, half)});
    });
    return {};
  });
}

Value StoredOutput::encode(Value values) {
  return moe_kernel::EncodeOp::create(
      b, VectorType::get(stagedColumns(), b.getI8Type()), values,
      TypeAttr::get(elementType()));
}

void StoredOutput::storeBoxes(const Tile &tile, const Chunk &chunk) {
  for (unsigned half = 0; half < halves(); ++half) {
    SmallVector<Value> at{tile.warpRow, storedColumn(chunk.column, half)};
    if (isTransposed()) {
      std::swap(at[0], at[1]);
    }
    if (isFp4()) {
      at[1] = kernel.div(at[1], 2);
    }
    if (isOfGroups()) {
      at.insert(at.begin(), tile.group);
    }
    moe_kernel::StoreOp::create(b, map, at, buffers[half], chunk.slot);
  }
}

namespace {

class PlainOutput : public StoredOutput {
public:
  using StoredOutput::StoredOutput;

  SmallVector<Value> take(const Tile &tile, const Chunk &chunk,
                          ValueRange values, ValueRange) override {
    for (auto [half, value] : llvm::enumerate(values)) {
      stage(tile, half, convert(value), chunk);
    }
    return {};
  }

private:
  Value convert(Value values) {
    Type element = stagedElement();
    if (element.isInteger(8)) {
      return encode(values);
    }
    if (element.isF32()) {
      return values;
    }
    return arith::TruncFOp::create(b, VectorType::get(shape.chunk, element),
                                   values);
  }
};

/// A matrix for each group, at an address of its own.
class AddressedOutput : public EpilogueOutput {
public:
  AddressedOutput(WgradOp op, unsigned i, KernelScope &kernel,
                  const EpilogueShape &shape)
      : EpilogueOutput(op, i, kernel, shape),
        element(op.getOutputElementType(i)), matrix(pointeeType(op, i)) {}

  void declareParameters(Value) override {
    Value memref = op.getOutputs()[output];
    moe_kernel::RequireAddressesOp::create(kernel.host, memref, matrix,
                                           /*groups=*/Value(),
                                           /*read_only=*/false);
    addresses = kernel.addMemref(memref);
  }
  SmallVector<Value> take(const Tile &tile, const Chunk &chunk,
                          ValueRange values, ValueRange) override {
    Value value = values[0];
    if (!element.isF32()) {
      value = arith::TruncFOp::create(b, VectorType::get(shape.chunk, element),
                                      value);
    }
    whereInside(tile, [&] {
      Value memref =
          moe_kernel::PointeeOp::create(b, matrix, addresses, tile.group);
      moe_kernel::GlobalStoreOp::create(
          b, value, memref, ValueRange{tile.threadRow, chunk.column});
    });
    return {};
  }

private:
  Type element;
  MemRefType matrix;
  Value addresses;
};

/// Blocks along the row: one thread's. The scales of a row are collected to
/// words of a line of an atom, so that bytes of no block become 0.
class RowQuantizedOutput : public QuantizedOutput {
public:
  using QuantizedOutput::QuantizedOutput;

  void declareScales(Value rows) override {
    scales = kernel.addOutput(scalesMemref());
    Value atoms = hostRowTiles(rows);
    if (isPerGroup) {
      atoms = arith::MulIOp::create(kernel.host, atoms,
                                    kernel.hostConstant(atomsAcross()));
    }
    kernel.requireRows(scalesMemref(), atoms);
  }
  SmallVector<Value> start() override {
    return SmallVector<Value>(words(), kernel.constant(int64_t(0)));
  }
  SmallVector<Value> take(const Tile &tile, const Chunk &chunk,
                          ValueRange values, ValueRange carried) override {
    SmallVector<Value> next(carried);
    Value inWord =
        kernel.rem(kernel.div(chunk.at, shape.chunk), chunksOfWord());
    Value isFirst = kernel.equal(inWord, 0);
    for (Value &word : next) {
      word = arith::SelectOp::create(b, isFirst, kernel.constant(int64_t(0)),
                                     word);
    }
    for (auto [half, value] : llvm::enumerate(values)) {
      auto [codes, bytes] = quantizeRow(kernel, value, format());
      stage(tile, half, codes, chunk);
      unsigned word = words() == 1 ? 0 : half;
      Value shift = kernel.mul(inWord, 8 * bytesOfChunk());
      if (words() == 1 && half == 1) {
        shift = kernel.add(shift, 8 * blocksOfHalf());
      }
      next[word] = arith::OrIOp::create(b, next[word],
                                        arith::ShLIOp::create(b, bytes, shift));
    }
    Value isFull = kernel.equal(inWord, chunksOfWord() - 1);
    kernel.onlyIf(arith::OrIOp::create(b, isFull, chunk.last), [&] {
      for (auto [i, word] : llvm::enumerate(next)) {
        storeWord(tile, storedColumn(chunk.column, i), word);
      }
    });
    // The rest of the last line is no tile's.
    int64_t blocks = storedColumns / layout.getBlock();
    int64_t written = llvm::alignTo(blocks, wordBytes()),
            end = llvm::alignTo(blocks, kAtomBlocks);
    if (written < end) {
      kernel.onlyIf(isLastOfRow(chunk), [&] {
        Value zero = kernel.constant(int64_t(0));
        for (; written < end; written += wordBytes()) {
          storeWord(tile, kernel.constant(written * layout.getBlock()), zero);
        }
      });
    }
    return next;
  }

private:
  /// Halves that alternate share a word.
  unsigned words() { return op.getConcatenated() ? halves() : 1; }
  int64_t blocksOfHalf() { return shape.chunk / layout.getBlock(); }
  int64_t bytesOfChunk() { return blocksOfHalf() * halves() / words(); }
  /// Words never cross tiles, nor runs of columns in order, and start at
  /// multiples of their own size.
  int64_t chunksOfWord() {
    int64_t chunks = (shape.columnsInOrder() | shape.tileColumns) / shape.chunk;
    return std::min(kAtomBlocks / bytesOfChunk(), chunks & -chunks);
  }
  int64_t wordBytes() { return chunksOfWord() * bytesOfChunk(); }

  /// The word that holds the scale of stored column `column`.
  void storeWord(const Tile &tile, Value column, Value word) {
    Value block = kernel.div(column, layout.getBlock());
    Value atom = kernel.div(block, kAtomBlocks);
    Value byte = kernel.rem(block, kAtomBlocks);
    byte = kernel.mul(kernel.div(byte, wordBytes()), wordBytes());
    Value row = tile.paddedRow, rowAtom = kernel.div(row, kAtomRows);
    SmallVector<Value> at{rowAtom, atom};
    if (isPerGroup) {
      at = {kernel.add(kernel.mul(rowAtom, atomsAcross()), atom)};
    }
    at.append({kernel.rem(row, 32), kernel.div(kernel.rem(row, kAtomRows), 32),
               byte});
    moe_kernel::GlobalStoreOp::create(b, kernel.lowBytes(word, wordBytes()),
                                      scales, at);
  }
};

} // namespace

std::unique_ptr<EpilogueOutput>
grouped_moe::createStoredOutput(FusedProduct op, unsigned i,
                                KernelScope &kernel, const EpilogueShape &shape,
                                const Value &normConst) {
  auto type = cast<MemRefType>(op.getOutputs()[i].getType());
  if (type.getElementType().isInteger(64)) {
    return std::make_unique<AddressedOutput>(cast<WgradOp>(op.getOperation()),
                                             i, kernel, shape);
  }
  if (op.getOutputKind(i) == OutputKind::plain) {
    return std::make_unique<PlainOutput>(op, i, kernel, shape);
  }
  if (op.getScaleLayout(i + 1).getDirection() == ScaleDirection::row) {
    return std::make_unique<RowQuantizedOutput>(op, i, kernel, shape,
                                                normConst);
  }
  return createColumnOutput(op, i, kernel, shape, normConst);
}
