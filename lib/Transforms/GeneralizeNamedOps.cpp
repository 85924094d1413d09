#include "lib/Transforms/Passes.h"

#include "dialect/GroupedMoe/IR/NamedOps.h"

namespace grouped_moe {
#define GEN_PASS_DEF_GENERALIZENAMEDOPS
#include "lib/Transforms/Passes.h.inc"
} // namespace grouped_moe

using namespace mlir;
using namespace grouped_moe;

namespace {
struct GeneralizeNamedOpsPass
    : grouped_moe::impl::GeneralizeNamedOpsBase<GeneralizeNamedOpsPass> {
  void runOnOperation() override { replaced += generalizeAll(getOperation()); }
};
} // namespace
