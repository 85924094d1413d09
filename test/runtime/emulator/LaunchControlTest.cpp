// Cluster launch control: clusters take over the work of others, every tile is
// done exactly once, and the response decodes to the canceled cluster.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

/// Each tile (a CTA's coordinates) adds 1 to its counter; a cluster asks for
/// another tile until it gets none. Multicast delivers to both CTAs.
std::string persistent(bool pairs) {
  std::string multicast = pairs ? ".multicast::cluster::all" : "";
  return std::string(prologue()) + ".visible .entry k(.param .u64 out)\n" +
         (pairs ? ".explicitcluster\n.reqnctapercluster 2, 1, 1\n" : "") +
         "{\n.shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar;\n"
         ".reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<6>; .reg .b128 %q;\n"
         "mov.u32 %r0, %tid.x; setp.ne.s32 %p0, %r0, 0; ld.param.b64 %d0, "
         "[out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, "
         "%ctaid.z; mov.u32 %r4, %cluster_ctarank; mov.b32 %r9, 0;\n"
         "@!%p0 mbarrier.init.shared.b64 [bar], 1; "
         "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; "
         "barrier.cluster.wait; setp.ne.s32 %p1, %r4, 0; or.pred %p1, %p1, "
         "%p0;\n"
         "work: mov.u32 %r5, %nctaid.x; mov.u32 %r6, %nctaid.y; mad.lo.s32 "
         "%r7, "
         "%r3, %r6, %r2; mad.lo.s32 %r7, %r7, %r5, %r1; mul.wide.u32 %d1, %r7, "
         "4; add.s64 %d1, %d1, %d0; @!%p0 red.global.add.u32 [%d1], 1;\n"
         "barrier.cluster.arrive; barrier.cluster.wait; @!%p0 "
         "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; "
         "barrier.cluster.arrive; barrier.cluster.wait; @!%p1 "
         "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
         "complete_tx::bytes" +
         multicast +
         ".b128 [answer], [bar];\n"
         "wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r9; @!%p2 bra "
         "wait; xor.b32 %r9, %r9, 1; ld.shared.b128 %q, [answer]; "
         "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q; "
         "@!%p3 bra done; "
         "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, "
         "%r2, %r3, _}, %q; "
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r2, "
         "%q; clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 "
         "%r3, %q; add.s32 %r1, %r1, %r4; fence.proxy.async; bra work;\n"
         "done: mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; mul.lo.s32 "
         "%r10, %r10, %r11; mov.u32 %r11, %nctaid.z; mul.lo.s32 %r10, %r10, "
         "%r11; mul.wide.u32 %d1, %r10, 4; add.s64 %d1, %d1, %d0; @!%p0 "
         "red.global.add.u32 [%d1], 1; barrier.cluster.arrive; "
         "barrier.cluster.wait; ret; }\n";
}

void check(bool pairs) {
  Dim3 grid{8, 3, 2};
  bool someTaken = false;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Machine m(seed);
    Status status = m.load(persistent(pairs));
    ASSERT_TRUE(status.ok()) << status.message();
    uint64_t out = m.upload(std::vector<uint32_t>(49, 0));
    std::vector<uint8_t> params;
    append(params, out);
    status = m.run("k", params, {64, 1, 1}, grid, 0, {pairs ? 2u : 1u, 1, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    auto got = m.download<uint32_t>(out, 49);
    for (uint32_t k = 0; k < 48; ++k) {
      EXPECT_EQ(got[k], 1u) << "tile " << k << " seed " << seed;
    }
    someTaken |= got[48] < 48; // CTAs that were launched
  }
  EXPECT_TRUE(someTaken);
}

TEST(LaunchControl, EveryTileOnce) { check(false); }
TEST(LaunchControl, PairsAndMulticast) { check(true); }

} // namespace
