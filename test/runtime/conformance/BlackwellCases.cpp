// Instructions of sm_100a that work on registers: pairs of f32, three-input
// minimum and maximum, narrow formats of 4 and 6 bits and scales, reductions of
// f32. On the emulator always; on a GPU that has them.
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/FloatReference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gmoe::conformance {
namespace {

const char *const kRounds[] = {"rn", "rz", "rm", "rp"};
constexpr Round kRoundValues[] = {Round::Nearest, Round::Zero, Round::Down,
                                  Round::Up};

Columns pairUp(const Columns &single) {
  Columns packed(single.size());
  size_t n = single[0].size();
  for (size_t j = 0; j < single.size(); ++j) {
    for (size_t k = 0; k < n; ++k) {
      packed[j].push_back(single[j][k] | single[j][(k + n / 3) % n] << 32);
    }
  }
  return packed;
}

void pairs(Table &table) {
  for (const char *name : {"add", "sub", "mul", "fma"}) {
    std::string op = name;
    unsigned n = op == "fma" ? 3 : 2;
    Columns columns = pairUp(floatTuples(kF32, n));
    for (unsigned r = 0; r < 4; ++r) {
      for (bool ftz : {false, true}) {
        Modifiers m;
        m.round = kRoundValues[r];
        m.ftz = ftz;
        table.row(op + "." + kRounds[r] + (ftz ? ".ftz" : "") +
                      ".f32x2 $d, $a, $b" + (n == 3 ? ", $c;" : ";"),
                  std::vector<unsigned>(n + 1, 64), columns,
                  [=](const uint64_t *v) {
                    auto half = [&](unsigned s) {
                      auto f = [&](uint64_t x) { return x >> s & 0xffffffffu; };
                      return arithmetic(kF32, op, m, f(v[0]), f(v[1]), f(v[2]));
                    };
                    return half(0) | half(32) << 32;
                  });
      }
    }
  }
}

void threeInputs(Table &table) {
  for (const char *name : {"min", "max"}) {
    for (unsigned form = 0; form < 8; ++form) {
      Modifiers m;
      m.ftz = form & 1;
      m.nan = form & 2;
      bool absolute = form & 4;
      std::string op = name;
      table.row(op + (m.ftz ? ".ftz" : "") + (m.nan ? ".NaN" : "") +
                    (absolute ? ".abs" : "") + ".f32 $d, $a, $b, $c;",
                {32, 32, 32, 32}, floatTuples(kF32, 3), [=](const uint64_t *v) {
                  uint64_t x[3];
                  for (unsigned k = 0; k < 3; ++k) {
                    x[k] = absolute ? v[k] & 0x7fffffff : v[k];
                  }
                  uint64_t r = arithmetic(kF32, op, m, x[0], x[1], 0);
                  return arithmetic(kF32, op, m, r, x[2], 0);
                });
    }
  }
}

/// Formats without NaN or infinity: values by definition, nearest by search.
struct Narrow {
  const char *name;
  unsigned exponentBits, mantissaBits;
  unsigned bits() const { return 1 + exponentBits + mantissaBits; }
  double value(unsigned magnitude) const {
    int bias = (1 << (exponentBits - 1)) - 1;
    unsigned e = magnitude >> mantissaBits;
    unsigned m = magnitude & ((1u << mantissaBits) - 1);
    return std::ldexp(double(e ? m + (1u << mantissaBits) : m),
                      int(e ? e : 1) - bias - int(mantissaBits));
  }
  uint64_t encode(double v) const {
    unsigned count = 1u << (bits() - 1);
    if (v != v) {
      return count - 1; // ISA: NaN becomes the largest positive value
    }
    double magnitude = std::fabs(v);
    unsigned best = count - 1;
    for (unsigned c = 0; c + 1 < count; ++c) {
      double middle = (value(c) + value(c + 1)) / 2;
      if (magnitude < middle || (magnitude == middle && c % 2 == 0)) {
        best = c;
        break;
      }
    }
    return best | uint64_t(std::signbit(v)) << (bits() - 1);
  }
};
const Narrow kNarrow[] = {{"e2m1x2", 2, 1}, {"e2m3x2", 2, 3}, {"e3m2x2", 3, 2}};

double f32Of(uint64_t bits) {
  uint32_t b = uint32_t(bits);
  float f;
  std::memcpy(&f, &b, 4);
  return double(f);
}

void narrow(Table &table) {
  for (const Narrow &n : kNarrow) {
    bool nibbles = n.bits() == 4;
    unsigned width = nibbles ? 4 : 8;
    // Every value, every midpoint, and what lies next to them.
    Columns in(2);
    for (unsigned c = 0; c < (1u << (n.bits() - 1)); ++c) {
      for (double v : {n.value(c), n.value(c) * 1.25, n.value(c) * 0.9375,
                       (n.value(c) + n.value(c ? c - 1 : 0)) / 2}) {
        float f = float(v);
        uint32_t bits;
        std::memcpy(&bits, &f, 4);
        for (uint32_t near : {bits, bits + 1, bits ? bits - 1 : 0}) {
          in[0].push_back(near);
          in[0].push_back(near | 0x80000000u);
        }
      }
    }
    const Columns tuples = floatTuples(kF32, 1);
    in[0].insert(in[0].end(), tuples[0].begin(), tuples[0].end());
    in[1] = in[0];
    std::rotate(in[1].begin(), in[1].begin() + 17, in[1].end());
    for (bool relu : {false, true}) {
      auto one = [=](uint64_t bits) {
        double v = f32Of(bits);
        return relu && (v < 0 || (v == 0 && std::signbit(v))) ? 0 : n.encode(v);
      };
      std::string op = std::string("cvt.rn.satfinite") +
                       (relu ? ".relu." : ".") + n.name + ".f32 ";
      std::string text =
          nibbles ? "{ .reg .b8 x; " + op + "x, $a, $b; cvt.u32.u8 $d, x; }"
                  : "{ .reg .b16 x; " + op + "x, $a, $b; cvt.u32.u16 $d, x; }";
      table.row(text, {32, 32, 32}, in, [=](const uint64_t *v) {
        return one(v[0]) << width | one(v[1]);
      });
      // And back, over every code.
      std::string back =
          std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + n.name;
      text = nibbles
                 ? "{ .reg .b8 x; cvt.u8.u32 x, $a; " + back + " $d, x; }"
                 : "{ .reg .b16 x; cvt.u16.u32 x, $a; " + back + " $d, x; }";
      Columns codes(1);
      unsigned count = 1u << n.bits();
      for (unsigned high = 0; high < count; ++high) {
        for (unsigned low = 0; low < count; ++low) {
          codes[0].push_back(high << width | low);
        }
      }
      table.row(text, {32, 32}, codes, [=](const uint64_t *v) {
        auto half = [&](uint64_t code) {
          unsigned magnitude = unsigned(code & (count / 2 - 1));
          bool negative = code >> (n.bits() - 1) & 1;
          if (relu && negative) {
            return uint64_t(0);
          }
          // Eighths are integers in these formats.
          Exact x = fromInteger(uint64_t(n.value(magnitude) * 16), false);
          x.e -= 4;
          x.negative = negative;
          return encode(kF16, x, Round::Nearest);
        };
        return half(v[0] >> width & (count - 1)) << 16 |
               half(v[0] & (count - 1));
      });
    }
  }
}

/// ue8m0: powers of two from 2^-127, 0xff is NaN.
void scales(Table &table) {
  Columns in(2);
  for (uint64_t e = 0; e < 256; ++e) {
    for (uint64_t m :
         {0ull, 1ull, 0x3fffffull, 0x400000ull, 0x400001ull, 0x7fffffull}) {
      in[0].push_back(e << 23 | m);
    }
  }
  in[1] = in[0];
  std::rotate(in[1].begin(), in[1].begin() + 100, in[1].end());
  for (bool up : {false, true}) {
    for (bool finite : {false, true}) {
      auto one = [=](uint64_t bits) -> uint64_t {
        double v = f32Of(bits);
        uint64_t top = finite ? 0xfe : 0xff;
        if (v != v) {
          return 0xff;
        }
        if (std::isinf(v)) {
          return top;
        }
        // The nearest powers below and above.
        for (unsigned c = 0; c < 255; ++c) {
          double power = std::ldexp(1.0, int(c) - 127);
          if (v == power || (v < power && (up || c == 0))) {
            return c;
          }
          if (v < power) {
            return c - 1;
          }
        }
        return up ? top : 0xfe;
      };
      std::string mods =
          std::string(up ? "rp" : "rz") + (finite ? ".satfinite" : "");
      table.row("cvt." + mods + ".ue8m0x2.f32 $d, $a, $b;", {16, 32, 32}, in,
                [=](const uint64_t *v) { return one(v[0]) << 8 | one(v[1]); });
      Columns brains(1);
      for (uint64_t c = 0; c < 0x8000; ++c) {
        brains[0].push_back(c | (c * 7 % 0x8000) << 16);
      }
      table.row("cvt." + mods + ".ue8m0x2.bf16x2 $d, $a;", {16, 32}, brains,
                [=](const uint64_t *v) {
                  return one(v[0] >> 16 << 16) << 8 |
                         one((v[0] & 0xffff) << 16);
                });
    }
  }
  table.row("cvt.rn.bf16x2.ue8m0x2 $d, $a;", {32, 16}, everyCode(16),
            [](const uint64_t *v) {
              auto half = [](uint64_t code) -> uint64_t {
                return code == 255 ? 0x7fff : code == 0 ? 0x40 : code << 7;
              };
              return half(v[0] >> 8) << 16 | half(v[0] & 0xff);
            });
}

void reductions(Table &table) {
  for (const char *name : {"min", "max"}) {
    for (bool absolute : {false, true}) {
      for (bool nan : {false, true}) {
        Columns c = {floatTuples(kF32, 1)[0]};
        c[0].resize(c[0].size() / 128 * 128);
        std::string op = name;
        Modifiers m;
        m.nan = nan;
        table.warpRow("redux.sync." + op + (absolute ? ".abs" : "") +
                          (nan ? ".NaN" : "") + ".f32 $d, $a, 0xffffffff;",
                      {32, 32}, c, [=](size_t k) {
                        uint64_t r = 0;
                        for (size_t l = 0; l < 32; ++l) {
                          uint64_t v = c[0][k / 32 * 32 + l];
                          v = absolute ? v & 0x7fffffff : v;
                          r = l == 0 ? v : arithmetic(kF32, op, m, r, v, 0);
                        }
                        return isNaN(kF32, r) ? uint64_t(0x7fffffff) : r;
                      });
      }
    }
  }
}

} // namespace

Family blackwellFamily() {
  Table table("blackwell");
  pairs(table);
  threeInputs(table);
  narrow(table);
  scales(table);
  reductions(table);
  Family f = table.take();
  f.needsBlackwell = true;
  f.ptx.replace(f.ptx.find("8.6"), 3, "8.8"); // three-input min and max
  return f;
}

} // namespace gmoe::conformance
