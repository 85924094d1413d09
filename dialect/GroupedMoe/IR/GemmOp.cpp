// Parsing, verification and canonicalization of the generic grouped product.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

void GemmOp::getEffects(EffectList &effects) {
  addEffects(*this, getOutputs(), effects);
}
LogicalResult GemmOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromOutputs(builder, *this, getOutputs(), shapes);
}

void GemmOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  if (region.empty() || region.getNumArguments() == 0) {
    return;
  }
  if (!getPaired() || region.getNumArguments() == 1) {
    setName(region.getArgument(0), "acc");
    return;
  }
  setName(region.getArgument(0), "gate");
  setName(region.getArgument(1), "up");
}

LogicalResult GemmOp::verify() {
  if (getInputKinds().size() != getInputs().size()) {
    return emitOpError() << "has " << getInputs().size() << " inputs and "
                         << getInputKinds().size() << " input kinds (gemm_c8)";
  }
  for (auto [i, kind] : llvm::enumerate(getInputKinds())) {
    if (!symbolizeInputKind(kind)) {
      return emitOpError() << "input #" << i << ": unknown kind " << kind
                           << " (gemm_c8)";
    }
  }
  return verifyProduct(cast<GroupedProduct>(getOperation()));
}

LogicalResult GemmOp::verifyRegions() {
  return verifyEpilogueRegion(*this, "gemm_c10", "gemm_c11");
}

namespace {
/// Drops inputs that the region does not use, and merges equal ones: fewer
/// loads, the same numbers.
struct SimplifyInputs : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GemmOp op,
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
      std::pair<Value, int32_t> key(input, op.getInputKinds()[i]);
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
      op.setInputKinds(kinds);
    });
    return success();
  }
};
} // namespace

void GemmOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<SimplifyInputs>(context);
}
