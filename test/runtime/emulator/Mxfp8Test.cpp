// A whole MXFP8 tile (128 x 128 x 128): TMA, tcgen05.cp, block-scaled MMA and
// epilogue, against a plain oracle, bit for bit, for many schedules.
#include "runtime/numerics/Codecs.h"
#include "test/runtime/emulator/TestSupport.h"

#include <cmath>

using namespace gmoe;
using namespace gmoe::test;

namespace {

constexpr uint32_t kM = 128, kN = 128, kK = 128;

struct Problem {
  std::vector<uint8_t> a, b, scaleA, scaleB;
  std::vector<float> expected;
};

/// Small integers and scales near one: every partial sum is exact in f32.
Problem makeProblem() {
  Problem p;
  uint64_t state = 12345;
  auto draw = [&](uint32_t limit) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state >> 33) % limit;
  };
  auto element = [&] { return numerics::encodeE4M3(float(int(draw(9)) - 4)); };
  for (uint32_t i = 0; i < kM * kK; ++i) {
    p.a.push_back(element());
  }
  for (uint32_t i = 0; i < kN * kK; ++i) {
    p.b.push_back(element());
  }
  p.scaleA.resize(512);
  p.scaleB.resize(512);
  for (uint32_t i = 0; i < 512; ++i) {
    p.scaleA[i] = uint8_t(126 + draw(4));
    p.scaleB[i] = uint8_t(125 + draw(4));
  }
  p.expected.resize(kM * kN);
  for (uint32_t m = 0; m < kM; ++m) {
    for (uint32_t n = 0; n < kN; ++n) {
      double sum = 0;
      for (uint32_t k = 0; k < kK; ++k) {
        double sa =
            std::ldexp(1.0, p.scaleA[m % 32 * 16 + m / 32 * 4 + k / 32] - 127);
        double sb =
            std::ldexp(1.0, p.scaleB[n % 32 * 16 + n / 32 * 4 + k / 32] - 127);
        sum += double(numerics::decodeE4M3(p.a[m * kK + k])) * sa *
               double(numerics::decodeE4M3(p.b[n * kK + k])) * sb;
      }
      p.expected[m * kN + n] = float(sum);
    }
  }
  return p;
}

TensorMapDesc operandMap(uint64_t address) {
  TensorMapDesc d;
  d.type = TensorMapType::U8;
  d.rank = 2;
  d.address = address;
  d.dims = {kK, 128, 0, 0, 0};
  d.strides = {kK, 0, 0, 0};
  d.box = {128, 128, 0, 0, 0};
  d.swizzle = TensorMapSwizzle::B128;
  return d;
}

TEST(Mxfp8, TileMatchesOracleForManySeeds) {
  const Problem p = makeProblem();
  const std::string ptx = readFile("test/runtime/emulator/mxfp8_tile.ptx");
  ASSERT_FALSE(ptx.empty());
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Machine m(seed);
    Status status = m.load(ptx);
    ASSERT_TRUE(status.ok()) << status.message();
    uint64_t a = m.upload(p.a), b = m.upload(p.b);
    uint64_t sa = m.upload(p.scaleA), sb = m.upload(p.scaleB);
    uint64_t d = m.upload(std::vector<float>(kM * kN, NAN));
    auto mapA = m.device->encodeTensorMap(operandMap(a));
    auto mapB = m.device->encodeTensorMap(operandMap(b));
    ASSERT_TRUE(mapA.ok() && mapB.ok());
    std::vector<uint8_t> params;
    append(params, *mapA);
    append(params, *mapB);
    append(params, sa);
    append(params, sb);
    append(params, d);
    status = m.run("mxfp8_tile", params, {192, 1, 1}, {1, 1, 1}, 33824);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> got = m.download<float>(d, kM * kN);
    ASSERT_EQ(0, std::memcmp(got.data(), p.expected.data(), kM * kN * 4))
        << "seed " << seed;
    EXPECT_EQ(m.device->stats().mmaInstructions, 4u);
    EXPECT_EQ(m.device->stats().macs, uint64_t(kM) * kN * kK);
    EXPECT_EQ(m.device->stats().cpInstructions, 2u);
    EXPECT_EQ(m.device->stats().tmaBytes, 33792u);
  }
}

} // namespace
