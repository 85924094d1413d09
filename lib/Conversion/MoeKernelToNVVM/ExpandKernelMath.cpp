// --moe-kernel-expand-math: math functions as sequences of GPU instructions.
#include "lib/Conversion/MoeKernelToNVVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>
#include <limits>

namespace grouped_moe {
#define GEN_PASS_DEF_EXPANDKERNELMATH
#include "lib/Conversion/MoeKernelToNVVM/Passes.h.inc"
} // namespace grouped_moe

using namespace mlir;

namespace {

/// Builds arithmetic on f32 or vectors of f32. Every operation rounds once.
class F32 {
public:
  F32(OpBuilder &builder, Location loc, Type type)
      : b(loc, builder), type(type),
        intType(cloneWith(type, builder.getI32Type())) {}

  Value constant(float value) { return splat(type, b.getF32FloatAttr(value)); }
  Value integer(int32_t value) {
    return splat(intType, b.getI32IntegerAttr(value));
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value fma(Value x, float y, Value z) { return fma(x, constant(y), z); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value mul(Value x, float y) { return mul(x, constant(y)); }
  Value bits(Value x) { return arith::BitcastOp::create(b, intType, x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, type, x); }
  Value less(Value x, float y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, constant(y));
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, c, x, y);
  }
  /// Keeps NaN.
  Value clamp(Value x, float low, float high) {
    Value atLeast = arith::MaximumFOp::create(b, x, constant(low));
    return arith::MinimumFOp::create(b, atLeast, constant(high));
  }
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value result = constant(coefficients.back());
    for (float c : llvm::reverse(coefficients.drop_back())) {
      result = fma(result, x, constant(c));
    }
    return result;
  }
  /// ex2.approx.f32: 2 ulp.
  Value hardwareExp2(Value x) {
    return math::Exp2Op::create(b, x, arith::FastMathFlags::afn);
  }
  /// x * 2^n for n in [-252, 254], one rounding.
  Value scale(Value x, Value n) {
    Value half = arith::ShRSIOp::create(b, n, integer(1));
    Value rest = arith::SubIOp::create(b, n, half);
    return mul(mul(x, power(half)), power(rest));
  }
  /// The integer nearest to x * factor as f32 and as i32, for magnitudes below
  /// 2^22: adding 1.5 * 2^23 leaves it in the low bits of the sum. Unlike a
  /// conversion this is defined for NaN.
  std::pair<Value, Value> nearest(Value x, float factor) {
    constexpr float magic = 12582912.0f;
    Value sum = fma(x, factor, constant(magic));
    Value n = arith::SubIOp::create(b, bits(sum), integer(0x4b400000));
    return {sub(sum, constant(magic)), n};
  }

  ImplicitLocOpBuilder b;
  Type type, intType;

private:
  static Type cloneWith(Type type, Type element) {
    if (auto vector = dyn_cast<VectorType>(type)) {
      return vector.clone(element);
    }
    return element;
  }
  Value splat(Type to, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(to)) {
      return arith::ConstantOp::create(b,
                                       DenseElementsAttr::get(vector, value));
    }
    return arith::ConstantOp::create(b, value);
  }
  Value power(Value n) {
    Value biased = arith::AddIOp::create(b, n, integer(127));
    return fromBits(arith::ShLIOp::create(b, biased, integer(23)));
  }
};

constexpr float log2e = 1.44269504088896341f;
// ln 2 = high + low; high has 9 trailing zero bits, so that n * high is exact
// for |n| < 2^9.
constexpr float ln2High = 0.693145751953125f;
constexpr float ln2Low = 1.42860682030941723e-6f;

bool isF32(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isF32();
}

/// e^x = 2^n e^r, n nearest to x / ln 2, |r| <= ln 2 / 2.
Value expand(F32 &f, math::ExpOp op, Value x) {
  // Beyond these bounds the result is 0 or infinity whatever x is.
  Value bounded = f.clamp(x, -110.0f, 90.0f);
  auto [whole, n] = f.nearest(bounded, log2e);
  Value r = f.fma(whole, -ln2High, bounded);
  r = f.fma(whole, -ln2Low, r);
  return f.scale(f.hardwareExp2(f.mul(r, log2e)), n);
}

/// 2^x = 2^n 2^r, exact reduction; the instruction alone flushes nothing but
/// has no stated bound for large |x|.
Value expand(F32 &f, math::Exp2Op op, Value x) {
  Value bounded = f.clamp(x, -160.0f, 130.0f);
  auto [whole, n] = f.nearest(bounded, 1.0f);
  return f.scale(f.hardwareExp2(f.sub(bounded, whole)), n);
}

/// |x| < 0.625: x + x^3 p(x^2); otherwise 1 - 2 / (e^2|x| + 1).
Value expand(F32 &f, math::TanhOp op, Value x) {
  Value square = f.mul(x, x);
  // Fit on [0, 0.625^2] at Chebyshev nodes; 0.81 ulp with the sum below.
  Value p = f.polynomial(square, {-0.333333283662796f, 0.13332776725292206f,
                                  -0.05385170876979828f, 0.020999880507588387f,
                                  -0.006099454127252102f});
  Value small = f.fma(p, f.mul(x, square), x);

  Value magnitude = math::AbsFOp::create(f.b, x);
  Value power = math::ExpOp::create(f.b, f.add(magnitude, magnitude));
  Value denominator = f.add(power, f.constant(1.0f));
  Value quotient = arith::DivFOp::create(f.b, f.constant(1.0f), denominator,
                                         arith::FastMathFlags::arcp |
                                             arith::FastMathFlags::afn);
  Value large = f.fma(quotient, -2.0f, f.constant(1.0f));
  Value result = f.select(f.less(magnitude, 0.625f), small, large);
  // Also for the sake of -0.
  return math::CopySignOp::create(f.b, result, x);
}

/// |x| < 0.9375: x + x p(x^2); otherwise 1 - e^q(|x|), q fit to log erfc.
Value expand(F32 &f, math::ErfOp op, Value x) {
  // Fits at Chebyshev nodes, the second weighted by erfc; 1.03 units each.
  Value p = f.polynomial(
      f.mul(x, x), {0.128379166f, -0.376126319f, 0.112836853f, -0.026858788f,
                    0.00519945938f, -0.000812438491f, 8.29121855e-5f});
  Value small = f.fma(p, x, x);
  // From 4 on the result is 1.
  Value magnitude = arith::MinimumFOp::create(f.b, math::AbsFOp::create(f.b, x),
                                              f.constant(4.0f));
  Value q = f.polynomial(
      magnitude, {-0.000224153497f, -1.12755990f, -0.637373567f, -0.103767149f,
                  0.0221494716f, -0.00302429101f, 0.000194063949f});
  Value large = f.sub(f.constant(1.0f), math::ExpOp::create(f.b, q));
  large = math::CopySignOp::create(f.b, large, x);
  return f.select(f.less(magnitude, 0.9375f), small, large);
}

/// log x = e ln 2 + log m, m in [sqrt 1/2, sqrt 2).
Value expand(F32 &f, math::LogOp op, Value x) {
  constexpr float minNormal = std::numeric_limits<float>::min();
  Value isSmall = f.less(x, minNormal);
  Value normal = f.select(isSmall, f.mul(x, 8388608.0f), x);
  Value bias = f.select(isSmall, f.integer(-23), f.integer(0));

  Value bits = f.bits(normal);
  // 0x3f3504f3 is sqrt 1/2.
  Value above = arith::SubIOp::create(f.b, bits, f.integer(0x3f3504f3));
  Value e = arith::ShRSIOp::create(f.b, above, f.integer(23));
  Value shifted = arith::ShLIOp::create(f.b, e, f.integer(23));
  Value m = f.fromBits(arith::SubIOp::create(f.b, bits, shifted));
  Value exponent = arith::SIToFPOp::create(
      f.b, f.type, arith::AddIOp::create(f.b, e, bias).getResult());

  // log(1 + r) = r - r^2 / 2 + r^3 p(r); fit at Chebyshev nodes, 0.96 ulp.
  Value r = f.sub(m, f.constant(1.0f));
  Value p = f.polynomial(r, {0.333333283662796f, -0.25000298023223877f,
                             0.20001468062400818f, -0.16642247140407562f,
                             0.14202174544334412f, -0.12972238659858704f,
                             0.12712307274341583f, -0.08101558685302734f});
  Value tail = f.mul(f.fma(p, r, f.constant(-0.5f)), f.mul(r, r));
  Value low = f.add(f.fma(exponent, ln2Low, tail), r);
  Value result = f.fma(exponent, ln2High, low);

  constexpr float inf = std::numeric_limits<float>::infinity();
  Value isZero = arith::CmpFOp::create(f.b, arith::CmpFPredicate::OEQ, x,
                                       f.constant(0.0f));
  result = f.select(isZero, f.constant(-inf), result);
  // Unordered: NaN stays NaN.
  Value isFinite =
      arith::CmpFOp::create(f.b, arith::CmpFPredicate::OLT, x, f.constant(inf));
  result = f.select(isFinite, result, x);
  return f.select(f.less(x, 0.0f),
                  f.constant(std::numeric_limits<float>::quiet_NaN()), result);
}

template <typename OpT> struct Expand : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op)) {
      return rewriter.notifyMatchFailure(op, "not f32");
    }
    if (isa<math::Exp2Op>(op) &&
        bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn)) {
      return rewriter.notifyMatchFailure(op, "an instruction already");
    }
    F32 f(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, expand(f, op, op.getOperand()));
    return success();
  }
};

/// log2 and log10 as multiples of log.
template <typename OpT> struct LogToBase : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op)) {
      return rewriter.notifyMatchFailure(op, "not f32");
    }
    F32 f(rewriter, op.getLoc(), op.getType());
    Value natural = math::LogOp::create(f.b, op.getOperand());
    float factor = isa<math::Log2Op>(op) ? log2e : 0.434294481903251828f;
    rewriter.replaceOp(op, f.mul(natural, factor));
    return success();
  }
};

bool isInstruction(Operation *op) {
  if (auto exp2 = dyn_cast<math::Exp2Op>(op)) {
    return bitEnumContainsAll(exp2.getFastmath(), arith::FastMathFlags::afn);
  }
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
             math::RoundOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

struct ExpandKernelMath
    : grouped_moe::impl::ExpandKernelMathBase<ExpandKernelMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Expand<math::ErfOp>, Expand<math::ExpOp>, Expand<math::Exp2Op>,
                 Expand<math::LogOp>, Expand<math::TanhOp>,
                 LogToBase<math::Log2Op>, LogToBase<math::Log10Op>>(
        &getContext(), /*benefit=*/2);
    auto approximated = [](StringRef name) {
      return llvm::is_contained({"math.erfc", "math.log1p", "math.expm1"},
                                name);
    };
    populateMathF32ExpansionPatterns(patterns, [&](StringRef name) {
      return approximated(name) ||
             llvm::is_contained({"math.erf", "math.exp", "math.exp2",
                                 "math.log", "math.log2", "math.log10",
                                 "math.rsqrt", "math.tanh"},
                                name);
    });
    populateMathPolynomialApproximationPatterns(patterns, approximated);
    // Not the whole of arith's expansion: the target has max and min.
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    math::populateExpansionPatterns(patterns,
                                    {"sinh", "cosh", "fpowi", "ipowi"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (isa_and_present<math::MathDialect>(op->getDialect()) &&
          !isInstruction(op)) {
        op->emitOpError() << "on " << op->getResult(0).getType()
                          << " has no expansion for the GPU; compose it of "
                             "exp, log, tanh, erf, sqrt or rsqrt of f32";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }
};
} // namespace
