// tcgen05.mma: every pair of element formats, result types, shapes, and the
// modifiers of the instruction (ISA 9.7.16.10).
#include "test/runtime/emulator/MmaOracle.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

std::string mma(const std::string &kind, bool pair, const std::string &rest,
                const std::string &a = "%d3") {
  return std::string("tcgen05.mma.cta_group::") + (pair ? "2" : "1") +
         ".kind::" + kind + " [%r3], " + a + ", %d5, %r6, " + rest + ";";
}

/// Compares all of D; `expected` gives the value at (row, column, initial).
template <class F>
void compare(const TensorCoreRun &run, const Operands &o,
             const std::vector<uint32_t> &got, F expected) {
  for (uint32_t r = 0; r < o.m; ++r) {
    for (uint32_t c = 0; c < o.n; ++c) {
      DPlace p = placeOfD(o.pair, r, c, o.m, o.n);
      uint32_t word = got[(p.cta * 128 + p.lane) * run.columns + p.column];
      double initial = (3 * p.lane + p.column) % 32;
      ASSERT_EQ(double(floatOfBits(word)), expected(r, c, initial))
          << "row " << r << " column " << c;
    }
  }
}

TensorCoreRun prepared(const Operands &o) {
  TensorCoreRun run;
  run.pair = o.pair;
  run.columns = o.pair && o.m == 128 ? o.n / 2 : o.n;
  run.columns = (run.columns + 7) / 8 * 8;
  run.descriptorA = run.descriptorB = matrixDescriptor(16, 1024, 2);
  return run;
}
/// ISA table 44: result f32 unless `d` says otherwise.
uint32_t dense(const Operands &o, uint32_t a, uint32_t b, uint32_t d = 1) {
  return d << 4 | a << 7 | b << 10 | (o.n >> 3) << 17 | (o.m >> 4) << 24;
}

const SmallFloat kNarrow[] = {kE4M3, kE5M2, kE2M3, kE3M2, kE2M1};

TEST(MmaFormats, F8F6F4EveryPair) {
  TestRandom random{1};
  for (const SmallFloat &a : kNarrow) {
    for (const SmallFloat &b : kNarrow) {
      SCOPED_TRACE(std::string(a.name) + " x " + b.name);
      Operands o(128, 32, 32, false);
      o.fill(false, a, random);
      o.fill(true, b, random);
      TensorCoreRun run = prepared(o);
      run.idesc = dense(o, a.code, b.code);
      run.issue = mma("f8f6f4", false, "%p4");
      compare(run, o, runTensorCore(run, o.image),
              [&](uint32_t r, uint32_t c, double) { return o.product(r, c); });
    }
  }
}

TEST(MmaFormats, MxF8F6F4EveryPairAndScaleId) {
  TestRandom random{2};
  uint32_t id = 0;
  for (const SmallFloat &a : kNarrow) {
    for (const SmallFloat &b : kNarrow) {
      SCOPED_TRACE(std::string(a.name) + " x " + b.name);
      Operands o(128, 64, 32, false);
      o.fill(false, a, random);
      o.fill(true, b, random);
      id = (id + 1) % 4;
      uint32_t idB = (id * 3 + 1) % 4;
      std::vector<double> scaleA(128), scaleB(64);
      // 512-byte atoms: row r % 32 of 16 bytes, word r / 32, byte by id; other
      // bytes are poison.
      std::fill(o.image.begin() + 65536, o.image.end(), uint8_t(0xff));
      auto put = [&](uint32_t at, uint32_t row, uint32_t which, double &scale) {
        uint32_t exponent = random.below(5);
        o.image[at + row % 32 * 16 + row / 32 * 4 + which] =
            uint8_t(125 + exponent);
        scale = std::ldexp(1.0, int(exponent) - 2);
      };
      for (uint32_t r = 0; r < 128; ++r) {
        put(65536, r, id, scaleA[r]);
      }
      for (uint32_t r = 0; r < 64; ++r) {
        put(66048, r, idB, scaleB[r]);
      }
      TensorCoreRun run = prepared(o);
      run.idesc = a.code << 7 | b.code << 10 | (o.n >> 3) << 17 | 1u << 23 |
                  (o.m >> 4) << 24 | id << 29 | idB << 4;
      run.issue =
          "add.u32 %r21, %r3, 256; add.u32 %r22, %r3, 260; add.s64 %d20, %d4, "
          "4096; or.b64 %d20, %d20, 0x0000400800010000; "
          "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r21], %d20; add.s64 %d20, "
          "%d20, 32; tcgen05.cp.cta_group::1.32x128b.warpx4 [%r22], %d20;\n" +
          mma("mxf8f6f4.block_scale.scale_vec::1X", false,
              "[%r21], [%r22], %p4");
      compare(run, o, runTensorCore(run, o.image),
              [&](uint32_t r, uint32_t c, double) {
                return o.product(r, c) * scaleA[r] * scaleB[c];
              });
    }
  }
}

TEST(MmaFormats, HalvesInEveryShape) {
  struct Shape {
    bool pair;
    uint32_t m, n;
  };
  TestRandom random{3};
  for (Shape s :
       {Shape{false, 64, 8}, Shape{false, 64, 72}, Shape{false, 64, 256},
        Shape{false, 128, 16}, Shape{false, 128, 48}, Shape{false, 128, 256},
        Shape{true, 128, 32}, Shape{true, 128, 128}, Shape{true, 256, 32},
        Shape{true, 256, 224}}) {
    for (const SmallFloat &f : {kHalf, kBrain}) {
      SCOPED_TRACE(std::string(f.name) + " M " + std::to_string(s.m) + " N " +
                   std::to_string(s.n) + (s.pair ? " pair" : ""));
      Operands o(s.m, s.n, 16, s.pair);
      o.fill(false, f, random);
      o.fill(true, f, random);
      TensorCoreRun run = prepared(o);
      run.seed = s.n;
      run.idesc = dense(o, f.code, f.code);
      run.issue = mma("f16", s.pair, "%p5"); // accumulates
      compare(run, o, runTensorCore(run, o.image),
              [&](uint32_t r, uint32_t c, double initial) {
                return o.product(r, c) + initial;
              });
    }
  }
}

TEST(MmaFormats, Tf32IgnoresTheLowBits) {
  TestRandom random{4};
  for (uint32_t m : {64u, 128u}) {
    Operands o(m, 32, 8, false);
    o.fill(false, kTensor32, random);
    o.fill(true, kTensor32, random);
    for (uint32_t r = 0; r < m; ++r) { // bits below tf32's mantissa
      o.image[swizzle128(r * 128)] |= 0xff;
    }
    TensorCoreRun run = prepared(o);
    run.idesc = dense(o, 2, 2);
    run.issue = mma("tf32", false, "%p4");
    compare(run, o, runTensorCore(run, o.image),
            [&](uint32_t r, uint32_t c, double) { return o.product(r, c); });
  }
}

TEST(MmaFormats, NegateScaleInputAndTwoSteps) {
  TestRandom random{5};
  for (uint32_t negate = 0; negate < 4; ++negate) {
    for (uint32_t scale : {0u, 1u, 5u}) {
      Operands o(128, 32, 16, false);
      o.fill(false, kBrain, random);
      o.fill(true, kBrain, random);
      TensorCoreRun run = prepared(o);
      run.idesc = dense(o, 1, 1) | negate << 13;
      // D = A B + D / 2^scale, then once more A B.
      run.issue = mma("f16", false, "%p5, " + std::to_string(scale)) + "\n" +
                  mma("f16", false, "%p5");
      double sign = negate == 1 || negate == 2 ? -1 : 1;
      compare(run, o, runTensorCore(run, o.image),
              [&](uint32_t r, uint32_t c, double initial) {
                return std::ldexp(initial, -int(scale)) +
                       2 * sign * o.product(r, c);
              });
    }
  }
}

TEST(MmaFormats, DisabledLanesKeepTheirContents) {
  TestRandom random{6};
  for (bool pair : {false, true}) {
    Operands o(pair ? 256 : 128, 32, 16, pair);
    o.fill(false, kHalf, random);
    o.fill(true, kHalf, random);
    TensorCoreRun run = prepared(o);
    run.idesc = dense(o, 0, 0);
    const uint32_t masks[8] = {0x00000001, 0x80000000, 0,          0xffff0000,
                               0x5,        0,          0x10000000, 0xffffffff};
    std::string list;
    for (uint32_t k = 0; k < (pair ? 8u : 4u); ++k) {
      run.issue += "mov.b32 %r" + std::to_string(24 + k) + ", " +
                   std::to_string(masks[k]) + "; ";
      list += (k ? ", %r" : "%r") + std::to_string(24 + k);
    }
    run.issue += mma("f16", pair, "{" + list + "}, %p4");
    compare(run, o, runTensorCore(run, o.image),
            [&](uint32_t r, uint32_t c, double initial) {
              bool disabled = masks[r / 32] >> (r % 32) & 1;
              return disabled ? initial : o.product(r, c);
            });
  }
}

TEST(MmaFormats, HalfResults) {
  TestRandom random{7};
  for (bool bytes : {false, true}) {
    const SmallFloat f = bytes ? kE4M3 : kHalf;
    Operands o(128, 32, bytes ? 32 : 16, false);
    for (bool isB : {false, true}) {
      for (uint32_t r = 0; r < (isB ? 32u : 128u); ++r) {
        for (uint32_t x = 0; x < o.k; ++x) {
          o.set(isB, f, r, x, Operands::small(f, int(random.below(9)) - 4));
        }
      }
    }
    TensorCoreRun run = prepared(o);
    run.idesc = dense(o, f.code, f.code, 0);
    run.issue = mma(bytes ? "f8f6f4" : "f16", false, "%p4");
    auto got = runTensorCore(run, o.image);
    for (uint32_t r = 0; r < 128; ++r) {
      for (uint32_t c = 0; c < 32; ++c) {
        ASSERT_EQ(kHalf.value(got[r * 32 + c] & 0xffff), o.product(r, c));
      }
    }
  }
}

TEST(MmaFormats, OperandAInTensorMemory) {
  TestRandom random{8};
  const struct {
    SmallFloat format;
    const char *kind;
    uint32_t k;
  } kCases[] = {
      {kBrain, "f16", 16}, {kTensor32, "tf32", 8}, {kE5M2, "f8f6f4", 32}};
  for (const auto &x : kCases) {
    for (bool pair : {false, true}) {
      SCOPED_TRACE(std::string(x.kind) + (pair ? " pair" : ""));
      Operands o(pair ? 256 : 128, 64, x.k, pair);
      o.fill(false, x.format, random);
      o.fill(true, x.format, random);
      // Row r of A: 32 bytes at lane * 32 of each CTA's image.
      std::vector<uint8_t> image = o.image;
      for (uint32_t r = 0; r < o.m; ++r) {
        for (uint32_t b = 0; b < 32; ++b) {
          image[o.base(false, r) + r % 128 * 32 + b] =
              o.image[o.base(false, r) + swizzle128(r % 128 * 128 + b)];
        }
      }
      TensorCoreRun run = prepared(o);
      run.loadA = true;
      run.idesc = dense(o, x.format.code, x.format.code);
      run.issue =
          "add.u32 %r21, %r3, 384;" + mma(x.kind, pair, "%p4", "[%r21]");
      compare(run, o, runTensorCore(run, image),
              [&](uint32_t r, uint32_t c, double) { return o.product(r, c); });
    }
  }
}

TEST(MmaFormats, Integers) {
  TestRandom random{9};
  for (uint32_t types = 0; types < 4; ++types) { // bit 0: A signed, bit 1: B
    for (bool saturate : {false, true}) {
      std::vector<uint8_t> image(kImageBytes, 0);
      std::vector<int> a(128 * 32), b(32 * 32);
      auto fill = [&](uint32_t base, std::vector<int> &m, bool isSigned) {
        for (uint32_t j = 0; j < m.size(); ++j) {
          uint8_t code = uint8_t(random.below(256));
          image[base + swizzle128(j / 32 * 128 + j % 32)] = code;
          m[j] = isSigned ? int(int8_t(code)) : int(code);
        }
      };
      fill(0, a, types & 1);
      fill(32768, b, types & 2);
      TensorCoreRun run;
      run.columns = 32;
      run.fillIntegers = true;
      run.descriptorA = run.descriptorB = matrixDescriptor(16, 1024, 2);
      run.idesc = 2u << 4 | uint32_t(saturate) << 3 | (types & 1) << 7 |
                  (types >> 1) << 10 | (32u >> 3) << 17 | (128u >> 4) << 24;
      run.issue = mma("i8", false, "%p5");
      auto got = runTensorCore(run, image);
      for (uint32_t r = 0; r < 128; ++r) {
        for (uint32_t c = 0; c < 32; ++c) {
          int sum = int((3 * r + c) % 32);
          for (uint32_t x = 0; x < 32; ++x) {
            sum += a[r * 32 + x] * b[c * 32 + x];
          }
          ASSERT_EQ(int(got[r * 32 + c]), sum) << r << " " << c;
        }
      }
    }
  }
}

TEST(MmaFormats, ByteOperandsInEveryMajorness) {
  TestRandom random{10};
  for (uint32_t major = 1; major < 4; ++major) {
    Operands o(128, 128, 32, false);
    std::fill(o.image.begin(), o.image.end(), uint8_t(0));
    for (bool isB : {false, true}) {
      bool mn = isB ? major & 2 : major & 1;
      for (uint32_t r = 0; r < 128; ++r) {
        for (uint32_t x = 0; x < 32; ++x) {
          uint32_t code = kE4M3.draw(random);
          // MN-major: 128 rows side by side, 8 lines of k in a block of 1024.
          uint32_t at = mn ? x / 8 * 1024 + x % 8 * 128 + r : r * 128 + x;
          o.image[(isB ? 32768 : 0) + swizzle128(at)] = uint8_t(code);
          (isB ? o.b : o.a)[r * 32 + x] = kE4M3.value(code);
        }
      }
    }
    TensorCoreRun run = prepared(o);
    // One block of 128 rows: the leading offset is not used.
    run.descriptorA = matrixDescriptor(major & 1 ? 4096 : 16, 1024, 2);
    run.descriptorB = matrixDescriptor(major & 2 ? 4096 : 16, 1024, 2);
    run.idesc = dense(o, 0, 0) | major << 15;
    run.issue = mma("f8f6f4", false, "%p4");
    compare(run, o, runTensorCore(run, o.image),
            [&](uint32_t r, uint32_t c, double) { return o.product(r, c); });
  }
}

} // namespace
