// One kernel for each kind of finding, with the error and without it.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

struct Outcome {
  Status status;
  std::vector<std::string> ids;
  /// One of several ids, separated by '|'.
  bool has(const std::string &any) const {
    for (const std::string &i : ids) {
      if (("|" + any + "|").find("|" + i + "|") != std::string::npos) {
        return true;
      }
    }
    return false;
  }
};

struct Case {
  const char *id;
  std::string wrong, right;
  uint32_t threads = 64;
  const char *before = "";
  HazardLevel level = HazardLevel::Fast;
  uint32_t ctas = 1; // of one cluster
};

Outcome runCase(const Case &c, const std::string &body, uint64_t seed) {
  EmulatorOptions options;
  options.scheduleSeed = seed;
  options.hazards = c.level;
  Machine m;
  m.device = createEmulatorDevice(options);
  Outcome outcome;
  outcome.status = m.load(kernelText(body, c.before));
  if (!outcome.status) {
    return outcome;
  }
  // Threads add 8 * tid; beyond lies room for the kernels' own use.
  uint64_t out = m.upload(std::vector<uint64_t>(2048, 1));
  std::vector<uint8_t> params;
  append(params, out);
  outcome.status =
      m.run("k", params, {c.threads, 1, 1}, {c.ctas, 1, 1}, 0, {c.ctas, 1, 1});
  for (const Finding &f : m.device->findings()) {
    outcome.ids.push_back(findingId(f.kind));
  }
  return outcome;
}

const char *kWord = ".shared .align 16 .b8 word[64];\n";
const char *kTmem = ".shared .align 4 .b32 slot;\n"
                    ".shared .align 8 .b64 done;\n";
const char *kRing = ".shared .align 128 .b8 buffer[256];\n"
                    ".shared .align 8 .b64 full;\n";

std::string pairOf(const std::string &first, const std::string &between,
                   const std::string &second) {
  return "setp.ge.u32 %p0, %t, 32; @%p0 bra B;\n" + first + "\nB:" + between +
         "\n@!%p0 bra E;\n" + second + "\nE:";
}

/// Thread 0 loads 128 bytes of global memory into `buffer`; `wait` follows.
std::string bulkLoad(const std::string &setup, const std::string &expect,
                     const std::string &wait) {
  return "setp.ne.s32 %p0, %t, 0; @%p0 bra B;\n"
         "mbarrier.init.shared.b64 [full], 1;\n" +
         setup +
         "\nB: bar.sync 0; @%p0 bra W;\n"
         "mbarrier.arrive.expect_tx.shared.b64 %d1, [full], " +
         expect +
         ";\nadd.s64 %d2, %o, 4096;\n"
         "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
         "[buffer], [%d2], 128, [full];\n"
         "W: " +
         wait +
         "\nrem.u32 %r5, %t, 32; shl.b32 %r5, %r5, 2; mov.b32 %r6, buffer;\n"
         "add.s32 %r6, %r6, %r5; ld.shared.b32 %r7, [%r6];\n"
         "cvt.u64.u32 %out, %r7;";
}

std::string tmem(const std::string &body, const std::string &end) {
  return "setp.ge.u32 %p0, %t, 32; mov.b32 %r1, 32; @%p0 bra A;\n"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], "
         "%r1;\n"
         "A: bar.sync 0; ld.shared.b32 %r2, [slot]; shr.u32 %r3, %t, 5;\n"
         "shl.b32 %r3, %r3, 21; add.s32 %r4, %r2, %r3;\n" +
         body + "\n" + end +
         "\n@%p0 bra Z;\n"
         "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, %r1;\nZ:";
}

const std::string kInit = "fence.mbarrier_init.release.cluster;";
const std::string kWait =
    "mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra W;";
const std::string kStore =
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%t};\n"
    "tcgen05.wait::st.sync.aligned;";
const std::string kLoad = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r4];";

/// CTA 0 writes into CTA 1 and arrives there; CTA 1 waits and reads.
std::string remote(const std::string &arrive, const std::string &wait,
                   const std::string &end) {
  return "mov.u32 %r1, %cluster_ctarank; setp.ne.s32 %p0, %r1, 0;\n"
         "setp.ne.s32 %p1, %t, 0; @%p1 bra A;\n"
         "mbarrier.init.shared.b64 [bar], 1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "A: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "@%p0 bra W; @%p1 bra E; mov.b32 %r2, word;\n"
         "mapa.shared::cluster.u32 %r3, %r2, 1;\n"
         "st.shared::cluster.b32 [%r3], 5; mov.b32 %r2, bar;\n"
         "mapa.shared::cluster.u32 %r3, %r2, 1;\n" +
         arrive + "\nbra E; W: " + wait +
         "\nld.shared.b32 %r4, [word];\nE:" + end +
         "\nmad.wide.u32 %o, %r1, 1024, %o;";
}

/// Warp 0 writes tensor memory, warp 4 reads it.
std::string betweenWarps(const std::string &before, const std::string &after) {
  return tmem("setp.ge.u32 %p2, %t, 128; shr.u32 %r5, %t, 5; and.b32 %r5, "
              "%r5, 3;\nsetp.ne.s32 %p3, %r5, 0; and.b32 %r4, %r4, "
              "0x0060ffff;\n@%p3 bra J; @%p2 bra J;\n" +
                  kStore + "\nJ: " + before + " bar.sync 1; " + after +
                  "\n@%p3 bra K; @!%p2 bra K;\n" + kLoad +
                  "tcgen05.wait::ld.sync.aligned; K:",
              "bar.sync 0;");
}

const char *kPeer = ".shared .align 4 .b32 word;\n"
                    ".shared .align 8 .b64 bar;\n";
const std::string kClusterEnd =
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
const std::string kClusterWait =
    "mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [bar], 0;\n"
    "@!%p2 bra W;";

const std::vector<Case> &cases() {
  static const std::vector<Case> kCases = {
      {"read-unordered",
       pairOf("st.shared.b32 [word], 1;", "", "ld.shared.b32 %r1, [word];"),
       pairOf("st.shared.b32 [word], 1;", "bar.sync 0;",
              "ld.shared.b32 %r1, [word];"),
       64, kWord},
      {"write-unordered",
       pairOf("st.shared.b32 [word], 1;", "", "st.shared.b32 [word], 2;"),
       pairOf("st.shared.b32 [word], 1;", "bar.sync 0;",
              "st.shared.b32 [word], 2;"),
       64, kWord},
      {"overwrite-in-use|read-unordered",
       "setp.ne.s32 %p1, %t, 0; @!%p1 st.shared.b32 [word], 1;\n"
       "bar.sync 0;\n" +
           pairOf("ld.shared.b32 %r1, [word];", "", "st.shared.b32 [word], 2;"),
       "setp.ne.s32 %p1, %t, 0; @!%p1 st.shared.b32 [word], 1;\n"
       "bar.sync 0;\n" +
           pairOf("ld.shared.b32 %r1, [word];", "bar.sync 0;",
                  "st.shared.b32 [word], 2;"),
       64, kWord},
      // A release that the other side only reads weakly orders nothing.
      {"read-unordered",
       "setp.ne.s32 %p1, %t, 0; @!%p1 st.shared.b32 [word+4], 0;\n"
       "bar.sync 0;\n" +
           pairOf("st.shared.b32 [word], 1;\n"
                  "st.relaxed.cta.shared.b32 [word+4], 1;",
                  "",
                  "W: ld.acquire.cta.shared.b32 %r1, [word+4];\n"
                  "setp.ne.s32 %p1, %r1, 1; @%p1 bra W;\n"
                  "ld.shared.b32 %r2, [word];"),
       "setp.ne.s32 %p1, %t, 0; @!%p1 st.shared.b32 [word+4], 0;\n"
       "bar.sync 0;\n" +
           pairOf("st.shared.b32 [word], 1;\n"
                  "st.release.cta.shared.b32 [word+4], 1;",
                  "",
                  "W: ld.acquire.cta.shared.b32 %r1, [word+4];\n"
                  "setp.ne.s32 %p1, %r1, 1; @%p1 bra W;\n"
                  "ld.shared.b32 %r2, [word];"),
       64, kWord},
      // Fences around relaxed accesses do the same.
      {"read-unordered",
       "setp.ne.s32 %p1, %t, 0; @!%p1 st.shared.b32 [word+4], 0;\n"
       "bar.sync 0;\n" +
           pairOf("st.shared.b32 [word], 1;\n"
                  "fence.acq_rel.cta;\n"
                  "st.relaxed.cta.shared.b32 [word+4], 1;",
                  "",
                  "W: ld.relaxed.cta.shared.b32 %r1, [word+4];\n"
                  "setp.ne.s32 %p1, %r1, 1; @%p1 bra W;\n"
                  "ld.shared.b32 %r2, [word];"),
       "setp.ne.s32 %p1, %t, 0; @!%p1 st.shared.b32 [word+4], 0;\n"
       "bar.sync 0;\n" +
           pairOf("st.shared.b32 [word], 1;\n"
                  "fence.acq_rel.cta;\n"
                  "st.relaxed.cta.shared.b32 [word+4], 1;",
                  "",
                  "W: ld.relaxed.cta.shared.b32 %r1, [word+4];\n"
                  "setp.ne.s32 %p1, %r1, 1; @%p1 bra W;\n"
                  "fence.acq_rel.cta; ld.shared.b32 %r2, [word];"),
       64, kWord},
      // Lanes of one warp are threads, too.
      {"read-unordered",
       "setp.ne.s32 %p0, %t, 0; @!%p0 st.shared.b32 [word], 1;\n"
       "ld.shared.b32 %r1, [word];",
       "setp.ne.s32 %p0, %t, 0; @!%p0 st.shared.b32 [word], 1;\n"
       "bar.warp.sync -1; ld.shared.b32 %r1, [word];",
       32, kWord},
      {"write-unordered",
       pairOf("st.global.b32 [%o+8192], 1;", "", "st.global.b32 [%o+8192], 2;"),
       pairOf("st.global.b32 [%o+8192], 1;", "bar.sync 0;",
              "st.global.b32 [%o+8192], 2;")},
      {"uninitialized", "ld.shared.b32 %r1, [word];",
       "setp.eq.s32 %p0, %t, 0; @%p0 st.shared.b32 [word], 1;\n"
       "bar.sync 0; ld.shared.b32 %r1, [word];",
       64, kWord},
      {"uninitialized", "add.s32 %r1, %r2, 1;",
       "mov.b32 %r2, 3; add.s32 %r1, %r2, 1;", 32, "", HazardLevel::Full},
      // Which one depends on who comes first.
      {"read-unordered|uninitialized|overwrite-in-use",
       bulkLoad(kInit, "128", ""), bulkLoad(kInit, "128", kWait), 32, kRing},
      {"transaction-bytes", bulkLoad(kInit, "144", kWait),
       bulkLoad(kInit, "128", kWait), 32, kRing},
      {"transaction-bytes", bulkLoad(kInit, "112", kWait),
       bulkLoad(kInit, "128", kWait), 32, kRing},
      {"proxy-fence", bulkLoad("", "128", kWait), bulkLoad(kInit, "128", kWait),
       32, kRing},
      {"proxy-fence",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E; st.shared.b32 [word], 1;\n"
       "st.shared.v2.b64 [word], {1, 1}; add.s64 %d2, %o, 4096;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%d2], [word], 16;\n"
       "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E; st.shared.b32 [word], 1;\n"
       "st.shared.v2.b64 [word], {1, 1}; add.s64 %d2, %o, 4096;\n"
       "fence.proxy.async.shared::cta;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%d2], [word], 16;\n"
       "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:",
       32, kWord},
      {"exit-while-pending",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E;\n"
       "st.shared.v2.b64 [word], {1, 1}; add.s64 %d2, %o, 4096;\n"
       "fence.proxy.async.shared::cta;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%d2], [word], 16;\n"
       "cp.async.bulk.commit_group; E:",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E;\n"
       "st.shared.v2.b64 [word], {1, 1}; add.s64 %d2, %o, 4096;\n"
       "fence.proxy.async.shared::cta;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%d2], [word], 16;\n"
       "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; E:",
       32, kWord},
      // The buffer of a store is written again before it was read.
      {"overwrite-in-use",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E;\n"
       "st.shared.v2.b64 [word], {1, 1}; add.s64 %d2, %o, 4096;\n"
       "fence.proxy.async.shared::cta;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%d2], [word], 16;\n"
       "cp.async.bulk.commit_group; mov.b32 %r9, 0;\n"
       "L: add.s32 %r9, %r9, 1; setp.lt.s32 %p1, %r9, 9000; @%p1 bra L;\n"
       "st.shared.b32 [word], 2; cp.async.bulk.wait_group 0; E:",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E;\n"
       "st.shared.v2.b64 [word], {1, 1}; add.s64 %d2, %o, 4096;\n"
       "fence.proxy.async.shared::cta;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%d2], [word], 16;\n"
       "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n"
       "st.shared.b32 [word], 2; cp.async.bulk.wait_group 0; E:",
       32, kWord},
      {"arrival-count",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E;\n"
       "mbarrier.init.shared.b64 [word], 2;\n"
       "mbarrier.arrive.shared.b64 %d1, [word], 3; E:",
       "setp.ne.s32 %p0, %t, 0; @%p0 bra E;\n"
       "mbarrier.init.shared.b64 [word], 2;\n"
       "mbarrier.arrive.shared.b64 %d1, [word], 2; E:",
       32, kWord},
      {"barrier-lifetime",
       pairOf("mbarrier.init.shared.b64 [word], 32;", "nanosleep.u32 20;",
              "mbarrier.arrive.shared.b64 %d1, [word];"),
       "setp.ne.s32 %p1, %t, 0;\n"
       "@!%p1 mbarrier.init.shared.b64 [word], 32;\n" +
           pairOf("", "bar.sync 0;", "mbarrier.arrive.shared.b64 %d1, [word];"),
       64, kWord},
      {"skipped-phase",
       "setp.ne.s32 %p1, %t, 0;\n"
       "@!%p1 mbarrier.init.shared.b64 [word], 1; bar.sync 0;\n" +
           pairOf("@%p1 bra B; mbarrier.arrive.shared.b64 %d1, [word];\n"
                  "mbarrier.arrive.shared.b64 %d1, [word];\n"
                  "mbarrier.arrive.shared.b64 %d1, [word];",
                  "nanosleep.u32 20;",
                  "W: mbarrier.try_wait.parity.shared.b64 %p2, [word], 0;\n"
                  "@!%p2 bra W;"),
       "setp.ne.s32 %p1, %t, 0;\n"
       "@!%p1 mbarrier.init.shared.b64 [word], 1; bar.sync 0;\n" +
           pairOf("@%p1 bra B; mbarrier.arrive.shared.b64 %d1, [word];",
                  "nanosleep.u32 20;",
                  "W: mbarrier.try_wait.parity.shared.b64 %p2, [word], 0;\n"
                  "@!%p2 bra W;"),
       64, kWord},
      {"deadlock",
       "setp.ne.s32 %p1, %t, 0;\n"
       "@!%p1 mbarrier.init.shared.b64 [word], 2; bar.sync 0;\n"
       "@!%p1 mbarrier.arrive.shared.b64 %d1, [word];\n"
       "W: mbarrier.try_wait.parity.shared.b64 %p2, [word], 0; @!%p2 bra W;",
       "setp.ne.s32 %p1, %t, 0;\n"
       "@!%p1 mbarrier.init.shared.b64 [word], 1; bar.sync 0;\n"
       "@!%p1 mbarrier.arrive.shared.b64 %d1, [word];\n"
       "W: mbarrier.try_wait.parity.shared.b64 %p2, [word], 0; @!%p2 bra W;",
       64, kWord},
      {"barrier-misuse", "barrier.cluster.wait.aligned;",
       "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"},
      {"misaligned", "mov.b32 %r1, word; ld.shared.b32 %r2, [%r1+2];",
       "setp.eq.s32 %p0, %t, 0; @%p0 st.shared.b32 [word], 1;\n"
       "bar.sync 0; mov.b32 %r1, word; ld.shared.b32 %r2, [%r1];",
       64, kWord},
      {"out-of-bounds", "mov.b32 %r1, word; st.shared.b32 [%r1+4096], 1;",
       "mov.b32 %r1, word; setp.eq.s32 %p0, %t, 0;\n"
       "@%p0 st.shared.b32 [%r1+60], 1;",
       64, kWord},
      {"not-converged",
       "setp.ne.s32 %p0, %t, 5; @!%p0 bra E;\n"
       "mov.b32 %r1, word; elect.sync %r3|%p2, 0xffffffdf;\n"
       "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%t};\n"
       "bra F; E: bar.sync 1; F:",
       "rem.u32 %r2, %t, 8; shl.b32 %r2, %r2, 4; mov.b32 %r1, word;\n"
       "add.s32 %r1, %r1, %r2;\n"
       "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%t};",
       32, ".shared .align 16 .b8 word[128];\n"},
      {"register-budget", "setmaxnreg.inc.sync.aligned.u32 256;",
       "setp.ge.u32 %p0, %t, 128; @!%p0 bra A;\n"
       "setmaxnreg.inc.sync.aligned.u32 160; bra E;\n"
       "A: setmaxnreg.dec.sync.aligned.u32 96; E:",
       256},
      // An arrival in another CTA releases at CTA scope unless it says more.
      {"read-unordered",
       remote("mbarrier.arrive.shared::cluster.b64 _, [%r3];", kClusterWait,
              kClusterEnd),
       remote("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
              kClusterWait, kClusterEnd),
       32, kPeer, HazardLevel::Fast, 2},
      {"read-unordered",
       remote("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
              "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n"
              "@!%p2 bra W;",
              kClusterEnd),
       remote("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
              kClusterWait, kClusterEnd),
       32, kPeer, HazardLevel::Fast, 2},
      // The CTA that is written to may be gone.
      {"exit-while-pending",
       remote("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
              "", ""),
       remote("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
              kClusterWait, kClusterEnd),
       32, ".shared .align 4 .b32 word;\n.shared .align 8 .b64 bar;\n",
       HazardLevel::Fast, 2},
      {"tcgen05-fence", betweenWarps("", ""),
       betweenWarps("tcgen05.fence::before_thread_sync;",
                    "tcgen05.fence::after_thread_sync;"),
       160, kTmem, HazardLevel::Full},
      {"read-unordered|uninitialized|overwrite-in-use",
       "setp.ne.s32 %p0, %t, 0; rem.u32 %r5, %t, 4; shl.b32 %r5, %r5, 2;\n"
       "mov.b32 %r6, word; add.s32 %r6, %r6, %r5; add.s64 %d2, %o, 4096;\n"
       "cp.async.ca.shared.global [%r6], [%d2], 4; cp.async.commit_group;\n"
       "ld.shared.b32 %r7, [%r6]; cp.async.wait_group 0;",
       "setp.ne.s32 %p0, %t, 0; rem.u32 %r5, %t, 4; shl.b32 %r5, %r5, 2;\n"
       "mov.b32 %r6, word; add.s32 %r6, %r6, %r5; add.s64 %d2, %o, 4096;\n"
       "cp.async.ca.shared.global [%r6], [%d2], 4; cp.async.commit_group;\n"
       "cp.async.wait_group 0; ld.shared.b32 %r7, [%r6];",
       4, kWord},
      {"tmem-leak",
       "setp.ge.u32 %p0, %t, 32; mov.b32 %r1, 32; @%p0 bra A;\n"
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], "
       "%r1;\nA:",
       tmem("", "bar.sync 0;"), 64, kTmem},
      {"tmem-free",
       tmem("", "bar.sync 0; @%p0 bra Y;\n"
                "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, %r1; Y:"),
       tmem("", "bar.sync 0;"), 64, kTmem},
      // The best known field bug: freed before the loads of others are done.
      {"tmem-use", tmem(kStore + kLoad + "tcgen05.wait::ld.sync.aligned;", ""),
       tmem(kStore + kLoad + "tcgen05.wait::ld.sync.aligned;", "bar.sync 0;"),
       64, kTmem},
      {"tmem-use",
       tmem(kStore + kLoad, "bar.sync 0; tcgen05.wait::ld.sync.aligned;"),
       tmem(kStore + kLoad, "tcgen05.wait::ld.sync.aligned; bar.sync 0;"), 64,
       kTmem},
      {"uninitialized",
       tmem(kLoad + "tcgen05.wait::ld.sync.aligned;", "bar.sync 0;"),
       tmem(kStore + kLoad + "tcgen05.wait::ld.sync.aligned;", "bar.sync 0;"),
       64, kTmem},
  };
  return kCases;
}

class Hazard : public testing::TestWithParam<size_t> {};

TEST_P(Hazard, IsFoundAndItsCorrectionIsNot) {
  const Case &c = cases()[GetParam()];
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Outcome wrong = runCase(c, c.wrong, seed);
    EXPECT_EQ(wrong.status.code(), StatusCode::Hazard)
        << c.id << ": " << wrong.status.message();
    EXPECT_TRUE(wrong.has(c.id)) << c.id << ": " << wrong.status.message();
    Outcome right = runCase(c, c.right, seed);
    EXPECT_TRUE(right.status.ok()) << c.id << ": " << right.status.message();
  }
}

TEST(FreshMemory, IsFoundWhenRead) {
  for (bool written : {false, true}) {
    EmulatorOptions options;
    options.hazards = HazardLevel::Full;
    Machine m;
    m.device = createEmulatorDevice(options);
    ASSERT_TRUE(m.load(kernelText("mad.wide.u32 %d1, %t, 8, %o;\n"
                                  "ld.global.b32 %r1, [%d1];"))
                    .ok());
    auto fresh = m.device->allocate(32 * 8);
    ASSERT_TRUE(fresh.ok());
    if (written) {
      ASSERT_TRUE(m.device->fill(*fresh, 0, 32 * 8, nullptr).ok());
    }
    std::vector<uint8_t> params;
    append(params, *fresh);
    Status status = m.run("k", params);
    EXPECT_EQ(status.ok(), written) << status.message();
    EXPECT_EQ(m.device->findings().empty(), written);
    // Poison counts as not written.
    ASSERT_TRUE(m.device->poison(*fresh, 32 * 8).ok());
    EXPECT_EQ(m.run("k", params).code(), StatusCode::Hazard);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Hazard,
                         testing::Range(size_t(0), cases().size()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           std::string name = std::to_string(info.param) + "_";
                           for (const char *p = cases()[info.param].id; *p;
                                ++p) {
                             name += *p == '-' || *p == '|' ? '_' : *p;
                           }
                           return name;
                         });

} // namespace
