// setp, set, selp and slct (ISA 9.7.6, 9.7.7).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/FloatReference.h"

namespace gmoe::conformance {
namespace {

struct Operand {
  const char *name;
  unsigned bits;
  const Format *format; // null: an integer
  bool isSigned;
};
const Operand kOperands[] = {
    {"b16", 16, nullptr, false}, {"u16", 16, nullptr, false},
    {"s16", 16, nullptr, true},  {"b32", 32, nullptr, false},
    {"u32", 32, nullptr, false}, {"s32", 32, nullptr, true},
    {"b64", 64, nullptr, false}, {"u64", 64, nullptr, false},
    {"s64", 64, nullptr, true},  {"f16", 16, &kF16, false},
    {"bf16", 16, &kBF16, false}, {"f32", 32, &kF32, false},
    {"f64", 64, &kF64, false}};

/// -1, 0, 1, or 2 for unordered.
int order(const Operand &t, uint64_t a, uint64_t b, bool ftz = false) {
  if (t.format) {
    if (ftz) {
      a = flush(*t.format, a);
      b = flush(*t.format, b);
    }
    return compare(decode(*t.format, a), decode(*t.format, b));
  }
  if (t.isSigned) {
    uint64_t flip = uint64_t(1) << (t.bits - 1);
    a ^= flip;
    b ^= flip;
  }
  return a < b ? -1 : a > b;
}

bool holds(const std::string &relation, int o) {
  bool unordered = o == 2;
  if (relation == "num" || relation == "nan") {
    return unordered == (relation == "nan");
  }
  bool also = relation.size() == 3 && relation.back() == 'u';
  if (unordered) {
    return also;
  }
  std::string r = relation.substr(0, 2);
  return r == "eq"                ? o == 0
         : r == "ne"              ? o != 0
         : r == "lt" || r == "lo" ? o < 0
         : r == "le" || r == "ls" ? o <= 0
         : r == "gt" || r == "hi" ? o > 0
                                  : o >= 0;
}

std::vector<std::string> relationsOf(const Operand &t) {
  if (t.format) {
    return {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
            "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  }
  if (t.name[0] == 'b') {
    return {"eq", "ne"};
  }
  std::vector<std::string> r = {"eq", "ne", "lt", "le", "gt", "ge"};
  if (t.name[0] == 'u') {
    r.insert(r.end(), {"lo", "ls", "hi", "hs"});
  }
  return r;
}

Columns pairsOf(const Operand &t) {
  return t.format
             ? floatTuples(*t.format, 2)
             : cross({integerEdges(t.bits), integerEdges(t.bits)}, 50, t.bits);
}

void setpRows(Table &table) {
  for (const Operand &t : kOperands) {
    for (const std::string &r : relationsOf(t)) {
      for (bool ftz : {false, true}) {
        if (ftz && (!t.format || t.bits == 64 || t.format == &kBF16)) {
          continue;
        }
        table.row("setp." + r + (ftz ? ".ftz." : ".") + t.name + " $d, $a, $b;",
                  {1, t.bits, t.bits}, pairsOf(t), [=](const uint64_t *v) {
                    return uint64_t(holds(r, order(t, v[0], v[1], ftz)));
                  });
      }
    }
    // Both destinations, combined with a third predicate; halves have one.
    if (t.format && t.bits == 16) {
      continue;
    }
    for (const char *with : {"and", "or", "xor"}) {
      std::string how = with;
      Columns c = pairsOf(t);
      c.emplace_back();
      for (size_t k = 0; k < c[0].size(); ++k) {
        c[2].push_back(k % 3 == 0);
      }
      const char *r = t.name[0] == 'b' && !t.format ? "ne" : "lt";
      std::string relation = r;
      table.row(
          "{ .reg .pred p, q; .reg .b32 x, y; setp." + relation + "." + how +
              "." + t.name +
              " p|q, $a, $b, $c; selp.b32 x, 1, 0, p; selp.b32 y, 2, 0, "
              "q; or.b32 $d, x, y; }",
          {32, t.bits, t.bits, 1}, c, [=](const uint64_t *v) {
            bool p = holds(relation, order(t, v[0], v[1]));
            bool w = v[2];
            auto mix = [&](bool x) {
              return how == "and" ? x && w : how == "or" ? x || w : x != w;
            };
            return uint64_t(mix(p)) | uint64_t(mix(!p)) << 1;
          });
    }
  }
  for (bool isBf16 : {false, true}) {
    const Operand t = isBf16 ? kOperands[10] : kOperands[9];
    for (const std::string &r : relationsOf(t)) {
      std::string name = std::string(t.name) + "x2";
      table.row("{ .reg .pred p, q; .reg .b32 x, y; setp." + r + "." + name +
                    " p|q, $a, $b; selp.b32 x, 1, 0, p; selp.b32 y, 2, 0, q; "
                    "or.b32 $d, x, y; }",
                {32, 32, 32}, packPairs(pairsOf(t)), [=](const uint64_t *v) {
                  uint64_t low =
                      holds(r, order(t, v[0] & 0xffff, v[1] & 0xffff));
                  uint64_t high = holds(r, order(t, v[0] >> 16, v[1] >> 16));
                  return low | high << 1;
                });
      for (const char *to : {"half", "bits"}) {
        bool number = to[0] == 'h';
        std::string d = number ? name : "u32";
        uint64_t one = !number ? 0xffff : isBf16 ? 0x3f80 : 0x3c00;
        table.row("set." + r + "." + d + "." + name + " $d, $a, $b;",
                  {32, 32, 32}, packPairs(pairsOf(t)), [=](const uint64_t *v) {
                    bool low = holds(r, order(t, v[0] & 0xffff, v[1] & 0xffff));
                    bool high = holds(r, order(t, v[0] >> 16, v[1] >> 16));
                    return (low ? one : 0) | (high ? one << 16 : 0);
                  });
      }
    }
  }
}

void setRows(Table &table) {
  for (const Operand &t : kOperands) {
    for (const std::string &r : relationsOf(t)) {
      std::vector<std::string> destinations = {"u32", "s32"};
      if (t.bits != 16 || !t.format) {
        destinations.push_back("f32");
      } else {
        destinations.push_back(t.name);
        if (t.format == &kF16) {
          destinations.push_back("u16");
        }
      }
      for (const std::string &d : destinations) {
        unsigned w = d == "u16" || d == "f16" || d == "bf16" ? 16 : 32;
        uint64_t one = d == "f32"    ? 0x3f800000u
                       : d == "f16"  ? 0x3c00
                       : d == "bf16" ? 0x3f80
                       : w == 16     ? 0xffff
                                     : 0xffffffffu;
        table.row("set." + r + "." + d + "." + t.name + " $d, $a, $b;",
                  {w, t.bits, t.bits}, pairsOf(t), [=](const uint64_t *v) {
                    return holds(r, order(t, v[0], v[1])) ? one : 0;
                  });
      }
    }
  }
  Columns c = floatTuples(kF32, 2);
  c.emplace_back();
  for (size_t k = 0; k < c[0].size(); ++k) {
    c[2].push_back(k & 1);
  }
  for (const char *d : {"u32", "f32"}) {
    uint64_t one = *d == 'f' ? 0x3f800000u : 0xffffffffu;
    table.row(std::string("set.le.and.ftz.") + d + ".f32 $d, $a, $b, $c;",
              {32, 32, 32, 1}, c, [=](const uint64_t *v) {
                int o = order(kOperands[11], v[0], v[1], true);
                return holds("le", o) && v[2] ? one : 0;
              });
  }
}

void selections(Table &table) {
  for (unsigned w : {16u, 32u, 64u}) {
    for (const char *type : {"b", "u", "s", "f"}) {
      if (*type == 'f' && w == 16) {
        continue;
      }
      std::string n = type + std::to_string(w);
      Columns c = cross({integerEdges(w), integerEdges(w), {0, 1}}, 0, w);
      table.row("selp." + n + " $d, $a, $b, $c;", {w, w, w, 1}, c,
                [](const uint64_t *v) { return v[2] ? v[0] : v[1]; });
      Columns s = cross({integerEdges(w), {1, 2}, integerEdges(32)}, 0, w);
      table.row("slct." + n + ".s32 $d, $a, $b, $c;", {w, w, w, 32}, s,
                [](const uint64_t *v) { return v[2] >> 31 ? v[1] : v[0]; });
      Columns f = cross({integerEdges(w), {1, 2}, floatEdges(8, 23)}, 0, w);
      for (bool ftz : {false, true}) {
        table.row(std::string("slct.") + (ftz ? "ftz." : "") + n +
                      ".f32 $d, $a, $b, $c;",
                  {w, w, w, 32}, f, [=](const uint64_t *v) {
                    // ISA 9.7.6.4: c >= 0 selects a; NaN selects b; -0 is 0,
                    // and so is a flushed negative subnormal.
                    Exact x = decode(kF32, ftz ? flush(kF32, v[2]) : v[2]);
                    bool first = !x.nan && (x.zero() || !x.negative);
                    return first ? v[0] : v[1];
                  });
      }
    }
  }
}

} // namespace

Family compareFamily() {
  Table table("compare");
  setpRows(table);
  selections(table);
  return table.take();
}
Family setFamily() {
  Table table("set");
  setRows(table);
  return table.take();
}

} // namespace gmoe::conformance
