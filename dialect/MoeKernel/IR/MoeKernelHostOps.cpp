// Verifiers of launch programs.
#include "dialect/MoeKernel/IR/MoeKernelOps.h"

using namespace mlir;
using namespace moe_kernel;

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
