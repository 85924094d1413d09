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
