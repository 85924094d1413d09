// tcgen05.mma kinds and operand layouts against a plain oracle: f16 with
// K-major and MN-major operands, packed FP4 with 16- and 32-element blocks, and
// a CTA pair. Operands are written to shared memory in the canonical layouts by
// a copy of a prepared image, so that the test states each layout
// independently.
#include "runtime/numerics/Codecs.h"
#include "test/runtime/emulator/TestSupport.h"

#include <cmath>

using namespace gmoe;
using namespace gmoe::test;
using namespace gmoe::numerics;

namespace {

uint32_t draw(uint32_t limit) {
  static uint64_t state = 99;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return uint32_t(state >> 33) % limit;
}

/// One MMA per CTA group: shared image in, 128 lanes x n columns of D out.
/// Shared: A at 1024-aligned buf, B at +32768, scales A +65536, scales B
/// +66560.
std::string mmaKernel(const std::string &mma, bool scaled, bool pair,
                      uint32_t columns) {
  std::string g = pair ? "cta_group::2" : "cta_group::1";
  std::string cp;
  if (scaled) {
    for (int k = 0; k < 3; ++k) {
      std::string byteOffset =
          std::to_string(k == 0 ? 65536 : 66560 + (k - 1) * 512);
      cp += "add.s64 %d3, %d2, " + byteOffset +
            "; and.b64 %d3, %d3, 0x3ffff; shr.u64 %d3, %d3, 4;\n"
            "or.b64 %d3, %d3, 0x0000400800000000;\n"
            "tcgen05.cp." +
            g + ".32x128b.warpx4 [%r3+" + std::to_string(256 + 4 * k) +
            "], %d3;\n";
    }
  }
  std::string loads;
  for (uint32_t c = 0; c < columns; c += 8) {
    std::string at = std::to_string(c);
    loads += "add.s32 %r4, %r3, " + at +
             "; add.s32 %r4, %r4, %r5;\n"
             "tcgen05.ld.sync.aligned.32x32b.x8.b32 "
             "{%q0,%q1,%q2,%q3,%q4,%q5,%q6,%q7}, [%r4];\n"
             "tcgen05.wait::ld.sync.aligned;\n"
             "st.global.v4.b32 [%d6+" +
             std::to_string(c * 4) +
             "], {%q0,%q1,%q2,%q3};\nst.global.v4.b32 [%d6+" +
             std::to_string(c * 4 + 16) + "], {%q4,%q5,%q6,%q7};\n";
  }
  return std::string(prologue()) +
         ".extern .shared .align 1024 .b8 buf[];\n"
         ".visible .entry k(.param .u64 image, .param .u64 out,\n"
         ".param .u64 da, .param .u64 db, .param .u32 idesc) {\n"
         ".shared .align 8 .b64 full; .shared .align 8 .b64 done;\n"
         ".shared .align 4 .b32 slot;\n"
         ".reg .b32 %r<12>; .reg .b64 %d<12>; .reg .pred %p<6>; .reg .b32 "
         "%q<8>;\n"
         ".reg .b16 %h<2>;\n"
         "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r8, "
         "%cluster_ctarank;\n"
         "setp.ne.s32 %p0, %r0, 0; @%p0 bra A;\n"
         "mbarrier.init.shared.b64 [full], 1; mbarrier.init.shared.b64 [done], "
         "1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "A: setp.ne.s32 %p1, %r1, 1; @%p1 bra B;\n"
         "mov.b32 %r2, 512; tcgen05.alloc." +
         g +
         ".sync.aligned.shared::cta.b32 [slot], %r2;\n"
         "B: bar.sync 0; ld.shared.b32 %r3, [slot]; @%p0 bra C;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [full], 67584;\n"
         "ld.param.b64 %d0, [image]; mul.wide.u32 %d1, %r8, 67584;\n"
         "add.s64 %d0, %d0, %d1; mov.b32 %r2, 67584;\n"
         "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
         "[buf], [%d0], %r2, [full];\n"
         "C: mbarrier.try_wait.parity.shared.b64 %p2, [full], 0; @!%p2 bra C;\n"
         "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "or.b32 %r9, %r0, %r8; setp.ne.s32 %p3, %r9, 0; @%p3 bra D;\n"
         "mov.b64 %d2, buf; and.b64 %d2, %d2, 0x3ffff; shr.u64 %d4, %d2, 4;\n" +
         cp +
         "ld.param.b64 %d3, [da]; add.s64 %d3, %d3, %d4;\n"
         "ld.param.b64 %d5, [db]; add.s64 %d5, %d5, %d4; add.s64 %d5, %d5, "
         "2048;\n"
         "ld.param.b32 %r6, [idesc]; add.s32 %r7, %r3, 256; add.s32 %r9, %r3, "
         "260;\n" +
         mma + "\n" +
         (pair ? "mov.b16 %h0, 3; "
                 "tcgen05.commit.cta_group::2.mbarrier::arrive::one"
                 ".shared::cluster.multicast::cluster.b64 [done], %h0;\n"
               : "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                 ".shared::cluster.b64 [done];\n") +
         "D: mbarrier.try_wait.parity.shared.b64 %p2, [done], 0; @!%p2 bra D;\n"
         "tcgen05.fence::after_thread_sync; shl.b32 %r5, %r1, 21;\n"
         "ld.param.b64 %d6, [out]; mad.lo.s32 %r9, %r8, 128, %r0;\n"
         "mul.lo.s32 %r9, %r9, " +
         std::to_string(columns * 4) +
         ";\n"
         "cvt.u64.u32 %d7, %r9; add.s64 %d6, %d6, %d7;\n" +
         loads +
         "bar.sync 0; @%p1 bra E; mov.b32 %r2, 512;\n"
         "tcgen05.dealloc." +
         g +
         ".sync.aligned.b32 %r3, %r2;\n"
         "E: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "ret; }\n";
}

std::vector<float> runMma(const std::string &ptx,
                          const std::vector<uint8_t> &image, uint64_t da,
                          uint64_t db, uint32_t idesc, uint32_t columns,
                          uint32_t ctas, uint64_t seed) {
  Machine m(seed);
  Status status = m.load(ptx);
  EXPECT_TRUE(status.ok()) << status.message();
  uint64_t in = m.upload(image);
  uint64_t out =
      m.upload(std::vector<float>(size_t(ctas) * 128 * columns, NAN));
  std::vector<uint8_t> params;
  append(params, in);
  append(params, out);
  append(params, da);
  append(params, db);
  append(params, idesc);
  status = m.run("k", params, {128, 1, 1}, {ctas, 1, 1}, 67584, {ctas, 1, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(m.device->stats().mmaInstructions, 1u);
  return m.download<float>(out, size_t(ctas) * 128 * columns);
}

constexpr uint64_t kVersion = uint64_t(1) << 46;
uint64_t descriptor(uint32_t leading, uint32_t stride, uint64_t swizzle) {
  return kVersion | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
         swizzle << 61;
}
uint32_t swizzle128(uint32_t at) { return at ^ (at >> 7 & 7) << 4; }

TEST(MmaKinds, F16InEveryMajorness) {
  for (int mnA = 0; mnA < 2; ++mnA) {
    for (int mnB = 0; mnB < 2; ++mnB) {
      std::vector<uint8_t> image(67584, 0xff);
      std::vector<float> a(128 * 16), b(64 * 16);
      auto put = [&](uint32_t base, bool mn, uint32_t row, uint32_t k,
                     float v) {
        uint16_t h = encodeF16(v);
        // K-major: 128-byte rows. MN-major: 64 elements a row of k, 8 rows of k
        // a 1024-byte block (stride), blocks of 64 rows at the leading offset.
        uint32_t at =
            mn ? row % 64 * 2 + row / 64 * 4096 + k % 8 * 128 + k / 8 * 1024
               : row * 128 + k * 2;
        std::memcpy(&image[base + swizzle128(at)], &h, 2);
      };
      for (uint32_t k = 0; k < 16; ++k) {
        for (uint32_t r = 0; r < 128; ++r) {
          a[r * 16 + k] = float(int(draw(17)) - 8) / 4;
          put(0, mnA, r, k, a[r * 16 + k]);
        }
        for (uint32_t r = 0; r < 64; ++r) {
          b[r * 16 + k] = float(int(draw(17)) - 8) / 2;
          put(32768, mnB, r, k, b[r * 16 + k]);
        }
      }
      uint64_t mnMajor = descriptor(4096, 1024, 2),
               kMajor = descriptor(16, 1024, 2);
      uint32_t idesc = 1u << 4 | uint32_t(mnA) << 15 | uint32_t(mnB) << 16 |
                       (64u >> 3) << 17 | (128u >> 4) << 24;
      auto d = runMma(
          mmaKernel(
              "mov.pred %p4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%r3], "
              "%d3, %d5, %r6, %p4;",
              false, false, 64),
          image, mnA ? mnMajor : kMajor, mnB ? mnMajor : kMajor, idesc, 64, 1,
          3);
      for (uint32_t r = 0; r < 128; ++r) {
        for (uint32_t c = 0; c < 64; ++c) {
          float want = 0;
          for (uint32_t k = 0; k < 16; ++k) {
            want += a[r * 16 + k] * b[c * 16 + k];
          }
          ASSERT_EQ(d[r * 64 + c], want) << mnA << mnB << " " << r << " " << c;
        }
      }
    }
  }
}

/// Packed FP4, K = 64: `scales` factors along K.
void fp4(uint32_t scales, const std::string &kind, bool e8m0) {
  std::vector<uint8_t> image(67584, 0);
  std::vector<float> a(128 * 64), b(128 * 64);
  auto fill = [&](uint32_t base, uint32_t scaleBase,
                  std::vector<float> &values) {
    for (uint32_t r = 0; r < 128; ++r) {
      for (uint32_t k = 0; k < 64; ++k) {
        uint8_t code = uint8_t(draw(16));
        uint8_t &byte = image[base + swizzle128(r * 128 + k / 2)];
        byte = uint8_t(byte | code << (k % 2 * 4));
        values[r * 64 + k] = decodeE2M1(code);
      }
      for (uint32_t j = 0; j < scales; ++j) {
        uint8_t code = e8m0 ? uint8_t(125 + draw(5)) : uint8_t(0x30 + draw(16));
        image[scaleBase + r % 32 * 16 + r / 32 * 4 + j] = code;
        float s = e8m0 ? decodeE8M0(code) : decodeE4M3(code);
        for (uint32_t k = j * 64 / scales; k < (j + 1) * 64 / scales; ++k) {
          values[r * 64 + k] *= s;
        }
      }
    }
  };
  fill(0, 65536, a);
  fill(32768, 66560, b);
  uint32_t idesc = 1u << 7 | 1u << 10 | (128u >> 3) << 17 |
                   uint32_t(e8m0) << 23 | (128u >> 4) << 24;
  auto d =
      runMma(mmaKernel("mov.pred %p4, 0;\ntcgen05.mma.cta_group::1." + kind +
                           " [%r3], %d3, %d5, %r6, [%r7], [%r9], %p4;",
                       true, false, 128),
             image, descriptor(16, 1024, 2), descriptor(16, 1024, 2), idesc,
             128, 1, 7);
  for (uint32_t r = 0; r < 128; ++r) {
    for (uint32_t c = 0; c < 128; ++c) {
      double want = 0;
      for (uint32_t k = 0; k < 64; ++k) {
        want += double(a[r * 64 + k]) * double(b[c * 64 + k]);
      }
      ASSERT_EQ(d[r * 128 + c], float(want)) << kind << " " << r << " " << c;
    }
  }
}

TEST(MmaKinds, MxFp4) { fp4(2, "kind::mxf4.block_scale.block32", true); }
TEST(MmaKinds, NvFp4) { fp4(4, "kind::mxf4nvf4.block_scale.block16", false); }
TEST(MmaKinds, NvFp4WithPowerOfTwoScales) {
  fp4(4, "kind::mxf4nvf4.block_scale.scale_vec::4X", true);
}

TEST(MmaKinds, CtaPairMxf8) {
  // M 256: 128 rows of A in each CTA; N 256: 128 rows of B in each.
  std::vector<uint8_t> image(2 * 67584, 0);
  std::vector<float> a(256 * 32), b(256 * 32);
  for (uint32_t r = 0; r < 256; ++r) {
    uint32_t cta = r / 128, base = cta * 67584, row = r % 128;
    uint8_t sa = uint8_t(125 + draw(4)), sb = uint8_t(125 + draw(4));
    image[base + 65536 + row % 32 * 16 + row / 32 * 4] = sa;
    for (uint32_t other = 0; other < 2; ++other) { // B scales: all of N in both
      image[other * 67584 + 66560 + cta * 512 + row % 32 * 16 + row / 32 * 4] =
          sb;
    }
    for (uint32_t k = 0; k < 32; ++k) {
      float x = float(int(draw(9)) - 4), y = float(int(draw(9)) - 4);
      image[base + swizzle128(row * 128 + k)] = encodeE4M3(x);
      image[base + 32768 + swizzle128(row * 128 + k)] = encodeE4M3(y);
      a[r * 32 + k] = x * decodeE8M0(sa);
      b[r * 32 + k] = y * decodeE8M0(sb);
    }
  }
  uint32_t idesc = (256u >> 3) << 17 | 1u << 23 | (256u >> 4) << 24;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    auto d =
        runMma(mmaKernel("mov.pred %p4, 0;\ntcgen05.mma.cta_group::2.kind::"
                         "mxf8f6f4.block_scale.block32 [%r3], %d3, %d5, %r6, "
                         "[%r7], [%r9], %p4;",
                         true, true, 256),
               image, descriptor(16, 1024, 2), descriptor(16, 1024, 2), idesc,
               256, 2, seed);
    for (uint32_t r = 0; r < 256; ++r) {
      for (uint32_t c = 0; c < 256; ++c) {
        float want = 0;
        for (uint32_t k = 0; k < 32; ++k) {
          want += a[r * 32 + k] * b[c * 32 + k];
        }
        ASSERT_EQ(d[r * 256 + c], want) << r << " " << c;
      }
    }
  }
}

} // namespace
