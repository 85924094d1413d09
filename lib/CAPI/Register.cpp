#include "lib/CAPI/Register.h"

#include "dialect/GroupedMoe/IR/BufferizableOpInterfaceImpl.h"
#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "dialect/MoeKernel/IR/MoeKernelDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"

void grouped_moe::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<GroupedMoeDialect, moe_kernel::MoeKernelDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}
