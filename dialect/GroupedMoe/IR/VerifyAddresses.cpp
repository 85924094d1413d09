// Verification of the right operand of products as device addresses.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace grouped_moe;

namespace {
/// rhs, or its scales.
struct AddressOperand {
  StringRef name;
  Value value;
  std::optional<Type> pointee;
  int64_t rank; // of what one address points at
  StringRef shape;

  ShapedType type() const { return cast<ShapedType>(value.getType()); }
  bool isAddresses() const { return type().getElementType().isInteger(64); }
};
} // namespace

static LogicalResult verifyAddresses(GroupedProduct op,
                                     const AddressOperand &operand) {
  ShapedType type = operand.type();
  auto refuse = [&]() -> InFlightDiagnostic {
    return op->emitOpError() << operand.name << ": ";
  };
  if (!operand.pointee && !operand.isAddresses()) {
    return success();
  }
  if (!operand.pointee) {
    return refuse() << "type is " << type
                    << ", an array of addresses, but not what they point at "
                       "(gemm_c17); write `of tensor<...>`, the type of one "
                       "group's array, behind it";
  }
  if (!operand.isAddresses() || type.getRank() != 1 || type.isDynamicDim(0) ||
      type.getDimSize(0) < 1) {
    return refuse() << "type is " << type << " of " << *operand.pointee
                    << ", expected one address of i64 for each group: L "
                       "elements, static and at least 1 (gemm_c17); without "
                       "`of` it is an array that holds all groups";
  }
  auto pointee = dyn_cast<RankedTensorType>(*operand.pointee);
  if (!pointee || !pointee.hasStaticShape() ||
      pointee.getRank() != operand.rank) {
    return refuse() << "points at " << *operand.pointee
                    << ", expected a static tensor " << operand.shape
                    << ": the array of one group (gemm_c17)";
  }
  if (operand.value.getDefiningOp<tensor::EmptyOp>()) {
    return refuse() << "is an empty tensor, but the op reads the addresses in "
                       "it (gemm_c17); pass an argument of the function";
  }
  return success();
}

LogicalResult grouped_moe::verifyRhsAddresses(GroupedProduct op) {
  AddressOperand data{"rhs", op.getRhs(), op.getRhsPointee(), 2,
                      op.isRhsTransposed() ? "(K, N)" : "(N, K)"};
  AddressOperand scales{"rhs scales", op.getRhsScales(),
                        op.getRhsScalesPointee(), 5,
                        "of atoms, [..] x [..] x 32 x 4 x 4"};
  if (failed(verifyAddresses(op, data)) ||
      failed(verifyAddresses(op, scales))) {
    return failure();
  }
  if (data.pointee.has_value() != scales.pointee.has_value()) {
    const AddressOperand &given = data.pointee ? data : scales,
                         &other = data.pointee ? scales : data;
    return op->emitOpError()
           << given.name << ": is an array of addresses, but " << other.name
           << " of type " << other.type()
           << " is not, expected both or neither (gemm_c17); keep the scales "
              "of a group in an array of their own, like its data";
  }
  if (data.pointee &&
      data.type().getDimSize(0) != scales.type().getDimSize(0)) {
    return op->emitOpError()
           << "rhs scales: has " << scales.type().getDimSize(0)
           << " addresses, expected " << data.type().getDimSize(0)
           << " as rhs (gemm_c17)";
  }
  return success();
}
