// The role of the epilogue warps: accumulators through the region to outputs.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEROLE_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEROLE_H

#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueOutput.h"

namespace grouped_moe {

class EpilogueRole {
public:
  EpilogueRole(FusedProduct op, KernelScope &kernel, int64_t rowUnit);

  /// Inputs and outputs become parameters; `rows` is R on the host, null where
  /// they do not follow it.
  void declareParameters(mlir::Value rows);
  void declareBuffers();

  /// Carried from tile to tile beside the accumulators' position: the staging
  /// slot.
  static constexpr unsigned carried = 1;
  /// A tile that starts at a row and a column of N, as this thread sees it;
  /// rows exist up to `end`.
  Tile describeTile(mlir::Value group, mlir::Value row, mlir::Value column,
                    mlir::Value end);
  /// The group of its rows, behind so many atoms, and so many of `fineRows`.
  void describeGroup(Tile &tile, mlir::Value begin, mlir::Value end,
                     mlir::Value atoms, mlir::Value fineAtoms);
  /// EpilogueOutput::fineRows of an output that has some, or 0.
  int64_t fineRows();

  /// In which order it takes its columns.
  void describeOrder(Tile &tile, mlir::Value accumulators,
                     mlir::Value position);

  /// The accumulators from column `at` of E on, a chunk: one vector, or gate
  /// and up. `releases` (i1): they can be given up after it.
  using Take = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value at, mlir::Value releases)>;
  /// One tile; `wait` stands where the accumulators must be complete. Returns
  /// the slot of the next one.
  mlir::Value buildTile(const Tile &tile, llvm::function_ref<void()> wait,
                        Take take, mlir::Value slot);
  /// A chunk of them from tensor memory.
  llvm::SmallVector<mlir::Value>
  takeAccumulators(mlir::Value accumulator, mlir::Value accumulators,
                   mlir::Value position, mlir::Value at, mlir::Value releases);
  /// Calls `body` for the chunks of the tile that lie inside the matrix, with
  /// their first column in the tile, whether they end where its columns do,
  /// whether they are the last that the next tile's products would overwrite,
  /// and carried values.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value at, mlir::Value isLast, mlir::Value releases,
      mlir::ValueRange carried)>;
  mlir::ResultRange forChunks(const Tile &tile, mlir::ValueRange carried,
                              Body body);
  const EpilogueShape &getShape() const { return shape; }
  /// After the last tile.
  void buildEnd();

private:
  /// Chunks from column `first` on (null: 0), then those in front of it; behind
  /// `shared` columns nothing is left that the next tile's accumulators share.
  struct Order {
    mlir::Value first, shared;
  };
  Order orderOf(const Tile &tile, mlir::Value width);
  int64_t coveringColumns(int64_t columns);
  bool isRowScalar(unsigned i);
  mlir::Value loadInput(unsigned i, const Tile &tile, mlir::Value column,
                        unsigned half);
  mlir::Value loadElements(unsigned i, const Tile &tile, mlir::Value column,
                           unsigned half);
  llvm::SmallVector<mlir::Value>
  inlineRegion(llvm::ArrayRef<mlir::Value> arguments);
  llvm::SmallVector<mlir::Value>
  inlineSlice(llvm::ArrayRef<mlir::Value> arguments, int64_t lanes);
  /// The values where the thread's row exists, else zeros.
  mlir::Value zerosOutside(const Tile &tile, mlir::Value values);
  void reduce(const Tile &tile);
  /// The array of an input for a group.
  mlir::Value arrayOf(unsigned i, const Tile &tile);

  FusedProduct op;
  KernelScope &kernel;
  mlir::ImplicitLocOpBuilder &b;
  int64_t tileColumnsOfN;
  EpilogueShape shape;
  mlir::Value normConstMemref, normConst;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<std::unique_ptr<EpilogueOutput>> outputs; // null: scales
  bool isStaged = false;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEROLE_H
