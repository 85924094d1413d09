// The executor's codecs against those of the emulator, which share no code.
#include "lib/Reference/Codecs.h"
#include "runtime/numerics/Codecs.h"

#include "gtest/gtest.h"

#include <cmath>

namespace ref = grouped_moe::reference;
namespace num = gmoe::numerics;
using ref::Format;

static void expectSame(float a, double b, unsigned code) {
  if (std::isnan(b)) {
    EXPECT_TRUE(std::isnan(a)) << code;
    return;
  }
  EXPECT_EQ(a, b) << code;
  EXPECT_EQ(std::signbit(a), std::signbit(b)) << code;
}

TEST(Numerics, EveryByte) {
  for (unsigned code = 0; code < 256; ++code) {
    expectSame(num::decodeE4M3(code), ref::decodeTable(Format::e4m3)[code],
               code);
    expectSame(num::decodeE5M2(code), ref::decodeTable(Format::e5m2)[code],
               code);
    expectSame(num::decodeE8M0(code), ref::decodeTable(Format::e8m0)[code],
               code);
  }
  for (unsigned code = 0; code < 16; ++code) {
    expectSame(num::decodeE2M1(code), ref::decodeTable(Format::e2m1)[code],
               code);
  }
}

TEST(Numerics, EveryHalf) {
  for (unsigned code = 0; code < 65536; ++code) {
    auto bits = static_cast<uint16_t>(code);
    expectSame(num::decodeF16(bits), ref::decode(Format::f16, &bits), code);
    expectSame(num::decodeBF16(bits), ref::decode(Format::bf16, &bits), code);
  }
}

/// The f32s at, just below and just above every bf16: every exponent, every
/// tie of the narrower formats.
template <typename Compare> static void eachInteresting(Compare compare) {
  for (uint32_t high = 0; high < 65536; ++high) {
    for (uint32_t low : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu,
                         0x1000u, 0x1001u, 0x3000u}) {
      compare(num::floatOf(high << 16 | low));
    }
  }
}

TEST(Numerics, EncodeFp8) {
  eachInteresting([](float value) {
    ASSERT_EQ(num::encodeE4M3(value), ref::encodeNarrow(Format::e4m3, value))
        << value;
    ASSERT_EQ(num::encodeE5M2(value), ref::encodeNarrow(Format::e5m2, value))
        << value;
    ASSERT_EQ(num::encodeE2M1(value), ref::encodeNarrow(Format::e2m1, value))
        << value;
  });
}

TEST(Numerics, EncodeHalf) {
  eachInteresting([](float value) {
    ASSERT_EQ(num::encodeF16(value), ref::encodeHalf(Format::f16, value))
        << value;
    ASSERT_EQ(num::encodeBF16(value), ref::encodeHalf(Format::bf16, value))
        << value;
  });
}

TEST(Numerics, EncodeScale) {
  eachInteresting([](float value) {
    ASSERT_EQ(
        num::encodeE8M0(value, num::ScaleRounding::Up, num::Overflow::Infinity),
        ref::encodeScaleUp(value))
        << value;
  });
}
