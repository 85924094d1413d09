// cp.async, bulk copies in each direction and their reductions (ISA
// 9.7.9.25.3 to 9.7.9.25.5), setmaxnreg and griddepcontrol.
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/FloatReference.h"
#include "test/runtime/conformance/Kernels.h"

#include <algorithm>
#include <cstring>

namespace gmoe::conformance {
namespace {

std::vector<uint8_t> randomBytes(size_t n, uint64_t seed) {
  Draw draw(seed);
  std::vector<uint8_t> v(n);
  for (uint8_t &b : v) {
    b = uint8_t(draw());
  }
  return v;
}

/// Copies 16 bytes a thread from shared `buf` + 16 t to out + 16 t.
const char *const kDump =
    "mul.wide.u32 %d50, %t, 16; mov.u64 %d51, buf; add.s64 %d51, %d51, %d50; "
    "ld.shared.v2.b64 {%d52, %d53}, [%d51]; add.s64 %d50, %d50, %o; "
    "st.global.v2.b64 [%d50], {%d52, %d53};\n";
const char *const kBuffer =
    ".shared .align 128 .b8 buf[4096]; .shared .align 8 "
    ".b64 bar;";
const char *const kBarrier =
    "setp.ne.u32 %p0, %t, 0; @!%p0 mbarrier.init.shared.b64 [bar], 1; @!%p0 "
    "fence.proxy.async; bar.sync 0;\n";
const char *const kWait =
    "\nwait: mbarrier.try_wait.parity.shared.b64 %p9, [bar], 0; @!%p9 bra "
    "wait;\n";

void threadCopies(Kernels &k) {
  struct Form {
    const char *name, *op;
    unsigned bytes;
    const char *rest; // behind the size
    unsigned used;    // bytes read from the source
  };
  const Form kForms[] = {
      {"4", "cp.async.ca.shared.global", 4, "", 4},
      {"8", "cp.async.ca.shared::cta.global", 8, "", 8},
      {"16", "cp.async.ca.shared.global", 16, "", 16},
      {"16 bypassing L1", "cp.async.cg.shared.global", 16, "", 16},
      {"16 with a hint", "cp.async.cg.shared.global.L2::128B", 16, "", 16},
      {"16 from 5", "cp.async.cg.shared.global", 16, ", %r5", 5},
      {"16 from 0", "cp.async.cg.shared.global", 16, ", 0", 0},
      {"8 from 3", "cp.async.ca.shared.global", 8, ", 3", 3},
      {"16, ignored", "cp.async.cg.shared.global", 16, ", %p5", 0},
      {"16, not ignored", "cp.async.cg.shared.global", 16, ", %p6", 16}};
  for (const Form &f : kForms) {
    for (unsigned wait = 0; wait < 4; ++wait) {
      const char *kWaits[] = {
          "cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;",
          "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];",
          "cp.async.mbarrier.arrive.shared.b64 [bar]; "
          "mbarrier.arrive.shared.b64 _, [bar];"};
      bool barrier = wait >= 2;
      Case &c = k.add(
          std::string(f.op) + " of " + f.name + ", " + kWaits[wait],
          std::string("setp.ne.u32 %p0, %t, 0; @!%p0 mbarrier.init.shared.b64 "
                      "[bar], 32; bar.sync 0; mov.b32 %r5, 5; setp.eq.u32 %p5, "
                      "%r5, 5; setp.ne.u32 %p6, %r5, 5; mul.wide.u32 %d1, %t, "
                      "16; mov.u64 %d2, buf; add.s64 %d2, %d2, %d1; add.s64 "
                      "%d3, %a0, %d1; st.shared.v2.b64 [%d2], {-1, -1}; ") +
              f.op + " [%d2], [%d3], " + std::to_string(f.bytes) + f.rest +
              "; " + kWaits[wait] + (barrier ? kWait : " bar.sync 0; ") + kDump,
          1, 0, 0, kBuffer);
      c.inputs = {randomBytes(512, 77)};
      c.expected.assign(512, 0xff);
      for (unsigned t = 0; t < 32; ++t) {
        std::memset(&c.expected[16 * t], 0, f.bytes);
        std::memcpy(&c.expected[16 * t], &c.inputs[0][16 * t], f.used);
      }
    }
  }
  // A pipeline: three groups in flight, each waited for in turn.
  Case &c = k.add(
      "cp.async.wait_group 2, 1, 0",
      "mul.wide.u32 %d1, %t, 16; mov.u64 %d2, buf; add.s64 %d2, %d2, %d1; "
      "add.s64 %d3, %a0, %d1; cp.async.cg.shared.global [%d2], [%d3], 16; "
      "cp.async.commit_group; cp.async.cg.shared.global [%d2+512], [%d3+512], "
      "16; cp.async.commit_group; cp.async.cg.shared.global [%d2+1024], "
      "[%d3+1024], 16; cp.async.commit_group; add.s64 %d4, %o, %d1;\n"
      "cp.async.wait_group 2; ld.shared.v2.b64 {%d5, %d6}, [%d2]; "
      "st.global.v2.b64 [%d4], {%d5, %d6}; cp.async.wait_group 1; "
      "ld.shared.v2.b64 {%d5, %d6}, [%d2+512]; st.global.v2.b64 [%d4+512], "
      "{%d5, %d6}; cp.async.wait_group 0; ld.shared.v2.b64 {%d5, %d6}, "
      "[%d2+1024]; st.global.v2.b64 [%d4+1024], {%d5, %d6};",
      1, 0, 0, kBuffer);
  c.inputs = {randomBytes(1536, 5)};
  c.expected = c.inputs[0];
}

void bulkCopies(Kernels &k) {
  for (const char *space : {"shared::cluster", "shared::cta"}) {
    Case &c = k.add(
        std::string("cp.async.bulk to ") + space,
        std::string(kBarrier) +
            "@%p0 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [bar], "
            "1024; cp.async.bulk." +
            space +
            ".global.mbarrier::complete_tx::bytes [buf], [%a0], 512, [bar]; "
            "cp.async.bulk." +
            space +
            ".global.mbarrier::complete_tx::bytes [buf+512], [%a0+1024], 512, "
            "[bar];" +
            kWait + kDump,
        1, 0, 0, kBuffer);
    c.block = {64, 1, 1};
    if (std::string(space) == "shared::cta") {
      // PTX 8.6 and sm_90: spelled out, it is the same copy.
    }
    c.inputs = {randomBytes(2048, 9)};
    c.expected.assign(c.inputs[0].begin(), c.inputs[0].begin() + 512);
    c.expected.insert(c.expected.end(), c.inputs[0].begin() + 1024,
                      c.inputs[0].begin() + 1536);
  }
  for (const char *wait :
       {"cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;"}) {
    Case &c = k.add(
        std::string("cp.async.bulk to global, ") + wait,
        std::string("mul.wide.u32 %d1, %t, 16; mov.u64 %d2, buf; add.s64 %d2, "
                    "%d2, %d1; add.s64 %d3, %a0, %d1; ld.global.v2.b64 {%d4, "
                    "%d5}, [%d3]; st.shared.v2.b64 [%d2], {%d4, %d5}; "
                    "fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 "
                    "%p0, %t, 0; @%p0 bra end; "
                    "cp.async.bulk.global.shared::cta.bulk_group [%o], [buf], "
                    "400; cp.async.bulk.global.shared::cta.bulk_group "
                    "[%o+512], [buf+112], 400; cp.async.bulk.commit_group; ") +
            wait + " end:",
        1, 0, 0, kBuffer);
    c.inputs = {randomBytes(512, 10)};
    c.expected.assign(1024, 0xcc);
    std::memcpy(&c.expected[0], &c.inputs[0][0], 400);
    std::memcpy(&c.expected[512], &c.inputs[0][112], 400);
  }
  const char *attributes = "\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n";
  std::string fill =
      "mul.wide.u32 %d1, %t, 16; mov.u64 %d2, buf; add.s64 %d2, %d2, %d1; "
      "mov.u32 %r1, %cluster_ctarank; mul.wide.u32 %d10, %r1, 512; add.s64 "
      "%d3, %a0, %d1; add.s64 %d3, %d3, %d10; ld.global.v2.b64 {%d4, %d5}, "
      "[%d3]; st.shared.v2.b64 [%d2], {%d4, %d5}; st.shared.v2.b64 [%d2+512], "
      "{0, 0}; fence.proxy.async; barrier.cluster.arrive; "
      "barrier.cluster.wait;\n";
  std::string peer =
      "xor.b32 %r2, %r1, 1; mov.u32 %r3, buf; mapa.shared::cluster"
      ".u32 %r4, %r3, %r2; mov.u32 %r5, bar; "
      "mapa.shared::cluster.u32 %r6, %r5, %r2; @%p0 bra wait; "
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512; ";
  std::string dump =
      "mov.u32 %r7, %ctaid.x; mul.wide.u32 %d11, %r7, 512; add.s64 %d11, %d11, "
      "%o; add.s64 %d11, %d11, %d1; ld.shared.v2.b64 {%d4, %d5}, [%d2+512]; "
      "st.global.v2.b64 [%d11], {%d4, %d5}; barrier.cluster.arrive; "
      "barrier.cluster.wait;";
  Case &c = k.add("cp.async.bulk to the other CTA's shared memory",
                  std::string(kBarrier) + fill + peer +
                      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                      "complete_tx::bytes [%r4+512], [buf], 512, [%r6];" +
                      kWait + dump,
                  1, 0, 0, kBuffer, attributes);
  c.grid = c.cluster = {2, 1, 1};
  c.inputs = {randomBytes(1024, 21)};
  c.expected.assign(c.inputs[0].begin() + 512, c.inputs[0].end());
  c.expected.insert(c.expected.end(), c.inputs[0].begin(),
                    c.inputs[0].begin() + 512);
  // Reductions into the other CTA.
  const struct {
    const char *op;
    uint32_t (*f)(uint32_t, uint32_t);
  } kOps[] = {
      {"add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
      {"min.s32",
       [](uint32_t a, uint32_t b) {
         return uint32_t(std::min(int32_t(a), int32_t(b)));
       }},
      {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
      {"inc.u32", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }},
      {"dec.u32",
       [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }},
      {"and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
      {"or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
      {"xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }}};
  for (const auto &op : kOps) {
    // The destination holds the CTA's own words; the peer's are reduced in.
    Case &r =
        k.add(std::string("cp.reduce.async.bulk to shared::cluster ") + op.op,
              std::string(kBarrier) + fill +
                  "st.shared.v2.b64 [%d2+512], {%d4, %d5}; "
                  "fence.proxy.async; barrier.cluster.arrive; "
                  "barrier.cluster.wait; " +
                  peer +
                  "cp.reduce.async.bulk.shared::cluster.shared::cta."
                  "mbarrier::complete_tx::bytes." +
                  op.op + " [%r4+512], [buf], 512, [%r6];" + kWait + dump,
              1, 0, 0, kBuffer, attributes);
    r.grid = r.cluster = {2, 1, 1};
    r.stride = 4;
    r.inputs = {randomBytes(1024, 22)};
    std::vector<uint32_t> v(256);
    std::memcpy(v.data(), r.inputs[0].data(), 1024);
    for (unsigned j = 0; j < 256; ++j) {
      appendValue(r.expected, op.f(v[j], v[j ^ 128]));
    }
  }
}

/// cp.reduce.async.bulk to global memory, over the types of the ISA.
void globalReductions(Kernels &k) {
  struct Form {
    const char *op, *type;
    unsigned bytes;
    const Format *format;
    bool isSigned;
  };
  const Form kForms[] = {{"add", "u32", 4, nullptr, false},
                         {"add", "s32", 4, nullptr, true},
                         {"add", "u64", 8, nullptr, false},
                         {"inc", "u32", 4, nullptr, false},
                         {"dec", "u32", 4, nullptr, false},
                         {"min", "u32", 4, nullptr, false},
                         {"min", "s32", 4, nullptr, true},
                         {"max", "u64", 8, nullptr, false},
                         {"min", "s64", 8, nullptr, true},
                         {"and", "b32", 4, nullptr, false},
                         {"or", "b64", 8, nullptr, false},
                         {"xor", "b64", 8, nullptr, false},
                         {"add", "f32", 4, &kF32, false},
                         {"add", "f64", 8, &kF64, false},
                         {"add.noftz", "f16", 2, &kF16, false},
                         {"add.noftz", "bf16", 2, &kBF16, false},
                         {"min", "f16", 2, &kF16, false},
                         {"max", "f16", 2, &kF16, false},
                         {"min", "bf16", 2, &kBF16, false},
                         {"max", "bf16", 2, &kBF16, false}};
  for (const Form &f : kForms) {
    std::string op = std::string(f.op).substr(0, 3);
    op = f.op[0] == 'o' ? "or" : op;
    Case &c = k.add(
        std::string("cp.reduce.async.bulk to global ") + f.op + "." + f.type,
        std::string("mul.wide.u32 %d1, %t, 16; mov.u64 %d2, buf; add.s64 %d2, "
                    "%d2, %d1; add.s64 %d3, %a0, %d1; ld.global.v2.b64 {%d4, "
                    "%d5}, [%d3]; st.shared.v2.b64 [%d2], {%d4, %d5}; "
                    "fence.proxy.async; bar.sync 0; setp.ne.u32 %p0, %t, 0; "
                    "@%p0 bra end; cp.reduce.async.bulk.global.shared::cta."
                    "bulk_group.") +
            f.op + "." + f.type +
            " [%o], [buf], 512; cp.async.bulk.commit_group; "
            "cp.async.bulk.wait_group 0; end:",
        1, 0, 0, kBuffer);
    Draw draw(f.bytes * 31 + uint64_t(f.op[0]));
    std::vector<uint8_t> a, b, r;
    uint64_t mask =
        f.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * f.bytes)) - 1;
    for (unsigned j = 0; j < 512 / f.bytes; ++j) {
      auto value = [&] {
        if (!f.format) {
          return draw() & mask;
        }
        uint64_t e = uint64_t(f.format->bias()) - 2 + draw() % 5;
        if (j % 8 == 0) {
          e = 0; // subnormal
        }
        return (draw() &
                (f.format->signBit() | (f.format->smallestNormal() - 1))) |
               e << f.format->mantissaBits;
      };
      uint64_t x = value(), y = value(), z;
      uint64_t flip = f.isSigned ? uint64_t(1) << (8 * f.bytes - 1) : 0;
      if (f.format) {
        Modifiers m;
        // f32 keeps subnormals, unlike red.add.f32 in global memory: the ISA
        // says nothing of flushing here, and Hopper does not.
        z = arithmetic(*f.format, op, m, x, y, 0);
      } else {
        z = op == "add"   ? x + y
            : op == "min" ? ((x ^ flip) < (y ^ flip) ? x : y)
            : op == "max" ? ((x ^ flip) > (y ^ flip) ? x : y)
            : op == "inc" ? (x >= y ? 0 : x + 1)
            : op == "dec" ? (x == 0 || x > y ? y : x - 1)
            : op == "and" ? x & y
            : op == "or"  ? x | y
                          : x ^ y;
      }
      auto put = [&](std::vector<uint8_t> &to, uint64_t v) {
        const uint8_t *p = reinterpret_cast<const uint8_t *>(&v);
        to.insert(to.end(), p, p + f.bytes);
      };
      put(a, x);
      put(b, y);
      put(r, z);
    }
    c.initial = a;
    c.inputs = {b};
    c.expected = r;
    c.stride = f.bytes;
  }
}

void hints(Kernels &k) {
  Case &c = k.add("setmaxnreg, griddepcontrol",
                  "griddepcontrol.wait; setp.ge.u32 %p0, %t, 128; @%p0 bra "
                  "less; setmaxnreg.inc.sync.aligned.u32 104; bra join; less: "
                  "setmaxnreg.dec.sync.aligned.u32 40; join: "
                  "griddepcontrol.launch_dependents; mul.lo.u32 %r1, %t, 9;" +
                      storeWord("%r1"),
                  0, 0, 0, "", ".maxntid 256, 1, 1\n.maxnreg 72\n");
  c.block = {256, 1, 1};
  c.stride = 4;
  for (uint32_t t = 0; t < 256; ++t) {
    appendValue(c.expected, t * 9);
  }
}

} // namespace

Family copyFamily() {
  Kernels k("copy");
  threadCopies(k);
  bulkCopies(k);
  globalReductions(k);
  hints(k);
  return k.take();
}

} // namespace gmoe::conformance
