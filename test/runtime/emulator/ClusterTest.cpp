// Clusters: remote shared memory and barriers; tensor memory access by threads.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

TEST(Cluster, RemoteStoreAndArrive) {
  const std::string text =
      std::string(prologue()) +
      ".visible .entry k(.param .u64 out)\n.explicitcluster\n"
      ".reqnctapercluster 4, 1, 1\n{\n"
      ".shared .align 8 .b64 mb; .shared .align 4 .b32 cell;\n"
      ".reg .b32 %r<10>; .reg .b64 %d<10>; .reg .pred %p<4>;\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; setp.ne.s32 %p0, "
      "%r0, 0;\n"
      "@%p0 bra A; mbarrier.init.shared.b64 [mb], 1;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "A: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "@%p0 bra B; add.s32 %r2, %r1, 1; and.b32 %r2, %r2, 3;\n"
      "mov.b32 %r3, cell; mapa.shared::cluster.u32 %r4, %r3, %r2;\n"
      "add.s32 %r5, %r1, 100; st.shared::cluster.b32 [%r4], %r5;\n"
      "mov.b32 %r3, mb; mapa.shared::cluster.u32 %r4, %r3, %r2;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n"
      "B: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [mb], 0;\n"
      "@!%p1 bra B; ld.shared.b32 %r6, [cell]; ld.param.b64 %d0, [out];\n"
      "mov.u32 %r7, %ctaid.x; mul.wide.u32 %d1, %r7, 4; add.s64 %d0, %d0, "
      "%d1;\n"
      "@!%p0 st.global.b32 [%d0], %r6;\n"
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }\n";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Machine m(seed);
    Status status = m.load(text);
    ASSERT_TRUE(status.ok()) << status.message();
    uint64_t out = m.upload(std::vector<uint32_t>(8, 0));
    std::vector<uint8_t> params;
    append(params, out);
    status = m.run("k", params, {64, 1, 1}, {8, 1, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    auto got = m.download<uint32_t>(out, 8);
    for (uint32_t k = 0; k < 8; ++k) {
      EXPECT_EQ(got[k], 100 + (k + 3) % 4);
    }
  }
}

TEST(Cluster, PlainSharedAccessToAnotherCtaIsRefused) {
  std::string e =
      failureOf("mov.b32 %r0, 0x01000400; ld.shared.b32 %r1, [%r0];");
  EXPECT_NE(e.find("out of bounds"), std::string::npos) << e;
}

TEST(Matrix, StoreAndLoadTransposed) {
  auto r = runBody(
      "mov.b32 %r0, buf; shl.b32 %r1, %t, 4; and.b32 %r1, %r1, 127;\n"
      "add.s32 %r0, %r0, %r1; shl.b32 %r2, %t, 17; shl.b32 %r3, %t, 1;\n"
      "or.b32 %r2, %r2, %r3; or.b32 %r2, %r2, 0x10000;\n"
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r2};\n"
      "bar.warp.sync -1;\n"
      "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r0];\n"
      "ld.shared.b32 %r5, [buf+20]; mov.b64 %out, {%r4, %r5};",
      32, ".shared .align 16 .b8 buf[128];\n");
  // Element (row, column) is 8 row + column.
  for (uint64_t t = 0; t < 32; ++t) {
    uint64_t row = t / 4, column = t % 4 * 2;
    EXPECT_EQ(uint32_t(r[t]), (8 * column + row) | (8 * (column + 1) + row)
                                                       << 16);
    EXPECT_EQ(r[t] >> 32, 10u | 11u << 16);
  }
}

std::string tmemBody(const std::string &inner) {
  return "shr.u32 %r0, %t, 5; setp.ne.s32 %p0, %r0, 0; @%p0 bra A;\n"
         "mov.b32 %r1, 64;\n"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], "
         "%r1;\n"
         "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
         "A: bar.sync 0; ld.shared.b32 %r2, [slot]; shl.b32 %r3, %r0, 21;\n"
         "add.s32 %r4, %r2, %r3;\n" +
         inner +
         "\nbar.sync 0; @%p0 bra Z; mov.b32 %r1, 64;\n"
         "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, %r1;\nZ:";
}
const char *kSlot = ".shared .align 4 .b32 slot;\n";

TEST(TensorMemory, StoreLoad) {
  auto r = runBody(
      tmemBody("add.s32 %r5, %t, 1000; add.s32 %r6, %t, 2000;\n"
               "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r4+8], {%r5, %r6};\n"
               "tcgen05.wait::st.sync.aligned;\n"
               "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r7, %r8}, [%r4+8];\n"
               "tcgen05.wait::ld.sync.aligned; mov.b64 %out, {%r7, %r8};"),
      128, kSlot);
  for (uint64_t t = 0; t < 128; ++t) {
    EXPECT_EQ(r[t], (1000 + t) | (2000 + t) << 32);
  }
}

TEST(TensorMemory, FragmentsOfShape16x256b) {
  // Column c of lane l holds 100 l + c; a 16x256b load spreads it like the
  // accumulator of mma.m16n8.
  auto r = runBody(
      tmemBody(
          "rem.u32 %r5, %t, 32; mul.lo.s32 %r5, %r5, 100;\n"
          "add.s32 %r10, %r5, 1; add.s32 %r11, %r5, 2; add.s32 %r12, %r5, 3;\n"
          "add.s32 %r13, %r5, 4; add.s32 %r14, %r5, 5; add.s32 %r15, %r5, 6;\n"
          "add.s32 %r16, %r5, 7;\n"
          "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4], "
          "{%r5,%r10,%r11,%r12,%r13,%r14,%r15,%r16};\n"
          "tcgen05.wait::st.sync.aligned;\n"
          "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r6,%r7,%r8,%r9}, [%r4];\n"
          "tcgen05.wait::ld.sync.aligned; mov.b64 %out, {%r7, %r8};"),
      128, kSlot);
  for (uint64_t t = 0; t < 32; ++t) {
    EXPECT_EQ(uint32_t(r[t]), t / 4 * 100 + t % 4 * 2 + 1);
    EXPECT_EQ(r[t] >> 32, (t / 4 + 8) * 100 + t % 4 * 2);
  }
}

TEST(TensorMemory, RegisterDependenceNeedsNoWait) {
  auto r =
      runBody(tmemBody("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%t};\n"
                       "tcgen05.wait::st.sync.aligned;\n"
                       "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r4];\n"
                       "mov.b32 %r8, %r7; tcgen05.wait::ld.sync.aligned;\n"
                       "mov.b64 %out, {%r7, %r8};"),
              32, kSlot);
  EXPECT_EQ(r[5], 5u | uint64_t(5) << 32);
}

TEST(TensorMemory, Misuse) {
  auto has = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(failureOf(tmemBody("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r2];"),
                64, kSlot),
      "is not open to warp 1");
  has(failureOf(
          tmemBody("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r4+64];"),
          32, kSlot),
      "column 64 of tensor memory is not allocated");
  has(failureOf("mov.b32 %r1, 48; tcgen05.alloc.cta_group::1.sync.aligned"
                ".shared::cta.b32 [slot], %r1;",
                32, kSlot),
      "must be a power of two");
  has(failureOf(tmemBody("mov.b32 %r1, 64; tcgen05.alloc.cta_group::1.sync"
                         ".aligned.shared::cta.b32 [slot], %r1;"),
                32, kSlot),
      "gave up its permit");
  has(failureOf("mov.b32 %r1, 512; tcgen05.alloc.cta_group::1.sync.aligned"
                ".shared::cta.b32 [slot], %r1; tcgen05.alloc.cta_group::1.sync"
                ".aligned.shared::cta.b32 [slot], %r1;",
                32, kSlot),
      "waits for tensor memory columns");
}

} // namespace
