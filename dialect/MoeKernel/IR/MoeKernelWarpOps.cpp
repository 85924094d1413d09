// Verifiers of staged stores, warp and role collectives, and conversions.
#include "dialect/MoeKernel/IR/MoeKernelOps.h"

using namespace mlir;
using namespace moe_kernel;

/// Warps that run `op`; reports an op that not all lanes of them reach.
static FailureOr<int64_t> warpsOf(Operation *op) {
  if (auto role = op->getParentOfType<RoleOp>()) {
    if (!role.getElected()) {
      return role.getNumWarps();
    }
    InFlightDiagnostic diag = op->emitOpError()
                              << "stands in role '" << role.getName()
                              << "', which is one thread, expected whole warps";
    diag.attachNote(role.getLoc()) << "the role is elected here";
    return diag;
  }
  auto func = op->getParentOfType<FuncOp>();
  if (!func) {
    return op->emitOpError() << "stands outside a kernel";
  }
  return func.getWarps();
}

/// Checks that `type` can stage stores of the role that `op` stands in.
static LogicalResult verifyStaging(Operation *op, BufferType type) {
  FailureOr<int64_t> warps = warpsOf(op);
  if (failed(warps)) {
    return failure();
  }
  ArrayRef<int64_t> shape = type.getShape();
  if (type.getSpace() != BufferSpace::shared || shape.size() != 3 ||
      shape[1] != 32 * *warps) {
    return op->emitOpError()
           << "buffer: type is " << type << ", expected slots x " << 32 * *warps
           << " x columns in shared memory: a row for each "
              "thread";
  }
  if (int64_t bytes = type.getRowBytes();
      bytes < 16 || bytes > 128 || !llvm::isPowerOf2_64(bytes)) {
    return op->emitOpError() << "buffer: rows of " << type << " have " << bytes
                             << " bytes, expected 16, 32, 64 or 128";
  }
  return success();
}

//===- staged stores ------------------------------------------------------===//

LogicalResult AcquireStagingOp::verify() {
  if (getPending() < 0 || getPending() > 31) {
    return emitOpError() << "leaves " << getPending()
                         << " groups pending, expected 0 to 31";
  }
  return warpsOf(*this);
}

LogicalResult StageRowOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (failed(verifyStaging(*this, buffer))) {
    return failure();
  }
  auto values = cast<VectorType>(getValues().getType());
  if (values.getElementType() != buffer.getElementType() ||
      values.getDimSize(0) != buffer.getShape().back()) {
    return emitOpError() << "values: type is " << values << ", expected a row "
                         << "of " << buffer;
  }
  return success();
}

LogicalResult PublishStagingOp::verify() { return warpsOf(*this); }

LogicalResult StoreOp::verify() {
  BufferType buffer = getBuffer().getType();
  TensorMapType map = getMap().getType();
  if (failed(verifyStaging(*this, buffer))) {
    return failure();
  }
  ArrayRef<int64_t> box = map.getBox();
  if (box.size() != getCoordinates().size()) {
    return emitOpError() << "has " << getCoordinates().size()
                         << " coordinates, expected " << box.size();
  }
  int64_t columns = buffer.getShape().back();
  if (box.size() < 2 || box.back() != columns || box[box.size() - 2] != 32 ||
      llvm::any_of(box.drop_back(2), [](int64_t d) { return d != 1; }) ||
      map.getElementType() != buffer.getElementType()) {
    return emitOpError() << "map: type is " << map << ", expected a box of 32x"
                         << columns << "x" << buffer.getElementType()
                         << ": the rows of a warp";
  }
  int64_t bytes = buffer.getRowBytes(), swizzle = bytes == 16 ? 0 : bytes;
  if (map.getSwizzle() != swizzle) {
    return emitOpError() << "map: swizzle is " << map.getSwizzle()
                         << " bytes, expected " << swizzle << " for rows of "
                         << bytes << " bytes";
  }
  return success();
}

LogicalResult CommitStoresOp::verify() { return warpsOf(*this); }

//===- warps, roles and CTAs ----------------------------------------------===//

LogicalResult ColumnAmaxOp::verify() { return warpsOf(*this); }
LogicalResult ColumnSumOp::verify() { return warpsOf(*this); }
LogicalResult SpreadLanesOp::verify() { return warpsOf(*this); }
LogicalResult TransposeLanesOp::verify() { return warpsOf(*this); }
LogicalResult WarpAmaxOp::verify() { return warpsOf(*this); }
LogicalResult BarrierOp::verify() { return warpsOf(*this); }

static LogicalResult verifyIndices(Operation *op, Value memref,
                                   size_t indices) {
  auto type = cast<MemRefType>(memref.getType());
  if (static_cast<size_t>(type.getRank()) != indices) {
    return op->emitOpError() << "has " << indices << " indices for " << type;
  }
  return success();
}

LogicalResult LastArrivalOp::verify() {
  if (getCounters().empty() || getLast().size() != getCounters().size()) {
    return emitOpError() << "has " << getCounters().size() << " counters and "
                         << getLast().size()
                         << " results, expected one for each of at least 1";
  }
  return warpsOf(*this);
}
LogicalResult AtomicMaxOp::verify() {
  return verifyIndices(*this, getMemref(), getIndices().size());
}
LogicalResult AtomicAddOp::verify() {
  return verifyIndices(*this, getMemref(), getIndices().size());
}

static LogicalResult verifyScalars(Operation *op, BufferType type) {
  if (type.getSpace() != BufferSpace::shared || type.getShape().size() != 3 ||
      type.getStages() != 1 || !type.getElementType().isF32()) {
    return op->emitOpError() << "buffer: type is " << type
                             << ", expected 1 x rows x columns of f32 in "
                                "shared memory";
  }
  return success();
}

LogicalResult SharedStoreOp::verify() {
  return verifyScalars(*this, getBuffer().getType());
}
LogicalResult SharedLoadOp::verify() {
  return verifyScalars(*this, getBuffer().getType());
}

//===- conversions --------------------------------------------------------===//

LogicalResult EncodeOp::verify() {
  int64_t values = cast<VectorType>(getValues().getType()).getDimSize(0);
  int64_t codes = cast<VectorType>(getCodes().getType()).getDimSize(0);
  if (isa<Float4E2M1FNType>(getFormat())) {
    if (values % 8 != 0 || codes != values / 2) {
      return emitOpError() << "packs " << values << " elements into " << codes
                           << " bytes, expected a multiple of 8 elements, two "
                              "a byte";
    }
    return success();
  }
  if (codes != values) {
    return emitOpError() << "encodes " << values << " elements as " << codes
                         << " bytes, expected one an element";
  }
  return success();
}

LogicalResult DecodeOp::verify() {
  int64_t values = cast<VectorType>(getValues().getType()).getDimSize(0);
  int64_t codes = cast<VectorType>(getCodes().getType()).getDimSize(0);
  bool isPacked = isa<Float4E2M1FNType>(getFormat());
  if (values != (isPacked ? 2 * codes : codes)) {
    return emitOpError() << "decodes " << codes << " bytes as " << values
                         << " elements, expected " << (isPacked ? "two" : "one")
                         << " a byte";
  }
  return success();
}

LogicalResult EncodeScaleOp::verify() {
  std::optional<Type> format = getFormat();
  if (format && !isa<Float8E8M0FNUType, Float8E4M3FNType>(*format)) {
    return emitOpError() << "format is " << *format
                         << ", expected f8E8M0FNU or f8E4M3FN";
  }
  return success();
}
