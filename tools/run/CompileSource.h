// The compile step of gmoe-run.
#ifndef TOOLS_RUN_COMPILESOURCE_H
#define TOOLS_RUN_COMPILESOURCE_H

#include "runtime/core/Status.h"

#include <string>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace gmoe::run {

/// The bundle of a module for one chip; `cubin`: with machine code beside PTX.
Expected<std::string> compileSource(mlir::ModuleOp module,
                                    const std::string &target, bool cubin);

} // namespace gmoe::run

#endif // TOOLS_RUN_COMPILESOURCE_H
