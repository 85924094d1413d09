// Functions of elements that have no op upstream.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

/// An instruction that approximates a function of normal numbers, element by
/// element.
Value KernelLowering::approximate(StringRef intrinsic, Value values) {
  auto type = cast<VectorType>(values.getType());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    Value element = create<vector::ExtractOp>(values, i);
    elements.push_back(create<LLVM::CallIntrinsicOp>(
                           b.getF32Type(), b.getStringAttr(intrinsic), element)
                           .getResults());
  }
  return create<vector::FromElementsOp>(type, elements);
}

// With e = e^-|x| the result is 1 / (1 + e), or e / (1 + e) below 0: nothing
// cancels or overflows. e is 2^n 2^r with n nearest to -|x| / ln 2, and
// n + 64 in the place of n until the end, since e may be subnormal. The
// polynomial is closer than the instruction ex2, and in pairs not slower.
LogicalResult KernelLowering::lower(SigmoidOp op) {
  Value x = mapped(op.getOperand());
  auto type = cast<VectorType>(x.getType());
  auto bitsType = VectorType::get(type.getShape(), b.getI32Type());
  auto constant = [&](float value) -> Value {
    return create<arith::ConstantOp>(DenseElementsAttr::get(type, value));
  };
  auto fma = [&](Value p, Value q, Value r) -> Value {
    return create<math::FmaOp>(p, q, r);
  };
  constexpr float log2e = 1.44269504f, log2eRest = 1.92596299e-8f;
  // The sum with 1.5 2^23 has the nearest integer in its low bits.
  constexpr float magic = 12582912.0f + 64.0f;
  // Fit at Chebyshev nodes; 0.94 units.
  constexpr float power[] = {1.0f,           0.693147182f,   0.240226477f,
                             0.0555032901f,  0.00961837359f, 0.00133998482f,
                             0.000153707049f};
  Value one = constant(1.0f);
  Value magnitude = create<math::AbsFOp>(x);
  // Beyond this e is 0 in f32.
  magnitude = create<arith::MinimumFOp>(magnitude, constant(110.0f));
  Value sum = fma(magnitude, constant(-log2e), constant(magic));
  Value n = create<arith::SubFOp>(constant(magic), sum);
  Value r = fma(magnitude, constant(-log2e), n);
  r = fma(magnitude, constant(-log2eRest), r);
  Value e = constant(power[6]);
  for (int k = 5; k >= 0; --k) {
    e = fma(e, r, constant(power[k]));
  }
  Value shift = create<arith::ConstantOp>(
      DenseElementsAttr::get(bitsType, b.getI32IntegerAttr(23).getValue()));
  Value exponent =
      create<arith::ShLIOp>(create<arith::BitcastOp>(bitsType, sum), shift);
  Value bits =
      create<arith::AddIOp>(create<arith::BitcastOp>(bitsType, e), exponent);
  e = create<arith::BitcastOp>(type, bits);
  // r * 0 is NaN for NaN, whose bits are lost in e.
  e = fma(e, constant(0x1p-64f), create<arith::MulFOp>(r, constant(0.0f)));
  Value inverse =
      approximate("llvm.nvvm.rcp.approx.ftz.f", create<arith::AddFOp>(e, one));
  Value isUpper =
      create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, constant(0.0f));
  Value numerator = create<arith::SelectOp>(isUpper, one, e);
  map.map(op.getResult(), create<arith::MulFOp>(numerator, inverse));
  return success();
}
