// What the other threads and CTAs of a cluster still have to do with shared
// memory: commits on their way to it, answers of launch control in it.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

/// The findings of `body` as a kernel of `ctas` CTAs, one cluster.
std::vector<std::string> findingsOf(const std::string &body,
                                    const std::string &before, uint32_t threads,
                                    uint32_t ctas, uint64_t seed) {
  EmulatorOptions options;
  options.scheduleSeed = seed;
  Machine m;
  m.device = createEmulatorDevice(options);
  Status status = m.load(kernelText(body, before));
  EXPECT_TRUE(status.ok()) << status.message();
  uint64_t out = m.upload(std::vector<uint64_t>(ctas * threads, 0));
  std::vector<uint8_t> params;
  append(params, out);
  status = m.run("k", params, {threads, 1, 1}, {ctas, 1, 1}, 0, {ctas, 1, 1});
  std::vector<std::string> ids;
  for (const Finding &f : m.device->findings()) {
    ids.push_back(findingId(f.kind));
  }
  EXPECT_EQ(status.ok(), ids.empty()) << status.message();
  return ids;
}

/// CTA 0 commits to two mbarriers of CTA 1, which then waits by `wait`.
std::string commitsToPeer(const std::string &wait) {
  const std::string commit =
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
      "multicast::cluster.b64 ";
  return "mov.u32 %r1, %cluster_ctarank; setp.ne.s32 %p0, %r1, 0;\n"
         "setp.ne.s32 %p1, %t, 0; @%p1 bra A;\n"
         "mbarrier.init.shared.b64 [empty], 1;\n"
         "mbarrier.init.shared.b64 [full], 1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "A: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "@%p0 bra W; @%p1 bra E; mov.b16 %h0, 2;\n" +
         commit + "[empty], %h0;\n" + commit +
         "[full], %h0;\nbra E;\nW: " + wait +
         "\nE: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "mad.wide.u32 %o, %r1, 256, %o;"; // a place of its own for %out
}

std::string waitFor(const std::string &barrier, const std::string &label) {
  return label +
         ": mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [" +
         barrier + "], 0; @!%p2 bra " + label + ";\n";
}

TEST(HazardCluster, ACommitArrivesByItself) {
  const char *barriers = ".shared .align 8 .b64 empty;\n"
                         ".shared .align 8 .b64 full;\n";
  std::string full = waitFor("full", "F"), empty = waitFor("empty", "G");
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_EQ(findingsOf(commitsToPeer(full), barriers, 32, 2, seed),
              std::vector<std::string>{"exit-while-pending"});
    EXPECT_TRUE(
        findingsOf(commitsToPeer(full + empty), barriers, 32, 2, seed).empty());
  }
}

/// Thread 0 asks twice; one thread each of warps 1 to 3 reads the answer and
/// gives it back, warp `careless` without a proxy fence.
std::string answers(unsigned careless) {
  return "and.b32 %r1, %t, 31; setp.ne.s32 %p0, %r1, 0; shr.u32 %r2, %t, 5;\n"
         "setp.ne.s32 %p1, %t, 0; @%p1 bra A;\n"
         "mbarrier.init.shared.b64 [full], 1;\n"
         "mbarrier.init.shared.b64 [empty], 3;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "A: bar.sync 0; @%p0 bra E; mov.b32 %r9, 0;\n"
         "L: @%p1 bra W; xor.b32 %r10, %r9, 1;\n"
         "F: mbarrier.try_wait.parity.shared.b64 %p2, [empty], %r10;\n"
         "@!%p2 bra F; mbarrier.arrive.expect_tx.shared.b64 _, [full], 16;\n"
         "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
         "complete_tx::bytes.b128 [answer], [full];\n"
         "W: mbarrier.try_wait.parity.shared.b64 %p2, [full], %r9;\n"
         "@!%p2 bra W; @!%p1 bra N; ld.shared.b64 %d1, [answer];\n"
         "setp.eq.u32 %p3, %r2, " +
         std::to_string(careless) +
         "; @%p3 bra G; fence.proxy.async.shared::cta;\n"
         "G: mbarrier.arrive.shared.b64 %d2, [empty];\n"
         "N: xor.b32 %r9, %r9, 1; setp.ne.s32 %p4, %r9, 0; @%p4 bra L; E:";
}

TEST(HazardCluster, AllReadersOfAnAnswerCount) {
  const char *shared = ".shared .align 16 .b8 answer[16];\n"
                       ".shared .align 8 .b64 empty;\n"
                       ".shared .align 8 .b64 full;\n";
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_TRUE(findingsOf(answers(0), shared, 128, 1, seed).empty());
    for (unsigned careless = 1; careless < 4; ++careless) {
      EXPECT_EQ(findingsOf(answers(careless), shared, 128, 1, seed),
                std::vector<std::string>{"proxy-fence"});
    }
  }
}

} // namespace
