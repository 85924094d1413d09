// Named barriers, cluster barriers, distributed shared memory (ISA 9.7.13.1 to
// 9.7.13.4).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/Kernels.h"

namespace gmoe::conformance {
namespace {

void namedBarriers(Kernels &k) {
  // Every thread reads what the thread half a CTA away wrote.
  for (const char *b : {"bar.sync 0;", "barrier.sync 0;", "barrier.cta.sync 0;",
                        "bar.sync 15, 128;", "barrier.sync.aligned 3, 128;"}) {
    Case &c = k.add(b,
                    "mul.lo.u32 %r1, %t, 3; shl.b32 %r2, %t, 2; mov.u32 %r3, "
                    "buf; add.u32 %r2, %r2, %r3; st.shared.b32 [%r2], %r1; " +
                        std::string(b) +
                        " xor.b32 %r4, %t, 64; shl.b32 %r4, %r4, 2; add.u32 "
                        "%r4, %r4, %r3; ld.shared.b32 %r5, [%r4];" +
                        storeWord("%r5"),
                    0, 0, 0, ".shared .align 4 .b8 buf[512];");
    c.block = {128, 1, 1};
    expectWords(c, 128, [](uint32_t t) { return (t ^ 64) * 3; });
  }
  // Producers arrive, consumers wait, for a few rounds.
  Case &c = k.add(
      "bar.arrive with bar.sync",
      "mov.u32 %r3, buf; mov.b32 %r6, 0; mov.b32 %r7, 0; setp.ge.u32 %p0, %t, "
      "64; and.b32 %r2, %t, 63; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r3; "
      "again: @%p0 bra consumer; mad.lo.u32 %r1, %r7, 1000, %t; st.shared.b32 "
      "[%r2], %r1; bar.arrive 1, 128; bar.sync 2, 128; bra next; consumer: "
      "bar.sync 1, 128; ld.shared.b32 %r5, [%r2]; add.u32 %r6, %r6, %r5; "
      "bar.arrive 2, 128; next: add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 5; "
      "@%p1 bra again;" +
          storeWord("%r6"),
      0, 0, 0, ".shared .align 4 .b8 buf[256];");
  c.block = {128, 1, 1};
  expectWords(c, 128,
              [](uint32_t t) { return t < 64 ? 0u : 10000 + 5 * (t - 64); });
  for (const char *red : {"popc.u32", "and.pred", "or.pred"}) {
    std::string r = red;
    bool count = r == "popc.u32";
    for (bool counted : {false, true}) {
      std::string d = count ? "%r5" : "%p2";
      std::string tail = count ? "" : "selp.b32 %r5, 1, 0, %p2; ";
      Case &n =
          k.add("bar.red." + r,
                "setp.lt.u32 %p0, %t, 37; setp.ne.u32 %p1, %t, 500; bar.red." +
                    r + " " + d + ", 0" + (counted ? ", 96" : "") + ", %p0; " +
                    tail + "mov.b32 %r6, %r5; barrier.red." + r + " " + d +
                    ", 1" + (counted ? ", 96" : "") + ", !%p1; " + tail +
                    "mad.lo.u32 %r5, %r6, 1000, %r5;" + storeWord("%r5"));
      n.block = {96, 1, 1};
      expectWords(n, 96, [=](uint32_t) {
        return count ? 37000u : r == "or.pred" ? 1000u : 0u;
      });
    }
  }
  Case &w = k.add("bar.warp.sync",
                  "mov.u32 %r3, buf; shl.b32 %r2, %t, 2; add.u32 %r2, %r2, "
                  "%r3; st.shared.b32 [%r2], %t; bar.warp.sync 0xffffffff; "
                  "xor.b32 %r4, %t, 21; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, "
                  "%r3; ld.shared.b32 %r5, [%r4];" +
                      storeWord("%r5"),
                  0, 0, 0, ".shared .align 4 .b8 buf[128];");
  expectWords(w, 32, [](uint32_t t) { return t ^ 21; });
}

void clusters(Kernels &k) {
  const char *attributes = "\n.explicitcluster\n.reqnctapercluster 4, 1, 1\n";
  auto settle = [](Case &c) {
    c.grid = {8, 1, 1};
    c.cluster = {4, 1, 1};
  };
  for (const char *form :
       {"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        "barrier.cluster.arrive; barrier.cluster.wait;",
        "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;",
        "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; "
        "barrier.cluster.wait;"}) {
    // Each CTA reads its neighbour's shared memory, then adds to it remotely.
    Case &c = k.add(
        std::string(form) + " mapa, ld and red of shared::cluster",
        "mov.u32 %r1, %cluster_ctarank; mad.lo.u32 %r2, %r1, 100, %t; shl.b32 "
        "%r3, %t, 2; mov.u32 %r4, buf; add.u32 %r3, %r3, %r4; st.shared.b32 "
        "[%r3], %r2; " +
            std::string(form) +
            " add.u32 %r5, %r1, 1; and.b32 %r5, %r5, 3; mapa.shared::cluster"
            ".u32 %r6, %r3, %r5; ld.shared::cluster.b32 %r7, [%r6]; " +
            form + " red.relaxed.cluster.shared::cluster.add.u32 [%r6], 7; " +
            form +
            " ld.shared.b32 %r8, [%r3]; mad.lo.u32 %r8, %r8, 1000, %r7; "
            "mov.u64 %d1, buf; cvta.shared.u64 %d1, %d1; mapa.u64 %d2, %d1, "
            "%r5; getctarank.u64 %r9, %d2; getctarank.shared::cluster.u32 "
            "%r10, %r6; mad.lo.u32 %r9, %r9, 16, %r10; mov.u32 %r11, %ctaid.x; "
            "shl.b32 %r11, %r11, 6; add.u32 %r12, %r11, %t; mul.wide.u32 %d3, "
            "%r12, 4; add.s64 %d3, %d3, %o; st.global.b32 [%d3], %r8; "
            "st.global.b32 [%d3+128], %r9; " +
            form,
        0, 0, 0, ".shared .align 4 .b8 buf[128];", attributes);
    settle(c);
    expectWords(c, 512, [](uint32_t i) {
      uint32_t rank = i / 64 % 4, t = i % 32, next = (rank + 1) & 3;
      return i % 64 < 32 ? (rank * 100 + t + 7) * 1000 + next * 100 + t
                         : next * 17;
    });
  }
  Case &ids = k.add(
      "cluster special registers",
      "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 "
      "%r3, %clusterid.x; mov.u32 %r4, %nclusterid.x; mov.u32 %r5, "
      "%cluster_ctaid.x; mov.u32 %r6, %cluster_nctaid.x; mov.u32 %r7, "
      "%ctaid.x; mov.u32 %r8, %nctaid.x; mul.wide.u32 %d1, %r7, 32; add.s64 "
      "%d1, %d1, %o; st.global.v4.b32 [%d1], {%r1, %r2, %r3, %r4}; "
      "st.global.v4.b32 [%d1+16], {%r5, %r6, %r7, %r8};",
      0, 0, 0, "", attributes);
  settle(ids);
  expectWords(ids, 64, [](uint32_t i) {
    uint32_t cta = i / 8;
    const uint32_t v[] = {cta % 4, 4, cta / 4, 2, cta % 4, 4, cta, 8};
    return v[i % 8];
  });
  // Stores, atomics and generic accesses to another CTA.
  Case &remote = k.add(
      "st, atom and generic access to shared::cluster",
      "mov.u32 %r1, %cluster_ctarank; mov.u32 %r4, buf; shl.b32 %r3, %t, 3; "
      "add.u32 %r3, %r3, %r4; xor.b32 %r5, %r1, 2; mapa.shared::cluster.u32 "
      "%r6, %r3, %r5; mad.lo.u32 %r7, %r1, 1000, %t; barrier.cluster.arrive; "
      "barrier.cluster.wait; st.shared::cluster.b32 [%r6], %r7; "
      "barrier.cluster.arrive; barrier.cluster.wait; "
      "atom.acq_rel.cluster.shared::cluster.exch.b32 %r8, [%r6], 5; mov.u64 "
      "%d1, buf; cvta.shared.u64 %d1, %d1; mul.wide.u32 %d2, %t, 8; add.s64 "
      "%d1, %d1, %d2; mapa.u64 %d2, %d1, %r5; st.b32 [%d2+4], %r8; "
      "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.v2.b32 {%r9, "
      "%r10}, [%r3]; mov.u32 %r11, %ctaid.x; shl.b32 %r11, %r11, 5; add.u32 "
      "%r11, %r11, %t; mul.wide.u32 %d3, %r11, 8; add.s64 %d3, %d3, %o; "
      "st.global.v2.b32 [%d3], {%r9, %r10}; barrier.cluster.arrive; "
      "barrier.cluster.wait;",
      0, 0, 0, ".shared .align 8 .b8 buf[256];", attributes);
  settle(remote);
  expectWords(remote, 512, [](uint32_t i) {
    uint32_t rank = i / 64 % 4, t = i % 64 / 2;
    // The peer stored its own number here, took it back, and wrote it beside.
    return i % 2 ? (rank ^ 2) * 1000 + t : 5u;
  });
}

} // namespace

Family barrierFamily() {
  Kernels k("barrier");
  namedBarriers(k);
  clusters(k);
  return k.take();
}

} // namespace gmoe::conformance
