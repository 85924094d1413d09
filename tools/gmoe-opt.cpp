// mlir-opt with the project's dialects and passes.
#include "lib/CAPI/Register.h"
#include "lib/Pipelines/Compiler.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  grouped_moe::registerAllDialects(registry);
  mlir::registerAllPasses();
  grouped_moe::registerAllPasses();
  llvm::cl::AddExtraVersionPrinter(
      [](llvm::raw_ostream &os) { os << grouped_moe::versionText(); });
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "grouped-moe optimizer driver\n", registry));
}
