// A kernel around tcgen05 instructions: it fills shared memory from an image
// and tensor memory from a formula, lets one thread issue, and dumps the
// accumulator.
#ifndef GMOE_TEST_RUNTIME_EMULATOR_TENSORCOREHARNESS_H
#define GMOE_TEST_RUNTIME_EMULATOR_TENSORCOREHARNESS_H

#include "test/runtime/emulator/TestSupport.h"

namespace gmoe::test {

constexpr uint32_t kImageBytes = 73728; // A at 0, B at 32768, scales at 65536

struct TensorCoreRun {
  bool pair = false;
  uint32_t columns = 64; // dumped, a multiple of 8
  /// Before the run, column c of lane t holds float((3 t + c) % 32), or the
  /// same as an integer.
  bool fill = true, fillIntegers = false;
  /// A into tensor memory at column 384: 8 words of each row of 32 bytes from
  /// the image at `lane * 32`.
  bool loadA = false;
  /// Runs in thread 0 of the leader: %r3 is the TMEM base, %d4 the shared base
  /// >> 4, %d3 and %d5 the descriptors of A and B, %r6 the instruction
  /// descriptor, %p4 false, %p5 true, %r20-39 and %d20-29 free.
  std::string issue;
  uint64_t descriptorA = 0, descriptorB = 0; // without the start
  uint32_t idesc = 0;
  uint64_t seed = 0;
};

inline std::string tensorCoreText(const TensorCoreRun &x) {
  std::string g = x.pair ? "cta_group::2" : "cta_group::1";
  std::string vector = "{%q0,%q1,%q2,%q3,%q4,%q5,%q6,%q7}";
  std::string fill, loadA, dump;
  for (uint32_t c = 0; x.fill && c < x.columns; c += 8) {
    for (uint32_t j = 0; j < 8; ++j) {
      std::string q = "%q" + std::to_string(j);
      fill += "mad.lo.u32 " + q + ", %r0, 3, " + std::to_string(c + j) +
              "; and.b32 " + q + ", " + q + ", 31;" +
              (x.fillIntegers ? "" : " cvt.rn.f32.u32 " + q + ", " + q + ";") +
              "\n";
    }
    fill += "add.u32 %r20, %r10, " + std::to_string(c) +
            "; tcgen05.st.sync.aligned.32x32b.x8.b32 [%r20], " + vector + ";\n";
  }
  if (x.loadA) {
    loadA = "mul.wide.u32 %d20, %r0, 32; add.s64 %d20, %d20, %d0; "
            "ld.global.v4.b32 {%q0,%q1,%q2,%q3}, [%d20]; ld.global.v4.b32 "
            "{%q4,%q5,%q6,%q7}, [%d20+16]; add.u32 %r20, %r10, 384; "
            "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r20], " +
            vector + ";\n";
  }
  for (uint32_t c = 0; c < x.columns; c += 8) {
    dump += "add.u32 %r20, %r10, " + std::to_string(c) +
            "; tcgen05.ld.sync.aligned.32x32b.x8.b32 " + vector +
            ", [%r20]; tcgen05.wait::ld.sync.aligned; st.global.v4.b32 [%d6+" +
            std::to_string(4 * c) +
            "], {%q0,%q1,%q2,%q3}; st.global.v4.b32 "
            "[%d6+" +
            std::to_string(4 * c + 16) + "], {%q4,%q5,%q6,%q7};\n";
  }
  std::string bytes = std::to_string(kImageBytes);
  return std::string(prologue()) +
         ".extern .shared .align 1024 .b8 buf[];\n"
         ".visible .entry k(.param .u64 image, .param .u64 out, .param .u64 "
         "da, .param .u64 db, .param .u32 idesc) {\n"
         ".shared .align 8 .b64 full; .shared .align 8 .b64 done; .shared "
         ".align 4 .b32 slot;\n"
         ".reg .b32 %r<40>, %q<8>; .reg .b64 %d<30>; .reg .pred %p<8>; .reg "
         ".b16 %h<2>;\n"
         "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r8, "
         "%cluster_ctarank; mov.pred %p4, 0; mov.pred %p5, 1;\n"
         "setp.ne.s32 %p0, %r0, 0; @%p0 bra A; mbarrier.init.shared.b64 "
         "[full], 1; mbarrier.init.shared.b64 [done], 1; "
         "fence.mbarrier_init.release.cluster;\n"
         "A: setp.ne.s32 %p1, %r1, 0; @%p1 bra B; mov.b32 %r2, 512; "
         "tcgen05.alloc." +
         g +
         ".sync.aligned.shared::cta.b32 [slot], %r2;\n"
         "B: tcgen05.fence::before_thread_sync; bar.sync 0; "
         "tcgen05.fence::after_thread_sync; ld.shared.b32 %r3, [slot]; shl.b32 "
         "%r10, %r1, 21; add.u32 %r10, %r10, %r3; ld.param.b64 %d0, [image]; "
         "mul.wide.u32 %d1, %r8, " +
         bytes + "; add.s64 %d0, %d0, %d1;\n" + fill + loadA +
         "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; "
         "bar.sync 0; @%p0 bra C; mbarrier.arrive.expect_tx.shared.b64 _, "
         "[full], " +
         bytes + "; mov.b32 %r2, " + bytes +
         "; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
         "[buf], [%d0], %r2, [full];\n"
         "C: mbarrier.try_wait.parity.shared.b64 %p2, [full], 0; @!%p2 bra C; "
         "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; "
         "tcgen05.fence::after_thread_sync; or.b32 %r9, %r0, %r8; setp.ne.s32 "
         "%p3, %r9, 0; @%p3 bra D;\n"
         "mov.b64 %d2, buf; and.b64 %d2, %d2, 0x3ffff; shr.u64 %d4, %d2, 4; "
         "ld.param.b64 %d3, [da]; add.s64 %d3, %d3, %d4; ld.param.b64 %d5, "
         "[db]; add.s64 %d5, %d5, %d4; add.s64 %d5, %d5, 2048; ld.param.b32 "
         "%r6, [idesc];\n" +
         x.issue + "\n" +
         (x.pair ? "mov.b16 %h0, 3; tcgen05.commit.cta_group::2.mbarrier::"
                   "arrive::one.shared::cluster.multicast::cluster.b64 [done], "
                   "%h0;\n"
                 : "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                   ".shared::cluster.b64 [done];\n") +
         "D: mbarrier.try_wait.parity.shared.b64 %p2, [done], 0; @!%p2 bra D; "
         "tcgen05.fence::after_thread_sync; ld.param.b64 %d6, [out]; "
         "mad.lo.s32 %r9, %r8, 128, %r0; mul.lo.s32 %r9, %r9, " +
         std::to_string(x.columns * 4) +
         "; cvt.u64.u32 %d7, %r9; add.s64 %d6, %d6, %d7;\n" + dump +
         "tcgen05.fence::before_thread_sync; bar.sync 0; @%p1 bra E; mov.b32 "
         "%r2, 512; tcgen05.dealloc." +
         g +
         ".sync.aligned.b32 %r3, %r2;\n"
         "E: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; "
         "ret; }\n";
}

/// The dumped words: [CTA][lane][column].
inline std::vector<uint32_t> runTensorCore(const TensorCoreRun &x,
                                           const std::vector<uint8_t> &image) {
  uint32_t ctas = x.pair ? 2 : 1;
  Machine m(x.seed);
  Status status = m.load(tensorCoreText(x));
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status) {
    return std::vector<uint32_t>(size_t(ctas) * 128 * x.columns);
  }
  EXPECT_EQ(image.size(), size_t(ctas) * kImageBytes);
  uint64_t in = m.upload(image);
  uint64_t out = m.upload(
      std::vector<uint32_t>(size_t(ctas) * 128 * x.columns, 0xdeadbeef));
  std::vector<uint8_t> params;
  append(params, in);
  append(params, out);
  append(params, x.descriptorA);
  append(params, x.descriptorB);
  append(params, x.idesc);
  status =
      m.run("k", params, {128, 1, 1}, {ctas, 1, 1}, kImageBytes, {ctas, 1, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  return m.download<uint32_t>(out, size_t(ctas) * 128 * x.columns);
}

/// ISA table 40, without the start: offsets in bytes, swizzle code.
inline uint64_t matrixDescriptor(uint32_t leading, uint32_t stride,
                                 uint64_t swizzle) {
  return uint64_t(1) << 46 | uint64_t(leading >> 4) << 16 |
         uint64_t(stride >> 4) << 32 | swizzle << 61;
}
/// The chunk of 16 bytes is exchanged by the number of the 128-byte line.
inline uint32_t swizzle128(uint32_t at) { return at ^ (at >> 7 & 7) << 4; }

struct TestRandom {
  uint64_t state;
  uint32_t below(uint32_t limit) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state >> 33) % limit;
  }
};

} // namespace gmoe::test

#endif // GMOE_TEST_RUNTIME_EMULATOR_TENSORCOREHARNESS_H
