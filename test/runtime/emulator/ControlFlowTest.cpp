// Divergence, calls, warp-wide instructions, named barriers and memory.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

TEST(ControlFlow, DivergentLoopReconverges) {
  auto r = runBody("mov.b32 %r0, 0;\n"
                   "L: add.s32 %r0, %r0, 2; setp.lt.s32 %p0, %r0, %t;\n"
                   "@%p0 bra L;\n"
                   "activemask.b32 %r1; mov.b64 %out, {%r0, %r1};",
                   32);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(uint32_t(r[t]), t < 2 ? 2 : (t + 1) / 2 * 2);
    EXPECT_EQ(r[t] >> 32, 0xffffffffu);
  }
}

TEST(ControlFlow, NestedScopesReuseNames) {
  auto r = runBody("{ .reg .b32 %r0; mov.b32 %r0, 1; bra L; L: }\n"
                   "{ .reg .b32 %r0; mov.b32 %r0, 2; bra L; L:\n"
                   "cvt.u64.u32 %out, %r0; }");
  EXPECT_EQ(r[0], 2u);
}

TEST(ControlFlow, BranchTable) {
  auto r = runBody("and.b32 %r0, %t, 3; ts: .branchtargets A, B, C, D;\n"
                   "brx.idx %r0, ts;\n"
                   "A: mov.b64 %out, 10; bra E; B: mov.b64 %out, 11; bra E;\n"
                   "C: mov.b64 %out, 12; bra E; D: mov.b64 %out, 13;\nE:");
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(r[t], 10 + t % 4);
  }
}

TEST(ControlFlow, CallExpands) {
  auto r =
      runBody("{ .param .b32 a; st.param.b32 [a], %t; .param .b32 v;\n"
              "call.uni (v), twice, (a); ld.param.b32 %r0, [v]; }\n"
              "cvt.u64.u32 %out, %r0;",
              32,
              ".func (.param .b32 rv) twice(.param .b32 x) { .reg .b32 %a;\n"
              "ld.param.b32 %a, [x]; add.s32 %a, %a, %a;\n"
              "st.param.b32 [rv], %a; ret; }\n");
  EXPECT_EQ(r[5], 10u);
}

TEST(ControlFlow, LanesThatSpinDoNotStarveOthers) {
  // Lane 0 spins on a shared flag that lane 1 sets at a higher address.
  auto r = runBody("setp.eq.s32 %p0, %t, 0; st.shared.b32 [flag], 0;\n"
                   "bar.warp.sync -1; @!%p0 bra S;\n"
                   "W: ld.volatile.shared.b32 %r0, [flag];\n"
                   "setp.eq.s32 %p1, %r0, 0; @%p1 bra W; bra E;\n"
                   "S: st.volatile.shared.b32 [flag], 5;\n"
                   "E: bar.warp.sync -1; ld.shared.b32 %r0, [flag];\n"
                   "cvt.u64.u32 %out, %r0;",
                   32, ".shared .align 4 .b32 flag;\n");
  EXPECT_EQ(r[0], 5u);
}

TEST(Warp, ElectShuffleVoteReduce) {
  auto r = runBody("elect.sync %r0|%p0, -1; selp.b32 %r1, 1, 0, %p0;\n"
                   "mov.b64 %out, {%r1, %r0};");
  EXPECT_EQ(r[0], 1u);
  EXPECT_EQ(r[1], 0u);
  r = runBody("shfl.sync.idx.b32 %r0, %t, 3, 31, -1;"
              "shfl.sync.up.b32 %r1|%p0, %t, 1, 0, -1;"
              "selp.b32 %r1, %r1, 99, %p0; mov.b64 %out, {%r0, %r1};");
  EXPECT_EQ(r[7], 3u | uint64_t(6) << 32);
  EXPECT_EQ(r[0], 3u | uint64_t(99) << 32);
  r = runBody("shfl.sync.bfly.b32 %r0, %t, 16, 31, -1;"
              "setp.gt.u32 %p0, %t, 29; vote.sync.ballot.b32 %r1, %p0, -1;"
              "mov.b64 %out, {%r0, %r1};");
  EXPECT_EQ(r[2], 18u | uint64_t(0xc0000000) << 32);
  r = runBody("redux.sync.add.s32 %r0, %t, -1; cvt.rn.f32.u32 %r1, %t;"
              "neg.f32 %r1, %r1; redux.sync.max.abs.f32 %r1, %r1, -1;"
              "mov.b64 %out, {%r0, %r1};");
  EXPECT_EQ(r[9], 496u | uint64_t(0x41f80000) << 32);
}

TEST(Barrier, NamedAndCounted) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto r =
        runBody("shl.b32 %r0, %t, 2; mov.b32 %r2, buf; add.s32 %r0, %r0, %r2;\n"
                "st.shared.b32 [%r0], %t; bar.sync 1, 128;\n"
                "xor.b32 %r1, %t, 127; shl.b32 %r1, %r1, 2;\n"
                "add.s32 %r1, %r1, %r2; ld.shared.b32 %r3, [%r1];\n"
                "setp.gt.u32 %p0, %t, 99; barrier.red.popc.u32 %r4, 2, %p0;\n"
                "mov.b64 %out, {%r3, %r4};",
                128, ".shared .align 16 .b8 buf[512];\n", seed);
    for (uint32_t t = 0; t < 128; ++t) {
      EXPECT_EQ(r[t], (t ^ 127u) | uint64_t(28) << 32);
    }
  }
}

TEST(Memory, VectorsAndSigns) {
  auto r = runBody("mov.b32 %r0, buf;\n"
                   "st.shared.v4.b32 [%r0], {1, 2, 3, 0x80ff};\n"
                   "bar.warp.sync -1; ld.shared.s16 %r1, [%r0+12];\n"
                   "ld.shared.v2.b64 {%d0, %d1}, [buf];\n"
                   "shr.u64 %d1, %d1, 32; cvt.u32.u64 %r2, %d1;\n"
                   "add.s32 %r1, %r1, %r2; cvt.s64.s32 %out, %r1;",
                   32, ".shared .align 16 .b8 buf[64];\n");
  EXPECT_EQ(r[0], uint64_t(int64_t(int16_t(0x80ff)) + 0x80ff));
}

TEST(Memory, AtomicsAndGlobals) {
  auto r = runBody("mov.b64 %d0, counter; atom.global.add.u32 %r0, [%d0], 2;\n"
                   "bar.sync 0; ld.global.b32 %r1, [table+4];\n"
                   "ld.global.b32 %r2, [counter]; add.s32 %r1, %r1, %r2;\n"
                   "cvt.u64.u32 %out, %r1;",
                   64,
                   ".global .align 4 .u32 counter;\n"
                   ".const .align 4 .u32 table[2] = {7, 9};\n");
  EXPECT_EQ(r[63], 137u);
}

TEST(Memory, GenericAndLocal) {
  auto r =
      runBody("{ .local .align 8 .b8 depot[16]; mov.b64 %d0, depot;\n"
              "cvta.local.u64 %d1, %d0; st.b32 [%d1+4], %t;\n"
              "ld.local.b32 %r0, [%d0+4]; mov.b64 %d2, buf;\n"
              "cvta.shared.u64 %d3, %d2; st.b32 [%d3], 77; bar.warp.sync -1;\n"
              "ld.shared.b32 %r1, [buf]; mov.b64 %out, {%r0, %r1}; }",
              32, ".shared .align 16 .b8 buf[16];\n");
  EXPECT_EQ(r[6], 6u | uint64_t(77) << 32);
}

} // namespace
