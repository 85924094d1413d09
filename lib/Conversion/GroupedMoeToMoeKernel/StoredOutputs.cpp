// Outputs of R rows: converted or quantized, staged in shared memory, stored by
// bulk copies.
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Analysis/ScheduleSelection.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueOutput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;

namespace {

class StoredOutput : public EpilogueOutput {
public:
  using EpilogueOutput::EpilogueOutput;

  void declareParameters(Value rows) override {
    Value memref = op.getOutputs()[output];
    if (rows) {
      kernel.requireRows(memref, rows);
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
  void declareBuffers() override {
    for (unsigned half = 0; half < halves(); ++half) {
      buffers.push_back(alloc(
          half == 0 ? "output" : "up_output",
          {kStagingSlots, kEpilogueThreads, stagedColumns()}, stagedElement()));
    }
  }
  void store(const Tile &tile, const Chunk &chunk) override {
    // The map ends where a matrix of a group does, but not where a group does.
    if (isOfGroups() || !tile.isInside) {
      storeBoxes(tile, chunk);
    } else {
      kernel.onlyIf(tile.warpIsInside, [&] { storeBoxes(tile, chunk); });
    }
  }

protected:
  /// A matrix for each group.
  bool isOfGroups() { return typeOf(output).getRank() == 3; }
  bool isFp4() { return isa<Float4E2M1FNType>(elementType()); }
  Type elementType() { return typeOf(output).getElementType(); }
  /// Narrow floats are staged as bytes.
  Type stagedElement() {
    Type element = elementType();
    return element.getIntOrFloatBitWidth() <= 8 ? b.getI8Type() : element;
  }
  int64_t stagedColumns() { return isFp4() ? shape.chunk / 2 : shape.chunk; }
  /// A warp with rows of a neighbour stores its own one by one.
  void stage(const Tile &tile, unsigned half, Value row, const Chunk &chunk) {
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
  Value encode(Value values) {
    return moe_kernel::EncodeOp::create(
        b, VectorType::get(stagedColumns(), b.getI8Type()), values,
        TypeAttr::get(elementType()));
  }

private:
  bool splitsWarps() { return shape.splitsWarps() && !isOfGroups(); }
  void storeBoxes(const Tile &tile, const Chunk &chunk) {
    for (unsigned half = 0; half < halves(); ++half) {
      Value column = storedColumn(chunk.column, half);
      if (isFp4()) {
        column = kernel.div(column, 2);
      }
      SmallVector<Value> at{tile.warpRow, column};
      if (isOfGroups()) {
        at.insert(at.begin(), tile.group);
      }
      moe_kernel::StoreOp::create(b, map, at, buffers[half], chunk.slot);
    }
  }

  Value map;
  Value rowsOfThreads;        // the same array
  SmallVector<Value> buffers; // one for each half
};

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

/// Data, and the scales that are the next output.
class QuantizedOutput : public StoredOutput {
public:
  QuantizedOutput(FusedProduct op, unsigned i, KernelScope &kernel,
                  const EpilogueShape &shape, const Value &normConst)
      : StoredOutput(op, i, kernel, shape), normConst(normConst),
        layout(op.getScaleLayout(i + 1)),
        isPerGroup(layout.getGrouping() == ScaleGrouping::per_group),
        storedColumns(typeOf(i).getDimSize(1)) {}

  void declareParameters(Value rows) override {
    StoredOutput::declareParameters(rows);
    declareScales(rows);
  }
  /// Bytes of an atom that belong to no row are 0; a block down a column ends
  /// with the group.
  bool wantsZeros() override { return true; }

protected:
  virtual void declareScales(Value rows) = 0;
  BlockFormat format() {
    return {elementType(), op.getScaleRounding(output + 1), normConst,
            layout.getBlock()};
  }
  Value scalesMemref() { return op.getOutputs()[output + 1]; }
  /// Atoms along the stored columns.
  int64_t atomsAcross() {
    int64_t span = layout.getDirection() == ScaleDirection::row
                       ? layout.getBlock() * kAtomBlocks
                       : kAtomRows;
    return llvm::divideCeil(storedColumns, span);
  }
  /// Whether the chunk is the last one of the matrix.
  Value isLastOfRow(const Chunk &chunk) {
    return kernel.equal(chunk.column, shape.columns - shape.chunk);
  }

  const Value &normConst;
  ScaleLayoutAttr layout;
  bool isPerGroup;
  int64_t storedColumns;
  Value scales;
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
  /// Words never cross tiles, and start at multiples of their own size.
  int64_t chunksOfWord() {
    int64_t chunks = shape.columnsInOrder() / shape.chunk;
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
    auto bytes = VectorType::get(wordBytes(), b.getI8Type());
    Value narrow = word;
    if (wordBytes() < kAtomBlocks) {
      narrow =
          arith::TruncIOp::create(b, b.getIntegerType(8 * wordBytes()), word);
    }
    narrow = vector::BitCastOp::create(b, bytes, kernel.splat(narrow, 1));
    moe_kernel::GlobalStoreOp::create(b, narrow, scales, at);
  }
};

/// Blocks down a column: the 32 rows of a warp. Lane c has the scale of column
/// c of the chunk.
class ColumnQuantizedOutput : public QuantizedOutput {
public:
  using QuantizedOutput::QuantizedOutput;

  void declareScales(Value rows) override {
    Value atoms = hostRowTiles(rows);
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
  SmallVector<Value> take(const Tile &tile, const Chunk &chunk,
                          ValueRange values, ValueRange) override {
    for (auto [half, value] : llvm::enumerate(values)) {
      Value amax = moe_kernel::ColumnAmaxOp::create(b, b.getF32Type(), value);
      Value code = scaleCode(kernel, amax, format());
      Value factor = dataFactor(kernel, code, format());
      Value factors =
          moe_kernel::SpreadLanesOp::create(b, value.getType(), factor);
      stage(tile, half, encode(arith::MulFOp::create(b, value, factors)),
            chunk);
      storeByte(tile, storedColumn(chunk.column, half), code);
    }
    // Rows of the last atom that are no column.
    int64_t inLast = storedColumns % kAtomRows / 32;
    if (inLast != 0) {
      kernel.onlyIf(isLastOfRow(chunk), [&] {
        for (int64_t quarter = inLast; quarter < 4; ++quarter) {
          int64_t column = storedColumns / kAtomRows * kAtomRows + quarter * 32;
          storeByte(tile, kernel.constant(column), kernel.constant(int64_t(0)));
        }
      });
    }
    return {};
  }

private:
  /// The scale of the warp's rows in stored column `first` + lane. An atom has
  /// the four blocks of 32 rows of a tile.
  void storeByte(const Tile &tile, Value first, Value code) {
    Value columnAtom = kernel.div(first, kAtomRows);
    Value row = tile.paddedWarpRow, rowAtom = kernel.div(row, kAtomRows);
    Value atom;
    if (isPerGroup) {
      Value down = kernel.sub(tile.endRowTile, tile.firstRowTile);
      Value base = kernel.mul(tile.firstRowTile, atomsAcross());
      Value line = kernel.add(base, kernel.mul(columnAtom, down));
      atom = kernel.add(line, kernel.sub(rowAtom, tile.firstRowTile));
    } else {
      atom = kernel.add(kernel.mul(columnAtom, atomsDown), rowAtom);
    }
    Value quarter = kernel.div(kernel.rem(first, kAtomRows), 32);
    Value block = kernel.div(kernel.rem(row, kAtomRows), layout.getBlock());
    Value byte = arith::TruncIOp::create(b, b.getI8Type(), code);
    moe_kernel::GlobalStoreOp::create(
        b, byte, scales, ValueRange{atom, tile.lane, quarter, block});
  }

  Value atomsDown; // of the whole layout
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
  return std::make_unique<ColumnQuantizedOutput>(op, i, kernel, shape,
                                                 normConst);
}
