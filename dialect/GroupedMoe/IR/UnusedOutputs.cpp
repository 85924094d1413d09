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

/// An operation cannot lose results, so another one takes its place, with the
/// same operands.
static Operation *rewriteWith(Operation *op, const llvm::BitVector &used,
                              PatternRewriter &rewriter) {
  OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                       select<Type>(op->getResultTypes(), used),
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned i = 0; i < op->getNumRegions(); ++i) {
    state.addRegion();
  }
  Operation *narrow = rewriter.create(state);
  for (auto [from, to] : llvm::zip(op->getRegions(), narrow->getRegions())) {
    rewriter.inlineRegionBefore(from, to, to.begin());
  }
  for (auto [from, to] :
       llvm::zip(select<Value>(op->getResults(), used), narrow->getResults())) {
    rewriter.replaceAllUsesWith(from, to);
  }
  rewriter.eraseOp(op);
  return narrow;
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
    auto narrow = cast<GroupedProduct>(rewriteWith(op, used, rewriter));
    rewriter.modifyOpInPlace(narrow, [&] { dropOperands(narrow, used); });
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

/// The gradient has plain outputs only, each with a value of its own.
struct DropUnusedGradients : OpRewritePattern<WgradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WgradOp op,
                                PatternRewriter &rewriter) const override {
    llvm::BitVector used(op->getNumResults());
    for (unsigned i = 0; i < used.size(); ++i) {
      // What addresses point at is written whether the result is used or not.
      Value output = op.getOutputs()[i];
      auto type = cast<ShapedType>(output.getType());
      used[i] =
          !op->getResult(i).use_empty() || type.getElementType().isInteger(64);
    }
    if (used.all() || used.none()) {
      return rewriter.notifyMatchFailure(op, "all results are used, or none");
    }
    auto yield = cast<YieldOp>(op.getEpilogue().front().getTerminator());
    SmallVector<Value> values = select<Value>(yield.getValues(), used);
    rewriter.modifyOpInPlace(yield,
                             [&] { yield.getValuesMutable().assign(values); });
    auto narrow = cast<WgradOp>(rewriteWith(op, used, rewriter));
    rewriter.modifyOpInPlace(narrow, [&] {
      narrow.getOutputsMutable().assign(
          select<Value>(narrow.getOutputs(), used));
      selectNumbers(narrow, "output_kinds", used);
    });
    return success();
  }
};

/// Drops inputs that the region does not use, and merges equal ones: fewer
/// loads, the same numbers.
struct SimplifyInputs : OpInterfaceRewritePattern<FusedProduct> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(FusedProduct op,
                                PatternRewriter &rewriter) const override {
    Block &body = op.getEpilogue().front();
    SmallVector<std::pair<Value, int32_t>> kept;
    SmallVector<Value> inputs;
    SmallVector<int32_t> kinds;
    SmallVector<unsigned> keptArgument;
    llvm::BitVector erased(body.getNumArguments());
    SmallVector<std::pair<unsigned, unsigned>> merged;
    unsigned next = op.getPaired() ? 2 : 1;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      unsigned first = next, count = op.isPairInput(i) ? 2 : 1;
      next += count;
      auto isUnused = [](BlockArgument argument) {
        return argument.use_empty();
      };
      if (llvm::all_of(body.getArguments().slice(first, count), isUnused)) {
        erased.set(first, first + count);
        continue;
      }
      std::pair<Value, int32_t> key(input,
                                    static_cast<int32_t>(op.getInputKind(i)));
      auto it = llvm::find(kept, key);
      if (it != kept.end()) {
        for (unsigned half = 0; half < count; ++half) {
          merged.emplace_back(first + half,
                              keptArgument[it - kept.begin()] + half);
        }
        erased.set(first, first + count);
        continue;
      }
      kept.push_back(key);
      keptArgument.push_back(first);
      inputs.push_back(input);
      kinds.push_back(key.second);
    }
    if (erased.none()) {
      return rewriter.notifyMatchFailure(op, "every input is used, once");
    }
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [from, to] : merged) {
        body.getArgument(from).replaceAllUsesWith(body.getArgument(to));
      }
      body.eraseArguments(erased);
      op.getInputsMutable().assign(inputs);
      op->setAttr("input_kinds", rewriter.getDenseI32ArrayAttr(kinds));
    });
    return success();
  }
};
} // namespace

void grouped_moe::populateUnusedOutputPatterns(RewritePatternSet &patterns) {
  patterns.add<DropUnusedOutputs, DropUnusedInputs, DropUnusedGradients,
               SimplifyInputs>(patterns.getContext());
}
