// Verifiers of walks over tiles.
#include "dialect/MoeKernel/IR/MoeKernelOps.h"

using namespace mlir;
using namespace moe_kernel;

static LogicalResult verifyWalk(Operation *op, Type offsets, Block &body,
                                unsigned places, StringRef names,
                                size_t carried) {
  auto type = dyn_cast<MemRefType>(offsets);
  if (!type || type.getRank() != 1 || !type.hasStaticShape() ||
      !type.getElementType().isInteger(32) || type.getDimSize(0) < 1) {
    return op->emitOpError() << "offsets: type is " << offsets
                             << ", expected memref<Lxi32> with L at least 1";
  }
  if (body.getNumArguments() != places + carried ||
      op->getNumResults() != carried ||
      !llvm::all_of(body.getArgumentTypes(),
                    [](Type t) { return t.isInteger(32); })) {
    return op->emitOpError()
           << "the body has " << body.getNumArguments()
           << " arguments, expected " << places + carried
           << " of i32: " << names << " and the carried values";
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != carried) {
    return op->emitOpError() << "expected a yield of " << carried << " values";
  }
  return success();
}

static bool arePositive(ArrayRef<int64_t> extents) {
  return extents.size() == 2 &&
         llvm::all_of(extents, [](int64_t extent) { return extent > 0; });
}

/// The buffer and the pipeline of answers of cluster launch control.
static LogicalResult verifyQueue(Operation *op, Value responses, Value queue) {
  if (!responses) {
    return success();
  }
  auto buffer = cast<BufferType>(responses.getType());
  auto pipeline = cast<PipelineType>(queue.getType());
  if (buffer.getSpace() != BufferSpace::shared ||
      buffer.getStageBytes() != 16 ||
      buffer.getStages() != pipeline.getStages()) {
    return op->emitOpError()
           << "answers are in " << buffer << " on " << pipeline
           << ", expected 16 bytes of shared memory for each stage";
  }
  return success();
}

LogicalResult RequestTilesOp::verify() {
  return verifyQueue(*this, getResponses(), getQueue());
}

LogicalResult ForTilesOp::verify() {
  if (failed(verifyQueue(*this, getResponses(), getQueue()))) {
    return failure();
  }
  if (!arePositive(getTile()) || getN() < 1 ||
      static_cast<int64_t>(getFineRows()) < 0) {
    return emitOpError()
           << "tile, n and fine_rows must be positive: rows, columns";
  }
  return verifyWalk(
      *this, getOffsets().getType(), getBody().front(), getPlaces(),
      getPlaces() == 7 ? "group, row, column, begin, end, atoms, fine atoms"
                       : "group, row, column, begin, end, atoms",
      getInits().size());
}

LogicalResult ForGroupTilesOp::verify() {
  if (failed(verifyQueue(*this, getResponses(), getQueue()))) {
    return failure();
  }
  if (!arePositive(getTile()) || !arePositive(getShape()) ||
      static_cast<int64_t>(getSlots()) < 0) {
    return emitOpError() << "tile, shape and slots must be positive";
  }
  return verifyWalk(*this, getOffsets().getType(), getBody().front(), kPlaces,
                    "group, row, column, begin, end, atoms, part, parts, slot",
                    getInits().size());
}
