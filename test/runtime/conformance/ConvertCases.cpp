// cvt between every pair of scalar types, in every rounding (ISA 9.7.9.21).
#include "test/runtime/conformance/ConvertInputs.h"
#include "test/runtime/conformance/Families.h"

#include <algorithm>

namespace gmoe::conformance {
namespace {

struct Scalar {
  const char *name;
  unsigned bits;
  const Format *format; // null: an integer
  bool isSigned;
  unsigned registerBits() const { return bits == 8 ? 32 : bits; }
};
const Scalar kIntegers[] = {
    {"u8", 8, nullptr, false},   {"s8", 8, nullptr, true},
    {"u16", 16, nullptr, false}, {"s16", 16, nullptr, true},
    {"u32", 32, nullptr, false}, {"s32", 32, nullptr, true},
    {"u64", 64, nullptr, false}, {"s64", 64, nullptr, true}};
const Scalar kFloats[] = {{"f16", 16, &kF16, false},
                          {"bf16", 16, &kBF16, false},
                          {"f32", 32, &kF32, false},
                          {"f64", 64, &kF64, false}};

uint64_t maskOf(unsigned bits) {
  return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}
__int128 integerValue(const Scalar &t, uint64_t v) {
  v &= maskOf(t.bits);
  return t.isSigned && (v >> (t.bits - 1) & 1)
             ? __int128(v) - (__int128(1) << t.bits)
             : __int128(v);
}
/// The result as it lies in its register: narrow types extend.
uint64_t inRegister(const Scalar &t, __int128 v) {
  return uint64_t(integerValue(t, uint64_t(v))) & maskOf(t.registerBits());
}
__int128 clampTo(const Scalar &t, __int128 v) {
  __int128 high = (__int128(1) << (t.bits - t.isSigned)) - 1;
  __int128 low = t.isSigned ? -high - 1 : 0;
  return std::clamp(v, low, high);
}

/// Values that straddle the range and the rounding points of integer types.
std::vector<uint64_t> floatsNearIntegers(const Format &f) {
  std::vector<uint64_t> v =
      floatEdges(unsigned(f.exponentBits), unsigned(f.mantissaBits));
  for (uint64_t k : {0ull,
                     1ull,
                     2ull,
                     3ull,
                     126ull,
                     127ull,
                     128ull,
                     254ull,
                     255ull,
                     256ull,
                     32766ull,
                     32767ull,
                     32768ull,
                     65534ull,
                     65535ull,
                     65536ull,
                     2147483647ull,
                     2147483648ull,
                     4294967295ull,
                     4294967296ull,
                     9223372036854775807ull,
                     9223372036854775808ull,
                     18446744073709551615ull}) {
    for (int quarter = -3; quarter <= 3; ++quarter) {
      Exact x = fromInteger(k, false), q;
      q.m = unsigned(quarter < 0 ? -quarter : quarter);
      q.negative = quarter < 0;
      q.e = -2;
      x = add(x, q, Round::Nearest);
      for (bool negative : {false, true}) {
        x.negative ^= negative;
        for (Round r : {Round::Down, Round::Up}) {
          v.push_back(encode(f, x, r));
        }
      }
    }
  }
  Draw draw(uint64_t(f.width()));
  for (unsigned k = 0; k < 500; ++k) {
    uint64_t exponent = uint64_t(f.bias()) - 3 + draw() % 70;
    exponent =
        std::min<uint64_t>(exponent, (uint64_t(1) << f.exponentBits) - 2);
    v.push_back((draw() & (f.signBit() | (f.smallestNormal() - 1))) |
                exponent << f.mantissaBits);
  }
  return v;
}

void integerToInteger(Table &table) {
  for (const Scalar &from : kIntegers) {
    for (const Scalar &to : kIntegers) {
      Columns in = cross({integerEdges(from.bits)}, 100, from.bits);
      unsigned d = to.registerBits(), s = from.registerBits();
      if (from.bits == 8) { // the upper bits of the register are not read
        for (uint64_t &v : in[0]) {
          v |= 0xabcd00;
        }
      }
      std::string name = std::string(to.name) + "." + from.name + " $d, $a;";
      table.row("cvt." + name, {d, s}, in, [=](const uint64_t *v) {
        return inRegister(to, integerValue(from, v[0]));
      });
      __int128 low = from.isSigned ? -(__int128(1) << (from.bits - 1)) : 0;
      __int128 high = (__int128(1) << (from.bits - from.isSigned)) - 1;
      if (clampTo(to, low) == low && clampTo(to, high) == high) {
        continue; // nothing to saturate: not an instruction
      }
      table.row("cvt.sat." + name, {d, s}, in, [=](const uint64_t *v) {
        return inRegister(to, clampTo(to, integerValue(from, v[0])));
      });
    }
  }
}

/// To an integral value: the exact one, rounded.
Exact integral(const Exact &x, Round r) {
  if (x.nan || x.infinite || x.e >= 0) {
    return x;
  }
  Exact y = x;
  y.m = dropBits(x.m, -x.e, x.negative, r);
  y.e = 0;
  return y;
}

void floatToInteger(Table &table) {
  for (const Scalar &from : kFloats) {
    for (const Scalar &to : kIntegers) {
      for (unsigned r = 0; r < 4; ++r) {
        for (bool ftz : {false, true}) {
          if ((ftz && from.bits != 32) ||
              (from.format == &kBF16 && to.bits == 8)) {
            continue;
          }
          Round round = kRoundValues[r];
          Columns in = from.bits == 16
                           ? everyCode(16)
                           : column(floatsNearIntegers(*from.format));
          table.row(
              std::string("cvt.") + kRounds[r] + "i" + (ftz ? ".ftz." : ".") +
                  to.name + "." + from.name + " $d, $a;",
              {to.registerBits(), from.bits}, in, [=](const uint64_t *v) {
                const Format &f = *from.format;
                Exact x = decode(f, ftz ? flush(f, v[0]) : v[0]);
                if (x.nan) {
                  // ISA: zero, but 1 << (width - 1) for f64 sources and
                  // 64-bit results.
                  bool top = from.bits == 64 || to.bits == 64;
                  return inRegister(to, top ? __int128(1) << (to.bits - 1) : 0);
                }
                __int128 big = __int128(1) << 100;
                x = integral(x, round);
                bool over = x.infinite || topBit(x.m) + x.e > 99;
                __int128 value = over ? big : __int128(x.m << (x.m ? x.e : 0));
                return inRegister(to, clampTo(to, x.negative ? -value : value));
              });
        }
      }
    }
  }
}

void integerToFloat(Table &table) {
  for (const Scalar &from : kIntegers) {
    for (const Scalar &to : kFloats) {
      for (unsigned r = 0; r < 4; ++r) {
        if (to.format == &kBF16 && from.bits == 8) {
          continue;
        }
        Round round = kRoundValues[r];
        std::vector<uint64_t> v = integerEdges(from.bits);
        Draw draw(from.bits);
        for (unsigned k = 0; k < 600; ++k) { // of every length
          v.push_back(draw() >> (64 - from.bits) >> (k % from.bits));
        }
        table.row(std::string("cvt.") + kRounds[r] + "." + to.name + "." +
                      from.name + " $d, $a;",
                  {to.bits, from.registerBits()},
                  from.bits == 16 ? everyCode(16) : column(v),
                  [=](const uint64_t *v) {
                    __int128 x = integerValue(from, v[0]);
                    Exact e;
                    e.negative = x < 0;
                    e.m = (unsigned __int128)(x < 0 ? -x : x);
                    return encode(*to.format, e, round);
                  });
      }
    }
  }
}

/// `mods`: any of .ftz .sat .relu .satfinite .
uint64_t floatConvert(const Scalar &to, const Scalar &from, uint64_t bits,
                      Round r, const std::string &mods) {
  auto has = [&](const char *m) { return mods.find(m) != std::string::npos; };
  bool ftz = has(".ftz");
  uint64_t in = ftz && from.bits == 32 ? flush(kF32, bits) : bits;
  Exact x = decode(*from.format, in);
  if (has("i.")) {
    x = integral(x, r);
  }
  const Format &f = *to.format;
  uint64_t result =
      ftz && to.bits == 32 ? encodeFlushed(f, x, r) : encode(f, x, r);
  if (has(".sat.")) {
    uint64_t one = uint64_t(f.bias()) << f.mantissaBits;
    result = x.nan || (result & f.signBit()) ? 0 : std::min(result, one);
  }
  if (has(".relu") && !x.nan && (result & f.signBit())) {
    result = 0;
  }
  return result;
}

Rule ruleOf(const Scalar &t, Rule::Kind kind) {
  return {kind, t.format == &kF16    ? Rule::F16
                : t.format == &kBF16 ? Rule::BF16
                : t.bits == 32       ? Rule::F32
                                     : Rule::F64};
}

void floatToFloat(Table &table) {
  for (const Scalar &from : kFloats) {
    for (const Scalar &to : kFloats) {
      Columns in = from.bits == 16
                       ? everyCode(16)
                       : column(floatsAround(*from.format, *to.format));
      if (from.format == &kF64 && to.format == &kF32) {
        // Around 2^-126: what is subnormal before or after it is rounded.
        for (uint64_t v :
             {0x380fffffc0000000, 0x380fffffd0000000, 0x380fffffe0000000,
              0x380fffffe0000001, 0x380fffffefffffff, 0x380ffffff0000000,
              0x380ffffff0000001, 0x380fffffffffffff}) {
          in[0].push_back(uint64_t(v));
          in[0].push_back(uint64_t(v) | uint64_t(1) << 63);
        }
      }
      auto row = [&](const std::string &mods, Round r) {
        table.row(
            "cvt" + mods + to.name + "." + from.name + " $d, $a;",
            {to.bits, from.bits}, in,
            [=](const uint64_t *v) {
              return floatConvert(to, from, v[0], r, mods);
            },
            ruleOf(to, Rule::AnyNaN));
      };
      bool same = to.bits == from.bits && to.format == from.format;
      bool narrows = to.format->mantissaBits < from.format->mantissaBits ||
                     to.format->exponentBits < from.format->exponentBits;
      bool hasF32 = to.bits == 32 || from.bits == 32;
      if (same) { // to integral values; a plain cvt of one type needs a
                  // modifier
        for (unsigned r = 0; r < 4; ++r) {
          if (to.format == &kBF16) {
            continue;
          }
          std::string n = std::string(".") + kRounds[r] + "i";
          row(n + ".", kRoundValues[r]);
          if (to.bits == 32) {
            row(n + ".ftz.", kRoundValues[r]);
            row(n + ".sat.", kRoundValues[r]);
          }
        }
        continue;
      }
      if (!narrows) {
        row(".", Round::Nearest);
        if (hasF32 && from.format != &kBF16 && to.format != &kBF16) {
          row(".ftz.", Round::Nearest);
        }
        continue;
      }
      for (unsigned r = 0; r < 4; ++r) {
        std::string n = std::string(".") + kRounds[r];
        row(n + ".", kRoundValues[r]);
        if (to.bits == 32) {
          row(n + ".ftz.", kRoundValues[r]);
          row(n + ".sat.", kRoundValues[r]);
        }
        if (from.bits == 32 && to.bits == 16 && r < 2) {
          row(n + ".relu.", kRoundValues[r]);
          if (to.format == &kF16) {
            row(n + ".ftz.", kRoundValues[r]);
          }
        }
      }
    }
  }
}

} // namespace

Family convertIntegerFamily() {
  Table table("convertInteger");
  integerToInteger(table);
  floatToInteger(table);
  return table.take();
}
Family convertFloatFamily() {
  Table table("convertFloat");
  integerToFloat(table);
  floatToFloat(table);
  return table.take();
}

} // namespace gmoe::conformance
