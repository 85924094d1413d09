// cvt to and from packed pairs, narrow formats and tf32 (ISA 9.7.9.21).
#include "test/runtime/conformance/ConvertInputs.h"
#include "test/runtime/conformance/Families.h"

#include <algorithm>

namespace gmoe::conformance {

/// Packed destinations: the first source goes to the upper half.
Family convertPackedFamily() {
  Table table("convertPacked");
  struct Packed {
    const char *name;
    const Format *format;
    unsigned bits; // of one element
  };
  const Packed kWide[] = {{"f16x2", &kF16, 16}, {"bf16x2", &kBF16, 16}};
  const Packed kNarrow[] = {{"e4m3x2", &kE4M3, 8}, {"e5m2x2", &kE5M2, 8}};
  // Narrow formats saturate to the largest finite value; NaN is 0x7f, of
  // either format (ISA 9.7.9.21, .satfinite).
  auto narrowed = [](const Packed &p, Exact x, bool relu) -> uint64_t {
    if (x.nan) {
      return 0x7f;
    }
    uint64_t r = encode(*p.format, x, Round::Nearest);
    uint64_t magnitude = r & 0x7f;
    r = (r & 0x80) | std::min(magnitude, p.format->largest());
    return relu && (r & 0x80) ? 0 : r;
  };
  for (const Packed &p : kWide) {
    for (unsigned r = 0; r < 2; ++r) {
      for (bool relu : {false, true}) {
        Columns in = column(floatsAround(kF32, *p.format));
        in.push_back(in[0]);
        std::rotate(in[1].begin(), in[1].begin() + 777, in[1].end());
        std::string mods =
            std::string(".") + kRounds[r] + (relu ? ".relu" : "");
        table.row("cvt" + mods + "." + p.name + ".f32 $d, $a, $b;",
                  {32, 32, 32}, in, [=](const uint64_t *v) {
                    auto half = [&](uint64_t bits) {
                      uint64_t h = encode(*p.format, decode(kF32, bits),
                                          kRoundValues[r]);
                      bool nan = isNaN(*p.format, h);
                      return relu && !nan && (h >> 15) ? 0 : h;
                    };
                    return half(v[0]) << 16 | half(v[1]);
                  });
      }
    }
  }
  // .satfinite: infinities and overflow become the largest finite value.
  for (const Packed &p : kWide) {
    for (bool relu : {false, true}) {
      Columns in = column(floatsAround(kF32, *p.format));
      in.push_back(in[0]);
      std::rotate(in[1].begin(), in[1].begin() + 333, in[1].end());
      auto one = [=](uint64_t bits) {
        uint64_t h = encode(*p.format, decode(kF32, bits), Round::Nearest);
        if (isNaN(*p.format, h)) {
          return h;
        }
        uint64_t magnitude = std::min(h & 0x7fff, p.format->largest());
        return relu && (h >> 15) ? 0 : (h & 0x8000) | magnitude;
      };
      std::string mods =
          std::string("cvt.rn") + (relu ? ".relu" : "") + ".satfinite.";
      table.row(mods + p.name + ".f32 $d, $a, $b;", {32, 32, 32}, in,
                [=](const uint64_t *v) { return one(v[0]) << 16 | one(v[1]); });
      std::string scalar =
          std::string(p.name).substr(0, p.name[0] == 'b' ? 4 : 3);
      table.row(mods + scalar + ".f32 $d, $a;", {16, 32}, {in[0]},
                [=](const uint64_t *v) { return one(v[0]); });
    }
  }
  for (const Packed &p : kNarrow) {
    for (bool relu : {false, true}) {
      std::string mods =
          std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".");
      Columns in = column(floatsAround(kF32, *p.format));
      in.push_back(in[0]);
      std::rotate(in[1].begin(), in[1].begin() + 777, in[1].end());
      table.row(mods + p.name + ".f32 $d, $a, $b;", {16, 32, 32}, in,
                [=](const uint64_t *v) {
                  return narrowed(p, decode(kF32, v[0]), relu) << 8 |
                         narrowed(p, decode(kF32, v[1]), relu);
                });
      table.row(mods + p.name + ".f16x2 $d, $a;", {16, 32},
                packPairs(everyCode(16)), [=](const uint64_t *v) {
                  return narrowed(p, decode(kF16, v[0] >> 16), relu) << 8 |
                         narrowed(p, decode(kF16, v[0] & 0xffff), relu);
                });
      table.row(std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." +
                    p.name + " $d, $a;",
                {32, 16}, everyCode(16), [=](const uint64_t *v) {
                  auto half = [&](uint64_t code) {
                    uint64_t h =
                        encode(kF16, decode(*p.format, code), Round::Nearest);
                    return relu && h != 0x7fff && (h >> 15) ? 0 : h;
                  };
                  return half(v[0] >> 8) << 16 | half(v[0] & 0xff);
                });
    }
  }
  // tf32 lies in the upper 19 bits of an f32 register; the others are zero.
  const struct {
    const char *mods;
    Round round;
    bool relu;
  } kTf32Forms[] = {{"rna", Round::NearestAway, false},
                    {"rn", Round::Nearest, false},
                    {"rn.relu", Round::Nearest, true},
                    {"rna.satfinite", Round::NearestAway, false},
                    {"rz", Round::Zero, false},
                    {"rz.relu", Round::Zero, true}};
  for (const auto &form : kTf32Forms) {
    std::vector<uint64_t> in = floatsAround(kF32, Format{8, 10});
    for (uint64_t v :
         {0x7f800fff, 0x7f801000, 0x7f801fff, 0x7f802000, 0x7fbff001,
          0x7fc01000, 0x7fffe000, 0x7fffefff, 0x7ffff000, 0x7fffffff}) {
      in.insert(in.end(), {v, v | 0x80000000});
    }
    table.row(std::string("cvt.") + form.mods + ".tf32.f32 $d, $a;", {32, 32},
              column(in),
              [=](const uint64_t *v) {
                // The ISA does not say what a NaN becomes. With .rna, Hopper
                // drops its lower bits, which may leave an infinity, and
                // .satfinite takes one step down from any of them.
                bool away = form.round == Round::NearestAway;
                bool nan = isNaN(kF32, v[0]);
                uint64_t r =
                    away && nan ? v[0] >> 13
                                : encode(kTF32, decode(kF32, v[0]), form.round);
                if (form.mods[3] == '.' && form.mods[4] == 's' &&
                    (r & ~kTF32.signBit()) > kTF32.largest()) {
                  --r; // of an infinity: to the largest finite value
                }
                if (nan) {
                  return r << 13;
                }
                return form.relu && (r & kTF32.signBit()) ? 0 : r << 13;
              },
              {Rule::Bitwise, Rule::F32});
  }
  return table.take();
}

} // namespace gmoe::conformance
