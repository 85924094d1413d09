// The dialects and passes as a plugin of the stock mlir-opt.
#include "lib/CAPI/Register.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "GroupedMoe", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            grouped_moe::registerProjectDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "GroupedMoePasses", LLVM_VERSION_STRING,
          [] { grouped_moe::registerAllPasses(); }};
}
