// Instructions whose result the ISA bounds instead of defining it: each row
// states the bound of the PTX ISA, section 9.7.3 (f32), 9.7.4 (halves).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/FloatReference.h"

#include <cmath>
#include <cstring>

namespace gmoe::conformance {
namespace {

double f32Of(uint64_t bits) {
  uint32_t b = uint32_t(bits);
  float f;
  std::memcpy(&f, &b, 4);
  return double(f);
}
double flushed(double v) {
  return std::fabs(v) < 0x1p-126 ? std::copysign(0.0, v) : v;
}
double half(const Format &f, uint64_t bits) {
  Exact x = decode(f, bits);
  double v = x.nan        ? NAN
             : x.infinite ? INFINITY
                          : std::ldexp(double(uint64_t(x.m)), x.e);
  return x.negative ? -v : v;
}

Columns positives() {
  Columns c = floatTuples(kF32, 1);
  for (uint64_t &v : c[0]) {
    v &= 0x7fffffff;
  }
  return c;
}
/// |x| up to `limit`, evenly and near zero.
Columns within(double limit) {
  Columns c(1);
  for (int k = -1000; k <= 1000; ++k) {
    for (double x : {limit * k / 1000, limit * k / 1000 / 512}) {
      float f = float(x);
      uint32_t bits;
      std::memcpy(&bits, &f, 4);
      c[0].push_back(bits);
    }
  }
  return c;
}

using Function1 = long double (*)(long double);

void unary(Table &table, const std::string &op, const Columns &in, Function1 f,
           Rule rule) {
  for (bool ftz : {false, true}) {
    table.approximate(
        op + (ftz ? ".ftz" : "") + ".f32 $d, $a;", {32, 32}, in,
        [=](const uint64_t *v) {
          double x = f32Of(v[0]);
          double r = double(f(ftz ? flushed(x) : x));
          return ftz && std::fabs(r) < 0x1p-126 ? std::copysign(0.0, r) : r;
        },
        rule);
  }
}

long double reciprocal(long double x) { return 1 / x; }
long double inverseRoot(long double x) { return 1 / std::sqrt(x); }
long double root(long double x) { return std::sqrt(x); }
long double sine(long double x) { return std::sin(x); }
long double cosine(long double x) { return std::cos(x); }
long double power2(long double x) { return std::exp2(x); }
long double log2Of(long double x) { return std::log2(x); }

} // namespace

Family approximateFamily() {
  Table table("approximate");
  Columns any = floatTuples(kF32, 1);
  auto relative = [](double bound) {
    return Rule{Rule::Relative, Rule::F32, bound};
  };
  unary(table, "rcp.approx", any, reciprocal, {Rule::Ulp, Rule::F32, 1});
  unary(table, "sqrt.approx", positives(), root, relative(0x1p-22));
  unary(table, "rsqrt.approx", positives(), inverseRoot,
        relative(std::exp2(-22.4)));
  unary(table, "ex2.approx", within(126), power2, {Rule::Ulp, Rule::F32, 2});
  unary(table, "ex2.approx", any, power2, {Rule::Ulp, Rule::F32, 2});
  Columns unit(1), outside(1);
  const Columns all = positives();
  for (uint64_t bits : all[0]) {
    double x = f32Of(bits);
    (x >= 0.5 && x <= 2 ? unit : outside)[0].push_back(bits);
  }
  unary(table, "lg2.approx", unit, log2Of,
        {Rule::Absolute, Rule::F32, 0x1p-22});
  unary(table, "lg2.approx", outside, log2Of, relative(0x1p-22));
  unary(table, "sin.approx", within(3.1415926), sine,
        {Rule::Absolute, Rule::F32, std::exp2(-20.5)});
  unary(table, "cos.approx", within(3.1415926), cosine,
        {Rule::Absolute, Rule::F32, std::exp2(-20.5)});
  table.approximate(
      "tanh.approx.f32 $d, $a;", {32, 32}, within(12),
      [](const uint64_t *v) { return std::tanh(f32Of(v[0])); },
      relative(0x1p-11));
  Columns quotients = floatTuples(kF32, 2), tame(2), apart(2);
  for (size_t k = 0; k < quotients[0].size(); ++k) {
    double b = std::fabs(f32Of(quotients[1][k]));
    if (!(b > 0x1p126) && !(b < 0x1p-126)) {
      tame[0].push_back(quotients[0][k]);
      tame[1].push_back(quotients[1][k]);
      // Beside 2^-126 the bound lets a result be flushed or not.
      double q = std::fabs(f32Of(quotients[0][k])) / b * 0x1p126;
      if (!(q > 1 - 0x1p-20 && q < 1 + 0x1p-20)) {
        apart[0].push_back(quotients[0][k]);
        apart[1].push_back(quotients[1][k]);
      }
    }
  }
  auto quotient = [](const uint64_t *v) { return f32Of(v[0]) / f32Of(v[1]); };
  auto quotientFtz = [](const uint64_t *v) {
    double q = flushed(f32Of(v[0])) / flushed(f32Of(v[1]));
    return flushed(q);
  };
  Rule two{Rule::Ulp, Rule::F32, 2};
  table.approximate("div.approx.f32 $d, $a, $b;", {32, 32, 32}, tame, quotient,
                    two);
  table.approximate("div.approx.ftz.f32 $d, $a, $b;", {32, 32, 32}, apart,
                    quotientFtz, two);
  table.approximate("div.full.f32 $d, $a, $b;", {32, 32, 32}, tame, quotient,
                    two);
  table.approximate("div.full.ftz.f32 $d, $a, $b;", {32, 32, 32}, apart,
                    quotientFtz, two);
  // Halves, over every code. The ISA bounds tanh.approx.bf16 by 2^-8, where it
  // gives three decimals of the exponent for f16 (10.987): read as 8.000, which
  // is from 7.9995 on. Hopper's worst, of 3f3f, is 2^-7.99991.
  const struct {
    const char *name;
    const Format *format;
    Rule::Element element;
    double exponential, tangent;
  } kHalves[] = {{"f16", &kF16, Rule::F16, std::exp2(-9.9), std::exp2(-10.987)},
                 {"bf16", &kBF16, Rule::BF16, 0x1p-7, std::exp2(-7.9995)}};
  for (const auto &h : kHalves) {
    const Format *f = h.format;
    std::string ex2 = f == &kBF16 ? "ex2.approx.ftz." : "ex2.approx.";
    table.approximate(ex2 + h.name + " $d, $a;", {16, 16}, everyCode(16),
                      [=](const uint64_t *v) {
                        double r = std::exp2(half(*f, v[0]));
                        return f == &kBF16 ? flushed(r)
                                           : r; // .ftz: results too
                      },
                      {Rule::Relative, h.element, h.exponential});
    table.approximate(
        std::string("tanh.approx.") + h.name + " $d, $a;", {16, 16},
        everyCode(16),
        [=](const uint64_t *v) { return std::tanh(half(*f, v[0])); },
        {Rule::Absolute, h.element, h.tangent});
  }
  Columns doubles = floatTuples(kF64, 1);
  for (uint64_t &v : doubles[0]) { // the lower half is ignored
    v &= 0xffffffff00000000ull;
  }
  auto f64Of = [](uint64_t bits) {
    double d;
    std::memcpy(&d, &bits, 8);
    return std::fabs(d) < 0x1p-1022 ? std::copysign(0.0, d) : d;
  };
  table.approximate("rcp.approx.ftz.f64 $d, $a;", {64, 64}, doubles,
                    [=](const uint64_t *v) {
                      double r = 1 / f64Of(v[0]);
                      return std::fabs(r) < 0x1p-1022 ? std::copysign(0.0, r)
                                                      : r;
                    },
                    {Rule::Relative, Rule::F64, 0x1p-20});
  for (uint64_t &v : doubles[0]) {
    v &= 0x7fffffff00000000ull;
  }
  table.approximate(
      "rsqrt.approx.ftz.f64 $d, $a;", {64, 64}, doubles,
      [=](const uint64_t *v) { return 1 / std::sqrt(f64Of(v[0])); },
      {Rule::Relative, Rule::F64, 0x1p-20});
  return table.take();
}

} // namespace gmoe::conformance
