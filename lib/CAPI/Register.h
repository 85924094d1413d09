// Everything an embedder registers: dialects, interface models, passes.
#ifndef LIB_CAPI_REGISTER_H
#define LIB_CAPI_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace grouped_moe {

/// The project's dialects with their interface models: for a program that
/// registers upstream's dialects itself.
void registerProjectDialects(mlir::DialectRegistry &registry);

/// The same, and the upstream dialects, interface models and translations that
/// the pipelines use.
void registerAllDialects(mlir::DialectRegistry &registry);

/// The project's passes and pipelines, for command lines.
void registerAllPasses();

} // namespace grouped_moe

#endif // LIB_CAPI_REGISTER_H
