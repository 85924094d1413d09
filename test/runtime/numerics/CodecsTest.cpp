// Every code point and the rounding rules of the runtime's codecs.
#include "runtime/numerics/Codecs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace gmoe::numerics;

namespace {

const float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Codecs, E4M3RoundTripsEveryCode) {
  for (int code = 0; code < 256; ++code) {
    float value = decodeE4M3(uint8_t(code));
    if ((code & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(value));
      continue;
    }
    EXPECT_EQ(encodeE4M3(value), code) << value;
    EXPECT_EQ(encodeE4M3(value, Overflow::Infinity), code) << value;
  }
}

TEST(Codecs, E5M2RoundTripsEveryCode) {
  for (int code = 0; code < 256; ++code) {
    float value = decodeE5M2(uint8_t(code));
    if ((code & 0x7f) > 0x7c) {
      EXPECT_TRUE(std::isnan(value));
      continue;
    }
    EXPECT_EQ(encodeE5M2(value, Overflow::Infinity), code) << value;
  }
}

TEST(Codecs, SmallFormatsRoundTrip) {
  for (int code = 0; code < 16; ++code) {
    EXPECT_EQ(encodeE2M1(decodeE2M1(uint8_t(code))), code);
  }
  for (int code = 0; code < 64; ++code) {
    EXPECT_EQ(encodeE2M3(decodeE2M3(uint8_t(code))), code);
    EXPECT_EQ(encodeE3M2(decodeE3M2(uint8_t(code))), code);
  }
  const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (int code = 0; code < 8; ++code) {
    EXPECT_EQ(decodeE2M1(uint8_t(code)), values[code]);
    EXPECT_EQ(decodeE2M1(uint8_t(code | 8)), -values[code]);
  }
}

TEST(Codecs, E2M1Rounding) {
  EXPECT_EQ(encodeE2M1(0.25f), 0); // tie to even
  EXPECT_EQ(encodeE2M1(0.75f), 2);
  EXPECT_EQ(encodeE2M1(1.25f), 2);
  EXPECT_EQ(encodeE2M1(1.75f), 4);
  EXPECT_EQ(encodeE2M1(2.5f), 4);
  EXPECT_EQ(encodeE2M1(3.5f), 6);
  EXPECT_EQ(encodeE2M1(5.0f), 6);
  EXPECT_EQ(encodeE2M1(5.01f), 7);
  EXPECT_EQ(encodeE2M1(1e9f), 7);
  EXPECT_EQ(encodeE2M1(-kInf), 15);
  EXPECT_EQ(encodeE2M1(-0.0f), 8);
  EXPECT_EQ(encodeE2M1(kNaN), 7);
}

TEST(Codecs, E4M3Rounding) {
  EXPECT_EQ(encodeE4M3(448.0f), 0x7e);
  EXPECT_EQ(encodeE4M3(464.0f, Overflow::Infinity), 0x7e); // tie to even
  EXPECT_EQ(encodeE4M3(464.1f, Overflow::Infinity), 0x7f);
  EXPECT_EQ(encodeE4M3(-464.1f, Overflow::Infinity), 0xff);
  EXPECT_EQ(encodeE4M3(464.1f), 0x7e);
  EXPECT_EQ(encodeE4M3(kInf), 0x7e);
  EXPECT_EQ(encodeE4M3(-kInf), 0xfe);
  EXPECT_EQ(encodeE4M3(kInf, Overflow::Infinity), 0x7f);
  EXPECT_EQ(encodeE4M3(kNaN), 0x7f);
  EXPECT_EQ(encodeE4M3(-0.0f), 0x80);
  EXPECT_EQ(encodeE4M3(0x1p-9f), 1);   // smallest subnormal
  EXPECT_EQ(encodeE4M3(0x1p-10f), 0);  // tie to even
  EXPECT_EQ(encodeE4M3(0x1.8p-9f), 2); // tie to even
  EXPECT_EQ(encodeE4M3(0x1.000002p-10f), 1);
  EXPECT_EQ(encodeE4M3(1.0625f), 0x38); // tie to even
  EXPECT_EQ(encodeE4M3(1.1875f), 0x3a);
  EXPECT_EQ(encodeE4M3(0x1.fp-7f), 0x08); // carries out of the subnormals
}

TEST(Codecs, E5M2Rounding) {
  EXPECT_EQ(encodeE5M2(57344.0f), 0x7b);
  EXPECT_EQ(encodeE5M2(61440.0f, Overflow::Infinity), 0x7c);
  EXPECT_EQ(encodeE5M2(61439.0f, Overflow::Infinity), 0x7b);
  EXPECT_EQ(encodeE5M2(61440.0f), 0x7b);
  EXPECT_EQ(encodeE5M2(kInf), 0x7b);
  EXPECT_EQ(encodeE5M2(0x1p-16f), 1);
  EXPECT_EQ(encodeE5M2(0x1p-17f), 0);
}

TEST(Codecs, E8M0) {
  EXPECT_EQ(decodeE8M0(0), 0x1p-127f);
  EXPECT_EQ(decodeE8M0(127), 1.0f);
  EXPECT_EQ(decodeE8M0(254), 0x1p127f);
  EXPECT_TRUE(std::isnan(decodeE8M0(255)));
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(encodeE8M0(decodeE8M0(uint8_t(code)), ScaleRounding::Up), code);
    EXPECT_EQ(encodeE8M0(decodeE8M0(uint8_t(code)), ScaleRounding::Zero), code);
  }
  EXPECT_EQ(encodeE8M0(1.5f, ScaleRounding::Up), 128);
  EXPECT_EQ(encodeE8M0(1.5f, ScaleRounding::Zero), 127);
  EXPECT_EQ(encodeE8M0(-2.0f, ScaleRounding::Up), 128);
  EXPECT_EQ(encodeE8M0(0.0f, ScaleRounding::Up), 0);
  EXPECT_EQ(encodeE8M0(0x1p-130f, ScaleRounding::Up), 0);
  EXPECT_EQ(encodeE8M0(0x1.1p-127f, ScaleRounding::Up), 1);
  EXPECT_EQ(encodeE8M0(0x1.1p-127f, ScaleRounding::Zero), 0);
  EXPECT_EQ(encodeE8M0(0x1.8p127f, ScaleRounding::Up), 0xfe);
  EXPECT_EQ(encodeE8M0(0x1.8p127f, ScaleRounding::Up, Overflow::Infinity),
            0xff);
  EXPECT_EQ(encodeE8M0(kInf, ScaleRounding::Up, Overflow::Infinity), 0xff);
  EXPECT_EQ(encodeE8M0(kInf, ScaleRounding::Zero), 0xfe);
  EXPECT_EQ(encodeE8M0(kNaN, ScaleRounding::Up), 0xff);
}

TEST(Codecs, HalfFormats) {
  for (uint32_t code = 0; code < 65536; ++code) {
    float h = decodeF16(uint16_t(code)), b = decodeBF16(uint16_t(code));
    if (!std::isnan(h)) {
      EXPECT_EQ(encodeF16(h), code);
    }
    if (!std::isnan(b)) {
      EXPECT_EQ(encodeBF16(b), code);
    }
  }
  EXPECT_EQ(encodeF16(65519.0f), 0x7bff);
  EXPECT_EQ(encodeF16(65520.0f), 0x7c00);
  EXPECT_EQ(encodeF16(0x1p-25f), 0);
  EXPECT_EQ(encodeF16(0x1.8p-25f), 1);
  EXPECT_EQ(encodeF16(kNaN), 0x7fff);
  EXPECT_EQ(encodeBF16(kNaN), 0x7fff);
  EXPECT_EQ(encodeBF16(-kInf), 0xff80);
  EXPECT_EQ(encodeBF16(floatOf(0x3f808000)), 0x3f80); // tie to even
  EXPECT_EQ(encodeBF16(floatOf(0x3f818000)), 0x3f82);
  EXPECT_EQ(encodeBF16(floatOf(0x7f7fffff)), 0x7f80); // rounds to Inf
}

} // namespace
