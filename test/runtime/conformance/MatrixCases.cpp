// ldmatrix, stmatrix, movmatrix and mma.sync (ISA 9.7.14.5), on data whose
// products and sums are exact.
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/Kernels.h"
#include "test/runtime/conformance/Matrices.h"

#include <algorithm>
#include <cstring>

namespace gmoe::conformance {
namespace {

std::string registers(const char *prefix, unsigned first, unsigned n) {
  std::string text = "{";
  for (unsigned k = 0; k < n; ++k) {
    text += (k ? ", " : "") + std::string(prefix) + std::to_string(first + k);
  }
  return text + "}";
}

void tiles(Kernels &k) {
  const char *declared = ".shared .align 16 .b8 buf[512];";
  for (unsigned n : {1u, 2u, 4u}) {
    for (bool trans : {false, true}) {
      std::string form = ".sync.aligned.m8n8.x" + std::to_string(n) +
                         (trans ? ".trans" : "") + ".shared.b16 ";
      // Rows in another order than that of their addresses.
      std::string address =
          "mov.u32 %r3, buf; xor.b32 %r4, %t, 5; shl.b32 %r4, "
          "%r4, 4; add.u32 %r5, %r3, %r4; ";
      std::vector<uint16_t> v(256);
      for (unsigned j = 0; j < 256; ++j) {
        v[j] = uint16_t(j * 257 + 3);
      }
      // Element (row, column) of tile j sits in row (8 j + row) ^ 5 of memory.
      auto at = [&](unsigned j, unsigned row, unsigned column) -> uint16_t & {
        return v[((8 * j + row) ^ 5) * 8 + column];
      };
      Case &c = k.add(
          "ldmatrix" + form,
          "mul.wide.u32 %d1, %t, 16; add.s64 %d2, %a0, %d1; "
          "ld.global.v2.b64 {%d3, %d4}, [%d2]; mov.u64 %d5, buf; "
          "add.s64 %d5, %d5, %d1; st.shared.v2.b64 [%d5], {%d3, "
          "%d4}; bar.sync 0; " +
              address + "ldmatrix" + form + registers("%f", 0, n) +
              ", [%r5];\n" +
              [&] {
                std::string text;
                for (unsigned j = 0; j < n; ++j) {
                  text += storeWord("%f" + std::to_string(j), 32 * j);
                }
                return text;
              }(),
          1, 0, 0, declared);
      c.inputs = {bytesOf(v)};
      c.stride = 4;
      for (unsigned j = 0; j < n; ++j) {
        for (unsigned t = 0; t < 32; ++t) {
          unsigned r = t / 4, x = t % 4 * 2;
          uint32_t low = trans ? at(j, x, r) : at(j, r, x);
          uint32_t high = trans ? at(j, x + 1, r) : at(j, r, x + 1);
          appendValue(c.expected, low | high << 16);
        }
      }
      std::string values;
      for (unsigned j = 0; j < n; ++j) {
        std::string f = "%f" + std::to_string(j);
        values += "mad.lo.u32 " + f + ", %t, 0x20002, " +
                  std::to_string(0x10000 + j * 0x400040) + ";\n";
      }
      Case &s = k.add("stmatrix" + form,
                      values + address + "stmatrix" + form + "[%r5], " +
                          registers("%f", 0, n) +
                          "; bar.sync 0; mul.wide.u32 %d1, %t, 16; mov.u64 "
                          "%d5, buf; add.s64 %d5, %d5, %d1; add.s64 %d2, %o, "
                          "%d1; setp.lt.u32 %p1, %t, " +
                          std::to_string(8 * n) +
                          "; @%p1 ld.shared.v2.b64 {%d3, %d4}, [%d5]; @%p1 "
                          "st.global.v2.b64 [%d2], {%d3, %d4};",
                      0, 0, 0, declared);
      s.stride = 2;
      std::vector<uint16_t> memory(64 * n);
      for (unsigned j = 0; j < n; ++j) {
        for (unsigned t = 0; t < 32; ++t) {
          uint32_t w = t * 0x20002 + 0x10000 + j * 0x400040;
          for (unsigned h = 0; h < 2; ++h) {
            unsigned r = t / 4, x = t % 4 * 2 + h;
            if (trans) {
              std::swap(r, x);
            }
            memory[((8 * j + r) ^ 5) * 8 + x] = uint16_t(w >> (16 * h));
          }
        }
      }
      s.expected = bytesOf(memory);
    }
  }
  Case &m =
      k.add("movmatrix", "mad.lo.u32 %r1, %t, 0x20002, 0x10000; "
                         "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;" +
                             storeWord("%r2"));
  m.stride = 4;
  for (uint32_t t = 0; t < 32; ++t) {
    // Element (r, c) is 8 r + c.
    uint32_t r = t / 4, x = t % 4 * 2;
    appendValue(m.expected, (8 * x + r) | (8 * (x + 1) + r) << 16);
  }
}

struct Shape {
  const char *a, *b; // element types
  unsigned k;
  const char *result, *accumulator;
  bool saturates;
};

void products(Kernels &k) {
  const Shape kShapes[] = {{"f16", "f16", 8, "f32", "f32", false},
                           {"f16", "f16", 16, "f32", "f32", false},
                           {"f16", "f16", 8, "f16", "f16", false},
                           {"f16", "f16", 16, "f16", "f16", false},
                           {"bf16", "bf16", 8, "f32", "f32", false},
                           {"bf16", "bf16", 16, "f32", "f32", false},
                           {"tf32", "tf32", 4, "f32", "f32", false},
                           {"tf32", "tf32", 8, "f32", "f32", false},
                           {"s8", "s8", 16, "s32", "s32", false},
                           {"u8", "s8", 16, "s32", "s32", false},
                           {"s8", "s8", 32, "s32", "s32", true},
                           {"s8", "u8", 32, "s32", "s32", false},
                           {"u8", "u8", 32, "s32", "s32", true},
                           {"e4m3", "e4m3", 32, "f32", "f32", false},
                           {"e4m3", "e5m2", 32, "f32", "f32", false},
                           {"e5m2", "e4m3", 32, "f32", "f32", false},
                           {"e5m2", "e5m2", 32, "f32", "f32", false}};
  for (const Shape &s : kShapes) {
    const ElementCode a = elementCode(s.a), b = elementCode(s.b);
    unsigned each = 32 / a.bits;
    unsigned nb = s.k * a.bits / 128, na = 2 * nb;
    bool halfD = std::string(s.result) == "f16";
    bool halfC = std::string(s.accumulator) == "f16";
    bool integers = std::string(s.result) == "s32";
    unsigned nd = halfD ? 2 : 4, nc = halfC ? 2 : 4;
    std::string name = "mma.sync.aligned.m16n8k" + std::to_string(s.k) +
                       ".row.col" + (s.saturates ? ".satfinite" : "") + "." +
                       s.result + "." + s.a + "." + s.b + "." + s.accumulator;
    unsigned words = na + nb + nc;
    std::string body = "mul.wide.u32 %d1, %t, " + std::to_string(4 * words) +
                       "; add.s64 %d2, %a0, %d1;\n";
    for (unsigned r = 0; r < words; ++r) {
      body += "ld.global.b32 %f" + std::to_string(r) + ", [%d2+" +
              std::to_string(4 * r) + "];\n";
    }
    body += name + " " + registers("%r", 0, nd) + ", " +
            registers("%f", 0, na) + ", " + registers("%f", na, nb) + ", " +
            registers("%f", na + nb, nc) + ";\n";
    for (unsigned r = 0; r < nd; ++r) {
      body += storeWord("%r" + std::to_string(r), 32 * r);
    }
    Case &c = k.add(name, body, 1);
    c.stride = 4;
    Draw draw(s.k + a.bits);
    std::vector<int> ma(16 * s.k), mb(s.k * 8), mc(16 * 8);
    auto fill = [&](std::vector<int> &m, const ElementCode &e) {
      for (int &v : m) {
        v = e.isSigned ? int(draw.below(9)) - 4 : int(draw.below(5));
      }
    };
    fill(ma, a);
    fill(mb, b);
    for (int &v : mc) {
      v = int(draw.below(100)) - 50;
    }
    if (s.saturates) {
      mc[5] = 0x7fffffff;
      mc[6] = -0x7fffffff - 1;
    }
    auto codeC = [&](int v) {
      return integers ? uint32_t(v)
                      : elementCode(halfC ? "f16" : "f32").encode(v);
    };
    std::vector<uint32_t> input;
    for (unsigned t = 0; t < 32; ++t) {
      unsigned g = t / 4, q = t % 4;
      for (unsigned r = 0; r < na; ++r) {
        uint32_t w = 0;
        for (unsigned j = 0; j < each; ++j) {
          unsigned row = g + 8 * (r & 1);
          unsigned column = (r >> 1) * 4 * each + q * each + j;
          w |= a.encode(ma[row * s.k + column]) << (a.bits * j % 32);
        }
        input.push_back(w);
      }
      for (unsigned r = 0; r < nb; ++r) {
        uint32_t w = 0;
        for (unsigned j = 0; j < each; ++j) {
          w |= b.encode(mb[(r * 4 * each + q * each + j) * 8 + g])
               << (b.bits * j % 32);
        }
        input.push_back(w);
      }
      for (unsigned r = 0; r < nc; ++r) {
        if (halfC) {
          input.push_back(codeC(mc[(g + 8 * r) * 8 + 2 * q]) |
                          codeC(mc[(g + 8 * r) * 8 + 2 * q + 1]) << 16);
        } else {
          input.push_back(codeC(mc[(g + r / 2 * 8) * 8 + 2 * q + r % 2]));
        }
      }
    }
    c.inputs = {bytesOf(input)};
    auto result = [&](unsigned row, unsigned column) {
      int64_t sum = mc[row * 8 + column];
      for (unsigned x = 0; x < s.k; ++x) {
        sum += int64_t(ma[row * s.k + x]) * mb[x * 8 + column];
      }
      if (integers) {
        return uint32_t(
            s.saturates ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
      }
      return elementCode(halfD ? "f16" : "f32").encode(int(sum));
    };
    for (unsigned r = 0; r < nd; ++r) {
      for (unsigned t = 0; t < 32; ++t) {
        unsigned g = t / 4, q = t % 4;
        appendValue(c.expected, halfD ? result(g + 8 * r, 2 * q) |
                                            result(g + 8 * r, 2 * q + 1) << 16
                                      : result(g + r / 2 * 8, 2 * q + r % 2));
      }
    }
  }
  Case &c = k.add(
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
      "mul.wide.u32 %d1, %t, 32; add.s64 %d2, %a0, %d1; ld.global.v2.b64 "
      "{%d3, %d4}, [%d2]; ld.global.v2.b64 {%d5, %d6}, [%d2+16]; "
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d7, %d8}, {%d3}, "
      "{%d4}, {%d5, %d6}; mul.wide.u32 %d1, %t, 16; add.s64 %d2, %o, %d1; "
      "st.global.v2.b64 [%d2], {%d7, %d8};",
      1);
  std::vector<double> input(128);
  for (unsigned j = 0; j < 128; ++j) {
    input[j] = double(int(j * 7 % 23) - 11);
  }
  c.inputs = {bytesOf(input)};
  for (unsigned t = 0; t < 32; ++t) {
    for (unsigned h = 0; h < 2; ++h) {
      double sum = input[t * 4 + 2 + h];
      for (unsigned x = 0; x < 4; ++x) {
        sum += input[(t / 4 * 4 + x) * 4] *
               input[((t % 4 * 2 + h) * 4 + x) * 4 + 1];
      }
      appendValue(c.expected, sum);
    }
  }
}

} // namespace

Family matrixFamily() {
  Kernels k("matrix");
  tiles(k);
  products(k);
  return k.take();
}

} // namespace gmoe::conformance
