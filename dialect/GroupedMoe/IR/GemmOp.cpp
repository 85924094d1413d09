// Verification of the generic grouped product.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

void GemmOp::getEffects(EffectList &effects) {
  addProductEffects(cast<GroupedProduct>(getOperation()), effects);
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
