// Plain kernels of quantize and dequantize: a thread for every byte of a scale
// atom, or two where 32 elements have two, and its elements along a row or down
// a column.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKKERNEL_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKKERNEL_H

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include <memory>

namespace grouped_moe {

/// The operands of either op, on memrefs.
struct BlockOperands {
  mlir::Operation *op;
  llvm::StringRef kind;            // in the kernel's name
  mlir::Value matrix, destination; // of one shape, one may be transposed
  mlir::Value scales;
  mlir::Value offsets; // null for a whole layout
  ScaleLayoutAttr layout;
  int64_t aligned; // rows that every group starts at a multiple of

  /// The one of the two that is not transposed.
  mlir::Value rowsFirst() const;
};

/// What quantize and dequantize do with a thread's elements; subclasses know
/// where those and their scales are.
class BlockKernel {
public:
  BlockKernel(const BlockOperands &operands);
  virtual ~BlockKernel() = default;

  void quantize(ScaleRounding rounding);
  void dequantize();

protected:
  static constexpr int64_t kWarps = 4;
  static constexpr int64_t kThreads = 32 * kWarps;
  static constexpr int64_t kElements = 32; // of a thread

  /// What a launch needs of the operands.
  virtual void require() = 0;
  /// The scales as the kernel indexes them.
  virtual mlir::Value scaleMemref() { return operands.scales; }
  virtual mlir::Value dataMemref(mlir::Value data) { return data; }
  /// Decomposes the thread's number: sets `row`, `inside` and `scaleAt`.
  virtual void buildIndices() = 0;
  /// The thread's elements, a vector; narrow floats as bytes.
  virtual mlir::Value load(mlir::Value matrix) = 0;
  virtual void store(mlir::Value values, mlir::Value matrix) = 0;

  /// With groups, of scales with so many atoms across their rows.
  void requireGroups(int64_t atomsAcross);
  /// Finds the group with atom `atom` along the rows: `begin`, `end`,
  /// `atomsBefore` and `written`.
  void findGroup(mlir::Value atom);
  /// Rows that an atom spans.
  int64_t span() const { return getRaggedSpan(operands.layout); }
  /// Atoms along so many rows of a group.
  mlir::Value atomsOf(mlir::Value groupRows);
  mlir::Value less(mlir::Value x, mlir::Value y); // signed
  mlir::Value hostMul(mlir::Value x, int64_t y);

  BlockOperands operands;
  KernelScope kernel;
  mlir::ImplicitLocOpBuilder &b;
  llvm::ArrayRef<int64_t> shape; // of the matrix
  bool batched;
  int64_t scalesOfThread;
  mlir::Value hostRows, grid;
  mlir::Value hostAtoms; // along the rows of a matrix, at most
  mlir::Value row;       // of the thread's first element
  mlir::Value inside;    // i1: the elements exist
  llvm::SmallVector<mlir::Value> scaleAt;
  // Of groups:
  mlir::Value begin, end;  // of the rows that may share the thread's atoms
  mlir::Value atomsBefore; // of the groups in front, along the rows
  mlir::Value written;     // i1: the atom is a group's

private:
  /// Builds what threads do whose scale is in an atom that is written.
  void whereWritten(llvm::function_ref<void()> build);
  /// A vector of f32: the elements' scales.
  mlir::Value loadFactors(mlir::Value scales);
};

std::unique_ptr<BlockKernel> createRowKernel(const BlockOperands &operands);
std::unique_ptr<BlockKernel> createColumnKernel(const BlockOperands &operands);

} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_BLOCKKERNEL_H
