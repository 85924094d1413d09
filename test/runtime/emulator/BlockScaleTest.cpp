// Block-scaled tcgen05.mma of packed 4-bit elements: blocks of 16 and 32, both
// scale types, scale ids, one CTA and pairs (ISA 9.7.16.10.7).
#include "test/runtime/emulator/MmaOracle.h"

#include <functional>

using namespace gmoe;
using namespace gmoe::test;

namespace {

/// Two elements a byte, without gaps.
constexpr SmallFloat kPacked{"e2m1", 1, 4, 1, 1, 8, 8};

struct Kind {
  const char *name;
  uint32_t scales; // of one row and K = 64
  bool e8m0;
};

/// Scale factors of `rows` rows in atoms of 512 bytes at `at` of each image
/// whose CTA holds them: row r % 32 of 16 bytes, word r / 32, byte id + j.
struct Scales {
  std::vector<double> value; // [row][j]
  uint32_t count;

  Scales(std::vector<uint8_t> &image, const Kind &kind, uint32_t rows,
         uint32_t id, TestRandom &random,
         const std::function<std::vector<uint32_t>(uint32_t)> &places)
      : value(size_t(rows) * kind.scales), count(kind.scales) {
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t j = 0; j < count; ++j) {
        uint32_t e = random.below(3);
        value[r * count + j] = std::ldexp(1.0, int(e) - 1);
        uint8_t code = kind.e8m0 ? uint8_t(126 + e) : uint8_t(0x30 + 8 * e);
        for (uint32_t at : places(r)) {
          image[at + id + j] = code;
        }
      }
    }
  }
};

uint32_t inAtom(uint32_t row) {
  return row / 128 * 512 + row % 32 * 16 + row % 128 / 32 * 4;
}

void check(const Kind &kind, uint32_t m, uint32_t n, bool pair, uint32_t id,
           uint32_t idB, uint64_t seed) {
  SCOPED_TRACE(std::string(kind.name) + " N " + std::to_string(n) +
               (pair ? " pair" : "") + " ids " + std::to_string(id) + ", " +
               std::to_string(idB));
  TestRandom random{seed + n};
  Operands o(m, n, 64, pair);
  for (bool isB : {false, true}) {
    for (uint32_t r = 0; r < (isB ? n : m); ++r) {
      for (uint32_t x = 0; x < 64; ++x) {
        o.set(isB, kPacked, r, x, random.below(16));
      }
    }
  }
  uint32_t ctas = pair ? 2 : 1;
  for (uint32_t cta = 0; cta < ctas; ++cta) { // NaN where no scale belongs
    auto begin = o.image.begin() + cta * kImageBytes;
    std::fill(begin + 65536, begin + kImageBytes, uint8_t(0xff));
  }
  Scales a(o.image, kind, m, id, random, [&](uint32_t r) {
    return std::vector<uint32_t>{r / 128 * kImageBytes + 65536 +
                                 inAtom(r % 128)};
  });
  // Both CTAs of a pair hold the scales of all of B.
  Scales b(o.image, kind, n, idB, random, [&](uint32_t r) {
    std::vector<uint32_t> places;
    for (uint32_t cta = 0; cta < ctas; ++cta) {
      places.push_back(cta * kImageBytes + 66048 + inAtom(r));
    }
    return places;
  });
  TensorCoreRun run;
  run.pair = pair;
  run.columns = n;
  run.seed = seed;
  run.descriptorA = run.descriptorB = matrixDescriptor(16, 1024, 2);
  run.idesc = idB << 4 | 1u << 7 | 1u << 10 | (n >> 3) << 17 |
              uint32_t(kind.e8m0) << 23 | (m >> 4) << 24 | id << 29;
  std::string group = pair ? "2" : "1";
  run.issue = "add.u32 %r21, %r3, 256; add.u32 %r22, %r3, 264; add.s64 %d20, "
              "%d4, 4096; or.b64 %d20, %d20, 0x0000400800010000;\n";
  for (const char *to : {"%r21", "%r22", "%r23"}) {
    run.issue += "tcgen05.cp.cta_group::" + group + ".32x128b.warpx4 [" + to +
                 "], %d20; add.s64 %d20, %d20, 32; add.u32 %r23, %r22, 4;\n";
  }
  run.issue += "tcgen05.mma.cta_group::" + group + ".kind::" + kind.name +
               " [%r3], %d3, %d5, %r6, [%r21], [%r22], %p4;";
  auto got = runTensorCore(run, o.image);
  uint32_t block = 64 / kind.scales;
  for (uint32_t r = 0; r < m; ++r) {
    for (uint32_t c = 0; c < n; ++c) {
      double sum = 0;
      for (uint32_t x = 0; x < 64; ++x) {
        sum += o.a[r * 64 + x] * a.value[r * kind.scales + x / block] *
               o.b[c * 64 + x] * b.value[c * kind.scales + x / block];
      }
      DPlace p = placeOfD(pair, r, c, m, n);
      uint32_t word = got[(p.cta * 128 + p.lane) * n + p.column];
      ASSERT_EQ(double(floatOfBits(word)), sum)
          << "row " << r << " column " << c;
    }
  }
}

const Kind kMxF4{"mxf4.block_scale.scale_vec::2X", 2, true};
const Kind kNv2{"mxf4nvf4.block_scale.scale_vec::2X", 2, true};
const Kind kNv4{"mxf4nvf4.block_scale.scale_vec::4X", 4, false};
const Kind kNv4E8{"mxf4nvf4.block_scale.block16", 4, true};

TEST(BlockScale, OneCta) {
  for (uint32_t n : {8u, 40u, 128u, 192u, 256u}) {
    check(kMxF4, 128, n, false, 0, 0, 1);
    check(kNv2, 128, n, false, 0, 0, 2);
    check(kNv4, 128, n, false, 0, 0, 3);
    check(kNv4E8, 128, n, false, 0, 0, 4);
  }
}
TEST(BlockScale, Ids) {
  for (uint32_t id : {0u, 2u}) {
    for (uint32_t idB : {0u, 2u}) {
      check(kMxF4, 128, 64, false, id, idB, 5);
      check(kNv2, 128, 64, false, id, idB, 6);
    }
  }
}
TEST(BlockScale, Pairs) {
  for (uint32_t n : {32u, 128u, 192u, 256u}) {
    check(kMxF4, 256, n, true, 0, 2, 7);
    check(kNv4, 256, n, true, 0, 0, 8);
  }
}

} // namespace
