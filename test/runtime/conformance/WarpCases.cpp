// Exchange and agreement within a warp (ISA 9.7.9.5, 9.7.9.6, 9.7.13.9 to
// 9.7.13.14), whole and in divergent parts.
#include "test/runtime/conformance/Families.h"

#include <algorithm>

namespace gmoe::conformance {
namespace {

constexpr size_t kElements = 512; // 16 warps

/// Random words; narrow ones repeat within a warp.
std::vector<uint64_t> words(uint64_t seed, uint64_t mask = 0xffffffff) {
  Draw draw(seed);
  std::vector<uint64_t> v(kElements);
  for (uint64_t &x : v) {
    x = draw() & mask;
  }
  return v;
}
/// One value for each warp.
std::vector<uint64_t> perWarp(const std::vector<uint64_t> &choices) {
  std::vector<uint64_t> v(kElements);
  for (size_t k = 0; k < kElements; ++k) {
    v[k] = choices[k / 32 % choices.size()];
  }
  return v;
}

void shuffles(Table &table) {
  const char *modes[] = {"up", "down", "bfly", "idx"};
  for (unsigned mode = 0; mode < 4; ++mode) {
    for (bool uniform : {true, false}) {
      Columns c = {
          words(mode + 1),
          uniform ? perWarp({0, 1, 2, 3, 5, 8, 16, 31, 32, 40})
                  : words(mode + 9, 63),
          perWarp(mode == 0 ? std::vector<uint64_t>{0, 0x1800, 0x1000, 0x1c00}
                            : std::vector<uint64_t>{0x1f, 0x181f, 0x101f, 0x0f,
                                                    0x1c1f, 0x1c03})};
      table.warpRow(
          std::string("{ .reg .b32 x, y; .reg .pred p; shfl.sync.") +
              modes[mode] +
              ".b32 x|p, $a, $b, $c, 0xffffffff; selp.b32 y, 1, 0, p; "
              "mov.b64 $d, {x, y}; }",
          {64, 32, 32, 32}, c, [=](size_t k) {
            int lane = int(k % 32), n = int(c[1][k] & 31);
            int bound = int(c[2][k] & 31), segment = int(c[2][k] >> 8 & 31);
            int last = (lane & segment) | (bound & ~segment);
            int from = mode == 0   ? lane - n
                       : mode == 1 ? lane + n
                       : mode == 2 ? lane ^ n
                                   : (lane & segment) | (n & ~segment);
            bool valid = mode == 0 ? from >= last : from <= last;
            from = valid ? from : lane;
            return c[0][k / 32 * 32 + size_t(from)] | uint64_t(valid) << 32;
          });
    }
  }
}

/// Lane groups that run one instruction each in their own branch.
const uint32_t kGroups[] = {0x55555555u, 0xaaaaaaaau};
std::string inGroups(const std::string &before, const std::string &after) {
  return "{ .reg .b32 l; .reg .pred p; mov.u32 l, %laneid; and.b32 l, l, 1; "
         "setp.ne.s32 p, l, 0; @p bra odd; " +
         before + "0x55555555" + after + " bra done; odd: " + before +
         "0xaaaaaaaa" + after + " done: }";
}

void votes(Table &table) {
  Columns c = {words(21, 1)};
  for (size_t k = 0; k < 96; ++k) { // warps of all, none, and one
    c[0][k] = k < 32 ? 1 : k < 64 ? 0 : k == 70;
  }
  auto ballot = [=](size_t k, uint32_t members) {
    uint32_t bits = 0;
    for (size_t l = 0; l < 32; ++l) {
      bits |= uint32_t(c[0][k / 32 * 32 + l] != 0) << l;
    }
    return bits & members;
  };
  for (bool parts : {false, true}) {
    auto members = [=](size_t k) {
      return parts ? kGroups[k & 1] : 0xffffffffu;
    };
    auto text = [&](const std::string &before) {
      return parts ? inGroups(before, ";") : before + "0xffffffff;";
    };
    table.warpRow(text("vote.sync.ballot.b32 $d, $a, "), {32, 1}, c,
                  [=](size_t k) { return uint64_t(ballot(k, members(k))); });
    table.warpRow(text("vote.sync.all.pred $d, $a, "), {1, 1}, c,
                  [=](size_t k) {
                    return uint64_t(ballot(k, members(k)) == members(k));
                  });
    table.warpRow(
        text("vote.sync.any.pred $d, $a, "), {1, 1}, c,
        [=](size_t k) { return uint64_t(ballot(k, members(k)) != 0); });
    table.warpRow(text("vote.sync.uni.pred $d, $a, "), {1, 1}, c,
                  [=](size_t k) {
                    uint32_t b = ballot(k, members(k));
                    return uint64_t(b == 0 || b == members(k));
                  });
    table.warpRow(text("vote.sync.any.pred $d, !$a, "), {1, 1}, c,
                  [=](size_t k) {
                    return uint64_t(ballot(k, members(k)) != members(k));
                  });
  }
}

void matches(Table &table) {
  for (unsigned w : {32u, 64u}) {
    Columns c = {words(31, w == 32 ? 0x3 : 0x300000001ull)};
    for (size_t k = 0; k < 64; ++k) {
      c[0][k] = 7; // two warps that agree
    }
    auto equal = [=](size_t k, uint32_t members) {
      uint32_t bits = 0;
      for (size_t l = 0; l < 32; ++l) {
        bits |= uint32_t(c[0][k / 32 * 32 + l] == c[0][k]) << l;
      }
      return bits & members;
    };
    std::string type = ".b" + std::to_string(w);
    for (bool parts : {false, true}) {
      auto members = [=](size_t k) {
        return parts ? kGroups[k & 1] : 0xffffffffu;
      };
      std::string any = "match.any.sync" + type + " $d, $a, ";
      table.warpRow(parts ? inGroups(any, ";") : any + "0xffffffff;", {32, w},
                    c,
                    [=](size_t k) { return uint64_t(equal(k, members(k))); });
      std::string all = "match.all.sync" + type + " x|p2, $a, ";
      std::string tail = " selp.b32 y, 1, 0, p2; mov.b64 $d, {x, y}; }";
      table.warpRow("{ .reg .b32 x, y; .reg .pred p2; " +
                        (parts ? inGroups(all, ";") : all + "0xffffffff;") +
                        tail,
                    {64, w}, c, [=](size_t k) {
                      bool same = equal(k, members(k)) == members(k);
                      return same ? members(k) | uint64_t(1) << 32 : 0;
                    });
    }
  }
}

void reductions(Table &table) {
  struct Form {
    const char *name;
    uint32_t (*apply)(uint32_t, uint32_t);
  };
  const Form kForms[] = {
      {"add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
      {"add.s32", [](uint32_t a, uint32_t b) { return a + b; }},
      {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
      {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
      {"min.s32",
       [](uint32_t a, uint32_t b) {
         return uint32_t(std::min(int32_t(a), int32_t(b)));
       }},
      {"max.s32",
       [](uint32_t a, uint32_t b) {
         return uint32_t(std::max(int32_t(a), int32_t(b)));
       }},
      {"and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
      {"or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
      {"xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }}};
  for (const Form &form : kForms) {
    for (bool parts : {false, true}) {
      Columns c = {words(41)};
      for (size_t k = 0; k < 32; ++k) {
        c[0][k] |= 0xff00;  // something for `and` to keep
        c[0][k + 32] &= 15; // and for `or` to leave out
      }
      std::string before = std::string("redux.sync.") + form.name + " $d, $a, ";
      table.warpRow(parts ? inGroups(before, ";") : before + "0xffffffff;",
                    {32, 32}, c, [=](size_t k) {
                      uint32_t members = parts ? kGroups[k & 1] : 0xffffffffu;
                      bool first = true;
                      uint32_t r = 0;
                      for (size_t l = 0; l < 32; ++l) {
                        if (members >> l & 1) {
                          uint32_t v = uint32_t(c[0][k / 32 * 32 + l]);
                          r = first ? v : form.apply(r, v);
                          first = false;
                        }
                      }
                      return uint64_t(r);
                    });
    }
  }
}

} // namespace

Family warpFamily() {
  Table table("warp");
  shuffles(table);
  votes(table);
  matches(table);
  reductions(table);
  Columns c = {words(51)};
  table.warpRow("activemask.b32 $d;", {32, 32}, c,
                [](size_t) { return uint64_t(0xffffffffu); });
  std::string elect = "elect.sync x|p2, ";
  for (bool parts : {false, true}) {
    table.warpRow("{ .reg .b32 x, y; .reg .pred p2; " +
                      (parts ? inGroups(elect, ";") : elect + "0xffffffff;") +
                      " selp.b32 y, 1, 0, p2; mov.b64 $d, {x, y}; }",
                  {64, 32}, c, [=](size_t k) {
                    uint64_t leader = parts ? k & 1 : 0;
                    return leader | uint64_t(k % 32 == leader) << 32;
                  });
  }
  return table.take();
}

} // namespace gmoe::conformance
