#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace grouped_moe;

static Value selectIf(KernelScope &kernel, Value code, int64_t equals,
                      int64_t then, Value otherwise) {
  ImplicitLocOpBuilder &b = kernel.body;
  Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, code,
                                   kernel.constant(equals));
  return arith::SelectOp::create(b, is, kernel.constant(then), otherwise);
}

Value grouped_moe::powerOfTwo(KernelScope &kernel, Value code) {
  ImplicitLocOpBuilder &b = kernel.body;
  Value bits = arith::ShLIOp::create(b, code, kernel.constant(int64_t(23)));
  bits = selectIf(kernel, code, 0, 0x00400000, bits);
  bits = selectIf(kernel, code, 255, 0x7fc00000, bits);
  return arith::BitcastOp::create(b, b.getF32Type(), bits);
}

namespace {
/// What one number of each format says (quantize's description).
struct FormatFacts {
  float inverseMax;
  int64_t maxExponent;
};
FormatFacts factsOf(Type format) {
  return isa<Float8E4M3FNType>(format) ? FormatFacts{1.0f / 448.0f, 8}
                                       : FormatFacts{1.0f / 57344.0f, 15};
}
} // namespace

/// The scale byte of a block with this maximum, as i32.
static Value scaleCode(KernelScope &kernel, Value amax, Type format,
                       ScaleRounding rounding) {
  ImplicitLocOpBuilder &b = kernel.body;
  Type i32 = b.getI32Type();
  FormatFacts facts = factsOf(format);
  if (rounding == ScaleRounding::rceil) {
    Value scaled =
        arith::MulFOp::create(b, amax, kernel.constant(facts.inverseMax));
    Value code = moe_kernel::EncodeScaleOp::create(b, b.getI8Type(), scaled);
    return arith::ExtUIOp::create(b, i32, code);
  }
  Value bits = arith::BitcastOp::create(b, i32, amax);
  Value exponent = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bits, kernel.constant(int64_t(23))),
      kernel.constant(int64_t(255)));
  Value floor =
      arith::SubIOp::create(b, exponent, kernel.constant(facts.maxExponent));
  floor = arith::MaxSIOp::create(b, floor, kernel.constant(int64_t(0)));
  return selectIf(kernel, exponent, 255, 255, floor);
}

QuantizedBlock grouped_moe::quantizeBlock(KernelScope &kernel, Value values,
                                          Type format, ScaleRounding rounding) {
  ImplicitLocOpBuilder &b = kernel.body;
  int64_t lanes = cast<VectorType>(values.getType()).getDimSize(0);
  Value amax = vector::ReductionOp::create(b, vector::CombiningKind::MAXIMUMF,
                                           math::AbsFOp::create(b, values));
  Value code = scaleCode(kernel, amax, format, rounding);
  // Data is multiplied by 2^(127 - code), whose own code is 254 - code; a NaN
  // scale makes the block NaN.
  Value inverse = arith::SubIOp::create(b, kernel.constant(int64_t(254)), code);
  Value factor = powerOfTwo(kernel, selectIf(kernel, code, 255, 255, inverse));
  Value scaled = arith::MulFOp::create(b, values, kernel.splat(factor, lanes));
  Value codes = moe_kernel::EncodeOp::create(
      b, VectorType::get(lanes, b.getI8Type()), scaled, TypeAttr::get(format));
  return {codes, code};
}
