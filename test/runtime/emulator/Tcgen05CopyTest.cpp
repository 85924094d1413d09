// tcgen05.cp in every shape, swizzled and not, in one CTA and in pairs (ISA
// 9.7.16.9.2): which row of shared memory lands in which lanes.
#include "test/runtime/emulator/TensorCoreHarness.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

struct CopyShape {
  const char *name;
  uint32_t rows, bytes;
  /// The source row of a lane, or -1: not written.
  int (*rowOf)(uint32_t lane);
};
const CopyShape kShapes[] = {
    {"128x256b", 128, 32, [](uint32_t lane) { return int(lane); }},
    {"128x128b", 128, 16, [](uint32_t lane) { return int(lane); }},
    // Warps 0 and 2 get the first 32 rows, 1 and 3 the others.
    {"64x128b.warpx2::02_13", 64, 16,
     [](uint32_t lane) { return int(lane % 64); }},
    // Warps 0 and 1 the first, 2 and 3 the others.
    {"64x128b.warpx2::01_23", 64, 16,
     [](uint32_t lane) { return int(lane / 64 * 32 + lane % 32); }},
    {"32x128b.warpx4", 32, 16, [](uint32_t lane) { return int(lane % 32); }}};

void check(const CopyShape &s, bool swizzled, bool pair, uint64_t seed) {
  SCOPED_TRACE(std::string(s.name) + (swizzled ? " swizzled" : "") +
               (pair ? " pair" : ""));
  uint32_t ctas = pair ? 2 : 1;
  std::vector<uint8_t> image(size_t(ctas) * kImageBytes, 0xff);
  auto byteOf = [](uint32_t cta, uint32_t row, uint32_t x) {
    return uint8_t(cta * 131 + row * 7 + x * 29 + 1);
  };
  for (uint32_t cta = 0; cta < ctas; ++cta) {
    for (uint32_t r = 0; r < s.rows; ++r) {
      for (uint32_t x = 0; x < s.bytes; ++x) {
        // Without a swizzle: core matrices of 8 rows by 16 bytes.
        uint32_t at = swizzled
                          ? swizzle128(r * 128 + x)
                          : r / 8 * 256 + x / 16 * 128 + r % 8 * 16 + x % 16;
        image[cta * kImageBytes + at] = byteOf(cta, r, x);
      }
    }
  }
  TensorCoreRun run;
  run.pair = pair;
  run.columns = 16;
  run.fillIntegers = true;
  run.seed = seed;
  run.descriptorA =
      swizzled ? matrixDescriptor(16, 1024, 2) : matrixDescriptor(128, 256, 0);
  run.issue = std::string("add.u32 %r20, %r3, 4; tcgen05.cp.cta_group::") +
              (pair ? "2." : "1.") + s.name + " [%r20], %d3;";
  auto got = runTensorCore(run, image);
  for (uint32_t cta = 0; cta < ctas; ++cta) {
    for (uint32_t lane = 0; lane < 128; ++lane) {
      for (uint32_t c = 0; c < 16; ++c) {
        uint32_t want = (3 * lane + c) % 32;
        if (c >= 4 && c < 4 + s.bytes / 4) {
          want = 0;
          for (uint32_t b = 0; b < 4; ++b) {
            want |=
                uint32_t(byteOf(cta, uint32_t(s.rowOf(lane)), (c - 4) * 4 + b))
                << (8 * b);
          }
        }
        ASSERT_EQ(got[(cta * 128 + lane) * 16 + c], want)
            << "CTA " << cta << " lane " << lane << " column " << c;
      }
    }
  }
}

TEST(Tcgen05Copy, EveryShape) {
  for (const CopyShape &s : kShapes) {
    for (bool swizzled : {false, true}) {
      check(s, swizzled, false, 1);
    }
  }
}
TEST(Tcgen05Copy, Pairs) {
  for (const CopyShape &s : kShapes) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      check(s, true, true, seed);
    }
  }
}

TEST(Tcgen05Copy, UnsupportedFormsAreNamed) {
  for (const char *form :
       {"tcgen05.cp.cta_group::1.4x256b [%r0], %d0;",
        "tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64 [%r0], %d0;",
        "tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32 [%r0], %d0;",
        "tcgen05.shift.cta_group::1.down [%r0];"}) {
    std::string e = failureOf(form);
    EXPECT_NE(e.find("unsupported instruction 'tcgen05."), std::string::npos)
        << e;
  }
}

} // namespace
