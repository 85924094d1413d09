// f32, f64, f16 and bf16 arithmetic that the ISA defines to the bit (ISA 9.7.3
// to 9.7.5).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/FloatReference.h"

namespace gmoe::conformance {
namespace {

struct FloatType {
  const char *name;
  const Format *format;
  unsigned bits;
  Rule rule;
};

const char *const kRounds[] = {"rn", "rz", "rm", "rp"};
constexpr Round kRoundValues[] = {Round::Nearest, Round::Zero, Round::Down,
                                  Round::Up};

unsigned operandsOf(const std::string &op) {
  return op == "fma"                                                 ? 3
         : op == "rcp" || op == "sqrt" || op == "abs" || op == "neg" ? 1
                                                                     : 2;
}

void rowOf(Table &table, const FloatType &t, const std::string &op,
           const std::string &suffix, const Modifiers &m, bool packed = false) {
  unsigned n = operandsOf(op);
  unsigned bits = packed ? 32 : t.bits;
  Columns columns = floatTuples(*t.format, n);
  std::vector<unsigned> widths(n + 1, bits);
  std::string text = op + suffix + "." + t.name + (packed ? "x2" : "") + " $d";
  for (unsigned k = 0; k < n; ++k) {
    text += std::string(", $") + char('a' + k);
  }
  const Format *f = t.format;
  if (!packed) {
    table.row(
        text + ";", widths, columns,
        [=](const uint64_t *v) {
          return arithmetic(*f, op, m, v[0], v[1], v[2]);
        },
        t.rule);
    return;
  }
  table.row(text + ";", widths, packPairs(columns), [=](const uint64_t *v) {
    auto half = [&](unsigned k) {
      return arithmetic(*f, op, m, v[0] >> k & 0xffff, v[1] >> k & 0xffff,
                        v[2] >> k & 0xffff);
    };
    return half(0) | half(16) << 16;
  });
}

void minMaxRows(Table &table, const FloatType &t, bool ftzToo, bool packed) {
  for (const char *op : {"min", "max"}) {
    for (bool ftz : {false, true}) {
      for (bool nan : {false, true}) {
        for (bool xorsign : {false, true}) {
          if ((ftz && !ftzToo) || ((nan || xorsign) && t.bits == 64)) {
            continue;
          }
          Modifiers m;
          m.ftz = ftz;
          m.nan = nan;
          m.xorsign = xorsign;
          rowOf(table, t, op,
                std::string(ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
                    (xorsign ? ".xorsign.abs" : ""),
                m, packed);
        }
      }
    }
  }
}

void wide(Table &table, const FloatType &t) {
  for (unsigned r = 0; r < 4; ++r) {
    for (bool ftz : {false, true}) {
      for (bool sat : {false, true}) {
        if (t.bits == 64 && (ftz || sat)) {
          continue;
        }
        Modifiers m;
        m.round = kRoundValues[r];
        m.ftz = ftz;
        m.sat = sat;
        std::string suffix = std::string(".") + kRounds[r] +
                             (ftz ? ".ftz" : "") + (sat ? ".sat" : "");
        for (const char *op : {"add", "sub", "mul", "fma"}) {
          rowOf(table, t, op, suffix, m);
        }
        if (!sat) {
          for (const char *op : {"div", "rcp", "sqrt"}) {
            rowOf(table, t, op, suffix, m);
          }
        }
      }
    }
  }
  minMaxRows(table, t, t.bits == 32, false);
  FloatType any = t;
  any.rule.kind = Rule::AnyNaN; // payloads of abs and neg are not specified
  for (const char *op : {"abs", "neg"}) {
    rowOf(table, any, op, "", Modifiers());
    if (t.bits == 32) {
      Modifiers m;
      m.ftz = true;
      rowOf(table, any, op, ".ftz", m);
    }
  }
  rowOf(table, any, "copysign", "", Modifiers());
  unsigned w = t.bits;
  const Format *f = t.format;
  for (const char *test :
       {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    std::string which = test;
    table.row("testp." + which + "." + t.name + " $d, $a;", {1, w},
              floatTuples(*f, 1), [=](const uint64_t *v) -> uint64_t {
                Exact x = decode(*f, v[0]);
                bool small = (v[0] & f->infinity()) == 0;
                return which == "finite"       ? !x.nan && !x.infinite
                       : which == "infinite"   ? x.infinite
                       : which == "number"     ? !x.nan
                       : which == "notanumber" ? x.nan
                       : which == "normal" // of zero too
                           ? !x.nan && !x.infinite && (!small || x.zero())
                           : small && !x.zero();
              });
  }
}

void half(Table &table, const FloatType &t) {
  bool isBf16 = t.format == &kBF16;
  for (bool packed : {false, true}) {
    for (bool ftz : {false, true}) {
      if (ftz && isBf16) {
        continue;
      }
      for (unsigned extra = 0; extra < 3; ++extra) {
        Modifiers m;
        m.ftz = ftz;
        m.sat = extra == 1;
        m.relu = extra == 2;
        std::string suffix = std::string(".rn") + (ftz ? ".ftz" : "") +
                             (m.sat    ? ".sat"
                              : m.relu ? ".relu"
                                       : "");
        if (isBf16 && m.sat) {
          continue;
        }
        if (!m.relu) {
          for (const char *op : {"add", "sub", "mul"}) {
            rowOf(table, t, op, suffix, m, packed);
          }
        }
        rowOf(table, t, "fma", suffix, m, packed);
      }
    }
    minMaxRows(table, t, !isBf16, packed);
    for (const char *op : {"abs", "neg"}) {
      rowOf(table, t, op, "", Modifiers(), packed);
      if (!isBf16) {
        Modifiers m;
        m.ftz = true;
        rowOf(table, t, op, ".ftz", m, packed);
      }
    }
  }
}

} // namespace

Family floatFamily() {
  Table table("float");
  wide(table, {"f32", &kF32, 32, {Rule::Bitwise, Rule::F32}});
  return table.take();
}
Family doubleFamily() {
  Table table("double");
  wide(table, {"f64", &kF64, 64, {Rule::AnyNaN, Rule::F64}});
  return table.take();
}
Family halfFamily() {
  Table table("half");
  half(table, {"f16", &kF16, 16, {Rule::Bitwise, Rule::F16}});
  half(table, {"bf16", &kBF16, 16, {Rule::Bitwise, Rule::BF16}});
  return table.take();
}

} // namespace gmoe::conformance
