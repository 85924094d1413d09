// A kernel under construction together with the launch that will call it.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_KERNELSCOPE_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_KERNELSCOPE_H

#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/MoeKernel/IR/MoeKernelOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace grouped_moe {

/// Adds parameters one by one: each method records the host value and returns
/// the kernel's block argument. `host` stands where the launch will be, `body`
/// inside the kernel.
class KernelScope {
public:
  KernelScope(mlir::Operation *op, llvm::StringRef kind, int64_t warps);

  /// CTAs of a cluster along M and N; whether pairs of them multiply together.
  void setCluster(int64_t m, int64_t n, bool isPaired);

  mlir::Value addMemref(mlir::Value memref);
  mlir::Value addOutput(mlir::Value memref); // the kernel writes it
  mlir::Value addTensorMap(mlir::Value memref, moe_kernel::TensorMapType type);
  mlir::Value addTensorMap(mlir::Value memref, llvm::ArrayRef<int64_t> box,
                           mlir::Type element, int64_t swizzle);
  /// The map of an array of type `pointee` somewhere else, for copies with
  /// another address (moe_kernel.build_map); `placeholder` lends it one.
  mlir::Value addMapTemplate(mlir::Value placeholder, mlir::MemRefType pointee,
                             moe_kernel::TensorMapType type);
  /// A tensor map that the kernel writes through.
  mlir::Value addOutputMap(mlir::Value memref, llvm::ArrayRef<int64_t> box,
                           mlir::Type element, int64_t swizzle);
  mlir::Value addIndex(mlir::Value index); // i32 in the kernel

  /// A temporary array of the launch, whose dynamic extent, if it has one, is
  /// `extent`.
  mlir::Value addTemporary(mlir::MemRefType type, mlir::Value extent,
                           bool zeroed);

  /// Ends the kernel and launches it on `grid` (index) CTAs.
  void finish(mlir::Value grid);
  /// As many clusters as the device runs at once, at most `tiles` (index).
  void finishPersistent(mlir::Value tiles);

  /// Rows of a matrix or a vector on the host: its first extent, an index.
  mlir::Value hostRows(mlir::Value memref);
  mlir::Value hostConstant(int64_t value);
  /// Refuse a launch unless the dynamic first extent of `memref` is `extent`.
  void requireRows(mlir::Value memref, mlir::Value extent) {
    requireExtent(memref, 0, extent);
  }
  void requireExtent(mlir::Value memref, int64_t axis, mlir::Value extent);
  /// Refuse a launch unless a dynamic extent is a multiple of `factor`.
  void requireMultiple(mlir::Value memref, int64_t axis, int64_t factor);
  /// Sets an array to zero before the launch.
  void fillZero(mlir::Value memref);
  mlir::Value hostCeilDiv(mlir::Value value, int64_t by);
  /// Atoms along `rows` that groups divide anyhow (getRaggedAtoms).
  mlir::Value hostRaggedAtoms(mlir::Value rows, int64_t span,
                              GroupFacts groups);

  mlir::Value constant(int64_t value); // i32 in the kernel
  mlir::Value constant(float value);
  mlir::Value index(moe_kernel::IndexKind kind);
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  /// The low bytes of a word: i8, or a vector of several.
  mlir::Value lowBytes(mlir::Value word, int64_t count);

  // Unsigned arithmetic on i32.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value div(mlir::Value x, int64_t y);
  mlir::Value rem(mlir::Value x, int64_t y);
  mlir::Value equal(mlir::Value x, int64_t y); // i1
  mlir::Value less(mlir::Value x, int64_t y);  // i1

  /// Builds `inside` under a condition.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> inside);

  /// The values of `then` under a condition, else those of `otherwise`.
  using Values = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  llvm::SmallVector<mlir::Value> either(mlir::Value condition, Values then,
                                        Values otherwise);

  mlir::ImplicitLocOpBuilder host, body;

private:
  mlir::Value addArgument(mlir::Value hostValue, mlir::Type type);

  moe_kernel::FuncOp func;
  llvm::SmallVector<mlir::Value> arguments;
  llvm::SmallVector<int64_t> written; // positions of outputs in arguments
};

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_KERNELSCOPE_H
