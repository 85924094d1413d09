// Integer, float, half and conversion instructions, one snippet each.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe::test;

namespace {

uint64_t lane(const std::string &body, unsigned which = 0) {
  return runBody(body)[which];
}
/// The 32-bit result of `%r9` after `body`.
uint32_t r9(const std::string &body, unsigned which = 0) {
  return uint32_t(lane(body + "\ncvt.u64.u32 %out, %r9;", which));
}

TEST(Integer, Basics) {
  EXPECT_EQ(r9("add.s32 %r9, %t, -3;", 1), 0xfffffffeu);
  EXPECT_EQ(r9("mul.lo.s32 %r9, 70000, 70000;"), uint32_t(70000ull * 70000));
  EXPECT_EQ(r9("mul.hi.u32 %r9, 0x80000000, 6;"), 3u);
  EXPECT_EQ(lane("mul.wide.s32 %out, -2, 3;"), uint64_t(-6));
  EXPECT_EQ(r9("mad.lo.s32 %r9, 3, 4, 5;"), 17u);
  EXPECT_EQ(r9("div.s32 %r9, -7, 2;"), uint32_t(-3));
  EXPECT_EQ(r9("rem.s32 %r9, -7, 2;"), uint32_t(-1));
  EXPECT_EQ(r9("min.s32 %r9, -7, 2;"), uint32_t(-7));
  EXPECT_EQ(r9("min.u32 %r9, -7, 2;"), 2u);
  EXPECT_EQ(r9("abs.s32 %r9, -7;"), 7u);
  EXPECT_EQ(r9("sad.u32 %r9, 3, 9, 1;"), 7u);
}

TEST(Integer, ShiftsClamp) {
  EXPECT_EQ(r9("shl.b32 %r9, 1, 31;"), 0x80000000u);
  EXPECT_EQ(r9("shl.b32 %r9, 1, 32;"), 0u);
  EXPECT_EQ(r9("shr.s32 %r9, -8, 40;"), 0xffffffffu);
  EXPECT_EQ(r9("shr.u32 %r9, -8, 40;"), 0u);
  EXPECT_EQ(lane("shr.u64 %out, 0x8000000000000000, 63;"), 1u);
  EXPECT_EQ(r9("shf.l.wrap.b32 %r9, 0x80000001, 0x2, 1;"), 5u);
  EXPECT_EQ(r9("shf.r.clamp.b32 %r9, 0x80000001, 0x2, 33;"), 2u);
}

TEST(Integer, Bits) {
  EXPECT_EQ(r9("popc.b32 %r9, 0xf0f0;"), 8u);
  EXPECT_EQ(r9("clz.b32 %r9, 0x00010000;"), 15u);
  EXPECT_EQ(r9("bfind.u32 %r9, 0x00010000;"), 16u);
  EXPECT_EQ(r9("bfind.s32 %r9, -1;"), 0xffffffffu);
  EXPECT_EQ(r9("brev.b32 %r9, 1;"), 0x80000000u);
  EXPECT_EQ(r9("bfe.u32 %r9, 0xabcd, 4, 8;"), 0xbcu);
  EXPECT_EQ(r9("bfe.s32 %r9, 0xabcd, 4, 8;"), 0xffffffbcu);
  EXPECT_EQ(r9("bfi.b32 %r9, 0xf, 0x0, 8, 4;"), 0xf00u);
  EXPECT_EQ(r9("prmt.b32 %r9, 0x33221100, 0x77665544, 0x7531;"), 0x77553311u);
  EXPECT_EQ(r9("prmt.b32 %r9, 0x00008000, 0, 0x0009;"), 0x000000ffu);
  EXPECT_EQ(r9("lop3.b32 %r9, 0xf0, 0xcc, 0xaa, 0x96;"), 0x96u);
}

TEST(Float, Ieee) {
  EXPECT_EQ(r9("add.f32 %r9, 0f3F800000, 0f33800000;"), 0x3f800000u);
  EXPECT_EQ(r9("add.rp.f32 %r9, 0f3F800000, 0f33800000;"), 0x3f800001u);
  EXPECT_EQ(r9("add.rz.f32 %r9, 0fBF800000, 0fB3800000;"), 0xbf800000u);
  EXPECT_EQ(r9("mul.f32 %r9, 0f00800000, 0f3F000000;"), 0x00400000u);
  EXPECT_EQ(r9("mul.ftz.f32 %r9, 0f00800000, 0f3F000000;"), 0u);
  EXPECT_EQ(r9("fma.rn.f32 %r9, 0f3F800001, 0f3F800001, 0fBF800002;"),
            0x28800000u);
  EXPECT_EQ(r9("div.rn.f32 %r9, 0f3F800000, 0f40400000;"), 0x3eaaaaabu);
  EXPECT_EQ(r9("rcp.approx.ftz.f32 %r9, 0f40000000;"), 0x3f000000u);
  EXPECT_EQ(r9("ex2.approx.ftz.f32 %r9, 0f40400000;"), 0x41000000u);
  EXPECT_EQ(r9("add.sat.f32 %r9, 0f3F800000, 0f3F800000;"), 0x3f800000u);
}

TEST(Float, MinMaxNaN) {
  EXPECT_EQ(r9("max.f32 %r9, 0f7FC00000, 0f3F800000;"), 0x3f800000u);
  EXPECT_EQ(r9("max.NaN.f32 %r9, 0f7FC00000, 0f3F800000;"), 0x7fffffffu);
  EXPECT_EQ(r9("max.f32 %r9, 0f80000000, 0f00000000;"), 0u);
  EXPECT_EQ(r9("min.f32 %r9, 0f00000000, 0f80000000;"), 0x80000000u);
  EXPECT_EQ(r9("max.xorsign.abs.f32 %r9, 0fC0000000, 0f3F800000;"),
            0xc0000000u);
  EXPECT_EQ(r9("max.f32 %r9, 0f3F800000, 0f40000000, 0f40400000;"),
            0x40400000u);
}

TEST(Float, Packed) {
  EXPECT_EQ(lane("mov.b64 %d0, {0f3F800000, 0f40000000};"
                 "fma.rn.f32x2 %out, %d0, %d0, %d0;"),
            0x40c0000040000000ull);
  EXPECT_EQ(r9("add.rn.bf16x2 %r9, 0x3f804000, 0x3f803f80;"), 0x40004040u);
  EXPECT_EQ(r9("fma.rn.f16x2 %r9, 0x3c004000, 0x3c004000, 0x3c003c00;"),
            0x40004500u);
}

TEST(Compare, PredicatesAndSelect) {
  EXPECT_EQ(r9("setp.lt.s32 %p0, -1, 0; selp.b32 %r9, 1, 2, %p0;"), 1u);
  EXPECT_EQ(r9("setp.lt.u32 %p0, -1, 0; selp.b32 %r9, 1, 2, %p0;"), 2u);
  EXPECT_EQ(r9("setp.ltu.f32 %p0, 0f7FC00000, 0f00000000;"
               "selp.b32 %r9, 1, 2, %p0;"),
            1u);
  EXPECT_EQ(r9("setp.eq.s32 %p1, 1, 1; setp.ne.and.s32 %p0|%p2, 1, 2, %p1;"
               "selp.b32 %r9, 1, 2, %p0; @%p2 mov.b32 %r9, 7;"),
            1u);
  EXPECT_EQ(r9("setp.gt.u32 %p0, %t, 3; not.pred %p1, %p0;"
               "selp.b32 %r9, 1, 2, %p1;",
               5),
            2u);
}

TEST(Compare, FlushesSubnormals) {
  EXPECT_EQ(r9("setp.gt.ftz.f32 %p0, 0f00000001, 0f00000000;"
               "selp.b32 %r9, 1, 2, %p0;"),
            2u);
  EXPECT_EQ(r9("setp.gt.f32 %p0, 0f00000001, 0f00000000;"
               "selp.b32 %r9, 1, 2, %p0;"),
            1u);
}

TEST(Convert, Integers) {
  EXPECT_EQ(lane("cvt.s64.s32 %out, -5;"), uint64_t(-5));
  EXPECT_EQ(r9("cvt.u16.u32 %h0, 0x12345; cvt.u32.u16 %r9, %h0;"), 0x2345u);
  EXPECT_EQ(r9("cvt.sat.s8.s32 %r9, 300;"), 127u);
  EXPECT_EQ(r9("cvt.rzi.s32.f32 %r9, 0fC0200000;"), uint32_t(-2));
  EXPECT_EQ(r9("cvt.rni.s32.f32 %r9, 0f40200000;"), 2u);
  EXPECT_EQ(r9("cvt.rzi.u32.f32 %r9, 0fC0200000;"), 0u);
  EXPECT_EQ(r9("cvt.rzi.s32.f32 %r9, 0f7F800000;"), 0x7fffffffu);
  EXPECT_EQ(r9("cvt.rn.f32.s32 %r9, 16777217;"), 0x4b800000u);
  EXPECT_EQ(r9("cvt.rp.f32.s32 %r9, 16777217;"), 0x4b800001u);
  EXPECT_EQ(r9("cvt.rmi.f32.f32 %r9, 0fBFC00000;"), 0xc0000000u);
  EXPECT_EQ(r9("cvt.sat.f32.f32 %r9, 0f40000000;"), 0x3f800000u);
}

TEST(Convert, NarrowFloats) {
  EXPECT_EQ(r9("cvt.rn.bf16x2.f32 %r9, 0f3F800000, 0f40000000;"), 0x3f804000u);
  EXPECT_EQ(r9("cvt.rn.satfinite.e4m3x2.f32 %h0, 0f43E80000, 0f3F800000;"
               "cvt.u32.u16 %r9, %h0;"),
            0x7e38u);
  EXPECT_EQ(r9("cvt.rp.ue8m0x2.f32 %h0, 0f7F800000, 0f3FC00000;"
               "cvt.u32.u16 %r9, %h0;"),
            0xff80u);
  EXPECT_EQ(r9("cvt.rz.satfinite.ue8m0x2.f32 %h0, 0f7F800000, 0f3FC00000;"
               "cvt.u32.u16 %r9, %h0;"),
            0xfe7fu);
  EXPECT_EQ(r9("{ .reg .b8 %b; cvt.rn.satfinite.e2m1x2.f32 %b, 0f40C00000, "
               "0fBF000000; cvt.u32.u8 %r9, %b; }"),
            0x79u);
  EXPECT_EQ(r9("mov.b16 %h0, 0x3840; cvt.rn.f16x2.e4m3x2 %r9, %h0;"),
            0x3c004000u);
  EXPECT_EQ(r9("cvt.rn.f16.f32 %h0, 0f3F801000; cvt.u32.u16 %r9, %h0;"),
            0x3c00u);
  EXPECT_EQ(r9("cvt.rna.tf32.f32 %r9, 0f3F801000;"), 0x3f802000u);
}

TEST(Move, PackAndUnpack) {
  EXPECT_EQ(lane("mov.b64 {%r0, %r1}, 0x0123456789abcdef;"
                 "mov.b64 %out, {%r1, %r0};"),
            0x89abcdef01234567ull);
  EXPECT_EQ(r9("mov.b32 {%h0, %h1}, 0x12345678; mov.b32 %r9, {%h1, %h0};"),
            0x56781234u);
  EXPECT_EQ(lane("{ .reg .b128 %q; mov.b128 %q, {7, 9};"
                 "mov.b128 {_, %out}, %q; }"),
            9u);
}

} // namespace
