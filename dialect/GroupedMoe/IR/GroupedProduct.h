// The interface of grouped products, and what it needs to know of kinds.
#ifndef DIALECT_GROUPEDMOE_IR_GROUPEDPRODUCT_H
#define DIALECT_GROUPEDMOE_IR_GROUPEDPRODUCT_H

#include "dialect/GroupedMoe/IR/GroupedMoeDialect.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "dialect/GroupedMoe/IR/StructuredOps.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/OpDefinition.h"

namespace grouped_moe::detail {

inline int64_t extentOf(mlir::Value value, unsigned axis) {
  return mlir::cast<mlir::ShapedType>(value.getType()).getDimSize(axis);
}
/// The type of a value; of device addresses, that of the arrays they point at,
/// one behind the other.
mlir::ShapedType typeBehind(mlir::Value value,
                            std::optional<mlir::Type> pointee);
bool isScaleKind(OutputKind kind);
ScaleRounding scaleRoundingOf(OutputKind kind);
/// Null for a kind that is no scales.
ScaleLayoutAttr scaleLayoutOf(mlir::Operation *op, OutputKind kind);
bool isPair(mlir::Value input, int64_t columns, InputKind kind);
bool isPair(mlir::Value output, int64_t columns, OutputKind kind,
            unsigned columnAxis);

} // namespace grouped_moe::detail

namespace grouped_moe {
class EquationBuilder;
/// How an input of a named op follows the elements.
InputKind kindOf(InputRole role);
} // namespace grouped_moe

#include "dialect/GroupedMoe/IR/GroupedMoeInterfaces.h.inc"

namespace grouped_moe {

/// Memrefs are read, those of outs also written; so is read what addresses
/// point at.
void addProductEffects(GroupedProduct op, EffectList &effects);
/// Everything about a product but its region; the op is on tensors or memrefs
/// alike.
mlir::LogicalResult verifyProduct(GroupedProduct op);
/// Of that: rhs and its scales as device addresses. Ahead of what asks for
/// their types.
mlir::LogicalResult verifyRhsAddresses(GroupedProduct op);
/// All of a product, and the roles and values of a named op.
mlir::LogicalResult verifyNamedProduct(NamedProduct op);

/// The layout in which `op` reads scales against the one in which another op of
/// this dialect wrote them, if such an op is in sight.
mlir::LogicalResult verifyProducer(mlir::Operation *op, llvm::StringRef name,
                                   mlir::Value scales, ScaleLayoutAttr layout,
                                   llvm::StringRef constraint);

} // namespace grouped_moe

#endif // DIALECT_GROUPEDMOE_IR_GROUPEDPRODUCT_H
