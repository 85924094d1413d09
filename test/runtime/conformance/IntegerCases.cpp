// Integer arithmetic (ISA 9.7.1, 9.7.2).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/IntegerTypes.h"

#include <algorithm>

namespace gmoe::conformance {
namespace {

/// Registers of two halves of a wide product: 128 bits do for every type but
/// u64, whose product needs the unsigned type.
uint64_t product(const IntType &t, uint64_t a, uint64_t b, bool high) {
  unsigned __int128 p =
      (unsigned __int128)t.value(a) * (unsigned __int128)t.value(b);
  return uint64_t(high ? p >> t.bits : p) & t.mask();
}

void arithmetic(Table &table) {
  for (const IntType &t : kTypes) {
    std::string n = t.name;
    unsigned w = t.bits;
    auto binary = [&](const std::string &op, const Function &f) {
      table.row(op + "." + n + " $d, $a, $b;", {w, w, w}, two(w), f);
    };
    binary("add", [t](const uint64_t *v) { return (v[0] + v[1]) & t.mask(); });
    binary("sub", [t](const uint64_t *v) { return (v[0] - v[1]) & t.mask(); });
    binary("mul.lo",
           [t](const uint64_t *v) { return product(t, v[0], v[1], false); });
    binary("mul.hi",
           [t](const uint64_t *v) { return product(t, v[0], v[1], true); });
    binary("min", [t](const uint64_t *v) {
      return t.value(v[0]) < t.value(v[1]) ? v[0] : v[1];
    });
    binary("max", [t](const uint64_t *v) {
      return t.value(v[0]) > t.value(v[1]) ? v[0] : v[1];
    });
    table.row("mad.lo." + n + " $d, $a, $b, $c;", {w, w, w, w}, three(w),
              [t](const uint64_t *v) {
                return (product(t, v[0], v[1], false) + v[2]) & t.mask();
              });
    table.row("mad.hi." + n + " $d, $a, $b, $c;", {w, w, w, w}, three(w),
              [t](const uint64_t *v) {
                return (product(t, v[0], v[1], true) + v[2]) & t.mask();
              });
    table.row("sad." + n + " $d, $a, $b, $c;", {w, w, w, w}, three(w),
              [t](const uint64_t *v) {
                Wide d = t.value(v[0]) - t.value(v[1]);
                return (v[2] + uint64_t(d < 0 ? -d : d)) & t.mask();
              });
    // Division by zero is unspecified, and so is the overflowing quotient.
    Columns divisors = two(w);
    for (size_t k = 0; k < divisors[1].size(); ++k) {
      if (divisors[1][k] == 0 ||
          (t.isSigned && t.value(divisors[1][k]) == -1)) {
        divisors[1][k] = 5;
      }
    }
    table.row("div." + n + " $d, $a, $b;", {w, w, w}, divisors,
              [t](const uint64_t *v) {
                return uint64_t(t.value(v[0]) / t.value(v[1])) & t.mask();
              });
    table.row("rem." + n + " $d, $a, $b;", {w, w, w}, divisors,
              [t](const uint64_t *v) {
                return uint64_t(t.value(v[0]) % t.value(v[1])) & t.mask();
              });
    if (t.isSigned) {
      table.row("abs." + n + " $d, $a;", {w, w}, one(w),
                [t](const uint64_t *v) {
                  Wide x = t.value(v[0]);
                  return uint64_t(x < 0 ? -x : x) & t.mask();
                });
      table.row("neg." + n + " $d, $a;", {w, w}, one(w),
                [t](const uint64_t *v) { return (0 - v[0]) & t.mask(); });
    }
    if (w < 64) {
      table.row("mul.wide." + n + " $d, $a, $b;", {2 * w, w, w}, two(w),
                [t](const uint64_t *v) {
                  uint64_t p = uint64_t(t.value(v[0]) * t.value(v[1]));
                  return t.bits == 16 ? p & 0xffffffffu : p;
                });
      Columns c = three(w);
      c[2] = cross({integerEdges(2 * w)},
                   c[0].size() - integerEdges(2 * w).size(), 2 * w)[0];
      table.row("mad.wide." + n + " $d, $a, $b, $c;", {2 * w, w, w, 2 * w}, c,
                [t](const uint64_t *v) {
                  uint64_t p = uint64_t(t.value(v[0]) * t.value(v[1])) + v[2];
                  return t.bits == 16 ? p & 0xffffffffu : p;
                });
    }
  }
  IntType s32 = kTypes[3], u32 = kTypes[2];
  auto clamp = [s32](Wide v) {
    return uint64_t(std::clamp(v, s32.lowest(), s32.highest())) & 0xffffffffu;
  };
  table.row("add.sat.s32 $d, $a, $b;", {32, 32, 32}, two(32),
            [=](const uint64_t *v) {
              return clamp(s32.value(v[0]) + s32.value(v[1]));
            });
  table.row("sub.sat.s32 $d, $a, $b;", {32, 32, 32}, two(32),
            [=](const uint64_t *v) {
              return clamp(s32.value(v[0]) - s32.value(v[1]));
            });
  table.row("mad.hi.sat.s32 $d, $a, $b, $c;", {32, 32, 32, 32}, three(32),
            [=](const uint64_t *v) {
              Wide high = (s32.value(v[0]) * s32.value(v[1])) >> 32;
              return clamp(high + s32.value(v[2]));
            });
  for (bool high : {false, true}) {
    for (bool sign : {false, true}) {
      auto value24 = [sign](uint64_t v) {
        v &= 0xffffff;
        return sign && (v >> 23) ? Wide(v) - (1 << 24) : Wide(v);
      };
      std::string form =
          std::string(high ? ".hi." : ".lo.") + (sign ? "s32" : "u32");
      auto f = [=](const uint64_t *v) {
        uint64_t p = uint64_t(value24(v[0]) * value24(v[1]));
        return (high ? p >> 16 : p) & 0xffffffffu;
      };
      table.row("mul24" + form + " $d, $a, $b;", {32, 32, 32}, two(32), f);
      table.row("mad24" + form + " $d, $a, $b, $c;", {32, 32, 32, 32},
                three(32),
                [=](const uint64_t *v) { return (f(v) + v[2]) & 0xffffffffu; });
    }
  }
  for (const char *pair : {"u32.u32", "u32.s32", "s32.u32", "s32.s32"}) {
    bool signedA = pair[0] == 's', signedB = pair[4] == 's';
    auto lane = [](uint64_t v, unsigned k, unsigned bits, bool sign) {
      IntType t{"", bits, sign};
      return t.value(v >> (bits * k));
    };
    table.row(std::string("dp4a.") + pair + " $d, $a, $b, $c;",
              {32, 32, 32, 32}, three(32), [=](const uint64_t *v) {
                Wide r = Wide(v[2]);
                for (unsigned k = 0; k < 4; ++k) {
                  r += lane(v[0], k, 8, signedA) * lane(v[1], k, 8, signedB);
                }
                return uint64_t(r) & 0xffffffffu;
              });
    for (bool high : {false, true}) {
      table.row(std::string("dp2a.") + (high ? "hi." : "lo.") + pair +
                    " $d, $a, $b, $c;",
                {32, 32, 32, 32}, three(32), [=](const uint64_t *v) {
                  Wide r = Wide(v[2]);
                  for (unsigned k = 0; k < 2; ++k) {
                    r += lane(v[0], k, 16, signedA) *
                         lane(v[1], k + (high ? 2 : 0), 8, signedB);
                  }
                  return uint64_t(r) & 0xffffffffu;
                });
    }
  }
  // Carry chains: 64-bit results from 32-bit halves.
  auto low = [](uint64_t v) { return v & 0xffffffffu; };
  std::string split = "{ .reg .b32 a0, a1, b0, b1, c0, c1, d0, d1; mov.b64 "
                      "{a0, a1}, $a; mov.b64 {b0, b1}, $b; ";
  table.row(split + "add.cc.u32 d0, a0, b0; addc.u32 d1, a1, b1; mov.b64 $d, "
                    "{d0, d1}; }",
            {64, 64, 64}, two(64),
            [](const uint64_t *v) { return v[0] + v[1]; });
  table.row(split + "sub.cc.u32 d0, a0, b0; subc.u32 d1, a1, b1; mov.b64 $d, "
                    "{d0, d1}; }",
            {64, 64, 64}, two(64),
            [](const uint64_t *v) { return v[0] - v[1]; });
  table.row(split + "add.cc.u32 d0, a0, b0; addc.cc.u32 d1, a1, b1; addc.u32 "
                    "d0, 0, 0; mov.b64 $d, {d0, d1}; }",
            {64, 64, 64}, two(64), [low](const uint64_t *v) {
              unsigned __int128 s = (unsigned __int128)v[0] + v[1];
              return low(uint64_t(s >> 64)) | (uint64_t(s) >> 32) << 32;
            });
  table.row(split + "mov.b64 {c0, c1}, $c; mad.lo.cc.u32 d0, a0, b0, c0; "
                    "madc.hi.u32 d1, a0, b0, c1; mov.b64 $d, {d0, d1}; }",
            {64, 64, 64, 64}, three(64),
            [low](const uint64_t *v) { return low(v[0]) * low(v[1]) + v[2]; });
  table.row("{ .reg .b64 t; add.cc.u64 t, $a, $b; addc.u64 $d, $a, 0; }",
            {64, 64, 64}, two(64),
            [](const uint64_t *v) { return v[0] + (v[0] + v[1] < v[0]); });
  table.row("{ .reg .b64 t; sub.cc.u64 t, $a, $b; subc.u64 $d, $b, 0; }",
            {64, 64, 64}, two(64),
            [](const uint64_t *v) { return v[1] - (v[0] < v[1]); });
  for (const char *op : {"min", "max"}) {
    bool isMax = op[1] == 'a';
    table.row(std::string(op) + ".relu.s32 $d, $a, $b;", {32, 32, 32}, two(32),
              [=](const uint64_t *v) {
                Wide a = s32.value(v[0]), b = s32.value(v[1]);
                return uint64_t(
                    std::max<Wide>(0, isMax ? std::max(a, b) : std::min(a, b)));
              });
    for (bool sign : {false, true}) {
      for (bool relu : {false, true}) {
        if (relu && !sign) {
          continue;
        }
        IntType h{"", 16, sign};
        table.row(std::string(op) + (relu ? ".relu" : "") +
                      (sign ? ".s16x2" : ".u16x2") + " $d, $a, $b;",
                  {32, 32, 32}, two(32), [=](const uint64_t *v) {
                    uint64_t r = 0;
                    for (unsigned k = 0; k < 32; k += 16) {
                      Wide a = h.value(v[0] >> k), b = h.value(v[1] >> k);
                      Wide x = isMax ? std::max(a, b) : std::min(a, b);
                      x = relu ? std::max<Wide>(x, 0) : x;
                      r |= (uint64_t(x) & 0xffff) << k;
                    }
                    return r;
                  });
      }
    }
  }
  for (const char *type : {"u16x2", "s16x2"}) {
    table.row(std::string("add.") + type + " $d, $a, $b;", {32, 32, 32},
              two(32), [](const uint64_t *v) {
                return ((v[0] + v[1]) & 0xffff) |
                       (((v[0] >> 16) + (v[1] >> 16)) & 0xffff) << 16;
              });
  }
  (void)u32;
}

} // namespace

Family integerFamily() {
  Table table("integer");
  arithmetic(table);
  return table.take();
}

} // namespace gmoe::conformance
