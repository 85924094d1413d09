#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace grouped_moe;

static Value selectIf(KernelScope &kernel, Value code, int64_t equals,
                      int64_t then, Value otherwise) {
  return arith::SelectOp::create(kernel.body, kernel.equal(code, equals),
                                 kernel.constant(then), otherwise);
}

Value grouped_moe::powerOfTwo(KernelScope &kernel, Value code) {
  ImplicitLocOpBuilder &b = kernel.body;
  Value bits = arith::ShLIOp::create(b, code, kernel.constant(int64_t(23)));
  bits = selectIf(kernel, code, 0, 0x00400000, bits);
  bits = selectIf(kernel, code, 255, 0x7fc00000, bits);
  return arith::BitcastOp::create(b, b.getF32Type(), bits);
}

/// f8E4M3FN, exact.
static Value valueOfE4m3(KernelScope &kernel, Value code) {
  ImplicitLocOpBuilder &b = kernel.body;
  auto floats = VectorType::get(1, b.getF32Type());
  Value byte = kernel.splat(arith::TruncIOp::create(b, b.getI8Type(), code), 1);
  Value value = moe_kernel::DecodeOp::create(
      b, floats, byte, TypeAttr::get(Float8E4M3FNType::get(b.getContext())));
  return vector::ExtractOp::create(b, value, 0);
}

Value grouped_moe::scaleValue(KernelScope &kernel, Value code, Type format) {
  return isa<Float8E4M3FNType>(format) ? valueOfE4m3(kernel, code)
                                       : powerOfTwo(kernel, code);
}

namespace {
/// What one number of each format says (quantize's description).
struct FormatFacts {
  float inverseMax;
  int64_t maxExponent;
};
FormatFacts factsOf(Type format) {
  if (isa<Float4E2M1FNType>(format)) {
    return {1.0f / 6.0f, 2};
  }
  return isa<Float8E4M3FNType>(format) ? FormatFacts{1.0f / 448.0f, 8}
                                       : FormatFacts{1.0f / 57344.0f, 15};
}
} // namespace

static Value normalized(KernelScope &kernel, Value x,
                        const BlockFormat &format) {
  return format.normConst
             ? arith::MulFOp::create(kernel.body, x, format.normConst)
                   .getResult()
             : x;
}

Value grouped_moe::scaleCode(KernelScope &kernel, Value amax,
                             const BlockFormat &format) {
  ImplicitLocOpBuilder &b = kernel.body;
  Type i32 = b.getI32Type(), i8 = b.getI8Type();
  FormatFacts facts = factsOf(format.data);
  if (format.rounding != ScaleRounding::floor) {
    Value scaled =
        arith::MulFOp::create(b, amax, kernel.constant(facts.inverseMax));
    scaled = normalized(kernel, scaled, format);
    bool isNearest = format.rounding == ScaleRounding::nearest;
    TypeAttr scale = isNearest
                         ? TypeAttr::get(Float8E4M3FNType::get(b.getContext()))
                         : TypeAttr();
    Value code = moe_kernel::EncodeScaleOp::create(b, i8, scaled, scale);
    return arith::ExtUIOp::create(b, i32, code);
  }
  Value bits =
      arith::BitcastOp::create(b, i32, normalized(kernel, amax, format));
  Value exponent = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bits, kernel.constant(int64_t(23))),
      kernel.constant(int64_t(255)));
  Value floor =
      arith::SubIOp::create(b, exponent, kernel.constant(facts.maxExponent));
  floor = arith::MaxSIOp::create(b, floor, kernel.constant(int64_t(0)));
  return selectIf(kernel, exponent, 255, 255, floor);
}

/// 1 / s of a positive f8E4M3FN code, correctly rounded; 0 for code 0, NaN for
/// NaN. The instruction is within one unit; its error after a Newton step is
/// far below the distance of 8 / (8 + j), j = 0 .. 7, from any tie.
static Value inverseOfE4m3(KernelScope &kernel, Value code) {
  ImplicitLocOpBuilder &b = kernel.body;
  Value s = valueOfE4m3(kernel, code);
  Value one = kernel.constant(1.0f);
  Value guess = arith::DivFOp::create(
      b, one, s, arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
  Value rest = math::FmaOp::create(b, arith::NegFOp::create(b, s), guess, one);
  Value inverse = math::FmaOp::create(b, guess, rest, guess);
  return arith::SelectOp::create(b, kernel.equal(code, 0),
                                 kernel.constant(0.0f), inverse);
}

Value grouped_moe::dataFactor(KernelScope &kernel, Value code,
                              const BlockFormat &format) {
  ImplicitLocOpBuilder &b = kernel.body;
  Value factor;
  if (format.rounding == ScaleRounding::nearest) {
    factor = inverseOfE4m3(kernel, code);
  } else {
    // 2^(127 - code), whose own code is 254 - code.
    Value inverse =
        arith::SubIOp::create(b, kernel.constant(int64_t(254)), code);
    factor = powerOfTwo(kernel, selectIf(kernel, code, 255, 255, inverse));
  }
  if (!format.normConst) {
    return factor;
  }
  // The product may be Inf; 0 times that would be NaN in a block of zeros.
  return arith::MinimumFOp::create(
      b, normalized(kernel, factor, format),
      kernel.constant(std::numeric_limits<float>::max()));
}

QuantizedBlock grouped_moe::quantizeRow(KernelScope &kernel, Value values,
                                        const BlockFormat &format) {
  ImplicitLocOpBuilder &b = kernel.body;
  int64_t lanes = cast<VectorType>(values.getType()).getDimSize(0);
  int64_t block = format.block;
  Value scaled, scales;
  for (int64_t first = 0; first < lanes; first += block) {
    Value part = values;
    if (block != lanes) {
      part = vector::ExtractStridedSliceOp::create(
          b, values, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{block},
          ArrayRef<int64_t>{1});
    }
    Value amax = vector::ReductionOp::create(b, vector::CombiningKind::MAXIMUMF,
                                             math::AbsFOp::create(b, part));
    Value code = scaleCode(kernel, amax, format);
    Value factor = dataFactor(kernel, code, format);
    part = arith::MulFOp::create(b, part, kernel.splat(factor, block));
    if (block == lanes) {
      scaled = part;
      scales = code;
      break;
    }
    scaled = vector::InsertStridedSliceOp::create(
        b, part, scaled ? scaled : kernel.splat(kernel.constant(0.0f), lanes),
        ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
    Value byte = arith::ShLIOp::create(
        b, code, kernel.constant(int64_t(8) * (first / block)));
    scales = scales ? arith::OrIOp::create(b, scales, byte).getResult() : byte;
  }
  int64_t bytes = isa<Float4E2M1FNType>(format.data) ? lanes / 2 : lanes;
  Value codes =
      moe_kernel::EncodeOp::create(b, VectorType::get(bytes, b.getI8Type()),
                                   scaled, TypeAttr::get(format.data));
  return {codes, scales};
}
