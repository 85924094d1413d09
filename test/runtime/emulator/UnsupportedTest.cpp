// What the emulator does not execute is refused by name when it is loaded.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

TEST(Unsupported, IsNamedAtLoad) {
  for (const char *text :
       {"tcgen05.shift.cta_group::1.down [%r0]",
        "tcgen05.cp.cta_group::1.4x256b [%r0], %d0",
        "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, %p0",
        "tcgen05.mma.sp.cta_group::1.kind::f16 [%r0], %d0, %d1, [%r2], %r1, "
        "%p0",
        "cvt.rs.f16x2.f32 %r0, %r1, %r2, %r3",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r2]",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1}",
        "mma.sync.aligned.m8n8k16.row.col.s32.s4.s4.s32 {%r0, %r1}, {%r2}, "
        "{%r3}, {%r4, %r5}",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0, %r1, "
        "%r2, %r3}, {%r4, %r5}, {%r6, %r7}, {%r0, %r1, %r2, %r3}, %r8, 0",
        "multimem.ld_reduce.relaxed.sys.global.add.f32 %r0, [%d0]",
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::"
        "complete_tx::bytes [%r0], [%d0, {0, 0, 0, 0}], [%r1], {%h0, %h1}",
        "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%d0, {%r4, %r5}]",
        "vadd.s32.s32.s32 %r0, %r1, %r2", "nosuch.instruction %r0"}) {
    std::string e = failureOf(std::string(text) + ";");
    std::string name = std::string(text).substr(0, std::string(text).find(' '));
    EXPECT_TRUE(e.find("unsupported instruction") != std::string::npos ||
                e.find("not supported") != std::string::npos)
        << text << ": " << e;
    EXPECT_NE(e.find(name), std::string::npos) << e;
  }
}

TEST(Unsupported, UnknownModifiersAreNamed) {
  const struct {
    const char *text, *part;
  } kCases[] = {{"add.cuckoo.s32 %r0, %r1, %r2", ".cuckoo"},
                {"ld.global.L9.b32 %r0, [%o]", ".L9"},
                {"bar.sync.cuckoo 0", ".cuckoo"},
                {"add.sat.f64 %d0, %d1, %d2", "add.sat.f64"},
                {"wgmma.wait_group.sync.aligned.x 0", ".x"}};
  for (const auto &c : kCases) {
    std::string e = failureOf(std::string(c.text) + ";");
    EXPECT_NE(e.find(c.part), std::string::npos) << e;
  }
}

} // namespace
