// Logic, shifts, bit fields, permutations (ISA 9.7.1.17 to 9.7.1.25, 9.7.8).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/IntegerTypes.h"

#include <algorithm>

namespace gmoe::conformance {
namespace {

void logic(Table &table) {
  for (unsigned w : {16u, 32u, 64u}) {
    uint64_t mask = w == 64 ? ~uint64_t(0) : (uint64_t(1) << w) - 1;
    std::string n = ".b" + std::to_string(w);
    table.row("and" + n + " $d, $a, $b;", {w, w, w}, two(w),
              [](const uint64_t *v) { return v[0] & v[1]; });
    table.row("or" + n + " $d, $a, $b;", {w, w, w}, two(w),
              [](const uint64_t *v) { return v[0] | v[1]; });
    table.row("xor" + n + " $d, $a, $b;", {w, w, w}, two(w),
              [](const uint64_t *v) { return v[0] ^ v[1]; });
    table.row("not" + n + " $d, $a;", {w, w}, one(w),
              [mask](const uint64_t *v) { return ~v[0] & mask; });
    table.row("cnot" + n + " $d, $a;", {w, w}, one(w),
              [](const uint64_t *v) { return uint64_t(v[0] == 0); });
    std::vector<uint64_t> counts = {0,  1,   7,          15,        16, 17,
                                    31, 32,  33,         63,        64, 65,
                                    96, 255, 0x80000000, 0xffffffff};
    Columns shifts = cross({integerEdges(w), counts}, 0, w);
    table.row("shl" + n + " $d, $a, $b;", {w, w, 32}, shifts,
              [=](const uint64_t *v) {
                return v[1] >= w ? 0 : (v[0] << v[1]) & mask;
              });
    for (const char *type : {"b", "u", "s"}) {
      IntType t{"", w, *type == 's'};
      table.row(std::string("shr.") + type + std::to_string(w) + " $d, $a, $b;",
                {w, w, 32}, shifts, [=](const uint64_t *v) {
                  Wide x = t.value(v[0]);
                  return uint64_t(v[1] >= w ? (x < 0 ? -1 : 0) : x >> v[1]) &
                         mask;
                });
    }
  }
  table.row("and.pred $d, $a, $b;", {1, 1, 1}, cross({{0, 1}, {0, 1}}, 0, 1),
            [](const uint64_t *v) { return v[0] & v[1]; });
  table.row("or.pred $d, $a, $b;", {1, 1, 1}, cross({{0, 1}, {0, 1}}, 0, 1),
            [](const uint64_t *v) { return v[0] | v[1]; });
  table.row("xor.pred $d, $a, $b;", {1, 1, 1}, cross({{0, 1}, {0, 1}}, 0, 1),
            [](const uint64_t *v) { return v[0] ^ v[1]; });
  table.row("not.pred $d, $a;", {1, 1}, cross({{0, 1}}, 0, 1),
            [](const uint64_t *v) { return 1 - v[0]; });
  for (unsigned lut : {0x00u, 0x01u, 0x1bu, 0x3cu, 0x40u, 0x6au, 0x80u, 0x96u,
                       0xb8u, 0xcau, 0xe8u, 0xf8u, 0xfeu, 0xffu}) {
    table.row("lop3.b32 $d, $a, $b, $c, " + std::to_string(lut) + ";",
              {32, 32, 32, 32}, three(32), [lut](const uint64_t *v) {
                uint64_t r = 0;
                for (unsigned k = 0; k < 32; ++k) {
                  unsigned at = unsigned(v[0] >> k & 1) << 2 |
                                unsigned(v[1] >> k & 1) << 1 |
                                unsigned(v[2] >> k & 1);
                  r |= uint64_t(lut >> at & 1) << k;
                }
                return r;
              });
  }
  for (bool left : {false, true}) {
    for (bool wrap : {false, true}) {
      std::vector<uint64_t> counts = {0,  1,  15, 31, 32,  33,
                                      40, 63, 64, 95, 255, 0xffffffff};
      table.row(std::string("shf.") + (left ? "l." : "r.") +
                    (wrap ? "wrap" : "clamp") + ".b32 $d, $a, $b, $c;",
                {32, 32, 32, 32}, cross({few(32), few(32), counts}, 0, 32),
                [=](const uint64_t *v) {
                  uint64_t n = wrap ? v[2] & 31 : std::min<uint64_t>(v[2], 32);
                  unsigned __int128 both = (unsigned __int128)v[1] << 32 | v[0];
                  return uint64_t(left ? both << n >> 32 : both >> n) &
                         0xffffffffu;
                });
    }
  }
}

void bits(Table &table) {
  for (unsigned w : {32u, 64u}) {
    std::string b = ".b" + std::to_string(w);
    table.row("popc" + b + " $d, $a;", {32, w}, one(w), [](const uint64_t *v) {
      uint64_t n = 0;
      for (unsigned k = 0; k < 64; ++k) {
        n += v[0] >> k & 1;
      }
      return n;
    });
    table.row("clz" + b + " $d, $a;", {32, w}, one(w), [w](const uint64_t *v) {
      uint64_t n = 0;
      while (n < w && !(v[0] >> (w - 1 - n) & 1)) {
        ++n;
      }
      return n;
    });
    table.row("brev" + b + " $d, $a;", {w, w}, one(w), [w](const uint64_t *v) {
      uint64_t r = 0;
      for (unsigned k = 0; k < w; ++k) {
        r |= (v[0] >> k & 1) << (w - 1 - k);
      }
      return r;
    });
    for (const char *sign : {"u", "s"}) {
      for (bool amount : {false, true}) {
        IntType t{"", w, *sign == 's'};
        table.row(std::string("bfind") + (amount ? ".shiftamt." : ".") + sign +
                      std::to_string(w) + " $d, $a;",
                  {32, w}, one(w), [=](const uint64_t *v) {
                    uint64_t x = t.value(v[0]) < 0 ? ~v[0] & t.mask() : v[0];
                    for (int k = int(w) - 1; k >= 0; --k) {
                      if (x >> k & 1) {
                        return uint64_t(amount ? int(w) - 1 - k : k);
                      }
                    }
                    return uint64_t(0xffffffffu);
                  });
      }
    }
    std::vector<uint64_t> at = {0,  1,  5,   31,  32,  33,
                                63, 64, 200, 255, 256, 300};
    std::vector<uint64_t> length = {0, 1, 8, 16, 31, 32, 33, 63, 64, 255, 260};
    // Beyond 255 the ISA says nothing. Hopper's own 32-bit instructions take
    // the lowest byte; the 64-bit ones are made of others and take it all.
    auto field = [w](uint64_t v) {
      return w == 32 ? uint32_t(v & 0xff) : uint32_t(v);
    };
    for (const char *sign : {"u", "s"}) {
      IntType t{"", w, *sign == 's'};
      table.row(
          std::string("bfe.") + sign + std::to_string(w) + " $d, $a, $b, $c;",
          {w, w, 32, 32}, cross({few(w), at, length}, 0, w),
          [=](const uint64_t *v) {
            // ISA 9.7.1.24: the pseudocode of bfe.
            uint32_t pos = field(v[1]), len = field(v[2]), msb = w - 1;
            uint64_t fill = !t.isSigned || len == 0
                                ? 0
                                : v[0] >> std::min(pos + len - 1, msb) & 1;
            uint64_t r = 0;
            for (uint32_t k = 0; k <= msb; ++k) {
              uint64_t bit =
                  k < len && pos + k <= msb ? v[0] >> (pos + k) & 1 : fill;
              r |= bit << k;
            }
            return r;
          });
    }
    std::string bfi = "{ .reg .b32 p, n; and.b32 p, $c, 0xffff; shr.u32 n, $c, "
                      "16; bfi.b" +
                      std::to_string(w) + " $d, $a, $b, p, n; }";
    std::vector<uint64_t> places;
    for (uint64_t p : at) {
      for (uint64_t n : length) {
        places.push_back(n << 16 | p);
      }
    }
    table.row(bfi, {w, w, w, 32}, cross({few(w), few(w), places}, 0, w),
              [=](const uint64_t *v) {
                uint32_t pos = field(v[2] & 0xffff), len = field(v[2] >> 16);
                uint64_t r = v[1];
                for (uint32_t k = 0; k < len && pos + k < w; ++k) {
                  r = (r & ~(uint64_t(1) << (pos + k))) | (v[0] >> k & 1)
                                                              << (pos + k);
                }
                return r;
              });
  }
  std::vector<uint64_t> base = {0, 1, 5, 31, 32, 33, 64, 0xffffffff};
  for (bool wrap : {false, true}) {
    table.row(std::string("bmsk.") + (wrap ? "wrap" : "clamp") +
                  ".b32 $d, $a, $b;",
              {32, 32, 32}, cross({base, base}, 0, 32), [=](const uint64_t *v) {
                uint64_t a = v[0], n = v[1], r = 0;
                if (wrap) {
                  a &= 31;
                  n &= 31;
                }
                for (uint64_t k = a; k < a + n && k < 32; ++k) {
                  r |= uint64_t(1) << k;
                }
                return r;
              });
    for (bool sign : {false, true}) {
      table.row(std::string("szext.") + (wrap ? "wrap." : "clamp.") +
                    (sign ? "s32" : "u32") + " $d, $a, $b;",
                {32, 32, 32}, cross({integerEdges(32), base}, 0, 32),
                [=](const uint64_t *v) {
                  uint64_t n = wrap ? v[1] & 31 : v[1];
                  if (n >= 32) {
                    return v[0];
                  }
                  if (n == 0) {
                    return uint64_t(0);
                  }
                  IntType t{"", unsigned(n), sign};
                  return uint64_t(t.value(v[0])) & 0xffffffffu;
                });
    }
  }
  auto permute = [](uint64_t a, uint64_t b, const unsigned *which,
                    const bool *sign) {
    uint64_t both = b << 32 | a, r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      uint64_t byte = both >> (8 * which[k]) & 0xff;
      r |= (sign[k] ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * k);
    }
    return r;
  };
  table.row("prmt.b32 $d, $a, $b, $c;", {32, 32, 32, 32}, three(32),
            [=](const uint64_t *v) {
              unsigned which[4];
              bool sign[4];
              for (unsigned k = 0; k < 4; ++k) {
                which[k] = v[2] >> (4 * k) & 7;
                sign[k] = v[2] >> (4 * k + 3) & 1;
              }
              return permute(v[0], v[1], which, sign);
            });
  // ISA 9.7.9.7: the tables of the special modes, for selectors 0 to 3.
  static const struct {
    const char *mode;
    unsigned which[4][4];
  } kModes[] = {
      {"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
      {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
      {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
      {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
      {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
      {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}}};
  for (const auto &m : kModes) {
    table.row(std::string("prmt.b32.") + m.mode + " $d, $a, $b, $c;",
              {32, 32, 32, 32},
              cross({few(32), few(32), {0, 1, 2, 3, 4, 7, 0xfffffffe}}, 0, 32),
              [=](const uint64_t *v) {
                static const bool kNone[4] = {};
                return permute(v[0], v[1], m.which[v[2] & 3], kNone);
              });
  }
  std::string fns = "{ .reg .b32 base, at; and.b32 base, $b, 31; fns.b32 $d, "
                    "$a, base, $c; }";
  table.row(fns, {32, 32, 32, 32},
            cross({integerEdges(32),
                   {0, 1, 5, 30, 31},
                   {0, 1, 2, 5, 0xffffffff, 0xfffffffe, 0xfffffffb}},
                  0, 32),
            [](const uint64_t *v) {
              // ISA 9.7.1.18: the n-th set bit from `base`, 0: that bit itself.
              int64_t offset = int32_t(v[2]), at = int64_t(v[1] & 31);
              if (offset == 0) {
                return v[0] >> at & 1 ? uint64_t(at) : uint64_t(0xffffffffu);
              }
              int64_t step = offset > 0 ? 1 : -1;
              int64_t left = offset > 0 ? offset - 1 : -offset - 1;
              for (; at >= 0 && at < 32; at += step) {
                if (v[0] >> at & 1) {
                  if (left-- == 0) {
                    return uint64_t(at);
                  }
                }
              }
              return uint64_t(0xffffffffu);
            });
}

} // namespace

Family bitsFamily() {
  Table table("bits");
  logic(table);
  bits(table);
  return table.take();
}

} // namespace gmoe::conformance
