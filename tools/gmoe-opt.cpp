// mlir-opt with the project's dialects and passes.
#include "lib/CAPI/Register.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  grouped_moe::registerAllDialects(registry);
  mlir::registerAllPasses();
  grouped_moe::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "grouped-moe optimizer driver\n", registry));
}
