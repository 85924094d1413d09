// What the emulator refuses, and how it says so.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Errors, UnknownInstruction) {
  std::string e = failureOf("frobnicate.b32 %r0, %r1;");
  EXPECT_HAS(e, "line 9: unsupported instruction 'frobnicate.b32 %r0, %r1'");
  e = failureOf("add.magic.s32 %r0, %r1, %r2;");
  EXPECT_HAS(e, "'.magic' is not known here");
}

TEST(Errors, Parser) {
  Machine m;
  EXPECT_HAS(m.load("nonsense").message(), "line 1");
  EXPECT_HAS(m.load(".version 9.0\n.entry k() { mov.b32 %r1").message(),
             "line 2");
  EXPECT_HAS(m.load(".entry k() { /* ").message(), "comment is not closed");
  EXPECT_HAS(m.load(".bogus 3\n").message(), "unsupported directive");
  EXPECT_HAS(failureOf("bra NOWHERE;"), "label 'NOWHERE' is not defined");
  EXPECT_HAS(failureOf("mov.b32 %zz, 0;"), "'%zz' is not defined");
  EXPECT_HAS(failureOf("add.s32 %r0, %d0, 1;"), "64 bits");
}

TEST(Errors, EveryPrefixOfAKernelIsRefusedOrLoads) {
  const std::string ptx = readFile("test/runtime/emulator/mxfp8_tile.ptx");
  for (size_t n = 0; n < ptx.size(); n += 61) {
    Machine m;
    (void)m.load(ptx.substr(0, n));
  }
}

TEST(Errors, OutOfBounds) {
  std::string e = failureOf("add.s64 %o, %o, 8; st.global.b64 [%o+248], %out;"
                            "sub.s64 %o, %o, 8;");
  EXPECT_HAS(e, "kernel 'k', line 9");
  EXPECT_HAS(e, "store of 8 bytes");
  EXPECT_HAS(e, "thread 0");
  EXPECT_HAS(e, "the nearest allocation is");
  e = failureOf("mov.b32 %r0, 64; st.shared.b32 [%r0], 1;");
  EXPECT_HAS(e, "out of bounds");
  e = failureOf("ld.global.b64 %d0, [%o+4];");
  EXPECT_HAS(e, "not aligned");
}

TEST(Errors, LaunchConfiguration) {
  Machine m;
  ASSERT_TRUE(m.load(kernelText("")).ok());
  std::vector<uint8_t> params(8);
  EXPECT_HAS(m.run("x", params).message(), "no kernel 'x'");
  EXPECT_HAS(m.run("k", {}).message(), "parameters have 0 bytes");
  EXPECT_HAS(m.run("k", params, {2048, 1, 1}).message(), "limit 1024 threads");
  EXPECT_HAS(m.run("k", params, {0, 1, 1}).message(), "zero dimension");
  EXPECT_HAS(m.run("k", params, {32, 1, 1}, {3, 1, 1}, 0, {2, 1, 1}).message(),
             "not a multiple of the cluster");
  EXPECT_HAS(m.run("k", params, {32, 1, 1}, {1, 1, 1}, 232449).message(),
             "limit 232448");
}

TEST(Errors, Trap) { EXPECT_HAS(failureOf("trap;"), "trap"); }

TEST(Mbarrier, PhasesAndTransactions) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    // Thread 0 initializes; every thread arrives; thread 0 expects and
    // completes 64 bytes; all wait for the phase.
    auto r =
        runBody("setp.eq.s32 %p0, %t, 0;\n"
                "@%p0 mbarrier.init.shared.b64 [mb], 64; bar.sync 0;\n"
                "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [mb], 64;\n"
                "bar.sync 0; mbarrier.arrive.shared.b64 %d0, [mb];\n"
                "mbarrier.test_wait.shared.b64 %p1, [mb], %d0;\n"
                "selp.b32 %r0, 1, 0, %p1; bar.sync 0;\n"
                "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [mb], 64;\n"
                "W: mbarrier.try_wait.parity.shared.b64 %p1, [mb], 0;\n"
                "@!%p1 bra W;\n"
                "mbarrier.test_wait.parity.shared.b64 %p1, [mb], 1;\n"
                "selp.b32 %r1, 1, 0, %p1; mov.b64 %out, {%r0, %r1};",
                64, ".shared .align 8 .b64 mb;\n", seed);
    for (uint64_t v : r) {
      EXPECT_EQ(v, 0u);
    }
  }
}

TEST(Mbarrier, DeadlockNamesTheWaiters) {
  std::string e = failureOf(
      "setp.eq.s32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [mb], 3;\n"
      "bar.sync 0; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [mb], 128;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [mb], 0; @!%p1 bra W;",
      64, ".shared .align 8 .b64 mb;\n");
  EXPECT_HAS(e, "deadlock in kernel 'k'");
  EXPECT_HAS(e, "warp 1");
  EXPECT_HAS(e, "mbarrier at shared address 0x400");
  EXPECT_HAS(e, "2 of 3 arrivals pending and 128 transaction bytes pending");
}

TEST(Mbarrier, Misuse) {
  EXPECT_HAS(failureOf("mbarrier.arrive.shared.b64 %d0, [mb];", 32,
                       ".shared .align 8 .b64 mb;\n"),
             "no mbarrier is initialized");
  EXPECT_HAS(failureOf("bar.sync 0, 64;"), "must be a multiple of 32");
}

} // namespace
