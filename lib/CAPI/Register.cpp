#include "lib/CAPI/Register.h"

#include "dialect/GroupedMoe/IR/BufferizableOpInterfaceImpl.h"
#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "dialect/MoeKernel/IR/MoeKernelDialect.h"
#include "lib/Conversion/MoeKernelToNVVM/Passes.h"
#include "lib/Transforms/MoeKernel/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"

void grouped_moe::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<GroupedMoeDialect, moe_kernel::MoeKernelDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

void grouped_moe::registerMoeKernelPasses() {
  registerMoeKernelCheckPasses();
  registerMoeKernelToNVVMPasses();
}

void grouped_moe::registerAllPasses() { registerMoeKernelPasses(); }
