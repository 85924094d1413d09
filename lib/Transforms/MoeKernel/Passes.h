// Checks of moe_kernel functions.
#ifndef LIB_TRANSFORMS_MOEKERNEL_PASSES_H
#define LIB_TRANSFORMS_MOEKERNEL_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <string>

namespace grouped_moe {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/MoeKernel/Passes.h.inc"

} // namespace grouped_moe

#endif // LIB_TRANSFORMS_MOEKERNEL_PASSES_H
