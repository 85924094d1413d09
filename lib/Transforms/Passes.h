// Passes on the grouped_moe dialect.
#ifndef LIB_TRANSFORMS_PASSES_H
#define LIB_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace grouped_moe {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Passes.h.inc"
} // namespace grouped_moe

#endif // LIB_TRANSFORMS_PASSES_H
