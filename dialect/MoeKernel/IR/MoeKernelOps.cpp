#include "dialect/MoeKernel/IR/MoeKernelOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace moe_kernel;

FailureOr<SmallVector<int64_t>> moe_kernel::rowMajorStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::is_contained(strides, ShapedType::kDynamic) ||
      (!strides.empty() && strides.back() != 1)) {
    return failure();
  }
  for (int64_t axis = type.getRank() - 2; axis >= 0; --axis) {
    int64_t inner = type.getDimSize(axis + 1);
    if (!ShapedType::isDynamic(inner) &&
        strides[axis] < inner * strides[axis + 1]) {
      return failure();
    }
  }
  return strides;
}

#define GET_OP_CLASSES
#include "dialect/MoeKernel/IR/MoeKernelOps.cpp.inc"

//===- func ---------------------------------------------------------------===//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  int64_t warps;
  Builder &builder = parser.getBuilder();
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("warps") || parser.parseLParen() ||
      parser.parseInteger(warps) || parser.parseRParen()) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("cluster"))) {
    int64_t m, n;
    if (parser.parseLParen() || parser.parseInteger(m) || parser.parseComma() ||
        parser.parseInteger(n) || parser.parseRParen()) {
      return failure();
    }
    result.addAttribute(getClusterAttrName(result.name),
                        builder.getDenseI64ArrayAttr({m, n}));
  }
  if (succeeded(parser.parseOptionalKeyword("paired"))) {
    result.addAttribute(getPairedAttrName(result.name), builder.getUnitAttr());
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments)) {
    return failure();
  }
  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments) {
    types.push_back(argument.type);
  }
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, {})));
  result.addAttribute(getWarpsAttrName(result.name),
                      builder.getI64IntegerAttr(warps));
  return success();
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") warps(" << getWarps() << ")";
  if (getCluster()) {
    printer << " cluster(" << getClusterM() << ", " << getClusterN() << ")";
  }
  if (getPaired()) {
    printer << " paired";
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getWarpsAttrName(),
       getClusterAttrName(), getPairedAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FuncOp::verify() {
  if (getWarps() < 1 || getWarps() > 32) {
    return emitOpError() << "has " << getWarps()
                         << " warps, expected 1 to 32 (1024 threads a CTA)";
  }
  if (auto cluster = getCluster()) {
    // CUDA C++ programming guide: 8 CTAs are portable.
    if (cluster->size() != 2 || (*cluster)[0] < 1 || (*cluster)[0] > 8 ||
        (*cluster)[1] < 1 || (*cluster)[1] > 8 || getClusterSize() > 8) {
      return emitOpError() << "cluster is " << getClusterAttr()
                           << ", expected CTAs along M and N, at most 8";
    }
  }
  if (getPaired() && getClusterM() % 2 != 0) {
    return emitOpError() << "is paired, but its cluster has " << getClusterM()
                         << " CTAs along M, expected an even number";
  }
  for (auto [i, type] : llvm::enumerate(getArgumentTypes())) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      if (failed(rowMajorStrides(memref)) ||
          llvm::is_contained(
              memref.getShape().drop_front(memref.getRank() ? 1 : 0),
              ShapedType::kDynamic)) {
        return emitOpError() << "argument #" << i << ": type is " << type
                             << ", expected a row-major memref whose "
                                "extents after the first are static";
      }
      continue;
    }
    if (!isa<TensorMapType>(type) && !type.isInteger(32) &&
        !type.isInteger(64)) {
      return emitOpError() << "argument #" << i << ": type is " << type
                           << ", expected a memref, a tensor map, i32 or i64";
    }
  }
  return success();
}

//===- structure ----------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  auto type = getBuffer().getType();
  int64_t overlap = getOverlap();
  if (overlap == 0) {
    return success();
  }
  if (type.getSpace() != BufferSpace::tensor || type.getStages() != 2 ||
      overlap < 0 || overlap > type.getStageColumns() / 2) {
    return emitOpError() << "'" << getName() << "' is " << type
                         << " with an overlap of " << overlap
                         << " columns, expected two accumulators in tensor "
                            "memory that share at most half";
  }
  return success();
}

LogicalResult PipelineOp::verify() {
  int64_t stages = getPipeline().getType().getStages();
  if (stages < 1 || stages > 32) {
    return emitOpError() << "'" << getName() << "' has " << stages
                         << " stages, expected 1 to 32";
  }
  // PTX ISA, mbarrier: pending counts and tx-counts are below 2^20.
  constexpr int64_t limit = (1 << 20) - 1;
  if (getProducers() < 1 || getProducers() > limit || getConsumers() < 1 ||
      getConsumers() > limit || getTransactionBytes() < 0 ||
      getTransactionBytes() > limit) {
    return emitOpError() << "'" << getName() << "': " << getProducers()
                         << " producers, " << getConsumers()
                         << " consumers and " << getTransactionBytes()
                         << " transaction bytes, expected 1 to " << limit
                         << " arrivals and at most " << limit << " bytes";
  }
  return success();
}

bool PipelineOp::isSentAlong(ClusterAxis axis) {
  return llvm::any_of((*this)->getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    return load && load.getAlong() == axis;
  });
}

int64_t PipelineOp::getReaders() {
  auto func = (*this)->getParentOfType<FuncOp>();
  // A CTA's boxes go to those in its row and in its column of the cluster.
  int64_t readers = 1;
  for (ClusterAxis axis : {ClusterAxis::m, ClusterAxis::n}) {
    if (isSentAlong(axis)) {
      readers += func.getReceivers(axis) - 1;
    }
  }
  return readers;
}

LogicalResult RoleOp::verify() {
  auto func = cast<FuncOp>((*this)->getParentOp());
  if (getLeader() && !func.getPaired()) {
    return emitOpError() << "'" << getName()
                         << "' is the leader's, but the kernel is not paired";
  }
  int64_t warps = func.getWarps();
  if (getFirstWarp() < 0 || getNumWarps() < 1 || getNumWarps() > warps ||
      getFirstWarp() > warps - getNumWarps()) {
    return emitOpError() << "'" << getName() << "' takes warps "
                         << getFirstWarp() << " to "
                         << getFirstWarp() + getNumWarps() - 1
                         << ", but the kernel has " << warps;
  }
  if (getElected() && getNumWarps() != 1) {
    return emitOpError() << "'" << getName() << "' elects a thread of "
                         << getNumWarps() << " warps, expected 1";
  }
  for (auto other : func.getBody().front().getOps<RoleOp>()) {
    if (other == *this) {
      break;
    }
    if (other.getFirstWarp() <
            static_cast<int64_t>(getFirstWarp() + getNumWarps()) &&
        static_cast<int64_t>(getFirstWarp()) <
            static_cast<int64_t>(other.getFirstWarp() + other.getNumWarps())) {
      InFlightDiagnostic diag = emitOpError()
                                << "'" << getName() << "' shares warps with '"
                                << other.getName() << "'";
      diag.attachNote(other.getLoc()) << "the other role is here";
      return diag;
    }
  }
  return success();
}

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

LogicalResult RequireMultipleOp::verify() {
  auto type = cast<MemRefType>(getMemref().getType());
  auto axis = static_cast<int64_t>(getAxis());
  if (static_cast<int64_t>(getFactor()) < 1 || axis < 0 ||
      axis >= type.getRank()) {
    return emitOpError() << "asks for multiples of "
                         << static_cast<int64_t>(getFactor()) << " along axis "
                         << axis << " of " << type
                         << ", expected 1 or more, and an axis that exists";
  }
  return success();
}

//===- data movement ------------------------------------------------------===//

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

//===- host ---------------------------------------------------------------===//

LogicalResult MakeTensorMapOp::verify() {
  auto memref = dyn_cast<MemRefType>(getMappedType());
  size_t rank = getMap().getType().getBox().size();
  // The strides of a dense array may be dynamic.
  bool isDense = memref && memref.getLayout().isIdentity();
  if (!memref || (!isDense && failed(rowMajorStrides(memref))) ||
      static_cast<size_t>(memref.getRank()) < rank ||
      (!isDense && static_cast<size_t>(memref.getRank()) != rank)) {
    return emitOpError() << "memref: type is " << getMappedType()
                         << ", expected a dense row-major array of rank at "
                            "least "
                         << rank << ", or one with padding of that rank";
  }
  // One extent may be dynamic, several make no stride.
  bool merges = static_cast<size_t>(memref.getRank()) > rank;
  for (int64_t i = rank - 1; merges && i < memref.getRank(); ++i) {
    if (memref.isDynamicDim(i)) {
      return emitOpError() << "memref: extent " << i << " of " << memref
                           << " is dynamic, expected static extents in the "
                              "map's innermost dimension";
    }
  }
  return success();
}

/// The kernel as a moe_kernel.func, or as a function of a module of device code
/// beside it once it is lowered.
static FunctionOpInterface lookupKernel(LaunchOp op,
                                        SymbolTableCollection &symbols) {
  if (auto func =
          symbols.lookupNearestSymbolFrom<FuncOp>(op, op.getKernelAttr())) {
    return func;
  }
  Operation *table = SymbolTable::getNearestSymbolTable(op);
  for (Operation &nested : table->getRegion(0).getOps()) {
    if (nested.hasTrait<OpTrait::SymbolTable>()) {
      if (Operation *func =
              symbols.lookupSymbolIn(&nested, op.getKernelAttr())) {
        return dyn_cast<FunctionOpInterface>(func);
      }
    }
  }
  return {};
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FunctionOpInterface func = lookupKernel(*this, symbols);
  if (!func) {
    return emitOpError() << "kernel '" << getKernel()
                         << "' is not a kernel of this module";
  }
  ArrayRef<Type> types = func.getArgumentTypes();
  if (types.size() != getArguments().size()) {
    InFlightDiagnostic diag = emitOpError()
                              << "passes " << getArguments().size()
                              << " arguments, kernel '" << getKernel()
                              << "' takes " << types.size();
    diag.attachNote(func.getLoc()) << "the kernel is here";
    return diag;
  }
  for (int64_t position : getWrites()) {
    if (position < 0 ||
        position >= static_cast<int64_t>(getArguments().size())) {
      return emitOpError() << "writes argument #" << position << " of "
                           << getArguments().size();
    }
  }
  // Lowered kernels take pointers and scalars.
  if (!isa<FuncOp>(func)) {
    return success();
  }
  for (auto [i, want, have] :
       llvm::enumerate(types, getArguments().getTypes())) {
    bool index = have.isIndex() && want.isIntOrIndex();
    if (want != have && !index) {
      return emitOpError() << "argument #" << i << ": type is " << have
                           << ", expected " << want;
    }
  }
  return success();
}
