// Outputs of R rows that are staged in shared memory and stored by bulk copies,
// and those of them that are quantized.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_STOREDOUTPUT_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_STOREDOUTPUT_H

#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Analysis/ScheduleSelection.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueOutput.h"
#include "llvm/Support/MathExtras.h"

namespace grouped_moe {

class StoredOutput : public EpilogueOutput {
public:
  using EpilogueOutput::EpilogueOutput;

  void declareParameters(mlir::Value rows) override;
  void declareBuffers() override;
  void store(const Tile &tile, const Chunk &chunk) override;

protected:
  /// A matrix for each group.
  bool isOfGroups() { return typeOf(output).getRank() == 3; }
  /// Columns first: a warp's box is 16 bytes of each of 32 columns.
  bool isTransposed() { return op.isTransposedOutput(output); }
  bool isFp4() { return elementType().getIntOrFloatBitWidth() == 4; }
  mlir::Type elementType() { return typeOf(output).getElementType(); }
  /// Narrow floats are staged as bytes.
  mlir::Type stagedElement();
  int64_t stagedColumns() { return isFp4() ? shape.chunk / 2 : shape.chunk; }
  /// A warp with rows of a neighbour stores its own one by one.
  void stage(const Tile &tile, unsigned half, mlir::Value row,
             const Chunk &chunk);
  mlir::Value encode(mlir::Value values);

private:
  bool splitsWarps() { return shape.splitsWarps() && !isOfGroups(); }
  void storeBoxes(const Tile &tile, const Chunk &chunk);

  mlir::Value map;
  mlir::Value rowsOfThreads;              // the same array
  llvm::SmallVector<mlir::Value> buffers; // one for each half
};

/// Data, and the scales that are the next output.
class QuantizedOutput : public StoredOutput {
public:
  QuantizedOutput(FusedProduct op, unsigned i, KernelScope &kernel,
                  const EpilogueShape &shape, const mlir::Value &normConst)
      : StoredOutput(op, i, kernel, shape), normConst(normConst),
        layout(op.getScaleLayout(i + 1)),
        isPerGroup(layout.getGrouping() == ScaleGrouping::per_group),
        storedColumns(typeOf(i).getDimSize(op.getColumnAxis(i))) {}

  void declareParameters(mlir::Value rows) override {
    StoredOutput::declareParameters(rows);
    declareScales(rows);
  }
  /// Bytes of an atom that belong to no row are 0; a block down a column ends
  /// with the group.
  bool wantsZeros() override { return true; }

protected:
  virtual void declareScales(mlir::Value rows) = 0;
  BlockFormat format() {
    return {elementType(), op.getScaleRounding(output + 1), normConst,
            layout.getBlock()};
  }
  mlir::Value scalesMemref() { return op.getOutputs()[output + 1]; }
  /// Atoms along the stored columns.
  int64_t atomsAcross() {
    int64_t span = layout.getDirection() == ScaleDirection::row
                       ? layout.getBlock() * kAtomBlocks
                       : kAtomRows;
    return llvm::divideCeil(storedColumns, span);
  }
  /// Whether the chunk is the last one of the matrix.
  mlir::Value isLastOfRow(const Chunk &chunk) {
    return kernel.equal(chunk.column, shape.columns - shape.chunk);
  }

  const mlir::Value &normConst;
  ScaleLayoutAttr layout;
  bool isPerGroup;
  int64_t storedColumns;
  mlir::Value scales;
};

/// Blocks down columns.
std::unique_ptr<EpilogueOutput>
createColumnOutput(FusedProduct op, unsigned i, KernelScope &kernel,
                   const EpilogueShape &shape, const mlir::Value &normConst);

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_STOREDOUTPUT_H
