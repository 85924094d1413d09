// wgmma of sm_90a: element types, N, swizzles, both majornesses, A from shared
// memory or registers (ISA 9.7.15). Small integers: every product and sum is
// exact, so that results are compared bit for bit.
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/Kernels.h"
#include "test/runtime/conformance/Matrices.h"

#include <cstring>

namespace gmoe::conformance {
namespace {

constexpr unsigned kBytesOfK = 64; // two instructions of 32 bytes of K

struct Form {
  const char *a, *b, *result;
  unsigned n;
  unsigned swizzle;              // bytes of the span, 0: none
  bool mnA = false, mnB = false; // MN-major
  bool registers = false;        // A in registers
  bool negate = false;
};

/// Where element (row, k) lies in an operand's image, and how the two
/// descriptors of the instruction's K steps follow from it.
struct Layout {
  unsigned bytes, rows, span, k; // k: elements in all
  bool mnMajor;

  unsigned block() const { return 8 * span; } // eight lines of a span
  unsigned leading() const {
    if (span == 0) {
      return 128; // the next core matrix along K
    }
    return mnMajor ? k / 8 * block() : 16; // K-major swizzles ignore it
  }
  unsigned stride() const {
    if (span == 0) { // the next core matrix along M or N
      return (mnMajor ? k / 8 : kBytesOfK / 16) * 128;
    }
    return block();
  }
  /// Bytes from the first K step's start to the second's.
  unsigned step() const {
    if (mnMajor) {
      return k / 2 / 8 * (span == 0 ? leading() : stride());
    }
    return span == 0 ? 2 * leading() : span == 32 ? rows * 32 : 32;
  }
  unsigned offset(unsigned r, unsigned x) const {
    unsigned along = (mnMajor ? r : x) * bytes, across = mnMajor ? x : r;
    if (span == 0) {
      unsigned chunk = along / 16, group = across / 8;
      unsigned steps = mnMajor ? chunk * stride() + group * leading()
                               : chunk * leading() + group * stride();
      return steps + across % 8 * 16 + along % 16;
    }
    unsigned at;
    if (mnMajor) {
      at = along % span + along / span * leading() + across % 8 * span +
           across / 8 * stride();
    } else {
      // A span of 32 bytes holds one K step; the second one lies behind all
      // rows.
      at = along % span + along / span * rows * span + across * span;
    }
    unsigned line = at / 128, chunk = at / 16;
    return (chunk ^ (line % (span / 16))) * 16 + at % 16;
  }
  /// K-major lines of 128 bytes are only half used.
  unsigned size() const {
    return rows * (mnMajor || span < 128 ? kBytesOfK : 128);
  }
  uint64_t descriptor() const {
    uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return uint64_t(leading() >> 4) << 16 | uint64_t(stride() >> 4) << 32 |
           mode << 62;
  }
};

void add(Kernels &k, const Form &f) {
  ElementCode a = elementCode(f.a), b = elementCode(f.b);
  unsigned depth = 256 / a.bits, total = 2 * depth; // K of one and of both
  Layout la{a.bits / 8, 64, f.swizzle, total, f.mnA};
  Layout lb{b.bits / 8, f.n, f.swizzle, total, f.mnB};
  bool half = std::string(f.result) == "f16";
  bool integers = !a.format;
  unsigned nd = half ? f.n / 4 : f.n / 2;
  std::string name = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(f.n) +
                     "k" + std::to_string(depth) + "." + f.result + "." + f.a +
                     "." + f.b;
  std::string list = "{";
  for (unsigned r = 0; r < nd; ++r) {
    list += (r ? ", " : "") + std::string("%f") + std::to_string(r);
  }
  list += "}";
  auto instruction = [&](unsigned step) {
    std::string s = std::to_string(step);
    std::string text = name + " " + list + ", ";
    if (f.registers) {
      std::string base = std::to_string(20 + 4 * step);
      text += "{";
      for (unsigned r = 0; r < 4; ++r) {
        text += (r ? ", %r" : "%r") + std::to_string(20 + 4 * step + r);
      }
      text += "}";
    } else {
      text += "%d2" + s;
    }
    text += ", %d3" + s + ", " + (step == 0 ? "%p1" : "%p2");
    if (!integers) {
      text += f.negate && step == 1 ? ", -1, 1" : ", 1, 1";
      if (a.bits == 16) {
        text += f.registers ? "" : f.mnA ? ", 1" : ", 0";
        text += f.mnB ? ", 1" : ", 0";
      }
    }
    return text + ";\n";
  };
  // Images go to shared memory as they are: A at 0, B behind it.
  unsigned baseB = (la.size() + 1023) / 1024 * 1024;
  unsigned bytes = baseB + lb.size();
  std::string body =
      "mov.u32 %r1, buf; mov.u32 %r2, %t; fill: mul.wide.u32 %d1, %r2, 8; "
      "add.s64 %d2, %a0, %d1; ld.global.b64 %d3, [%d2]; mov.u64 %d4, buf; "
      "add.s64 %d4, %d4, %d1; st.shared.b64 [%d4], %d3; add.u32 %r2, %r2, 128; "
      "setp.lt.u32 %p0, %r2, " +
      std::to_string((bytes + 7) / 8) +
      "; @%p0 bra fill; fence.proxy.async; bar.sync 0;\nsetp.ne.u32 %p1, %t, "
      "%t; setp.eq.u32 %p2, %t, %t;\n";
  auto descriptor = [&](const std::string &to, unsigned offset, uint64_t bits) {
    return "cvt.u64.u32 " + to + ", %r1; add.s64 " + to + ", " + to + ", " +
           std::to_string(offset) + "; and.b64 " + to + ", " + to +
           ", 0x3ffff; shr.u64 " + to + ", " + to + ", 4; or.b64 " + to + ", " +
           to + ", " + std::to_string(bits) + ";\n";
  };
  for (unsigned step = 0; step < 2; ++step) {
    std::string s = std::to_string(step);
    body += descriptor("%d2" + s, step * la.step(), la.descriptor());
    body += descriptor("%d3" + s, baseB + step * lb.step(), lb.descriptor());
  }
  if (f.registers) {
    body += "mul.wide.u32 %d5, %t, 32; add.s64 %d5, %d5, %a1;\n";
    for (unsigned r = 0; r < 8; ++r) {
      body += "ld.global.b32 %r" + std::to_string(20 + r) + ", [%d5+" +
              std::to_string(4 * r) + "];\n";
    }
  }
  // The first instruction must ignore what is in the accumulator.
  for (unsigned r = 0; r < nd; ++r) {
    body += "mov.b32 %f" + std::to_string(r) + ", 0x40a00000;\n";
  }
  body += "wgmma.fence.sync.aligned;\n" + instruction(0) + instruction(1) +
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned "
          "0;\n";
  // Row-major: row 16 warp + lane / 4 (+ 8), columns in pairs.
  unsigned each = half ? 2 : 4;
  body += "shr.u32 %r3, %t, 5; shl.b32 %r3, %r3, 4; and.b32 %r4, %t, 31; "
          "shr.u32 %r5, %r4, 2; add.u32 %r3, %r3, %r5; and.b32 %r4, %t, 3; "
          "mul.lo.u32 %r3, %r3, " +
          std::to_string(f.n * each) + "; mul.lo.u32 %r4, %r4, " +
          std::to_string(2 * each) +
          "; add.u32 %r3, %r3, %r4; cvt.u64.u32 %d6, %r3; add.s64 %d6, %d6, "
          "%o;\n";
  for (unsigned r = 0; r < nd; ++r) {
    unsigned block = half ? r / 2 : r / 4, below = half ? r % 2 : r / 2 % 2;
    unsigned at =
        block * 8 * each + below * 8 * f.n * each + (half ? 0 : r % 2 * 4);
    body += "st.global.b32 [%d6+" + std::to_string(at) + "], %f" +
            std::to_string(r) + ";\n";
  }
  std::string title =
      name + ", swizzle " + std::to_string(f.swizzle) +
      (f.registers ? ", A in registers" : "") + (f.mnA ? ", A M-major" : "") +
      (f.mnB ? ", B N-major" : "") + (f.negate ? ", negated" : "");
  Case &c = k.add(title, body, f.registers ? 2 : 1, 0, 0,
                  ".shared .align 1024 .b8 buf[" +
                      std::to_string((bytes + 1023) / 1024 * 1024) + "];");
  c.block = {128, 1, 1};
  c.stride = each;
  Draw draw(f.n + f.swizzle);
  std::vector<int> ma(64 * total), mb(f.n * total);
  for (int &v : ma) {
    v = a.isSigned ? int(draw.below(7)) - 3 : int(draw.below(5));
  }
  for (int &v : mb) {
    v = b.isSigned ? int(draw.below(7)) - 3 : int(draw.below(5));
  }
  std::vector<uint8_t> image((bytes + 1023) / 1024 * 1024, 0);
  auto place = [&](const Layout &l, const ElementCode &e, unsigned base,
                   const std::vector<int> &m) {
    for (unsigned r = 0; r < l.rows; ++r) {
      for (unsigned x = 0; x < total; ++x) {
        uint32_t code = e.encode(m[r * total + x]);
        std::memcpy(&image[base + l.offset(r, x)], &code, l.bytes);
      }
    }
  };
  place(la, a, 0, ma);
  place(lb, b, baseB, mb);
  c.inputs = {image};
  if (f.registers) {
    std::vector<uint32_t> fragments;
    unsigned per = 32 / a.bits;
    for (unsigned t = 0; t < 128; ++t) {
      for (unsigned r = 0; r < 8; ++r) {
        uint32_t w = 0;
        for (unsigned j = 0; j < per; ++j) {
          unsigned row = t / 32 * 16 + t % 32 / 4 + (r & 1) * 8;
          unsigned x = r / 4 * depth + (r >> 1 & 1) * 4 * per + t % 4 * per + j;
          w |= a.encode(ma[row * total + x]) << (a.bits * j % 32);
        }
        fragments.push_back(w);
      }
    }
    c.inputs.push_back(bytesOf(fragments));
  }
  ElementCode d = elementCode(f.result);
  for (unsigned r = 0; r < 64; ++r) {
    for (unsigned col = 0; col < f.n; ++col) {
      int sum = 0;
      for (unsigned x = 0; x < total; ++x) {
        int p = ma[r * total + x] * mb[col * total + x];
        sum += f.negate && x >= depth ? -p : p;
      }
      uint32_t code = d.encode(sum);
      const uint8_t *bytesAt = reinterpret_cast<const uint8_t *>(&code);
      c.expected.insert(c.expected.end(), bytesAt, bytesAt + each);
    }
  }
}

} // namespace

Family wgmmaFamily() {
  Kernels k("wgmma");
  const struct {
    const char *a, *b, *result;
  } kTypes[] = {
      {"bf16", "bf16", "f32"}, {"f16", "f16", "f32"},   {"f16", "f16", "f16"},
      {"tf32", "tf32", "f32"}, {"e4m3", "e4m3", "f32"}, {"e5m2", "e4m3", "f32"},
      {"e4m3", "e5m2", "f16"}, {"e5m2", "e5m2", "f32"}, {"s8", "s8", "s32"},
      {"u8", "s8", "s32"},     {"u8", "u8", "s32"}};
  for (const auto &t : kTypes) {
    for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (bool registers : {false, true}) {
        add(k, {t.a, t.b, t.result, 64, swizzle, false, false, registers});
      }
    }
    for (unsigned n : {8u, 16u, 24u, 96u, 192u, 256u}) {
      add(k, {t.a, t.b, t.result, n, 128});
    }
    if (t.a[0] != 's' && t.a[0] != 'u') {
      add(k, {t.a, t.b, t.result, 32, 64, false, false, false, true});
    }
  }
  for (const char *type : {"bf16", "f16"}) {
    for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (unsigned major = 1; major < 4; ++major) {
        add(k, {type, type, "f32", 128, swizzle, (major & 1) != 0,
                (major & 2) != 0});
      }
      add(k, {type, type, "f32", 64, swizzle, false, true, true});
    }
  }
  return k.take();
}

} // namespace gmoe::conformance
