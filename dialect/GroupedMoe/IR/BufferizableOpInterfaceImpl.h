// Bufferization of the destination-style ops.
#ifndef DIALECT_GROUPEDMOE_IR_BUFFERIZABLEOPINTERFACEIMPL_H
#define DIALECT_GROUPEDMOE_IR_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace grouped_moe {
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);
} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_BUFFERIZABLEOPINTERFACEIMPL_H
