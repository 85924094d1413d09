#include "lib/Analysis/KernelResources.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

/// A 128-byte swizzle pattern repeats every 1024 bytes of absolute address, so
/// stages of operands start there; bulk copies need 128 bytes (PTX ISA,
/// "Shared memory alignment" of cp.async.bulk.tensor).
static int64_t stageAlignment(int64_t bytes) {
  return bytes >= 1024 ? 1024 : bytes >= 512 ? 512 : 128;
}

KernelResources::KernelResources(FuncOp func) : func(func) {
  SmallVector<AllocOp> shared, tensor;
  for (auto alloc : func.getBody().front().getOps<AllocOp>()) {
    bool isShared =
        alloc.getBuffer().getType().getSpace() == BufferSpace::shared;
    (isShared ? shared : tensor).push_back(alloc);
  }

  llvm::stable_sort(shared, [](AllocOp a, AllocOp b) {
    return stageAlignment(a.getBuffer().getType().getStageBytes()) >
           stageAlignment(b.getBuffer().getType().getStageBytes());
  });
  for (AllocOp alloc : shared) {
    BufferType type = alloc.getBuffer().getType();
    int64_t alignment = stageAlignment(type.getStageBytes());
    int64_t stride = llvm::alignTo(type.getStageBytes(), alignment);
    int64_t offset = llvm::alignTo(sharedBytes, alignment);
    buffers[alloc] = {offset, stride};
    sharedBytes = offset + stride * type.getStages();
  }
  sharedBytes = llvm::alignTo(sharedBytes, barrierBytes);
  for (auto pipeline : func.getBody().front().getOps<PipelineOp>()) {
    int64_t bytes = barrierBytes * pipeline.getPipeline().getType().getStages();
    pipelines[pipeline] = {sharedBytes, sharedBytes + bytes};
    sharedBytes += 2 * bytes;
  }

  // Accumulators first: their columns then start at multiples of N.
  llvm::stable_sort(tensor, [](AllocOp a, AllocOp b) {
    auto isAccumulator = [](AllocOp op) {
      return op.getBuffer().getType().getElementType().isF32();
    };
    return isAccumulator(a) && !isAccumulator(b);
  });
  for (AllocOp alloc : tensor) {
    BufferType type = alloc.getBuffer().getType();
    int64_t columns = type.getStageColumns();
    // Scales of B want an even first column.
    int64_t offset = llvm::alignTo(usedColumns, 4);
    int64_t stride = columns - alloc.getOverlap();
    buffers[alloc] = {offset, stride};
    usedColumns = offset + stride * (type.getStages() - 1) + columns;
  }
  if (usedColumns > 0) {
    allocatedColumns = std::max<int64_t>(defaultTarget().minTensorColumns,
                                         llvm::PowerOf2Ceil(usedColumns));
    tensorSlotOffset = llvm::alignTo(sharedBytes, 16);
    sharedBytes = tensorSlotOffset + 4;
  }
}

LogicalResult KernelResources::check(const Target &target) {
  auto notes = [&](InFlightDiagnostic &diag, BufferSpace space) {
    for (auto alloc : func.getBody().front().getOps<AllocOp>()) {
      BufferType type = alloc.getBuffer().getType();
      if (type.getSpace() != space) {
        continue;
      }
      int64_t stage = getPlace(alloc).stride;
      diag.attachNote(alloc.getLoc())
          << "'" << alloc.getName() << "': " << stage * type.getStages()
          << (space == BufferSpace::shared ? " bytes" : " columns") << " ("
          << type.getStages() << " stages of " << stage << ")";
    }
  };
  if (sharedBytes > target.maxSharedBytes) {
    InFlightDiagnostic diag =
        emitError(func.getLoc())
        << "kernel '" << func.getSymName() << "' needs " << sharedBytes
        << " bytes of shared memory, " << target.chip << " has "
        << target.maxSharedBytes
        << " for a CTA; use fewer stages or smaller tiles";
    notes(diag, BufferSpace::shared);
    int64_t barriers = 0;
    for (auto pipeline : func.getBody().front().getOps<PipelineOp>()) {
      barriers +=
          2 * barrierBytes * pipeline.getPipeline().getType().getStages();
    }
    diag.attachNote() << "barriers: " << barriers << " bytes";
    return diag;
  }
  if (usedColumns > target.tensorColumns) {
    InFlightDiagnostic diag =
        emitError(func.getLoc())
        << "kernel '" << func.getSymName() << "' needs " << usedColumns
        << " columns of tensor memory, " << target.chip << " has "
        << target.tensorColumns
        << "; use fewer accumulator stages or a smaller N";
    notes(diag, BufferSpace::tensor);
    return diag;
  }
  WalkResult result = func.walk([&](MmaOp mma) {
    ArrayRef<int64_t> shape = mma.getAccumulator().getType().getShape();
    bool isPaired = mma->getParentOfType<FuncOp>().getPaired();
    if (shape[1] != target.mmaM || !target.isLegalMmaN(shape[2], isPaired)) {
      mma.emitOpError() << "computes " << shape[1] << " rows by " << shape[2]
                        << " columns, expected " << target.mmaM << " rows by "
                        << target.minMmaN << " to " << target.maxMmaN
                        << " columns in steps of " << target.stepMmaN;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
