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

/// Runs the tile; `got` is D afterwards.
Status runTile(const Problem &p, const std::string &ptx, uint64_t seed,
               std::vector<float> &got, EmulatorStats &stats) {
  Machine m(seed);
  Status status = m.load(ptx);
  if (!status) {
    return status;
  }
  uint64_t a = m.upload(p.a), b = m.upload(p.b);
  uint64_t sa = m.upload(p.scaleA), sb = m.upload(p.scaleB);
  uint64_t d = m.upload(std::vector<float>(kM * kN, NAN));
  auto mapA = m.device->encodeTensorMap(operandMap(a));
  auto mapB = m.device->encodeTensorMap(operandMap(b));
  EXPECT_TRUE(mapA.ok() && mapB.ok());
  std::vector<uint8_t> params;
  append(params, *mapA);
  append(params, *mapB);
  append(params, sa);
  append(params, sb);
  append(params, d);
  status = m.run("mxfp8_tile", params, {192, 1, 1}, {1, 1, 1}, 33824);
  got = m.download<float>(d, kM * kN);
  stats = m.device->stats();
  return status;
}

bool matches(const Problem &p, const std::vector<float> &got) {
  return std::memcmp(got.data(), p.expected.data(), kM * kN * 4) == 0;
}

TEST(Mxfp8, TileMatchesOracleForManySeeds) {
  const Problem p = makeProblem();
  const std::string ptx = readFile("test/runtime/emulator/mxfp8_tile.ptx");
  ASSERT_FALSE(ptx.empty());
  for (uint64_t seed = 0; seed < 24; ++seed) {
    std::vector<float> got;
    EmulatorStats stats;
    Status status = runTile(p, ptx, seed, got, stats);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(matches(p, got)) << "seed " << seed;
    EXPECT_EQ(stats.mmaInstructions, 4u);
    EXPECT_EQ(stats.macs, uint64_t(kM) * kN * kK);
    EXPECT_EQ(stats.cpInstructions, 2u);
    EXPECT_EQ(stats.tmaBytes, 33792u);
  }
}

/// Removes the first line after `from` that contains `text`.
std::string without(std::string ptx, const std::string &text,
                    const std::string &replacement = "") {
  size_t at = ptx.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  size_t begin = ptx.rfind('\n', at) + 1, end = ptx.find('\n', at);
  return ptx.replace(begin, end - begin, replacement);
}

/// True when some schedule shows the mistake, as an error or a wrong result.
bool noticed(const Problem &p, const std::string &ptx) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    std::vector<float> got;
    EmulatorStats stats;
    Status status = runTile(p, ptx, seed, got, stats);
    if (!status || !matches(p, got)) {
      return true;
    }
  }
  return false;
}

TEST(Mxfp8, MissingSynchronizationIsNoticed) {
  const Problem p = makeProblem();
  const std::string ptx = readFile("test/runtime/emulator/mxfp8_tile.ptx");
  ASSERT_FALSE(ptx.empty());
  // No wait for the loads, for the MMAs, for the tensor memory loads.
  EXPECT_TRUE(noticed(p, without(ptx, "mbarrier.try_wait.parity.shared.b64 %p7",
                                 "mov.pred %p7, -1;")));
  EXPECT_TRUE(
      noticed(p, without(ptx, "mbarrier.try_wait.parity.shared.b64 %p14",
                         "mov.pred %p14, -1;")));
  EXPECT_TRUE(noticed(p, without(ptx, "tcgen05.wait::ld")));
  // Too few and too many transaction bytes, no commit, no arrival.
  EXPECT_TRUE(
      noticed(p, without(ptx, "mov.b32 \t%r9, 33792;", "mov.b32 %r9, 33280;")));
  EXPECT_TRUE(
      noticed(p, without(ptx, "mov.b32 \t%r9, 33792;", "mov.b32 %r9, 34304;")));
  EXPECT_TRUE(noticed(p, without(ptx, "tcgen05.commit")));
  // No barrier between set-up and use; no deallocation.
  EXPECT_TRUE(noticed(p, without(ptx, "bar.sync \t0;")));
  EXPECT_TRUE(noticed(p, without(ptx, "tcgen05.dealloc")));
}

TEST(Mxfp8, ExtremeScales) {
  const std::string ptx = readFile("test/runtime/emulator/mxfp8_tile.ptx");
  Problem p = makeProblem();
  p.scaleA[0] = 255; // row 0, first block
  std::vector<float> got;
  EmulatorStats stats;
  ASSERT_TRUE(runTile(p, ptx, 1, got, stats).ok());
  for (uint32_t n = 0; n < kN; ++n) {
    EXPECT_TRUE(std::isnan(got[n]));
  }
  EXPECT_EQ(0, std::memcmp(&got[kN], &p.expected[kN], (kM - 1) * kN * 4));

  // The factors of one product may be far apart: 2^-127 * 2^127.
  p.scaleA[0] = 0;
  p.scaleB[0] = 254;
  double want = 0;
  for (uint32_t k = 0; k < kK; ++k) {
    want +=
        double(numerics::decodeE4M3(p.a[k])) *
        double(numerics::decodeE4M3(p.b[k])) *
        std::ldexp(1.0, int(p.scaleA[k / 32]) + int(p.scaleB[k / 32]) - 254);
  }
  ASSERT_TRUE(runTile(p, ptx, 1, got, stats).ok());
  EXPECT_EQ(got[0], float(want));
  EXPECT_FALSE(std::isfinite(got[kN]) && std::fabs(got[kN]) < 0x1p100f);
}

} // namespace
