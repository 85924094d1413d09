// Branches, indexed branches, calls, predication, divergence and reconvergence
// (ISA 9.7.12).
#include "test/runtime/conformance/Families.h"

namespace gmoe::conformance {
namespace {

Columns numbers(uint64_t limit) {
  Columns c(1);
  Draw draw(limit);
  for (unsigned k = 0; k < 512; ++k) {
    c[0].push_back(k < 8 ? k + 1 : 1 + draw() % limit);
  }
  return c;
}

/// Callable by every row.
const char *const kFunctions = R"(
.func (.reg .b32 r) square(.reg .b32 x) { mul.lo.s32 r, x, x; ret; }
.func (.param .b32 r) pick(.param .b32 a, .param .b64 b)
{
  .reg .b32 x, z; .reg .b64 y; .reg .pred p;
  ld.param.b32 x, [a]; ld.param.b64 y, [b];
  setp.gt.u32 p, x, 100; @p bra large;
  cvt.u32.u64 z, y; add.s32 z, z, x; st.param.b32 [r], z; ret;
large:
  shr.u64 y, y, 32; cvt.u32.u64 z, y; xor.b32 z, z, x; st.param.b32 [r], z;
  ret;
}
.func (.param .align 8 .b8 r[16]) pair(.param .align 8 .b8 v[16])
{
  .reg .b64 x, y;
  ld.param.b64 x, [v]; ld.param.b64 y, [v+8];
  add.s64 x, x, y; st.param.b64 [r], x;
  sub.s64 x, x, y; sub.s64 x, x, y; st.param.b64 [r+8], x;
  ret;
}
.func (.reg .b32 r) twice(.reg .b32 x)
{ .reg .b32 y; call (y), square, (x); call (r), square, (y); ret; }
)";

} // namespace

Family controlFamily() {
  Table table("control");
  table.preamble(kFunctions);
  Columns in = numbers(100000);
  // Loops whose trip counts differ between lanes.
  table.row("{ .reg .pred p, q; .reg .b32 x, y; mov.b32 x, $a; mov.b32 $d, 0; "
            "loop: setp.le.u32 p, x, 1; @p bra end; and.b32 y, x, 1; "
            "setp.ne.s32 q, y, 0; @q bra odd; shr.u32 x, x, 1; bra next; "
            "odd: mad.lo.u32 x, x, 3, 1; next: add.s32 $d, $d, 1; bra loop; "
            "end: }",
            {32, 32}, in, [](const uint64_t *v) {
              uint32_t x = uint32_t(v[0]), n = 0;
              for (; x > 1; ++n) {
                x = x & 1 ? 3 * x + 1 : x >> 1;
              }
              return uint64_t(n);
            });
  // Nested branches that meet again in a shuffle.
  table.warpRow(
      "{ .reg .pred p, q; .reg .b32 x, y; and.b32 y, $a, 3; mov.b32 x, 0; "
      "setp.lt.u32 p, y, 2; @p bra low; setp.eq.u32 q, y, 2; @q bra two; "
      "add.s32 x, x, 3; bra join; two: add.s32 x, x, 20; bra join; low: "
      "setp.eq.u32 q, y, 0; @!q bra one; add.s32 x, x, 100; bra join; one: "
      "add.s32 x, x, 1000; join: bar.warp.sync 0xffffffff; "
      "redux.sync.add.s32 $d, x, 0xffffffff; }",
      {32, 32}, in, [in](size_t k) {
        static const uint64_t kAdded[] = {100, 1000, 20, 3};
        uint64_t sum = 0;
        for (size_t l = 0; l < 32; ++l) {
          sum += kAdded[in[0][k / 32 * 32 + l] & 3];
        }
        return sum;
      });
  // An early exit of some lanes from a loop with a predicated body.
  table.row("{ .reg .pred p, q; .reg .b32 i; mov.b32 $d, 0; mov.b32 i, 0; "
            "again: setp.ge.u32 p, i, 40; @p bra leave; and.b32 $d, $d, "
            "0xffffff; shr.u32 $d, $d, 0; setp.gt.u32 q, $d, $a; @q bra leave; "
            "@!q mad.lo.u32 $d, $d, 3, i; add.s32 i, i, 1; bra.uni again; "
            "leave: add.s32 $d, $d, i; }",
            {32, 32}, in, [](const uint64_t *v) {
              uint32_t d = 0, i = 0;
              for (; i < 40; ++i) {
                d &= 0xffffff;
                if (d > v[0]) {
                  break;
                }
                d = d * 3 + i;
              }
              return uint64_t(d + i);
            });
  table.row("{ .reg .b32 i; and.b32 i, $a, 3; targets: .branchtargets b0, b1, "
            "b2, b3; brx.idx i, targets; b0: mov.b32 $d, 11; bra done; b1: "
            "add.s32 $d, $a, 1; bra done; b2: mul.lo.s32 $d, $a, 5; bra done; "
            "b3: not.b32 $d, $a; done: }",
            {32, 32}, in, [](const uint64_t *v) {
              switch (v[0] & 3) {
              case 0:
                return uint64_t(11);
              case 1:
                return v[0] + 1;
              case 2:
                return v[0] * 5;
              default:
                return ~v[0] & 0xffffffffu;
              }
            });
  table.row("call ($d), square, ($a);", {32, 32}, in,
            [](const uint64_t *v) { return v[0] * v[0] & 0xffffffffu; });
  table.row("{ .reg .pred p; and.b32 $d, $a, 1; setp.eq.s32 p, $d, 1; mov.b32 "
            "$d, 5; @p bra skip; call ($d), twice, ($a); skip: }",
            {32, 32}, in, [](const uint64_t *v) {
              uint32_t s = uint32_t(v[0] * v[0]);
              return uint64_t(v[0] & 1 ? 5u : s * s);
            });
  Columns two = numbers(200);
  two.push_back(cross({{}}, 512, 64)[0]);
  table.row("{ .param .b32 x; .param .b64 y; .param .b32 z; st.param.b32 [x], "
            "$a; st.param.b64 [y], $b; call (z), pick, (x, y); ld.param.b32 "
            "$d, [z]; }",
            {32, 32, 64}, two, [](const uint64_t *v) {
              return uint64_t(
                  uint32_t(v[0] > 100 ? (v[1] >> 32) ^ v[0] : v[1] + v[0]));
            });
  table.row("{ .param .align 8 .b8 x[16]; .param .align 8 .b8 y[16]; .reg .b64 "
            "s, t; st.param.b64 [x], $b; cvt.u64.u32 s, $a; st.param.b64 "
            "[x+8], s; call (y), pair, (x); ld.param.b64 s, [y]; ld.param.b64 "
            "t, [y+8]; mad.lo.s64 $d, s, 7, t; }",
            {64, 32, 64}, two, [](const uint64_t *v) {
              uint64_t s = v[0] + v[1];
              return s * 7 + (s - 2 * v[0]);
            });
  // Guards on every kind of instruction.
  table.row("{ .reg .pred p; setp.gt.u32 p, $a, 5000; mov.b32 $d, 1; @p "
            "add.s32 $d, $d, $a; @!p mul.lo.s32 $d, $a, $a; "
            "@p ld.global.b32 $d, [%q1]; }",
            {32, 32}, in, [](const uint64_t *v) {
              return v[0] > 5000 ? v[0] : v[0] * v[0] & 0xffffffffu;
            });
  return table.take();
}

} // namespace gmoe::conformance
