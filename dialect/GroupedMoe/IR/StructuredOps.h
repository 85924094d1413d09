// What the destination-style ops of the dialect share: effects, shapes, checks.
#ifndef DIALECT_GROUPEDMOE_IR_STRUCTUREDOPS_H
#define DIALECT_GROUPEDMOE_IR_STRUCTUREDOPS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace grouped_moe {

using EffectList = llvm::SmallVectorImpl<
    mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

/// Memrefs are read; memrefs of `outputs` are also written.
void addEffects(mlir::Operation *op, mlir::OperandRange outputs,
                EffectList &effects);

/// The shapes of the results are those of the destinations.
mlir::LogicalResult reifyFromOutputs(mlir::OpBuilder &builder,
                                     mlir::Operation *op,
                                     mlir::OperandRange outputs,
                                     mlir::ReifiedRankedShapedTypeDims &shapes);

/// All tensors or all memrefs, one result for each tensor destination, and no
/// attributes that the op does not have.
mlir::LogicalResult verifySemantics(mlir::Operation *op, unsigned outputs,
                                    llvm::StringRef constraint);

/// Elements along one axis: kernels count in 32 bits, signed.
inline constexpr int64_t kMaxExtent = 0x7fffffff;

bool isFp8(mlir::Type type);
bool isFp4(mlir::Type type);
bool isFloatOutput(mlir::Type type); // f32, f16, bf16

/// Two extents that may be equal: either is dynamic, or they agree.
inline bool mayEqual(int64_t a, int64_t b) {
  return mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b) ||
         a == b;
}

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_STRUCTUREDOPS_H
