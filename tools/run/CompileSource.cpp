#include "tools/run/CompileSource.h"

#include "lib/Pipelines/Compiler.h"
#include "mlir/IR/BuiltinOps.h"

using namespace gmoe;

Expected<std::string> run::compileSource(mlir::ModuleOp module,
                                         const std::string &target,
                                         bool cubin) {
  grouped_moe::CompileOptions options;
  options.targets = {target};
  using Cubins = grouped_moe::CompileOptions::Cubins;
  options.cubins = cubin ? Cubins::IfPossible : Cubins::Never;
  std::string bytes;
  // Diagnostics went to stderr with their locations.
  if (mlir::failed(grouped_moe::compile(module, grouped_moe::Stage::Bundle,
                                        options, bytes))) {
    return invalidArgument("compilation failed; the reason is above");
  }
  return bytes;
}
