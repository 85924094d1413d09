// Every tcgen05 instruction that kernels use, and their encodings.
#ifndef LIB_CONVERSION_MOEKERNELTONVVM_TCGEN05_H
#define LIB_CONVERSION_MOEKERNELTONVVM_TCGEN05_H

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

namespace grouped_moe::tcgen05 {

/// A narrow format as it stands in the instruction descriptor, or nothing if
/// `type` is not one.
std::optional<unsigned> formatOf(mlir::Type type);

/// One CTA, or a pair that multiplies together.
using Group = mlir::NVVM::CTAGroupKind;

/// Whole warp, of both CTAs of a pair: allocates `columns` and writes the base
/// address to `slot`; no further allocation follows.
void alloc(mlir::OpBuilder &b, mlir::Location loc, mlir::Value slot,
           int64_t columns, Group group);
void dealloc(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address,
             int64_t columns, Group group);
void fenceBefore(mlir::OpBuilder &b, mlir::Location loc);
void fenceAfter(mlir::OpBuilder &b, mlir::Location loc);
/// Arrives on `barrier`, with a mask (i16) on that of each CTA in it, when this
/// thread's earlier matrix work is complete.
void commit(mlir::OpBuilder &b, mlir::Location loc, mlir::Value barrier,
            mlir::Value mask, Group group);

/// Shared-memory descriptor of an operand with 128-byte swizzle: K-major or,
/// `transposed`, panels of 128 bytes of M or N by `panelRows` of K.
mlir::Value operandDescriptor(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::Value shared, bool transposed,
                              int64_t panelRows);
/// Copies one 512-byte atom of scales to the 4 columns at `address` (i32), in
/// each CTA of a pair from its own shared memory.
void copyScaleAtom(mlir::OpBuilder &b, mlir::Location loc, mlir::Value shared,
                   mlir::Value address, Group group);

struct BlockScaledMma {
  mlir::Value accumulator;      ///< i32 address
  mlir::Value a, b;             ///< i64 descriptors of the stage
  mlir::Value aScales, bScales; ///< i32 addresses
  unsigned aFormat, bFormat;
  bool aTransposed, bTransposed;
  int64_t m, n; ///< of one CTA; of both
  /// Atoms of scales along K: 1 of 8-bit operands; of 4-bit ones 2 in blocks of
  /// 32, 4 in blocks of 16.
  int64_t atomsOfK;
  bool fineScales; ///< f8E4M3FN, not f8E8M0FNU
  Group group;
};
/// Quarter `k` of a stage's K, 32 bytes of each row.
void mma(mlir::OpBuilder &b, mlir::Location loc, const BlockScaledMma &mma,
         unsigned k, mlir::Value accumulate);

/// For each address (i32): columns of this thread's lane from there on, as many
/// as its entry of `lengths` says, as vectors of f32; all complete on return.
llvm::SmallVector<mlir::Value> load(mlir::OpBuilder &b, mlir::Location loc,
                                    llvm::ArrayRef<mlir::Value> addresses,
                                    llvm::ArrayRef<int64_t> lengths);

} // namespace grouped_moe::tcgen05

#endif // LIB_CONVERSION_MOEKERNELTONVVM_TCGEN05_H
