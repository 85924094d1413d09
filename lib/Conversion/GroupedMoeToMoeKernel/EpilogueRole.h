// The role of the epilogue warps: accumulators through the region to outputs.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEROLE_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEROLE_H

#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueOutput.h"

namespace grouped_moe {

class EpilogueRole {
public:
  EpilogueRole(GemmOp op, KernelScope &kernel);

  /// Inputs and outputs become parameters; `rows` is R on the host.
  void declareParameters(mlir::Value rows, mlir::Value offsets);
  void declareBuffers();

  /// Carried from tile to tile beside the accumulators' position: the staging
  /// slot.
  static constexpr unsigned carried = 1;
  /// One tile of the product, whose first row and column (of N) are given;
  /// returns the slot of the next one.
  mlir::Value buildTile(mlir::Value group, mlir::Value row, mlir::Value column,
                        mlir::Value accumulator, mlir::Value accumulators,
                        mlir::Value position, mlir::Value slot);
  /// After the last tile.
  void buildEnd();

private:
  bool isRowScalar(unsigned i);
  mlir::Value loadInput(unsigned i, const Tile &tile, mlir::Value column,
                        unsigned half);
  llvm::SmallVector<mlir::Value> loadAccumulators(mlir::Value accumulator,
                                                  mlir::Value accumulators,
                                                  mlir::Value position,
                                                  mlir::Value at);
  llvm::SmallVector<mlir::Value>
  inlineRegion(llvm::ArrayRef<mlir::Value> arguments);
  llvm::SmallVector<mlir::Value>
  inlineSlice(llvm::ArrayRef<mlir::Value> arguments, int64_t lanes);
  void reduce(const Tile &tile);
  Tile describeTile(mlir::Value group, mlir::Value row, mlir::Value column);

  GemmOp op;
  KernelScope &kernel;
  mlir::ImplicitLocOpBuilder &b;
  int64_t tileColumnsOfN;
  EpilogueShape shape;
  mlir::Value offsets, normConstMemref, normConst;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<std::unique_ptr<EpilogueOutput>> outputs; // null: scales
  bool isStaged = false;
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_EPILOGUEROLE_H
