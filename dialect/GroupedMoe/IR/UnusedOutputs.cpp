#include "dialect/GroupedMoe/IR/UnusedOutputs.h"

#include "dialect/GroupedMoe/IR/NamedOps.h"

using namespace mlir;
using namespace grouped_moe;

/// Outputs of which a result is used; none where there are no results.
/// Quantized data and its scales mean something only together.
static llvm::BitVector getUsedOutputs(GroupedProduct op) {
  llvm::BitVector used(op->getNumResults());
  for (unsigned i = 0; i < used.size(); ++i) {
    used[i] = !op->getResult(i).use_empty();
    if (op.isScaleOutput(i)) {
      used[i - 1] = used[i] = used[i - 1] || used[i];
    }
  }
  return used;
}

/// The elements at the places that are set.
template <typename T, typename Range>
static SmallVector<T> select(Range &&range, const llvm::BitVector &places) {
  SmallVector<T> selected;
  for (auto [i, value] : llvm::enumerate(range)) {
    if (places[i]) {
      selected.push_back(value);
    }
  }
  return selected;
}

static void selectNumbers(Operation *op, StringRef name,
                          const llvm::BitVector &places) {
  if (auto numbers = op->getAttrOfType<DenseI32ArrayAttr>(name)) {
    op->setAttr(name, DenseI32ArrayAttr::get(
                          op->getContext(),
                          select<int32_t>(numbers.asArrayRef(), places)));
  }
}

/// The values that a gemm yields for these outputs.
static SmallVector<Value> selectYields(GemmOp op,
                                       const llvm::BitVector &outputs) {
  auto yield = cast<YieldOp>(op.getEpilogue().front().getTerminator());
  SmallVector<Value> values;
  unsigned next = 0;
  for (unsigned i = 0; i < outputs.size(); ++i) {
    unsigned count = op.isScaleOutput(i) ? 0 : op.isPairOutput(i) ? 2 : 1;
    if (outputs[i]) {
      llvm::append_range(values, yield.getValues().slice(next, count));
    }
    next += count;
  }
  return values;
}

namespace {
struct DropUnusedOutputs : OpInterfaceRewritePattern<GroupedProduct> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(GroupedProduct op,
                                PatternRewriter &rewriter) const override {
    llvm::BitVector used = getUsedOutputs(op);
    if (used.all() || used.none()) {
      return rewriter.notifyMatchFailure(op, "all results are used, or none");
    }
    if (auto gemm = dyn_cast<GemmOp>(op.getOperation())) {
      auto yield = cast<YieldOp>(gemm.getEpilogue().front().getTerminator());
      SmallVector<Value> values = selectYields(gemm, used);
      rewriter.modifyOpInPlace(
          yield, [&] { yield.getValuesMutable().assign(values); });
    }
    // An operation cannot lose results, so another one takes its place.
    OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                         select<Type>(op->getResultTypes(), used),
                         op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (unsigned i = 0; i < op->getNumRegions(); ++i) {
      state.addRegion();
    }
    auto narrow = cast<GroupedProduct>(rewriter.create(state));
    for (auto [from, to] : llvm::zip(op->getRegions(), narrow->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.begin());
    }
    rewriter.modifyOpInPlace(narrow, [&] { dropOperands(narrow, used); });
    for (auto [from, to] : llvm::zip(select<Value>(op->getResults(), used),
                                     narrow->getResults())) {
      rewriter.replaceAllUsesWith(from, to);
    }
    rewriter.eraseOp(op);
    return success();
  }

  static void dropOperands(GroupedProduct op, const llvm::BitVector &used) {
    op.getOutputsMutable().assign(select<Value>(op.getOutputs(), used));
    selectNumbers(op, "output_kinds", used);
    selectNumbers(op, "output_values", used);
    bool quantizes = false;
    for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
      quantizes |= op.isScaleOutput(i);
    }
    if (!quantizes) {
      op.getNormConstMutable().clear(); // nothing is left that it scales
    }
  }
};

/// The region of a gemm says which inputs it uses; a named op's equation does.
struct DropUnusedInputs : OpInterfaceRewritePattern<NamedProduct> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(NamedProduct op,
                                PatternRewriter &rewriter) const override {
    GroupedProduct product = op;
    if (op->getNumResults() == 0 || product.getInputs().empty()) {
      return rewriter.notifyMatchFailure(op, "is on memrefs, or has no inputs");
    }
    llvm::BitVector kept = getUnusedInputs(op).flip();
    for (unsigned i = 0; i < kept.size(); ++i) {
      kept[i] = kept[i] || op.getInputRole(i) == InputRole::c; // is required
    }
    if (kept.all()) {
      return rewriter.notifyMatchFailure(op, "every input is used");
    }
    rewriter.modifyOpInPlace(op, [&] {
      product.getInputsMutable().assign(
          select<Value>(product.getInputs(), kept));
      selectNumbers(op, "input_roles", kept);
    });
    return success();
  }
};
} // namespace

void grouped_moe::populateUnusedOutputPatterns(RewritePatternSet &patterns) {
  patterns.add<DropUnusedOutputs, DropUnusedInputs>(patterns.getContext());
}
