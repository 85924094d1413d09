// Where a kernel's buffers and barriers live on chip.
#ifndef LIB_ANALYSIS_KERNELRESOURCES_H
#define LIB_ANALYSIS_KERNELRESOURCES_H

#include "dialect/MoeKernel/IR/MoeKernelOps.h"
#include "lib/Target/Target.h"
#include "llvm/ADT/DenseMap.h"

namespace grouped_moe {

/// One buffer's place. In shared memory units are bytes, in tensor memory
/// columns of 128 lanes.
struct BufferPlace {
  int64_t offset;
  /// Distance between stages.
  int64_t stride;
};

/// The barriers of a pipeline: 8 bytes each, stage after stage.
struct PipelinePlace {
  int64_t fullOffset;
  int64_t emptyOffset;
};

class KernelResources {
public:
  static constexpr int64_t barrierBytes = 8;

  /// Assigns a place to every buffer and pipeline of `func`. Limits are not
  /// checked: see `check`.
  explicit KernelResources(moe_kernel::FuncOp func);

  /// Reports what `target` cannot hold, every buffer with its size in a note.
  mlir::LogicalResult check(const Target &target);

  BufferPlace getPlace(moe_kernel::AllocOp alloc) const {
    return buffers.lookup(alloc);
  }
  PipelinePlace getPlace(moe_kernel::PipelineOp pipeline) const {
    return pipelines.lookup(pipeline);
  }
  /// Dynamic shared memory, bytes.
  int64_t getSharedBytes() const { return sharedBytes; }
  /// Columns in use, and the power of two that is allocated (0: none).
  int64_t getUsedColumns() const { return usedColumns; }
  int64_t getAllocatedColumns() const { return allocatedColumns; }
  /// Where tcgen05.alloc writes the base of tensor memory.
  int64_t getTensorSlotOffset() const { return tensorSlotOffset; }

private:
  moe_kernel::FuncOp func;
  llvm::DenseMap<mlir::Operation *, BufferPlace> buffers;
  llvm::DenseMap<mlir::Operation *, PipelinePlace> pipelines;
  int64_t sharedBytes = 0;
  int64_t usedColumns = 0;
  int64_t allocatedColumns = 0;
  int64_t tensorSlotOffset = 0;
};

} // namespace grouped_moe

#endif // LIB_ANALYSIS_KERNELRESOURCES_H
