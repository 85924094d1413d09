// Operands of products with padding behind their rows: what kernels can take.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;

/// Bulk copies: every stride of a tensor map (cuda.h, cuTensorMapEncodeTiled).
static constexpr int64_t kStrideBytes = 16;
/// The same: a stride is below 2^40 bytes.
static constexpr int64_t kMaxStrideBits = int64_t{8} << 40;

static LogicalResult checkRowStrides(Operation *op, const Twine &name,
                                     Value operand, bool mayBePadded,
                                     StringRef constraint) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type || type.getLayout().isIdentity()) {
    return success();
  }
  auto refuse = [&]() -> InFlightDiagnostic {
    return op->emitOpError() << name << ": ";
  };
  if (!mayBePadded) {
    return refuse() << "type is " << type << ", expected a dense memref ("
                    << constraint
                    << "): only matrices of rows may have padding between "
                       "them; copy it to a dense one first";
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      strides.empty() || strides.back() != 1 ||
      llvm::is_contained(strides, ShapedType::kDynamic)) {
    return refuse() << "type is " << type
                    << ", expected static strides, the last one 1, and no "
                       "offset, like strided<[576, 1]> ("
                    << constraint << ")";
  }
  int64_t bits = type.getElementTypeBitWidth();
  for (int64_t axis = type.getRank() - 2; axis >= 0; --axis) {
    int64_t inner = type.getDimSize(axis + 1), next = strides[axis + 1];
    int64_t least = ShapedType::isDynamic(inner) ? next : inner * next;
    if (strides[axis] < least) {
      return refuse() << "stride " << axis << " is " << strides[axis]
                      << " elements, expected at least the " << least
                      << " that lie in between (" << constraint
                      << "); rows do not overlap";
    }
    int64_t unit = 8 * kStrideBytes / bits;
    if (strides[axis] >= kMaxStrideBits / bits || strides[axis] % unit != 0) {
      return refuse() << "stride " << axis << " is " << strides[axis]
                      << " elements of " << type.getElementType() << ", "
                      << llvm::SaturatingMultiply<uint64_t>(strides[axis],
                                                            bits) /
                             8
                      << " bytes, expected a multiple of " << kStrideBytes
                      << " bytes below 2^40 (" << constraint
                      << "); pad rows to a multiple of " << unit << " elements";
    }
  }
  return success();
}

/// Matrices of rows may be padded: lhs, with `isRhsMatrix` rhs, and inputs and
/// outputs with an element for each of the product's.
template <typename Op>
static LogicalResult checkOperandStrides(Op op, bool isRhsMatrix,
                                         StringRef constraint) {
  auto check = [&](const Twine &name, Value value, bool isMatrix = false) {
    return checkRowStrides(op, name, value, isMatrix, constraint);
  };
  if (failed(check("lhs", op.getLhs(), true)) ||
      failed(check("lhs scales", op.getLhsScales())) ||
      failed(check("rhs", op.getRhs(), isRhsMatrix)) ||
      failed(check("rhs scales", op.getRhsScales())) ||
      failed(check("offsets", op.getOffsets()))) {
    return failure();
  }
  FusedProduct product = cast<FusedProduct>(op.getOperation());
  if (Value normConst = product.getNormConst()) {
    if (failed(check("norm_const", normConst))) {
      return failure();
    }
  }
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    bool isMatrix = product.getInputKind(i) == InputKind::per_element;
    if (failed(check("input #" + Twine(i), input, isMatrix))) {
      return failure();
    }
  }
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    OutputKind kind = product.getOutputKind(i);
    bool isAddresses = cast<ShapedType>(output.getType()).getRank() == 1;
    bool isMatrix =
        !isAddresses &&
        (kind == OutputKind::plain || kind == OutputKind::quantized) &&
        !product.isTransposedOutput(i); // its rows are its columns
    if (failed(check("output #" + Twine(i), output, isMatrix))) {
      return failure();
    }
  }
  return success();
}

LogicalResult grouped_moe::checkStrides(GemmOp op) {
  return checkOperandStrides(op, /*isRhsMatrix=*/false, "gemm_c18");
}

LogicalResult grouped_moe::checkStrides(WgradOp op) {
  return checkOperandStrides(op, /*isRhsMatrix=*/true, "wgrad_c12");
}
