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
// cancels or overflows. e may be subnormal, so it is computed 2^64 times too
// large.
LogicalResult KernelLowering::lower(SigmoidOp op) {
  Value x = mapped(op.getOperand());
  auto type = cast<VectorType>(x.getType());
  auto constant = [&](float value) -> Value {
    return create<arith::ConstantOp>(DenseElementsAttr::get(type, value));
  };
  auto fma = [&](Value p, Value q, Value r) -> Value {
    return create<math::FmaOp>(p, q, r);
  };
  constexpr float log2e = 1.44269504f, log2eRest = 1.92596299e-8f;
  constexpr float ln2 = 0.693147182f, shift = 64.0f;
  Value one = constant(1.0f);
  Value magnitude = create<math::AbsFOp>(x);
  // Beyond this e is 0 in f32; infinity would make NaN below.
  magnitude = create<arith::MinimumFOp>(magnitude, constant(110.0f));
  // 64 - |x| / ln 2 = power + rest.
  Value power = fma(magnitude, constant(-log2e), constant(shift));
  Value rest = create<arith::SubFOp>(constant(shift), power);
  rest = fma(magnitude, constant(-log2e), rest);
  rest = fma(magnitude, constant(-log2eRest), rest);
  Value e = approximate("llvm.nvvm.ex2.approx.ftz.f32", power);
  // 2^rest = 1 + rest ln 2, to the precision of f32.
  rest = create<arith::MulFOp>(rest, constant(ln2));
  e = fma(e, rest, e);
  e = create<arith::MulFOp>(e, constant(0x1p-64f));
  Value upper =
      approximate("llvm.nvvm.rcp.approx.ftz.f", create<arith::AddFOp>(e, one));
  Value isUpper =
      create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, constant(0.0f));
  Value numerator = create<arith::SelectOp>(isUpper, one, e);
  map.map(op.getResult(), create<arith::MulFOp>(numerator, upper));
  return success();
}
