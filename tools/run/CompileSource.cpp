#include "tools/run/CompileSource.h"

#include "mlir/IR/BuiltinOps.h"

using namespace gmoe;

Expected<std::string> run::compileSource(mlir::ModuleOp, const std::string &,
                                         bool) {
  return unavailable("compiling .mlir is not available in this version: give a "
                     ".gmoe bundle, or --device=reference");
}
