// atom and red: every operation, type, space, scope and vector form (ISA
// 9.7.13.5, 9.7.13.6).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/FloatReference.h"
#include "test/runtime/conformance/Kernels.h"

#include <algorithm>
#include <cstring>

namespace gmoe::conformance {
namespace {

struct Element {
  const char *name;
  unsigned bytes; // of the whole value
  const Format *format;
  bool isSigned, packed;
};
const Element kElements[] = {
    {"u32", 4, nullptr, false, false}, {"s32", 4, nullptr, true, false},
    {"b32", 4, nullptr, false, false}, {"u64", 8, nullptr, false, false},
    {"s64", 8, nullptr, true, false},  {"b64", 8, nullptr, false, false},
    {"f32", 4, &kF32, false, false},   {"f64", 8, &kF64, false, false},
    {"f16", 2, &kF16, false, false},   {"bf16", 2, &kBF16, false, false},
    {"f16x2", 4, &kF16, false, true},  {"bf16x2", 4, &kBF16, false, true},
    {"b16", 2, nullptr, false, false}};

const Element &element(const std::string &name) {
  for (const Element &e : kElements) {
    if (e.name == name) {
      return e;
    }
  }
  return kElements[0];
}

uint64_t apply(const std::string &op, const Element &e, bool global, uint64_t a,
               uint64_t b, uint64_t c) {
  uint64_t mask =
      e.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * e.bytes)) - 1;
  if (op == "exch") {
    return b;
  }
  if (op == "cas") {
    return a == b ? c : a;
  }
  if (e.format) {
    Modifiers m;
    // ISA: f32 additions in global memory flush subnormals.
    m.ftz = e.format == &kF32 && global;
    if (!e.packed) {
      return arithmetic(*e.format, op, m, a, b, 0);
    }
    return arithmetic(*e.format, op, m, a & 0xffff, b & 0xffff, 0) |
           arithmetic(*e.format, op, m, a >> 16, b >> 16, 0) << 16;
  }
  uint64_t flip = e.isSigned ? uint64_t(1) << (8 * e.bytes - 1) : 0;
  if (op == "add") {
    return (a + b) & mask;
  }
  if (op == "min" || op == "max") {
    return ((a ^ flip) < (b ^ flip)) == (op == "min") ? a : b;
  }
  if (op == "inc") {
    return a >= b ? 0 : a + 1;
  }
  if (op == "dec") {
    return a == 0 || a > b ? b : a - 1;
  }
  return op == "and" ? a & b : op == "or" ? a | b : a ^ b;
}

/// Two operand values of a type: edges and random ones, one per thread.
std::vector<uint64_t> values(const Element &e, uint64_t seed) {
  std::vector<uint64_t> pool;
  unsigned bits = e.packed ? 16 : 8 * e.bytes;
  if (e.format) {
    const Columns tuples = floatTuples(*e.format, 1);
    for (uint64_t v : tuples[0]) {
      if (!isNaN(*e.format, v)) { // NaN payloads are not specified
        pool.push_back(v);
      }
    }
  } else {
    pool = integerEdges(bits);
  }
  Draw draw(seed);
  std::vector<uint64_t> v;
  for (unsigned t = 0; t < 32; ++t) {
    auto one = [&] {
      if (e.format && t % 2) { // like magnitudes, so that sums are inexact
        uint64_t exponent = uint64_t(e.format->bias()) + draw() % 4;
        return (draw() &
                (e.format->signBit() | (e.format->smallestNormal() - 1))) |
               exponent << e.format->mantissaBits;
      }
      if (e.format && t < 8) { // subnormal inputs and results
        return e.format->smallestNormal() / 4 + t * seed % 50 +
               (t & 2 ? e.format->signBit() : 0);
      }
      return pool[draw() % pool.size()];
    };
    uint64_t x = one();
    v.push_back(e.packed ? x | one() << 16 : x);
  }
  return v;
}

/// Each thread on its own slot: the old value and what is in memory after.
void own(Kernels &k, const std::string &name, const std::string &op,
         const Element &e, bool shared, const std::string &space) {
  bool isRed = name.rfind("red", 0) == 0;
  bool cas = op == "cas";
  std::string type = std::to_string(8 * e.bytes);
  std::string reg = e.bytes == 8 ? "%d" : e.bytes == 4 ? "%r" : "%h";
  std::string widen = e.bytes == 8 ? "mov.b64 " : "cvt.u64.u" + type + " ";
  std::string ls = shared ? "shared" : "global";
  std::string body =
      "mul.wide.u32 %d10, %t, 8; add.s64 %d11, %a0, %d10; add.s64 %d12, %a1, "
      "%d10; add.s64 %d13, %a2, %d10; ld.global.b" +
      type + " " + reg + "1, [%d11]; ld.global.b" + type + " " + reg +
      "2, [%d12]; ld.global.b" + type + " " + reg +
      "3, [%d13];\nmul.wide.u32 %d14, %t, 16; add.s64 %d15, "
      "%o, %d14; st.global.b64 [%d15+8], 0;\n" +
      (shared ? std::string("mov.u64 %d16, buf; mul.wide.u32 %d17, %t, 8; "
                            "add.s64 %d16, %d16, %d17;\n")
              : std::string("add.s64 %d16, %d15, 8;\n")) +
      (space == ".shared::cluster"
           ? std::string("cvt.u32.u64 %r20, %d16; mov.u32 %r21, 0; "
                         "mapa.shared::cluster.u32 %r20, %r20, %r21; ")
           : std::string()) +
      "st." + ls + ".b" + type + " [%d16], " + reg + "1;\n";
  std::string address = space == ".shared::cluster" ? "[%r20]" : "[%d16]";
  if (space.empty() && shared) {
    body += "cvta.shared.u64 %d18, %d16;\n";
    address = "[%d18]";
  }
  body += name + " " + (isRed ? "" : reg + "4, ") + address + ", " + reg + "2" +
          (cas ? ", " + reg + "3" : "") + ";\n";
  if (isRed) {
    body += "mov.b64 %d20, 0;\n";
  } else {
    body += widen + "%d20, " + reg + "4;\n";
  }
  body += "ld." + ls + ".b" + type + " " + reg + "5, [%d16]; " + widen +
          "%d21, " + reg + "5; st.global.v2.b64 [%d15], {%d20, %d21};";
  Case &c = k.add(name, body, 3, 0, 0,
                  shared ? ".shared .align 8 .b8 buf[256];" : "");
  std::vector<uint64_t> a = values(e, 5), b = values(e, 6),
                        other = values(e, 7);
  for (unsigned t = 0; t < 32; t += 3) {
    b[t] = cas ? a[t] : b[t];
  }
  c.inputs = {bytesOf(a), bytesOf(b), bytesOf(other)};
  for (unsigned t = 0; t < 32; ++t) {
    appendValue(c.expected, isRed ? uint64_t(0) : a[t]);
    appendValue(c.expected, apply(op, e, !shared, a[t], b[t], other[t]));
  }
}

/// All threads of four CTAs on one slot: only the final value is determined.
void contended(Kernels &k, const std::string &op, const std::string &type,
               bool shared) {
  const Element &e = element(type);
  std::string reg = e.bytes == 8 ? "%d" : "%r";
  std::string bits = std::to_string(8 * e.bytes);
  std::string target = shared ? "buf" : "%o";
  std::string space = shared ? "shared" : "global";
  std::string text = "red." + space + "." + op + "." + type;
  std::string body =
      "mul.wide.u32 %d10, %t, 8; add.s64 %d11, %a0, %d10; ld.global.b" + bits +
      " " + reg + "1, [%d11];\n" +
      (shared ? "setp.eq.u32 %p0, %t, 0; ld.global.b" + bits + " " + reg +
                    "2, [%o]; @%p0 st.shared.b" + bits + " [buf], " + reg +
                    "2; bar.sync 0;\n"
              : std::string()) +
      text + " [" + target + "], " + reg + "1;\n" +
      (shared
           ? "bar.sync 0; ld.shared.b" + bits + " " + reg +
                 "3, [buf]; @%p0 st.global.b" + bits + " [%o], " + reg + "3;\n"
           : std::string());
  Case &c = k.add(text + ", contended", body, 1, 0, 0,
                  shared ? ".shared .align 8 .b64 buf;" : "");
  c.block = {128, 1, 1};
  c.grid = {shared ? 1u : 4u, 1, 1};
  std::vector<uint64_t> v;
  Draw draw(17);
  for (unsigned t = 0; t < 128; ++t) {
    v.push_back(e.format ? encode(*e.format, fromInteger(draw.below(64), false),
                                  Round::Nearest)
                : op == "inc" || op == "dec" ? 1000
                                             : draw() >> (64 - 8 * e.bytes));
  }
  c.inputs = {bytesOf(v)};
  uint64_t result = op == "and" ? ~uint64_t(0) >> (64 - 8 * e.bytes) : 5;
  if (e.format) {
    result = 0;
  }
  appendValue(c.initial, result);
  for (unsigned cta = 0; cta < c.grid.x; ++cta) {
    for (uint64_t x : v) {
      result = apply(op, e, false, result, x, 0);
    }
  }
  appendValue(c.expected, result);
}

void vectors(Kernels &k) {
  struct Form {
    unsigned n;
    const char *type;
    std::vector<const char *> ops;
  };
  const Form kForms[] = {{2, "f32", {"add"}},
                         {4, "f32", {"add"}},
                         {2, "f16", {"add", "min", "max"}},
                         {4, "f16", {"add", "min", "max"}},
                         {8, "f16", {"add", "min", "max"}},
                         {2, "bf16", {"add", "min", "max"}},
                         {4, "bf16", {"add", "min", "max"}},
                         {8, "bf16", {"add", "min", "max"}},
                         {2, "f16x2", {"add", "min", "max"}},
                         {4, "f16x2", {"add", "min", "max"}},
                         {2, "bf16x2", {"add", "min", "max"}},
                         {4, "bf16x2", {"add", "min", "max"}}};
  for (const Form &form : kForms) {
    for (std::string op : form.ops) {
      for (bool isRed : {false, true}) {
        const Element &e = element(form.type);
        std::string noftz = e.format == &kF32 ? "" : ".noftz";
        std::string name = std::string(isRed ? "red" : "atom") + ".global.v" +
                           std::to_string(form.n) + "." + form.type + "." + op +
                           noftz;
        // The order of qualifiers in the ISA: op, noftz, vector, type.
        name = std::string(isRed ? "red" : "atom") + ".global." + op + noftz +
               ".v" + std::to_string(form.n) + "." + form.type;
        std::string reg = e.bytes == 4 ? "%r" : "%h", old, value, loads, keep;
        unsigned total = form.n * e.bytes;
        for (unsigned j = 0; j < form.n; ++j) {
          std::string i = std::to_string(j), at = std::to_string(j * e.bytes);
          std::string bits = std::to_string(8 * e.bytes);
          old += (j ? ", " : "") + reg + std::to_string(30 + j);
          value += (j ? ", " : "") + reg + std::to_string(10 + j);
          loads += "ld.global.b" + bits + " " + reg + std::to_string(10 + j) +
                   ", [%d11+" + at + "];\n";
          if (!isRed) {
            keep += "st.global.b" + bits + " [%d13+" +
                    std::to_string(512 + j * e.bytes) + "], " + reg +
                    std::to_string(30 + j) + ";\n";
          }
        }
        Case &c =
            k.add(name,
                  "mul.wide.u32 %d10, %t, " + std::to_string(total) +
                      "; add.s64 %d11, %a0, %d10; add.s64 %d13, %o, "
                      "%d10;\n" +
                      loads + name + " " + (isRed ? "" : "{" + old + "}, ") +
                      "[%d13], {" + value + "};\n" + keep,
                  1);
        std::vector<uint8_t> a, b, r;
        std::vector<uint64_t> va, vb;
        for (unsigned j = 0; j < form.n; ++j) {
          auto x = values(e, 60 + j), y = values(e, 80 + j);
          va.insert(va.end(), x.begin(), x.end());
          vb.insert(vb.end(), y.begin(), y.end());
        }
        for (size_t j = 0; j < va.size(); ++j) {
          uint64_t v = apply(op, e, true, va[j], vb[j], 0);
          auto put = [&](std::vector<uint8_t> &to, uint64_t x) {
            const uint8_t *p = reinterpret_cast<const uint8_t *>(&x);
            to.insert(to.end(), p, p + e.bytes);
          };
          put(a, va[j]);
          put(b, vb[j]);
          put(r, v);
        }
        c.inputs = {b};
        c.initial = a;
        c.initial.resize(512, 0);
        c.expected = r;
        c.expected.resize(512, 0);
        if (!isRed) {
          c.expected.insert(c.expected.end(), a.begin(), a.end());
        }
        c.stride = e.packed ? 4 : e.bytes;
      }
    }
  }
}

} // namespace

Family atomicFamily() {
  Kernels k("atomic");
  struct Form {
    const char *op;
    std::vector<const char *> types;
  };
  const Form kForms[] = {
      {"add",
       {"u32", "s32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"}},
      {"min", {"u32", "s32", "u64", "s64"}},
      {"max", {"u32", "s32", "u64", "s64"}},
      {"and", {"b32", "b64"}},
      {"or", {"b32", "b64"}},
      {"xor", {"b32", "b64"}},
      {"inc", {"u32"}},
      {"dec", {"u32"}},
      {"exch", {"b32", "b64"}},
      {"cas", {"b16", "b32", "b64"}}};
  for (const Form &form : kForms) {
    for (const char *type : form.types) {
      const Element &e = element(type);
      std::string op = form.op;
      std::string noftz =
          e.format && e.format != &kF32 && e.format != &kF64 ? ".noftz" : "";
      for (const char *space :
           {".global", ".shared", "", "generic shared", ".shared::cluster"}) {
        std::string s = space;
        bool shared = s.find("shared") != std::string::npos;
        s = s[0] == 'g' ? "" : s;
        std::string tail = "." + op + noftz + "." + type;
        own(k, "atom" + s + tail, op, e, shared, s);
        if (op != "exch" && op != "cas") {
          own(k, "red" + s + tail, op, e, shared, s);
        }
      }
    }
  }
  for (const char *q : {".relaxed.cta", ".relaxed.cluster", ".relaxed.gpu",
                        ".relaxed.sys", ".acquire.gpu", ".release.gpu",
                        ".acq_rel.cta", ".acq_rel.gpu", ".acq_rel.sys"}) {
    own(k, std::string("atom") + q + ".global.add.u32", "add", element("u32"),
        false, ".global");
    own(k, std::string("atom") + q + ".shared.cas.b32", "cas", element("b32"),
        true, ".shared");
  }
  for (const char *op : {"add", "min", "max", "inc", "dec"}) {
    contended(k, op, "u32", false);
    contended(k, op, "u32", true);
  }
  for (const char *op : {"and", "or", "xor"}) {
    contended(k, op, "b64", false);
    contended(k, op, "b32", true);
  }
  contended(k, "add", "f32", false);
  contended(k, "add", "f64", true);
  contended(k, "max", "s64", false);
  vectors(k);
  for (bool shared : {false, true}) {
    for (bool cas : {false, true}) {
      std::string s = shared ? ".shared" : ".global";
      std::string name = "atom" + s + (cas ? ".cas" : ".exch") + ".b128";
      Case &c = k.add(
          name,
          "mul.wide.u32 %d10, %t, 16; add.s64 %d11, %a0, %d10; add.s64 %d12, "
          "%a1, %d10; ld.global.b128 %q0, [%d11]; ld.global.b128 %q1, [%d12]; "
          "mul.wide.u32 %d14, %t, 32; add.s64 %d15, %o, %d14;\n" +
              std::string(shared ? "mov.u64 %d16, buf; add.s64 %d16, %d16, "
                                   "%d10;\n"
                                 : "add.s64 %d16, %d15, 16;\n") +
              "st" + s +
              ".b128 [%d16], %q0; mov.b128 {%d1, %d2}, %q1; and.b32 "
              "%r1, %t, 1; setp.eq.u32 %p0, %r1, 0; mov.b128 {%d3, %d4}, %q0; "
              "@%p0 add.s64 %d4, %d4, 1; mov.b128 %q2, {%d3, %d4};\n" +
              name + " %q3, [%d16], " + (cas ? "%q2, %q1" : "%q1") + "; ld" +
              s +
              ".b128 %q4, [%d16]; st.global.b128 [%d15], %q3; st.global.b128 "
              "[%d15+16], %q4;",
          2, 0, 0, shared ? ".shared .align 16 .b8 buf[512];" : "");
      Draw draw(3);
      std::vector<uint64_t> a(64), b(64);
      for (unsigned j = 0; j < 64; ++j) {
        a[j] = draw();
        b[j] = draw();
      }
      c.inputs = {bytesOf(a), bytesOf(b)};
      for (unsigned t = 0; t < 32; ++t) {
        bool changes = !cas || t % 2;
        for (uint64_t v :
             {a[2 * t], a[2 * t + 1], changes ? b[2 * t] : a[2 * t],
              changes ? b[2 * t + 1] : a[2 * t + 1]}) {
          appendValue(c.expected, v);
        }
      }
    }
  }
  return k.take();
}

} // namespace gmoe::conformance
