// Verifiers of copies, tensor maps, products and accesses to memory.
#include "dialect/MoeKernel/IR/MoeKernelOps.h"

using namespace mlir;
using namespace moe_kernel;

LogicalResult LoadOp::verify() {
  auto map = getMap().getType();
  auto buffer = getBuffer().getType();
  if (getCoordinates().size() != map.getBox().size()) {
    return emitOpError() << "has " << getCoordinates().size()
                         << " coordinates, expected " << map.getBox().size();
  }
  if (buffer.getSpace() != BufferSpace::shared) {
    return emitOpError() << "buffer: type is " << buffer
                         << ", expected shared memory";
  }
  int64_t end = getOffset() + map.getBoxBytes();
  if (getAlong() && !getOperation()->getParentOfType<FuncOp>()) {
    return emitOpError() << "is sent along a cluster, outside a kernel";
  }
  if (getOffset() < 0 || getOffset() % 128 != 0 ||
      end > buffer.getStageBytes()) {
    return emitOpError() << "writes bytes " << getOffset() << " to " << end
                         << " of a stage of " << buffer.getStageBytes()
                         << " bytes; the first must be a multiple of 128";
  }
  if (buffer.getStages() != getPipeline().getType().getStages()) {
    return emitOpError() << "buffer has " << buffer.getStages()
                         << " stages, its pipeline "
                         << getPipeline().getType().getStages();
  }
  return success();
}

static LogicalResult verifyElement(Operation *op, Value map, Value maps) {
  Type element = cast<MemRefType>(maps.getType()).getElementType();
  if (element == map.getType()) {
    return success();
  }
  return op->emitOpError() << "the map is of type " << map.getType()
                           << ", expected " << element
                           << " as the elements of maps";
}

LogicalResult BuildMapOp::verify() {
  if (!isa<BlockArgument>(getSource())) {
    return emitOpError() << "source is not a parameter of the kernel: maps in "
                            "memory are read by copies only";
  }
  int64_t rank = getSource().getType().getBox().size();
  SmallVector<int64_t> axes(getAxes());
  llvm::sort(axes);
  bool areAxes = llvm::all_of(
      axes, [&](int64_t axis) { return axis >= 0 && axis < rank; });
  if (axes.size() != getExtents().size() || !areAxes ||
      std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return emitOpError() << "replaces extents of axes [" << getAxes() << "] by "
                         << getExtents().size()
                         << " values, expected one for each, of different axes "
                            "below "
                         << rank;
  }
  return verifyElement(*this, getSource(), getMaps());
}

LogicalResult MapElementOp::verify() {
  return verifyElement(*this, getMap(), getMaps());
}

LogicalResult AcquireMapOp::verify() {
  if (getMap().getDefiningOp<MapElementOp>()) {
    return success();
  }
  return emitOpError() << "the map is no element of an array: parameters "
                          "need no acquire";
}

LogicalResult CopyScalesOp::verify() {
  auto source = getSource().getType(), target = getTarget().getType();
  if (source.getSpace() != BufferSpace::shared ||
      target.getSpace() != BufferSpace::tensor ||
      source.getShape() != target.getShape() ||
      source.getStageBytes() % 512 != 0) {
    return emitOpError() << "copies " << source << " to " << target
                         << ", expected shared to tensor memory, the same "
                            "shape, in atoms of 512 bytes";
  }
  return success();
}

/// Atoms of scales for each 128 rows of an operand, 0 if they do not divide.
static int64_t atomsOf(BufferType scales, int64_t rows) {
  int64_t bytes = (rows + 127) / 128 * 512;
  bool divides = scales.getSpace() == BufferSpace::tensor &&
                 scales.getStageBytes() % bytes == 0;
  return divides ? scales.getStageBytes() / bytes : 0;
}

/// Overlapping accumulators have one stage together.
static bool isStagedBy(Value accumulator, PipelineType pipeline) {
  auto alloc = accumulator.getDefiningOp<AllocOp>();
  bool overlaps = alloc && alloc.getOverlap() > 0;
  auto type = cast<BufferType>(accumulator.getType());
  return pipeline.getStages() == (overlaps ? 1 : type.getStages());
}

int64_t MmaOp::getAtomsOfK() {
  return atomsOf(getAScales().getType(), getA().getType().getShape()[1]);
}

LogicalResult MmaOp::verify() {
  auto acc = getAccumulator().getType();
  auto a = getA().getType(), b = getB().getType();
  auto rank3 = [](BufferType t) { return t.getShape().size() == 3; };
  auto func = (*this)->getParentOfType<FuncOp>();
  int64_t ctas = func ? func.getCtasOfUnit() : 1;
  /// The rows that a CTA holds of N rows of B: whole panels where transposed.
  auto heldOf = [&](int64_t n) {
    int64_t rows = n / ctas;
    return getBTransposed() ? (rows + 127) / 128 * 128 : rows;
  };
  if (!rank3(acc) || !rank3(a) || !rank3(b) ||
      acc.getSpace() != BufferSpace::tensor || !acc.getElementType().isF32() ||
      a.getSpace() != BufferSpace::shared ||
      b.getSpace() != BufferSpace::shared ||
      acc.getShape()[1] != a.getShape()[1] || acc.getShape()[2] % ctas != 0 ||
      heldOf(acc.getShape()[2]) != b.getShape()[1] ||
      a.getShape()[2] != b.getShape()[2]) {
    return emitOpError()
           << "multiplies " << a << " by " << b << " into " << acc
           << ", expected stages x M x K and stages x N x K (half of N in a "
              "paired kernel; whole panels of 128 where transposed) in shared "
              "memory, stages x M x N of f32 in tensor memory";
  }
  auto isFp4 = [](BufferType t) {
    return isa<Float4E2M1FNType>(t.getElementType());
  };
  auto isOperand = [&](BufferType t) {
    return (isFp4(t) ||
            isa<Float8E4M3FNType, Float8E5M2Type>(t.getElementType())) &&
           t.getRowBytes() == 128;
  };
  if (!isOperand(a) || !isOperand(b) || isFp4(a) != isFp4(b) ||
      (isFp4(a) && (getATransposed() || getBTransposed()))) {
    return emitOpError()
           << "multiplies " << a << " by " << b
           << ", expected K = 128 of f8E4M3FN or f8E5M2, or K = "
              "256 of f4E2M1FN, not transposed: rows of 128 bytes";
  }
  if (getATransposed() && a.getShape()[1] % 128 != 0) {
    return emitOpError() << "multiplies " << a << " by " << b
                         << ", expected multiples of 128 rows of a transposed "
                            "operand: whole panels";
  }
  auto aScales = getAScales().getType(), bScales = getBScales().getType();
  int64_t aAtoms = atomsOf(aScales, a.getShape()[1]),
          bAtoms = atomsOf(bScales, acc.getShape()[2]);
  bool isLegal = isFp4(a) ? aAtoms == 2 || aAtoms == 4 : aAtoms == 1;
  if (!isLegal || aAtoms != bAtoms || (getFineScales() && aAtoms != 4)) {
    return emitOpError()
           << "scales: types are " << aScales << " and " << bScales
           << ", expected atoms of 512 bytes of tensor memory for "
              "each 128 rows of an operand: 1 of 8-bit, 2 or 4 of "
              "4-bit elements, 4 with fine_scales";
  }
  if (a.getStages() != getPipeline().getType().getStages() ||
      b.getStages() != a.getStages() || aScales.getStages() != a.getStages() ||
      bScales.getStages() != a.getStages() ||
      !isStagedBy(getAccumulator(), getAccPipeline().getType())) {
    return emitOpError() << "operand or accumulator stages differ from their "
                            "pipeline's";
  }
  return success();
}

LogicalResult LoadAccumulatorOp::verify() {
  auto acc = getAccumulator().getType();
  if (getColumns().empty() || getColumns().size() != getValues().size()) {
    return emitOpError() << "has " << getColumns().size() << " columns and "
                         << getValues().size()
                         << " results, expected one for each of at least 1";
  }
  for (Value value : getValues()) {
    int64_t n = cast<VectorType>(value.getType()).getDimSize(0);
    if (acc.getSpace() != BufferSpace::tensor || acc.getShape().size() != 3 ||
        !acc.getElementType().isF32() || !llvm::isPowerOf2_64(n) || n > 128 ||
        n > acc.getShape()[2]) {
      return emitOpError() << "reads " << n << " columns of " << acc
                           << ", expected a power of two, at most 128 and at "
                              "most the accumulator's columns";
    }
  }
  return success();
}

static LogicalResult verifyAccess(Operation *op, Type memref, Type value,
                                  size_t indices) {
  auto type = dyn_cast<MemRefType>(memref);
  if (!type || static_cast<size_t>(type.getRank()) != indices) {
    return op->emitOpError() << "has " << indices << " indices for " << memref;
  }
  Type element = value;
  if (auto vector = dyn_cast<VectorType>(value)) {
    if (vector.getRank() != 1 || vector.isScalable()) {
      return op->emitOpError() << "value: type is " << value
                               << ", expected a scalar or a vector of rank 1";
    }
    element = vector.getElementType();
  }
  int64_t stored =
      type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  if (isa<Float4E2M1FNType>(type.getElementType()) && type.getRank() > 0 &&
      type.getShape().back() % 2 == 0) {
    stored = 8; // two elements a byte
  }
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() != stored ||
      stored % 8 != 0) {
    return op->emitOpError() << "value: type is " << value
                             << ", expected elements as wide as those of "
                             << memref << ", in whole bytes";
  }
  return success();
}

LogicalResult GlobalLoadOp::verify() {
  return verifyAccess(*this, getMemref().getType(), getValue().getType(),
                      getIndices().size());
}
LogicalResult GlobalStoreOp::verify() {
  return verifyAccess(*this, getMemref().getType(), getValue().getType(),
                      getIndices().size());
}
