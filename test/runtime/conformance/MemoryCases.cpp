// ld, st and mov in every space, width and vector form; generic addresses;
// parameters; cache operators (ISA 9.7.9.2 to 9.7.9.15).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/Kernels.h"

#include <cstring>

namespace gmoe::conformance {
namespace {

constexpr unsigned kBytes = 512;

/// The same bytes in every space; the constant table spells them out.
uint8_t byteAt(unsigned k) { return uint8_t(k * 37 + 11 + k / 7); }
std::vector<uint8_t> pattern() {
  std::vector<uint8_t> v(kBytes);
  for (unsigned k = 0; k < kBytes; ++k) {
    v[k] = byteAt(k);
  }
  return v;
}
std::string preamble() {
  std::string text = ".const .align 16 .b8 constants[512] = {";
  std::string global = ".global .align 16 .b8 globals[512] = {";
  for (unsigned k = 0; k < kBytes; ++k) {
    std::string n = std::to_string(byteAt(k)) + (k + 1 < kBytes ? "," : "};\n");
    text += n;
    global += n;
  }
  return text + global;
}

struct Space {
  const char *name;        // as in the instruction, with its dot
  const char *declaration; // in the kernel
  bool perThread;          // every thread fills its own copy
  const char *base;        // sets %d10, given that buf is filled
};
const Space kSpaces[] = {
    {".global", "", false, "mov.b64 %d10, %a0;"},
    {".shared", ".shared .align 16 .b8 buf[512];", false, "mov.u64 %d10, buf;"},
    {".shared::cta", ".shared .align 16 .b8 buf[512];", false,
     "mov.u64 %d10, buf;"},
    {".local", ".local .align 16 .b8 buf[512];", true, "mov.u64 %d10, buf;"},
    {".const", "", false, "mov.u64 %d10, constants;"},
    {"", "", false, "mov.b64 %d10, %a0;"},
    {"", ".shared .align 16 .b8 buf[512];", false,
     "mov.u64 %d10, buf; cvta.shared.u64 %d10, %d10;"},
    {"", ".local .align 16 .b8 buf[512];", true,
     "mov.u64 %d10, buf; cvta.local.u64 %d10, %d10;"},
    {"", "", false, "mov.u64 %d10, constants; cvta.const.u64 %d10, %d10;"},
    {"", "", false, "mov.u64 %d10, globals; cvta.global.u64 %d10, %d10;"},
    {"", ".shared .align 16 .b8 buf[512];", false,
     "cvta.shared.u64 %d10, buf;"},
    {".shared", ".shared .align 16 .b8 buf[512];", false,
     "mov.u64 %d10, buf; cvta.shared.u64 %d10, %d10; cvta.to.shared.u64 %d10, "
     "%d10;"}};

/// Copies the input into `buf`.
std::string stage(const Space &s) {
  std::string d = s.declaration;
  std::string text;
  if (d.find(".shared") != std::string::npos) {
    text = "mov.u64 %d10, buf; mul.wide.u32 %d11, %t, 16; add.s64 %d12, %a0, "
           "%d11; add.s64 %d10, %d10, %d11; ld.global.v2.b64 {%d13, %d14}, "
           "[%d12]; st.shared.v2.b64 [%d10], {%d13, %d14}; bar.sync 0;\n";
  } else if (d.find(".local") != std::string::npos) {
    text = "mov.u64 %d10, buf;\n";
    for (unsigned k = 0; k < kBytes; k += 16) {
      std::string at = std::to_string(k);
      text += "ld.global.v2.b64 {%d13, %d14}, [%a0+" + at +
              "]; st.local.v2.b64 [%d10+" + at + "], {%d13, %d14};\n";
    }
  }
  return text + s.base + "\n";
}

uint64_t load(unsigned at, unsigned bytes, bool sign) {
  std::vector<uint8_t> p = pattern();
  uint64_t v = 0;
  std::memcpy(&v, &p[at], bytes);
  if (sign && bytes < 8 && (v >> (8 * bytes - 1) & 1)) {
    v |= ~uint64_t(0) << (8 * bytes);
  }
  return v;
}

void loads(Kernels &k) {
  const char *types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                         "u32", "s32", "f32", "b64", "u64", "s64", "f64"};
  for (const Space &space : kSpaces) {
    for (std::string type : types) {
      unsigned bytes = unsigned(std::stoul(type.substr(1))) / 8;
      for (unsigned n : {1u, 2u, 4u}) {
        if (n * bytes > 16) {
          continue;
        }
        // Wider registers extend by the type: f types must match.
        bool wide = type[0] != 'f';
        std::string reg = wide || bytes == 8 ? "%d" : "%r";
        std::string value, post;
        for (unsigned e = 0; e < n; ++e) {
          std::string r = reg + std::to_string(20 + e);
          value += (e ? ", " : "") + r;
          std::string out = r;
          if (reg == "%r") {
            out = "%d" + std::to_string(30 + e);
            post += "cvt.u64.u32 " + out + ", " + r + ";\n";
          }
          post += "st.global.b64 [%d40+" + std::to_string(8 * e) + "], " + out +
                  ";\n";
        }
        std::string vector = n == 1 ? "" : ".v" + std::to_string(n);
        std::string name = std::string("ld") + space.name + vector + "." + type;
        Case &c =
            k.add(name + " " + space.base,
                  stage(space) + "mul.wide.u32 %d11, %t, " +
                      std::to_string(n * bytes) +
                      "; add.s64 %d10, %d10, %d11; mul.wide.u32 %d11, %t, " +
                      std::to_string(8 * n) + "; add.s64 %d40, %o, %d11;\n" +
                      name + " " + (n == 1 ? value : "{" + value + "}") +
                      ", [%d10];\n" + post,
                  1, 0, 0, space.declaration);
        c.inputs = {pattern()};
        for (unsigned t = 0; t < 32; ++t) {
          for (unsigned e = 0; e < n; ++e) {
            appendValue(c.expected,
                        load((t * n + e) * bytes, bytes, type[0] == 's'));
          }
        }
      }
    }
  }
}

/// Stores of narrow types take the low bits of wider registers.
void stores(Kernels &k) {
  for (const Space &space : kSpaces) {
    if (std::string(space.base).find("const") != std::string::npos ||
        std::string(space.base).find("globals") != std::string::npos ||
        std::string(space.base).find("%a0") != std::string::npos) {
      continue;
    }
    for (unsigned bytes : {1u, 2u, 4u, 8u}) {
      for (unsigned n : {1u, 2u, 4u}) {
        if (n * bytes > 16) {
          continue;
        }
        std::string value, before;
        for (unsigned e = 0; e < n; ++e) {
          std::string r = "%d" + std::to_string(20 + e);
          value += (e ? ", " : "") + r;
          before += "mul.lo.s64 " + r + ", %d15, " +
                    std::to_string(0x0102030405060709ull * (e + 1)) + ";\n";
        }
        std::string type = ".b" + std::to_string(8 * bytes);
        std::string vector = n == 1 ? "" : ".v" + std::to_string(n);
        unsigned each = n * bytes;
        // A thread's own slot in local memory, its part elsewhere.
        Case &c = k.add(
            std::string("st") + space.name + vector + type + " " + space.base,
            stage(space) + "cvt.u64.u32 %d15, %t; add.s64 %d15, %d15, 3;\n" +
                before + "mul.wide.u32 %d11, %t, " + std::to_string(each) +
                "; add.s64 %d10, %d10, %d11; st" + space.name + vector + type +
                " [%d10], " + (n == 1 ? value : "{" + value + "}") +
                ";\nmul.wide.u32 %d11, %t, 16; add.s64 %d40, %o, %d11;\n" +
                [&] {
                  std::string read;
                  for (unsigned b = 0; b < each; ++b) {
                    std::string at = std::to_string(b);
                    read += std::string("ld") + space.name +
                            ".b8 %r20, [%d10+" + at + "]; st.global.b8 [%d40+" +
                            at + "], %r20;\n";
                  }
                  return read;
                }(),
            1, 0, 0, space.declaration);
        c.inputs = {pattern()};
        c.stride = 1;
        for (unsigned t = 0; t < 32; ++t) {
          std::vector<uint8_t> slot(16, 0xcc);
          for (unsigned e = 0; e < n; ++e) {
            uint64_t v = (t + 3) * 0x0102030405060709ull * (e + 1);
            std::memcpy(&slot[e * bytes], &v, bytes);
          }
          c.expected.insert(c.expected.end(), slot.begin(), slot.end());
        }
      }
    }
  }
}

/// Qualifiers that must not change a value.
void qualifiers(Kernels &k) {
  for (const char *q : {"ld.global.ca",
                        "ld.global.cg",
                        "ld.global.cs",
                        "ld.global.lu",
                        "ld.global.cv",
                        "ld.global.nc",
                        "ld.volatile.global",
                        "ld.relaxed.cta.global",
                        "ld.relaxed.cluster.global",
                        "ld.relaxed.gpu.global",
                        "ld.relaxed.sys.global",
                        "ld.acquire.cta.global",
                        "ld.acquire.gpu.global",
                        "ld.acquire.sys.global",
                        "ld.global.L1::evict_first",
                        "ld.global.L1::no_allocate",
                        "ld.global.L1::evict_last",
                        "ld.global.nc.L1::no_allocate.L2::128B",
                        "ld.global.L2::64B",
                        "ld.global.L2::256B",
                        "ld.weak.global",
                        "ldu.global"}) {
    Case &c =
        k.add(q,
              "mul.wide.u32 %d11, %t, 4; add.s64 %d12, %a0, %d11; " +
                  std::string(q) + ".b32 %r1, [%d12];\n" + storeWord("%r1"),
              1);
    c.inputs = {pattern()};
    c.stride = 4;
    c.expected.assign(c.inputs[0].begin(), c.inputs[0].begin() + 128);
  }
  for (const char *q :
       {"st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt",
        "st.volatile.global", "st.relaxed.cta.global", "st.relaxed.gpu.global",
        "st.relaxed.sys.global", "st.release.cta.global",
        "st.release.gpu.global", "st.release.sys.global", "st.weak.global",
        "st.global.L1::evict_first", "st.global.L1::no_allocate"}) {
    Case &c = k.add(q, "mad.lo.u32 %r1, %t, 77, 5; mul.wide.u32 %d11, %t, 4; "
                       "add.s64 %d12, %o, %d11; " +
                           std::string(q) + ".b32 [%d12], %r1;\n");
    c.stride = 4;
    for (uint32_t t = 0; t < 32; ++t) {
      appendValue(c.expected, t * 77 + 5);
    }
  }
  Case &c = k.add("ld and st .L2::cache_hint",
                  "createpolicy.fractional.L2::evict_last.b64 %d1, 1.0; "
                  "mul.wide.u32 %d11, %t, 4; add.s64 %d12, %a0, %d11; "
                  "ld.global.L2::cache_hint.b32 %r1, [%d12], %d1; prefetch"
                  ".global.L2 [%d12]; add.s64 %d13, %o, %d11; "
                  "st.global.L2::cache_hint.b32 [%d13], %r1, %d1;",
                  1);
  c.inputs = {pattern()};
  c.stride = 4;
  c.expected.assign(c.inputs[0].begin(), c.inputs[0].begin() + 128);
}

void moves(Kernels &k) {
  // 128 bits: load, move, split, join, store.
  Case &wide = k.add("ld.b128, mov.b128, st.b128",
                     "mul.wide.u32 %d11, %t, 16; add.s64 %d12, %a0, %d11; "
                     "ld.global.b128 %q0, [%d12]; mov.b128 %q1, %q0; mov.b128 "
                     "{%d1, %d2}, %q1; mov.b128 %q2, {%d2, %d1}; add.s64 %d13, "
                     "%o, %d11; st.global.b128 [%d13], %q2;",
                     1);
  wide.inputs = {pattern()};
  for (unsigned t = 0; t < 32; ++t) {
    appendValue(wide.expected, load(16 * t + 8, 8, false));
    appendValue(wide.expected, load(16 * t, 8, false));
  }
  Case &bytes = k.add("mov of vectors of every size",
                      "mul.wide.u32 %d11, %t, 8; add.s64 %d12, %a0, %d11; "
                      "ld.global.b64 %d1, [%d12]; mov.b64 {%r1, %r2}, %d1; "
                      "mov.b32 {%h1, %h2}, %r1; mov.b32 %r3, {%h2, %h1}; "
                      "mov.b64 {%h1, %h2, %h3, %h4}, %d1; mov.b64 %d2, {%h4, "
                      "%h3, %h2, %h1}; mov.b64 {_, %r4}, %d2; mov.b64 %d3, "
                      "{%r3, %r4}; add.s64 %d13, %o, %d11; st.global.b64 "
                      "[%d13], %d3;",
                      1);
  bytes.inputs = {pattern()};
  for (unsigned t = 0; t < 32; ++t) {
    uint64_t low = load(8 * t, 4, false);
    uint64_t first = (low >> 16 | low << 16) & 0xffffffffu;
    appendValue(bytes.expected, first | first << 32);
  }
  // Parameters: scalars, and a struct read at every offset and width.
  Case &params =
      k.add("ld.param",
            "ld.param.b32 %r1, [s0]; ld.param.u32 %r2, [s1]; sub.s32 "
            "%r1, %r1, %r2; ld.param.s8 %r2, [b0+3]; ld.param.u8 "
            "%r3, [b0+5]; ld.param.s16 %r4, [b0+6]; ld.param.v2.b32 "
            "{%r5, %r6}, [b0+8]; ld.param.b64 %d1, [b0+16]; mov.b64 "
            "{%r7, %r8}, %d1; mov.b64 %d2, b0; cvta.param.u64 %d2, "
            "%d2; ld.b32 %r9, [%d2+12]; st.global.b32 [%o], %r1; "
            "st.global.b32 [%o+4], %r2; st.global.b32 [%o+8], %r3; "
            "st.global.b32 [%o+12], %r4; st.global.v4.b32 [%o+16], "
            "{%r5, %r6, %r7, %r8}; st.global.b32 [%o+32], %r9;",
            0, 0, 2, "", "", 24);
  params.scalars = {1000, 58};
  params.blobs = {std::vector<uint8_t>(24)};
  for (unsigned b = 0; b < 24; ++b) {
    params.blobs[0][b] = byteAt(b + 90);
  }
  params.stride = 4;
  auto at = [&](unsigned offset, unsigned n, bool sign) {
    return uint32_t(load(90 + offset, n, sign));
  };
  for (uint32_t v : {942u, at(3, 1, true), at(5, 1, false), at(6, 2, true),
                     at(8, 4, false), at(12, 4, false), at(16, 4, false),
                     at(20, 4, false), at(12, 4, false)}) {
    appendValue(params.expected, v);
  }
  Case &spaces = k.add(
      "isspacep",
      "mov.u64 %d1, buf; cvta.shared.u64 %d1, %d1; mov.u64 %d2, mine; "
      "cvta.local.u64 %d2, %d2; mov.b64 %d3, %o;\n" +
          [] {
            std::string text;
            unsigned at = 0;
            for (const char *s : {"shared", "local", "global"}) {
              for (const char *d : {"%d1", "%d2", "%d3"}) {
                text += std::string("isspacep.") + s + " %p0, " + d +
                        "; selp.b32 %r1, 1, 0, %p0; st.global.b32 [%o+" +
                        std::to_string(4 * at++) + "], %r1;\n";
              }
            }
            return text;
          }(),
      0, 0, 0, ".shared .align 4 .b32 buf; .local .align 4 .b32 mine;");
  spaces.stride = 4;
  for (uint32_t v : {1, 0, 0, 0, 1, 0, 0, 0, 1}) {
    appendValue(spaces.expected, v);
  }
}

} // namespace

Family memoryFamily() {
  Kernels k("memory", preamble());
  loads(k);
  stores(k);
  qualifiers(k);
  moves(k);
  return k.take();
}

} // namespace gmoe::conformance
