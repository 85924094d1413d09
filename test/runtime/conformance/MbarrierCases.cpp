// mbarrier objects, and stores that complete on them (ISA 9.7.13.15, 9.7.9.12,
// 9.7.13.7).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/Kernels.h"

namespace gmoe::conformance {
namespace {

const char *const kBarrier = ".shared .align 8 .b64 bar; .shared .align 8 .b64 "
                             "other;";
const char *const kInit = "setp.ne.u32 %p0, %t, 0; ";

void mbarriers(Kernels &k) {
  // 32 arrivals complete a phase; the parity of the next one is pending.
  Case &c = k.add(
      "mbarrier arrive, test_wait, try_wait, pending_count",
      std::string(kInit) +
          "@!%p0 mbarrier.init.shared.b64 [bar], 33; bar.sync 0; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; "
          "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1; selp.b32 %r1, "
          "1, 0, %p1; selp.b32 %r2, 2, 0, %p2; or.b32 %r1, %r1, %r2; bar.sync "
          "0; mbarrier.arrive.shared.b64 %d1, [bar]; "
          "mbarrier.test_wait.shared.b64 %p1, [bar], %d1; selp.b32 %r2, 4, 0, "
          "%p1; or.b32 %r1, %r1, %r2; bar.sync 0; @!%p0 "
          "mbarrier.arrive.shared.b64 _, [bar]; wait: "
          "mbarrier.try_wait.shared.b64 %p1, [bar], %d1; @!%p1 bra wait; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.b32 %r2, "
          "8, 0, %p1; or.b32 %r1, %r1, %r2; bar.sync 0; @!%p0 mbarrier.inval"
          ".shared.b64 [bar];" +
          storeWord("%r1"),
      0, 0, 0, kBarrier);
  expectWords(c, 32, [](uint32_t) { return 2u | 8u; });
  Case &counts = k.add(
      "mbarrier.arrive counts, noComplete, drop, pending_count",
      std::string(kInit) +
          "@%p0 bra end; mbarrier.init.shared.b64 [bar], 10; "
          "mbarrier.arrive.noComplete.shared.b64 %d1, [bar], 4; "
          "mbarrier.arrive.noComplete.shared.b64 %d2, [bar], 1; "
          "mbarrier.pending_count.b64 %r1, %d1; mbarrier.pending_count.b64 "
          "%r2, %d2; mbarrier.arrive_drop.shared.b64 %d3, [bar], 2; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.b32 %r3, "
          "1, 0, %p1; mbarrier.arrive.shared.b64 %d4, [bar], 3; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.b32 %r4, "
          "1, 0, %p1; mbarrier.arrive.shared.b64 _, [bar], 7; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.b32 %r5, "
          "1, 0, %p1; mbarrier.arrive.shared.b64 _, [bar]; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.b32 %r6, "
          "1, 0, %p1; st.global.v4.b32 [%o], {%r1, %r2, %r3, %r4}; "
          "st.global.v2.b32 [%o+16], {%r5, %r6}; end:",
      0, 0, 0, kBarrier);
  counts.name += " (pending before the arrival)";
  {
    // Pending before each arrival; 10 - 4 - 1 - 2 = 3 left; the drop leaves 8
    // for the next phase.
    const uint32_t v[] = {10, 6, 0, 1, 0, 1};
    expectWords(counts, 6, [&](uint32_t i) { return v[i]; });
  }
  Case &tx = k.add(
      "mbarrier expect_tx, complete_tx, arrive.expect_tx",
      std::string(kInit) +
          "@%p0 bra end; mbarrier.init.shared.b64 [bar], 1; "
          "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 100; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.b32 %r1, "
          "1, 0, %p1; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], "
          "60; mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.b32 "
          "%r2, 1, 0, %p1; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 "
          "[bar], 40; mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; "
          "selp.b32 %r3, 1, 0, %p1; mbarrier.expect_tx.relaxed.cta.shared::cta"
          ".b64 [bar], 16; mbarrier.arrive.shared.b64 _, [bar]; "
          "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.b32 %r4, "
          "1, 0, %p1; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], "
          "16; mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.b32 "
          "%r5, 1, 0, %p1; st.global.v4.b32 [%o], {%r1, %r2, %r3, %r4}; "
          "st.global.b32 [%o+16], %r5; end:",
      0, 0, 0, kBarrier);
  {
    const uint32_t v[] = {0, 0, 1, 0, 1};
    expectWords(tx, 5, [&](uint32_t i) { return v[i]; });
  }
  // Producers and consumers over several phases, with arrivals from the other
  // CTA of a cluster.
  Case &ring = k.add(
      "mbarrier ring of a cluster, remote arrive",
      std::string(kInit) +
          "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, "
          "bar; mapa.shared::cluster.u32 %r4, %r3, %r2; mov.u32 %r5, buf; "
          "mapa.shared::cluster.u32 %r6, %r5, %r2; mov.u32 %r13, other; "
          "mapa.shared::cluster.u32 %r14, %r13, %r2; @!%p0 "
          "mbarrier.init.shared.b64 [bar], 32; @!%p0 mbarrier.init.shared.b64 "
          "[other], 32; fence.mbarrier_init.release.cluster; "
          "barrier.cluster.arrive; barrier.cluster.wait; shl.b32 %r7, %t, 2; "
          "add.u32 %r8, %r6, %r7; add.u32 %r9, %r5, %r7; mov.b32 %r10, 0; "
          "mov.b32 %r11, 0; round: mad.lo.u32 %r12, %r1, 100, %t; mad.lo.u32 "
          "%r12, %r10, 10000, %r12; st.shared::cluster.b32 [%r8], %r12; "
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4]; "
          "and.b32 %r15, %r10, 1; wait: "
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, "
          "[bar], %r15; @!%p1 bra wait; ld.shared.b32 %r12, [%r9]; add.u32 "
          "%r11, %r11, %r12; "
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14], 1; "
          "free: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
          "%p1, [other], %r15, 1000; @!%p1 bra free; add.u32 %r10, %r10, 1; "
          "setp.lt.u32 %p2, %r10, 6; @%p2 bra round; mov.u32 %r16, %ctaid.x; "
          "shl.b32 %r16, %r16, 5; add.u32 %r16, %r16, %t; mul.wide.u32 %d1, "
          "%r16, 4; add.s64 %d1, %d1, %o; st.global.b32 [%d1], %r11; "
          "barrier.cluster.arrive; barrier.cluster.wait;",
      0, 0, 0, std::string(kBarrier) + " .shared .align 4 .b8 buf[128];",
      "\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n");
  ring.grid = {4, 1, 1};
  ring.cluster = {2, 1, 1};
  expectWords(ring, 128, [](uint32_t i) {
    uint32_t rank = i / 32 & 1, t = i % 32;
    return 150000 + 6 * ((rank ^ 1) * 100 + t);
  });
}

/// Each CTA of a pair sends its registers to the other.
void asyncStores(Kernels &k) {
  const struct {
    const char *op;
    unsigned words;
    uint32_t (*result)(uint32_t old, uint32_t sent);
  } kForms[] = {
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32", 1,
       [](uint32_t, uint32_t v) { return v; }},
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64", 2,
       [](uint32_t, uint32_t v) { return v; }},
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32", 2,
       [](uint32_t, uint32_t v) { return v; }},
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32", 4,
       [](uint32_t, uint32_t v) { return v; }},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
       "add.u32",
       1, [](uint32_t a, uint32_t v) { return a + v; }},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
       "xor.b32",
       1, [](uint32_t a, uint32_t v) { return a ^ v; }},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
       "max.u32",
       1, [](uint32_t a, uint32_t v) { return a > v ? a : v; }}};
  for (const auto &f : kForms) {
    std::string name = f.op;
    std::string value = f.words == 1         ? "%r20"
                        : f.words == 4       ? "{%r20, %r21, %r22, %r23}"
                        : name.back() == '4' ? "%d20"
                                             : "{%r20, %r21}";
    std::string words, fill;
    for (unsigned j = 0; j < f.words; ++j) {
      std::string n = std::to_string(j);
      words += "ld.shared.b32 %r30, [%r7+" + std::to_string(4 * j) +
               "]; st.global.b32 [%d2+" + std::to_string(4 * j) + "], %r30;\n";
      fill += "mad.lo.u32 %r2" + n + ", %t, 977, %r1; add.u32 %r2" + n +
              ", %r2" + n + ", " + n + "; add.u32 %r31, %t, " +
              std::to_string(5000 * (j + 1)) + "; st.shared.b32 [%r7+" +
              std::to_string(4 * j) + "], %r31;\n";
    }
    std::string bytes = std::to_string(4 * f.words);
    Case &c = k.add(
        name,
        std::string(kInit) +
            "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, "
            "bar; mapa.shared::cluster.u32 %r4, %r3, %r2; mov.u32 %r5, buf; "
            "mul.lo.u32 %r6, %t, " +
            bytes +
            "; add.u32 %r7, %r5, %r6; "
            "mapa.shared::cluster.u32 %r8, %r7, %r2;\n" +
            fill +
            "mov.b64 %d20, {%r20, %r21}; @!%p0 mbarrier.init.shared.b64 [bar], "
            "1; @!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
            std::to_string(128 * f.words) +
            "; fence.mbarrier_init.release.cluster; barrier.cluster.arrive; "
            "barrier.cluster.wait; " +
            name + " [%r8], " + value +
            ", [%r4];\nwait: mbarrier.try_wait.parity.acquire.cluster.shared::"
            "cta.b64 %p1, [bar], 0; @!%p1 bra wait; mov.u32 %r9, %ctaid.x; "
            "mul.lo.u32 %r9, %r9, " +
            std::to_string(128 * f.words) +
            "; add.u32 %r9, %r9, %r6; cvt.u64.u32 %d2, %r9; add.s64 %d2, %d2, "
            "%o;\n" +
            words + "barrier.cluster.arrive; barrier.cluster.wait;",
        0, 0, 0, ".shared .align 16 .b8 buf[512]; .shared .align 8 .b64 bar;",
        "\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n");
    c.grid = c.cluster = {2, 1, 1};
    expectWords(c, 64 * f.words, [&](uint32_t i) {
      uint32_t rank = i / (32 * f.words), t = i / f.words % 32, j = i % f.words;
      return f.result(t + 5000 * (j + 1), t * 977 + (rank ^ 1) + j);
    });
  }
}

} // namespace

Family mbarrierFamily() {
  Kernels k("mbarrier");
  mbarriers(k);
  asyncStores(k);
  return k.take();
}

} // namespace gmoe::conformance
