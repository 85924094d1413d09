// The operands of a product in a stage, as far as room and traffic go.
#ifndef LIB_ANALYSIS_PRODUCTOPERANDS_H
#define LIB_ANALYSIS_PRODUCTOPERANDS_H

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "llvm/Support/MathExtras.h"

namespace grouped_moe {

inline constexpr int64_t kTileM = 128;    // rows of one CTA
inline constexpr int64_t kRowBytes = 128; // of an operand in a stage

/// The operands of a product, as far as room goes.
struct Operands {
  explicit Operands(FusedProduct op) {
    auto describe = [&](auto product) {
      auto type = mlir::cast<mlir::ShapedType>(product.getLhs().getType());
      tileK = kRowBytes * 8 / type.getElementTypeBitWidth();
      atomsOfK = tileK / (kAtomBlocks * product.getLhsLayout().getBlock());
    };
    if (auto gemm = mlir::dyn_cast<GemmOp>(op.getOperation())) {
      describe(gemm);
      rhsTransposed = gemm.isRhsTransposed();
    } else {
      auto wgrad = mlir::cast<WgradOp>(op.getOperation());
      describe(wgrad);
      rhsTransposed = !wgrad.getRhsTransposed(); // rows are the slow extent
    }
  }
  /// Bytes of shared memory of a stage in one CTA, which holds half of B's rows
  /// where two multiply together.
  int64_t stageBytes(llvm::ArrayRef<int64_t> tile) const {
    int64_t held = tile[1] / (tile[0] / kTileM);
    if (rhsTransposed) {
      held = llvm::alignTo(held, kAtomRows);
    }
    return (kTileM + held) * kRowBytes + atoms(tile[1]) * kAtomBytes;
  }
  /// Bytes that one CTA loads for a stage: of what a cluster shares, a slice.
  int64_t loadedBytes(ScheduleAttr schedule) const {
    llvm::ArrayRef<int64_t> tile = schedule.getTile(),
                            cluster = schedule.getCluster();
    int64_t ctas = tile[0] / kTileM;
    return kTileM * kRowBytes / cluster[1] +
           tile[1] / ctas * kRowBytes / (cluster[0] / ctas) +
           atoms(tile[1]) * kAtomBytes;
  }
  /// Columns of tensor memory: accumulators, and four for each atom of a stage.
  int64_t tensorColumns(int64_t tileN, int64_t accumulators,
                        int64_t stages) const {
    return accumulators * tileN + stages * atoms(tileN) * 4;
  }

  int64_t tileK;    // elements
  int64_t atomsOfK; // of scales along K, for each 128 rows
  bool rhsTransposed = false;

private:
  int64_t atoms(int64_t tileN) const {
    return (1 + llvm::divideCeil(tileN, kAtomRows)) * atomsOfK;
  }
};

} // namespace grouped_moe

#endif // LIB_ANALYSIS_PRODUCTOPERANDS_H
