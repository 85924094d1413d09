// What the epilogue of a product does with the values of one output: a class
// for each kind.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEOUTPUT_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEOUTPUT_H

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include <memory>

namespace grouped_moe {

inline constexpr int64_t kEpilogueWarps = 4; // a thread for each row of a tile
inline constexpr int64_t kEpilogueThreads = 128;
inline constexpr int64_t kWarpRows = 32;

/// Extents of the epilogue, in elements of E columns (GroupedProduct).
struct EpilogueShape {
  int64_t columns;     // E
  int64_t tileColumns; // of E in a tile
  int64_t chunk;       // columns that a thread works on at once
  int64_t tilesAlong;  // tiles along E
  int64_t groups;
  /// The rows that exist, of a group or a matrix, end at a multiple of this
  /// behind their first one.
  int64_t rowUnit;
  /// Columns of tensor memory that two accumulators share, 0 if they do not.
  int64_t overlap;

  /// Columns of a tile that are always taken one chunk after the other, as are
  /// those behind them.
  int64_t columnsInOrder() const {
    return overlap > 0 ? tileColumns / chunk / 2 * chunk : tileColumns;
  }
  /// Whether the 128 rows of a CTA's tile may be partly there.
  bool mayEndInside() const { return rowUnit % kEpilogueThreads != 0; }
  /// Whether some rows of a warp may exist and others not.
  bool splitsWarps() const { return rowUnit % kWarpRows != 0; }
};

/// The tile at hand, in every thread of the role; i32.
struct Tile {
  mlir::Value group, row, column; // its first row, its first column of E
  mlir::Value thread, warp, lane;
  mlir::Value threadRow, warpRow;
  mlir::Value columnTile;
  /// Whether the thread's row exists, and whether all rows of its warp do (i1);
  /// null where all rows of a tile exist.
  mlir::Value isInside, warpIsInside;
  // Of products whose rows lie in groups, as if each were padded to whole tiles
  // of 128 rows, the atoms of per-group scales:
  mlir::Value paddedRow, paddedWarpRow;          // of the thread, of its warp
  mlir::Value rowTile, firstRowTile, endRowTile; // this one, and the group's
  mlir::Value begin, end;                        // the group's rows
  /// Atoms of EpilogueOutput::fineRows of the groups before, or null.
  mlir::Value fineAtoms;
  /// Whether this is the second of two accumulators that overlap (i1), null
  /// where they do not.
  mlir::Value isSecond;
};

/// The chunk of columns at hand.
struct Chunk {
  mlir::Value at;     // in the tile
  mlir::Value column; // of E
  mlir::Value last;   // i1: it ends where the tile's columns do
  mlir::Value slot;   // of staging buffers
};

/// Where the first column of a chunk, of E, lies in a half of an operand that
/// holds pairs.
mlir::Value pairColumn(FusedProduct op, KernelScope &kernel, mlir::Value column,
                       unsigned half);

/// What an element of an array of addresses points at: (N, K) of a weight
/// gradient.
mlir::MemRefType pointeeType(WgradOp op, unsigned output);

class EpilogueOutput {
public:
  EpilogueOutput(FusedProduct op, unsigned output, KernelScope &kernel,
                 const EpilogueShape &shape)
      : op(op), output(output), kernel(kernel), b(kernel.body), shape(shape) {}
  virtual ~EpilogueOutput() = default;

  /// Parameters and temporaries of the kernel, and what its launch requires of
  /// arrays; `rows` is R on the host, null where outputs do not follow it.
  virtual void declareParameters(mlir::Value rows) = 0;
  virtual void declareBuffers() {}

  /// Values that a tile's first chunk starts from.
  virtual llvm::SmallVector<mlir::Value> start() { return {}; }
  /// Whether rows that do not exist count: as zeros.
  virtual bool wantsZeros() { return false; }
  /// Rows of scale atoms that groups which end anywhere have to be counted in,
  /// beside those of 128; 0: none.
  virtual int64_t fineRows() { return 0; }
  /// Takes a chunk's values, vectors of f32, one for each half of a pair;
  /// returns the next chunk's carried values.
  virtual llvm::SmallVector<mlir::Value> take(const Tile &tile,
                                              const Chunk &chunk,
                                              mlir::ValueRange values,
                                              mlir::ValueRange carried) = 0;
  /// Bulk stores of what was staged.
  virtual void store(const Tile &, const Chunk &) {}

  // The end of a tile, in steps that all outputs take together.
  /// Leaves what the tile came to where other threads can see it.
  virtual void leave(const Tile &, mlir::ValueRange) {}
  /// Whether the warps' parts meet in shared memory: `combine` stands behind a
  /// barrier then.
  virtual bool meets() { return false; }
  virtual void combine(const Tile &) {}
  /// The counter at which the CTAs with parts of one result arrive.
  struct Arrival {
    mlir::Value counters, index, count;
  };
  virtual std::optional<Arrival> arrival(const Tile &) { return {}; }
  /// In the CTA that arrived last.
  virtual void complete(const Tile &) {}

  unsigned halves() { return op.isPairOutput(output) ? 2 : 1; }

protected:
  mlir::MemRefType typeOf(unsigned i) {
    return mlir::cast<mlir::MemRefType>(op.getOutputs()[i].getType());
  }
  /// The place of column `column` of E among the output's.
  mlir::Value storedColumn(mlir::Value column, unsigned half) {
    return halves() == 1 ? column : pairColumn(op, kernel, column, half);
  }
  /// Builds what only threads do whose row exists.
  void whereInside(const Tile &tile, llvm::function_ref<void()> build) {
    if (tile.isInside) {
      kernel.onlyIf(tile.isInside, build);
    } else {
      build();
    }
  }
  /// On the host: tiles of 128 rows at most, for R rows.
  mlir::Value hostRowTiles(mlir::Value rows) {
    return kernel.hostRaggedAtoms(rows, kEpilogueThreads,
                                  {shape.groups, shape.rowUnit});
  }
  mlir::Value alloc(llvm::StringRef what, llvm::ArrayRef<int64_t> shape,
                    mlir::Type element);

  FusedProduct op;
  unsigned output;
  KernelScope &kernel;
  mlir::ImplicitLocOpBuilder &b;
  const EpilogueShape &shape;
};

/// The handler of output `i`; null for scales, which their data's handler
/// writes. `normConst` gives norm_const of the tile's group, or null.
std::unique_ptr<EpilogueOutput>
createEpilogueOutput(FusedProduct op, unsigned i, KernelScope &kernel,
                     const EpilogueShape &shape, const mlir::Value &normConst);

std::unique_ptr<EpilogueOutput>
createStoredOutput(FusedProduct op, unsigned i, KernelScope &kernel,
                   const EpilogueShape &shape, const mlir::Value &normConst);
std::unique_ptr<EpilogueOutput> createReducedOutput(FusedProduct op, unsigned i,
                                                    KernelScope &kernel,
                                                    const EpilogueShape &shape);

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEOUTPUT_H
