// Arguments that gmoe-run makes up, and its verdicts.
#include "tools/run/Check.h"
#include "tools/run/Generate.h"
#include "tools/run/Options.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace gmoe;
using namespace gmoe::run;

static Expected<Options> parse(std::vector<const char *> words) {
  words.insert(words.begin(), "gmoe-run");
  return parseOptions(static_cast<int>(words.size()), words.data());
}

TEST(Options, AllForms) {
  Expected<Options> options =
      parse({"in.mlir", "--device", "emulator", "--arg", "1=offsets:0,256",
             "--arg=0=const:-0.5", "--result=0=out.npy", "--tolerance=sqnr:50",
             "--schedule-seed=7", "--hazards=full", "--poison=off", "--check"});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->device, DeviceKind::Emulator);
  EXPECT_EQ(options->arguments[1].offsets, (std::vector<int64_t>{0, 256}));
  EXPECT_EQ(options->arguments[0].value, -0.5);
  EXPECT_EQ(options->results[0], "out.npy");
  EXPECT_EQ(options->tolerance.decibel, 50);
  EXPECT_EQ(options->scheduleSeed, 7u);
  EXPECT_FALSE(options->poison);
}

TEST(Options, Refused) {
  for (auto words : std::vector<std::vector<const char *>>{
           {"in.mlir", "--device=cuda", "--rows=-1"},
           {"in.mlir", "--device=cuda", "--rows=3x"},
           {"in.mlir", "--device=cuda", "--arg", "x=random"},
           {"in.mlir", "--device=cuda", "--arg", "0"},
           {"in.mlir", "--device=cuda", "--arg", "0=offsets:1,,2"},
           {"in.mlir", "--device=cuda", "--arg", "0=pointers:a.npy,,b.npy"},
           {"in.mlir", "--device=cuda", "--tolerance=db:3"},
           {"in.mlir", "other.mlir", "--device=cuda"}}) {
    EXPECT_FALSE(parse(words).ok()) << words.back();
  }
}

/// lhs, its scales, offsets and an output of a product with K = 64.
static Signature signatureOfProduct(int64_t groups) {
  Signature signature;
  signature.name = "product";
  signature.arguments.resize(4);
  auto &args = signature.arguments;
  args[0] = {"lhs", Format::e4m3, {kRows, 64}, Role::Data, false, true, 64};
  args[1] = {
      "scales", Format::e8m0, {kRows, 1, 32, 4, 4}, Role::Scales, false, true,
      64};
  args[2] = {"offsets", Format::i32, {groups}, Role::Offsets};
  args[2].aligned = 128;
  args[3] = {"out", Format::f32, {kRows, 16}, Role::Destination, true, true};
  return signature;
}

static std::vector<int64_t> endsOf(const Array &array) {
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < array.elements(); ++i) {
    ends.push_back(static_cast<int64_t>(array.at(i)));
  }
  return ends;
}

TEST(Generate, SkewedGroupsWithAnEmptyOne) {
  Expected<std::vector<Array>> arrays =
      makeArguments(signatureOfProduct(4), Options());
  ASSERT_TRUE(arrays.ok());
  EXPECT_EQ(endsOf((*arrays)[2]), (std::vector<int64_t>{128, 128, 384, 512}));
  EXPECT_EQ((*arrays)[0].shape, (std::vector<int64_t>{512, 64}));
  EXPECT_EQ((*arrays)[1].shape, (std::vector<int64_t>{4, 1, 32, 4, 4}));
}

TEST(Generate, GroupsFillTheRows) {
  Options options;
  options.rows = 1000;
  for (int64_t groups : {1, 2, 3, 9, 130}) {
    Expected<std::vector<Array>> arrays =
        makeArguments(signatureOfProduct(groups), options);
    ASSERT_TRUE(arrays.ok());
    std::vector<int64_t> ends = endsOf((*arrays)[2]);
    EXPECT_EQ(ends.back(), 896) << groups;
    for (int64_t end : ends) {
      EXPECT_EQ(end % 128, 0);
    }
  }
}

TEST(Generate, ColumnScalesOfGroups) {
  Options options;
  options.rows = 600; // the last offset is 512
  Signature signature = signatureOfProduct(4);
  ArgumentFacts &scales = signature.arguments[1];
  scales.shape = {kRows, 32, 4, 4};
  scales.extent = [](int64_t rows) { return (rows + 127) / 128; };
  scales.form = {true, true, 32};
  scales.offsets = 2;
  Expected<std::vector<Array>> arrays = makeArguments(signature, options);
  ASSERT_TRUE(arrays.ok());
  const Array &array = (*arrays)[1];
  ASSERT_EQ(array.shape, (std::vector<int64_t>{5, 32, 4, 4}));
  for (int64_t i = 0; i < array.elements(); ++i) {
    // 64 columns: the upper half of each atom's lines is padding.
    bool isScale = i / 512 < 4 && i % 16 / 4 < 2;
    EXPECT_EQ(array.bytes[i] == 0xFF, !isScale) << i;
  }
}

TEST(Generate, StaticRows) {
  Signature signature = signatureOfProduct(4);
  for (int i : {0, 3}) {
    signature.arguments[i].shape[0] = 300;
  }
  signature.arguments[1].shape[0] = 3;
  Expected<std::vector<Array>> arrays = makeArguments(signature, Options());
  ASSERT_TRUE(arrays.ok());
  EXPECT_EQ(endsOf((*arrays)[2]).back(), 256);
  EXPECT_FALSE(std::isnan((*arrays)[0].at(255 * 64)));
  EXPECT_TRUE(std::isnan((*arrays)[0].at(256 * 64)));
  Options options;
  options.rows = 512;
  EXPECT_FALSE(makeArguments(signature, options).ok());
}

TEST(Generate, PoisonBehindTheLastOffset) {
  Options options;
  options.rows = 200; // the last offset is 128
  Expected<std::vector<Array>> arrays =
      makeArguments(signatureOfProduct(1), options);
  ASSERT_TRUE(arrays.ok());
  const Array &lhs = (*arrays)[0], &scales = (*arrays)[1];
  for (int64_t row = 0; row < 200; ++row) {
    EXPECT_EQ(std::isnan(lhs.at(row * 64)), row >= 128);
    for (int64_t block = 0; block < 4; ++block) {
      uint8_t byte = scales.bytes[grouped_moe::reference::scaleOffset(
          0, row, block, 200, 2)];
      EXPECT_EQ(byte == 0xFF, row >= 128 || block >= 2);
    }
  }
  EXPECT_TRUE(std::isnan((*arrays)[3].at(0)));
  options.poison = false;
  arrays = makeArguments(signatureOfProduct(1), options);
  EXPECT_FALSE(std::isnan((*arrays)[0].at(199 * 64)));
  EXPECT_EQ((*arrays)[3].at(0), 0);
}

static Array floats(Format format, std::vector<double> values) {
  Array array(format, {static_cast<int64_t>(values.size()), 1});
  for (size_t i = 0; i < values.size(); ++i) {
    grouped_moe::reference::encode(
        format, values[i],
        &array.bytes[i * grouped_moe::reference::sizeOf(format)]);
  }
  return array;
}

TEST(Check, BitwiseAndNaN) {
  double nan = std::nan("");
  Array expected = floats(Format::f32, {1, nan, 3});
  Array actual = expected;
  actual.bytes[4] ^= 1; // another payload
  Comparison same = compare(actual, expected, Tolerance());
  EXPECT_TRUE(same.bitwise && same.passed);
  actual = floats(Format::f32, {1, 2, 3});
  Comparison finite = compare(actual, expected, Tolerance());
  EXPECT_FALSE(finite.bitwise || finite.passed);
  // -0 is not 0.
  EXPECT_FALSE(compare(floats(Format::f32, {-0.0}), floats(Format::f32, {0}),
                       Tolerance())
                   .bitwise);
}

TEST(Check, Decibel) {
  Array expected = floats(Format::f32, {1000, 1});
  Array actual = floats(Format::f32, {1000.01, 1}); // 100 dB
  EXPECT_TRUE(compare(actual, expected, Tolerance()).passed);
  EXPECT_NEAR(compare(actual, expected, Tolerance()).sqnr, 100, 0.1);
  EXPECT_FALSE(compare(actual, expected, {Tolerance::Kind::Bitwise, 0}).passed);
  EXPECT_FALSE(compare(actual, expected, {Tolerance::Kind::Sqnr, 120}).passed);
  actual = floats(Format::f32, {1001, 1});
  EXPECT_FALSE(compare(actual, expected, Tolerance()).passed);
}

TEST(Check, UnitsInTheLastPlace) {
  Array expected = floats(Format::bf16, {256, 1});
  expected.errors = {0, 0};
  EXPECT_TRUE(
      compare(floats(Format::bf16, {258, 1}), expected, Tolerance()).passed);
  Array two = floats(Format::bf16, {260, 1});
  EXPECT_FALSE(compare(two, expected, Tolerance()).passed);
  expected.errors = {2, 0};
  EXPECT_TRUE(compare(two, expected, Tolerance()).passed);
  // Without a bound, 50 dB of the whole.
  expected.errors.clear();
  EXPECT_FALSE(compare(two, expected, Tolerance()).passed);
}

TEST(Check, SumsAreJudgedByTheirBound) {
  Array expected = floats(Format::f32, {0.001, 0}); // what is left of 1 - 0.999
  Array actual = floats(Format::f32, {0.0012, 0});
  EXPECT_FALSE(compare(actual, expected, Tolerance()).passed);
  EXPECT_FALSE(needsErrors(actual, expected, Tolerance()));
  expected.isSum = true;
  EXPECT_TRUE(needsErrors(actual, expected, Tolerance()));
  expected.errors = {0.001, 0};
  EXPECT_TRUE(compare(actual, expected, Tolerance()).passed);
  expected.errors = {0.0001, 0};
  EXPECT_FALSE(compare(actual, expected, Tolerance()).passed);
}

TEST(Check, PackedElements) {
  Array expected(Format::e2m1, {2, 4});
  ASSERT_EQ(expected.bytes.size(), 4u);
  expected.defineRows(1);
  Array actual = expected;
  actual.setCode(2, 8); // -0
  Comparison comparison = compare(actual, expected, Tolerance());
  EXPECT_FALSE(comparison.passed);
  EXPECT_EQ(comparison.differing, 1);
  actual = expected;
  actual.setCode(5, 1);
  EXPECT_NE(compare(actual, expected, Tolerance()).reason.find("past the last"),
            std::string::npos);
}

TEST(Check, RowsPastTheLastOffset) {
  Array expected = floats(Format::f32, {1, 2, 7});
  expected.defineRows(2);
  EXPECT_TRUE(compare(expected, expected, Tolerance()).passed);
  Comparison touched =
      compare(floats(Format::f32, {1, 2, 8}), expected, Tolerance());
  EXPECT_FALSE(touched.passed);
  EXPECT_NE(touched.reason.find("past the last offset"), std::string::npos);
  expected.restKept = false;
  EXPECT_TRUE(
      compare(floats(Format::f32, {1, 2, 8}), expected, Tolerance()).passed);
}

TEST(Check, InfinityIsNoRounding) {
  Array expected =
      floats(Format::f16, {std::numeric_limits<double>::infinity(), 1});
  expected.errors = {1e9, 0};
  EXPECT_FALSE(
      compare(floats(Format::f16, {65504, 1}), expected, Tolerance()).passed);
}

TEST(Check, NarrowFormatsAreBytes) {
  Array expected(Format::e8m0, {4});
  Array actual = expected;
  actual.bytes[2] = 1;
  Comparison comparison = compare(actual, expected, Tolerance());
  EXPECT_FALSE(comparison.passed);
  EXPECT_EQ(comparison.differing, 1);
}
