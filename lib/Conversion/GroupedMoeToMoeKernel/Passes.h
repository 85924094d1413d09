// Conversion from grouped_moe to moe_kernel.
#ifndef LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PASSES_H
#define LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PASSES_H

#include "mlir/Pass/Pass.h"

namespace grouped_moe {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/GroupedMoeToMoeKernel/Passes.h.inc"
} // namespace grouped_moe

#endif // LIB_CONVERSION_GROUPEDMOETOMOEKERNEL_PASSES_H
