// Codecs and quantizer against values worked out by hand.
#include "lib/Reference/Codecs.h"
#include "lib/Reference/Quantize.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace grouped_moe::reference;

static constexpr float kInf = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Codecs, Decode) {
  const auto &e4m3 = decodeTable(Format::e4m3);
  EXPECT_EQ(e4m3[0x00], 0.0);
  EXPECT_TRUE(std::signbit(e4m3[0x80]));
  EXPECT_EQ(e4m3[0x01], 0x1p-9);
  EXPECT_EQ(e4m3[0x7E], 448.0);
  EXPECT_TRUE(std::isnan(e4m3[0x7F]));
  EXPECT_TRUE(std::isnan(e4m3[0xFF]));
  const auto &e5m2 = decodeTable(Format::e5m2);
  EXPECT_EQ(e5m2[0x01], 0x1p-16);
  EXPECT_EQ(e5m2[0x7B], 57344.0);
  EXPECT_EQ(e5m2[0x7C], kInf);
  EXPECT_TRUE(std::isnan(e5m2[0x7D]));
  const auto &e8m0 = decodeTable(Format::e8m0);
  EXPECT_EQ(e8m0[0], 0x1p-127);
  EXPECT_EQ(e8m0[127], 1.0);
  EXPECT_EQ(e8m0[254], 0x1p127);
  EXPECT_TRUE(std::isnan(e8m0[255]));
}

TEST(Codecs, EveryByteSurvives) {
  for (Format format : {Format::e4m3, Format::e5m2}) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      double value = decodeTable(format)[byte];
      if (std::isfinite(value)) {
        EXPECT_EQ(encodeNarrow(format, static_cast<float>(value)), byte);
      }
    }
  }
}

TEST(Codecs, EncodeSaturates) {
  for (float large : {449.0f, 464.0f, 480.0f, 1e30f, kInf}) {
    EXPECT_EQ(encodeNarrow(Format::e4m3, large), 0x7E);
    EXPECT_EQ(encodeNarrow(Format::e4m3, -large), 0xFE);
  }
  EXPECT_EQ(encodeNarrow(Format::e5m2, kInf), 0x7B);
  EXPECT_EQ(encodeNarrow(Format::e4m3, kNaN), 0x7F);
  EXPECT_EQ(encodeNarrow(Format::e4m3, -0.0f), 0x80);
}

TEST(Codecs, EncodeTiesToEven) {
  EXPECT_EQ(encodeNarrow(Format::e4m3, 0x1p-10f), 0x00); // half of the smallest
  EXPECT_EQ(encodeNarrow(Format::e4m3, 0x1.8p-9f), 0x02);
  EXPECT_EQ(encodeNarrow(Format::e4m3, 17.0f), 0x58); // between 16 and 18
  EXPECT_EQ(encodeNarrow(Format::e4m3, 19.0f), 0x5A); // between 18 and 20
}

TEST(Codecs, HalfFormats) {
  EXPECT_EQ(encodeHalf(Format::f16, 65519.0), 0x7BFF);
  EXPECT_EQ(encodeHalf(Format::f16, 65520.0), 0x7C00); // Inf
  EXPECT_EQ(encodeHalf(Format::bf16, 3.4e38), 0x7F80);
  EXPECT_EQ(encodeHalf(Format::bf16, 0x1.01p0), 0x3F80); // tie to even
  EXPECT_EQ(encodeHalf(Format::bf16, 0x1.03p0), 0x3F82);
  EXPECT_EQ(encodeHalf(Format::f16, kNaN), 0x7FFF);
}

TEST(Codecs, ScaleRoundsUpOnBits) {
  EXPECT_EQ(encodeScaleUp(0.0f), 0);
  EXPECT_EQ(encodeScaleUp(0x1p-149f), 0);
  EXPECT_EQ(encodeScaleUp(0x1p-127f), 0);
  EXPECT_EQ(encodeScaleUp(0x1p-127f + 0x1p-149f), 1);
  EXPECT_EQ(encodeScaleUp(0x1p-126f), 1);
  EXPECT_EQ(encodeScaleUp(1.0f), 127);
  EXPECT_EQ(encodeScaleUp(0x1.000002p0f), 128);
  EXPECT_EQ(encodeScaleUp(0x1.fffffep-1f), 127); // just below a power of two
  EXPECT_EQ(encodeScaleUp(kInf), 255);
  EXPECT_EQ(encodeScaleUp(kNaN), 255);
}

TEST(Codecs, ScaleMultiplierIsExact) {
  for (int b = 0; b < 255; ++b) {
    EXPECT_EQ(double{scaleMultiplier(b)} * decodeTable(Format::e8m0)[b], 1.0);
  }
  EXPECT_EQ(scaleMultiplier(254), 0x1p-127f);
  EXPECT_TRUE(std::isnan(scaleMultiplier(255)));
}

TEST(Codecs, ExactScales) {
  EXPECT_EQ(encodeScaleExact(1.0), 127);
  EXPECT_EQ(encodeScaleExact(0x1p-127), 0);
  EXPECT_EQ(encodeScaleExact(3.0), -1);
  EXPECT_EQ(encodeScaleExact(-1.0), -1);
  EXPECT_EQ(encodeScaleExact(0.0), -1);
  EXPECT_EQ(encodeScaleExact(kNaN), 255);
}

namespace {
struct Block {
  uint8_t scale, data[32];
};
} // namespace

/// A block of zeros but for its first elements.
static Block quantized(Format format, bool floorRounding,
                       std::initializer_list<float> values) {
  float x[32] = {};
  std::copy(values.begin(), values.end(), x);
  Block block;
  BlockRule rule{format, floorRounding ? ScaleRule::floor : ScaleRule::up};
  block.scale = quantizeBlock(rule, x, 32, block.data);
  return block;
}

TEST(Quantize, Golden) {
  Block up = quantized(Format::e4m3, false, {480});
  EXPECT_EQ(up.scale, 128);
  EXPECT_EQ(up.data[0], 0x77);
  Block down = quantized(Format::e4m3, true, {480});
  EXPECT_EQ(down.scale, 127);
  EXPECT_EQ(down.data[0], 0x7E);
  auto value = [](const Block &b) {
    return decodeTable(Format::e4m3)[b.data[0]] *
           decodeTable(Format::e8m0)[b.scale];
  };
  EXPECT_EQ(value(quantized(Format::e4m3, true, {957})), 896);
  EXPECT_EQ(value(quantized(Format::e4m3, false, {957})), 960);
}

TEST(Quantize, ZeroBlock) {
  Block block = quantized(Format::e4m3, false, {-0.0f});
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(block.data[0], 0x80); // keeps its sign
  EXPECT_EQ(block.data[1], 0);
}

TEST(Quantize, NotFinite) {
  for (float bad : {kInf, -kInf, kNaN}) {
    for (bool floorRounding : {false, true}) {
      Block block = quantized(Format::e5m2, floorRounding, {1, bad, 2});
      EXPECT_EQ(block.scale, 255);
      for (uint8_t byte : block.data) {
        EXPECT_EQ(byte, 0x7F);
      }
    }
  }
}

TEST(Quantize, TinyBlocksStayFinite) {
  for (float tiny : {6e-38f, 1.3e-36f, 0x1p-149f, 0x1p-126f}) {
    Block block = quantized(Format::e4m3, false, {tiny, -tiny});
    EXPECT_LT(block.scale, 255);
    EXPECT_NE(block.data[0] & 0x7F, 0x7F);
    EXPECT_EQ(block.data[0] ^ 0x80, block.data[1]);
  }
}

TEST(Quantize, LargestFinite) {
  Block block =
      quantized(Format::e4m3, false, {std::numeric_limits<float>::max()});
  // max / 448 is just below 2^119.2: the scale is 2^120.
  EXPECT_EQ(block.scale, 127 + 120);
  EXPECT_EQ(block.data[0], 0x78);
}

TEST(Quantize, NormConst) {
  // c * 2^127 overflows: zeros stay zeros.
  float x[32] = {0.0f, -0.0f};
  uint8_t codes[32];
  EXPECT_EQ(quantizeBlock({Format::e4m3, ScaleRule::up, 2}, x, 32, codes), 0);
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(codes[1], 0x80);
  x[2] = 448;
  EXPECT_EQ(quantizeBlock({Format::e4m3, ScaleRule::up, 2}, x, 32, codes), 128);
  EXPECT_EQ(codes[2], 0x7E); // 448 * 2 * 2^-1
  EXPECT_EQ(quantizeBlock({Format::e4m3, ScaleRule::floor, 0.5}, x, 32, codes),
            126);
  EXPECT_EQ(codes[2], 0x7E);
}

TEST(Quantize, Fp4) {
  float x[16] = {6, -3, 0.25, 5, -0.0f, 0.75};
  uint8_t codes[16];
  EXPECT_EQ(quantizeBlock({Format::e2m1, ScaleRule::nearest}, x, 16, codes),
            0x38); // 1
  const uint8_t expected[] = {7, 13, 0, 6, 8, 2};
  EXPECT_TRUE(std::equal(expected, expected + 6, codes));
  x[0] = kInf;
  EXPECT_EQ(quantizeBlock({Format::e2m1, ScaleRule::nearest}, x, 16, codes),
            0x7E); // the largest scale
  EXPECT_EQ(codes[0], 7);
  x[0] = kNaN;
  EXPECT_EQ(quantizeBlock({Format::e2m1, ScaleRule::nearest}, x, 16, codes),
            0x7F);
  EXPECT_EQ(codes[1], 7); // no NaN: the largest value
  x[0] = 0x1p-20f;        // below half of the least scale
  std::fill(x + 1, x + 16, 0.0f);
  EXPECT_EQ(quantizeBlock({Format::e2m1, ScaleRule::nearest}, x, 16, codes), 0);
  EXPECT_EQ(codes[0], 0);
}

TEST(Layout, RegionsOfGroups) {
  // Groups of 128 and 256 rows: the second starts behind the first's atoms, two
  // for 160 columns.
  auto regions = scaleRegions({true, true, 32}, 1, 512, 160, {128, 128, 384});
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions[0].offset(96, 1), 16 + 3);
  EXPECT_EQ(regions[1].bytes(), 0);
  EXPECT_EQ(regions[2].offset(128, 0), 1024);
  EXPECT_EQ(regions[2].offset(256, 0), 1536);
  EXPECT_EQ(regions[2].offset(128, 128), 2048);
  Array scales(Format::e8m0, scaleShape({true, true, 32}, {512, 160}, 3, 128));
  EXPECT_EQ(scales.shape[0], 8);
  DefinedPart defined = definedScales(scales, regions, 384, false);
  EXPECT_TRUE(defined.contains(6 * 512 - 1));
  EXPECT_FALSE(defined.contains(6 * 512));
}

TEST(Layout, DefinedColumnAtoms) {
  // Of each column of four atoms the first three.
  auto regions = scaleRegions({true, false, 32}, 1, 512, 160, {});
  Array scales(Format::e8m0, scaleShape({true, false, 32}, {512, 160}));
  DefinedPart defined = definedScales(scales, regions, 384, false);
  EXPECT_TRUE(defined.contains(3 * 512 - 1));
  EXPECT_FALSE(defined.contains(3 * 512));
  EXPECT_TRUE(defined.contains(4 * 512));
  EXPECT_FALSE(defined.contains(7 * 512));
}

TEST(Layout, FormulaOnCorners) {
  EXPECT_EQ(scaleOffset(0, 0, 0, 200, 6), 0);
  EXPECT_EQ(scaleOffset(0, 1, 0, 200, 6), 16);
  EXPECT_EQ(scaleOffset(0, 32, 0, 200, 6), 4);
  EXPECT_EQ(scaleOffset(0, 127, 3, 200, 6), 511);
  EXPECT_EQ(scaleOffset(0, 0, 4, 200, 6), 512);
  EXPECT_EQ(scaleOffset(0, 128, 0, 200, 6), 1024);
  EXPECT_EQ(scaleOffset(2, 0, 0, 200, 6), 4096);
}
