// The bound on other orders of summation, and the epilogue's share of it.
#include "lib/Reference/Gemm.h"
#include "lib/Reference/Quantize.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace grouped_moe::reference;

namespace {

constexpr int64_t kRows = 128, kN = 16, kK = 512;

/// One group of random FP8 data with wide scales: sums round in f32.
struct Product {
  Array lhs{Format::e4m3, {kRows, kK}}, rhs{Format::e4m3, {1, kN, kK}};
  Array lhsScales{Format::e8m0, scaleShape({}, {kRows, kK}), 127};
  Array rhsScales{Format::e8m0, scaleShape({}, {1, kN, kK}), 127};
  Array factor{Format::f32, {kRows}};
  Array out{Format::f32, {kRows, kN}};
  Epilogue epilogue;

  Product() {
    std::mt19937 engine(1);
    for (Array *array : {&lhs, &rhs}) {
      for (uint8_t &byte : array->bytes) {
        byte = engine() & 0xFF;
        byte = (byte & 0x7F) == 0x7F ? 0 : byte;
      }
    }
    for (uint8_t &byte : lhsScales.bytes) {
      byte = 120 + engine() % 15;
    }
    for (int64_t row = 0; row < kRows; ++row) {
      encode(Format::f32, row % 5 - 2.3, &factor.bytes[row * 4]);
    }
    epilogue.registers = 2; // acc, factor
    epilogue.yields = {0};
  }

  GemmProblem problem(bool withErrors) {
    GemmProblem problem;
    problem.lhs = &lhs;
    problem.lhsScales = &lhsScales;
    problem.rhs = &rhs;
    problem.rhsScales = &rhsScales;
    problem.ends = {kRows};
    problem.inputs = {{Follows::row, &factor, false}};
    problem.epilogue = &epilogue;
    problem.outputs.resize(1);
    problem.outputs[0].array = &out;
    problem.withErrors = withErrors;
    return problem;
  }
  void compute(bool withErrors) { computeGemm(problem(withErrors), 2); }

  double dequantized(const Array &data, const Array &scales, int64_t row,
                     int64_t k, int64_t rows) const {
    uint8_t scale = scales.bytes[scaleOffset(0, row, k / 32, rows, kK / 32)];
    return data.at(row * kK + k) * decodeTable(Format::e8m0)[scale];
  }
  /// Summed one by one in f32, from either end.
  float sum(int64_t m, int64_t n, bool backwards) const {
    float total = 0;
    for (int64_t i = 0; i < kK; ++i) {
      int64_t k = backwards ? kK - 1 - i : i;
      total += static_cast<float>(dequantized(lhs, lhsScales, m, k, kRows) *
                                  dequantized(rhs, rhsScales, n, k, kN));
    }
    return total;
  }
};

} // namespace

TEST(Gemm, BoundHoldsForOtherOrders) {
  Product p;
  p.epilogue.steps.push_back(
      {StepKind::mul, Format::f32, Format::f32, 2, 0, 1});
  p.epilogue.registers = 3;
  p.epilogue.yields = {2};
  p.compute(true);
  ASSERT_EQ(p.out.errors.size(), size_t(kRows * kN));
  int different = 0;
  for (int64_t m = 0; m < kRows; ++m) {
    for (int64_t n = 0; n < kN; ++n) {
      double bound = p.out.errors[m * kN + n], value = p.out.at(m * kN + n);
      for (bool backwards : {false, true}) {
        float other =
            p.sum(m, n, backwards) * static_cast<float>(p.factor.at(m));
        different += other != value;
        EXPECT_LE(std::fabs(other - value), bound);
      }
    }
  }
  EXPECT_GT(different, 100); // the test sees rounding at all
}

TEST(Gemm, BoundHoldsForSumsOfValues) {
  Product p;
  p.epilogue.yields = {0, 0};
  Array rows{Format::f32, {kRows}}, columns{Format::f32, {1, kN}};
  GemmProblem problem = p.problem(true);
  problem.outputs.resize(2);
  problem.outputs[0].array = &rows;
  problem.outputs[0].form = OutputForm::rowSum;
  problem.outputs[1].array = &columns;
  problem.outputs[1].form = OutputForm::groupColumnSum;
  computeGemm(problem, 2);
  // f32 from the first addition to the last, each in the other order.
  std::vector<float> overColumns(kRows), overRows(kN);
  for (int64_t m = kRows; m-- > 0;) {
    for (int64_t n = kN; n-- > 0;) {
      float value = p.sum(m, n, true);
      overColumns[m] += value;
      overRows[n] += value;
    }
  }
  int different = 0;
  auto check = [&](const Array &sums, const std::vector<float> &others) {
    ASSERT_EQ(sums.errors.size(), others.size());
    EXPECT_TRUE(sums.isSum);
    for (size_t i = 0; i < others.size(); ++i) {
      double value = sums.at(static_cast<int64_t>(i));
      different += others[i] != value;
      EXPECT_LE(std::fabs(others[i] - value), sums.errors[i]);
    }
  };
  check(rows, overColumns);
  check(columns, overRows);
  EXPECT_GT(different, 50); // the test sees rounding at all
}

TEST(Gemm, ErrorsOnlyWhenAsked) {
  Product p;
  p.compute(true);
  EXPECT_FALSE(p.out.errors.empty());
  std::vector<uint8_t> bytes = p.out.bytes;
  p.compute(false);
  EXPECT_TRUE(p.out.errors.empty());
  EXPECT_EQ(p.out.bytes, bytes);
}

TEST(Gemm, NoBoundThroughCurves) {
  Product p;
  Step step{StepKind::function, Format::f32, Format::f32, 2, 0};
  step.function = std::tanh;
  p.epilogue.steps.push_back(step);
  p.epilogue.registers = 3;
  p.epilogue.yields = {2};
  p.epilogue.bounded = false; // as the compiler of regions finds
  p.compute(true);
  EXPECT_TRUE(p.out.errors.empty());
}
