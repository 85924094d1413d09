#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace grouped_moe {
#define GEN_PASS_DEF_RESULTSTOARGUMENTS
#include "lib/Transforms/Passes.h.inc"
} // namespace grouped_moe

using namespace mlir;

/// Marks the argument that holds result i.
static constexpr llvm::StringLiteral kResultAttr = "grouped_moe.result";

static LogicalResult moveResults(func::FuncOp func) {
  if (func.isDeclaration() || func.getNumResults() == 0) {
    return success();
  }
  if (!func.getBody().hasOneBlock()) {
    return func.emitOpError() << "has control flow, expected straight-line "
                                 "code: an entry is a list of launches";
  }
  Builder builder(func.getContext());
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    while (auto cast = value.getDefiningOp<memref::CastOp>()) {
      value = cast.getSource();
    }
    // A destination that the caller gave stays where it is.
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned index = argument.getArgNumber();
      if (func.getArgAttr(index, kResultAttr)) {
        return func.emitOpError()
               << "result #" << i << " and an earlier one are argument #"
               << index << "; return each buffer once";
      }
      func.setArgAttr(index, kResultAttr, builder.getI64IntegerAttr(i));
      continue;
    }
    auto alloc = value.getDefiningOp<memref::AllocOp>();
    if (!alloc) {
      InFlightDiagnostic diag =
          func.emitOpError()
          << "result #" << i
          << " is not a buffer that the function makes for it alone; return "
             "the result of an op, each once, and no argument";
      return diag;
    }
    auto type = alloc.getType();
    unsigned index = func.getNumArguments();
    if (failed(
            func.insertArgument(index, type,
                                builder.getDictionaryAttr(builder.getNamedAttr(
                                    kResultAttr, builder.getI64IntegerAttr(i))),
                                alloc.getLoc()))) {
      return failure();
    }
    alloc.replaceAllUsesWith(Value(func.getArgument(index)));
    alloc.erase();
  }
  ret.getOperandsMutable().clear();
  func.setFunctionType(FunctionType::get(func.getContext(),
                                         func.getArgumentTypes(), TypeRange{}));
  return success();
}

namespace {
struct ResultsToArgumentsPass
    : grouped_moe::impl::ResultsToArgumentsBase<ResultsToArgumentsPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isPublic() && failed(moveResults(func))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
