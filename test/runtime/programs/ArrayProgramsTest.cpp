// reduction.cu, transpose.cu, softmax.cu, histogram.cu.
#include "test/runtime/programs/ProgramSupport.h"

#include <cmath>

using namespace gmoe;
using namespace gmoe::test;

namespace {

// The same tree of additions as reduction.cu: bitwise equal.
float warpSum(std::vector<float> v) {
  for (unsigned step = 16; step > 0; step /= 2) {
    for (unsigned l = 0; l + step < 32; ++l) {
      v[l] += v[l + step];
    }
  }
  return v[0];
}
float blockSum(const std::vector<float> &v) {
  std::vector<float> sums(32, 0.0f);
  for (unsigned w = 0; w < 8; ++w) {
    sums[w] = warpSum({v.begin() + w * 32, v.begin() + (w + 1) * 32});
  }
  return warpSum(sums);
}
float gridSum(const std::vector<float> &in, unsigned ctas) {
  std::vector<float> partial(ctas);
  for (unsigned b = 0; b < ctas; ++b) {
    std::vector<float> v(256, 0.0f);
    for (unsigned t = 0; t < 256; ++t) {
      for (size_t k = b * 256 + t; k < in.size(); k += ctas * 256) {
        v[t] += in[k];
      }
    }
    partial[b] = blockSum(v);
  }
  std::vector<float> v(256, 0.0f);
  for (unsigned k = 0; k < ctas; ++k) {
    v[k % 256] += partial[k];
  }
  return blockSum(v);
}

TEST(ArrayPrograms, Reduction) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program p("reduction", seed);
    std::vector<float> in(10007);
    for (size_t k = 0; k < in.size(); ++k) {
      in[k] = float(hashed(uint32_t(k)) % 100000) / 777.0f - 60.0f;
    }
    uint64_t out = p.poisoned<float>(1), partial = p.poisoned<float>(12);
    uint64_t ticket = p.upload(std::vector<uint32_t>{0});
    p.check(p.run(
        "sum",
        parameters(p.upload(in), uint32_t(in.size()), partial, ticket, out),
        {256, 1, 1}, {12, 1, 1}));
    EXPECT_EQ(p.download<float>(out, 1)[0], gridSum(in, 12));
    EXPECT_EQ(p.download<uint32_t>(ticket, 1)[0], 0u);
  }
}

TEST(ArrayPrograms, Transpose) {
  const int rows = 70, columns = 100;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program p("transpose", seed);
    std::vector<float> in(rows * columns);
    for (size_t k = 0; k < in.size(); ++k) {
      in[k] = float(k);
    }
    uint64_t out = p.poisoned<float>(in.size());
    p.check(p.run("transpose", parameters(p.upload(in), out, rows, columns),
                  {32, 8, 1}, {4, 3, 1}));
    std::vector<float> got = p.download<float>(out, in.size());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        ASSERT_EQ(got[c * rows + r], in[r * columns + c]) << r << ", " << c;
      }
    }
  }
}

TEST(ArrayPrograms, Softmax) {
  const int rows = 5, columns = 300;
  Program p("softmax", 3);
  std::vector<float> in(rows * columns);
  for (size_t k = 0; k < in.size(); ++k) {
    in[k] = float(hashed(uint32_t(k)) % 2000) / 100.0f - 10.0f;
  }
  uint64_t out = p.poisoned<float>(in.size());
  p.check(p.run("softmax", parameters(p.upload(in), out, columns), {128, 1, 1},
                {rows, 1, 1}));
  std::vector<float> got = p.download<float>(out, in.size());
  for (int r = 0; r < rows; ++r) {
    double largest = -1e30, total = 0;
    for (int c = 0; c < columns; ++c) {
      largest = std::max(largest, double(in[r * columns + c]));
    }
    for (int c = 0; c < columns; ++c) {
      total += std::exp(double(in[r * columns + c]) - largest);
    }
    for (int c = 0; c < columns; ++c) {
      double want = std::exp(double(in[r * columns + c]) - largest) / total;
      // In units of 2^-24: 2 for the argument's rounding times |x| <= 20 as it
      // enters exp (40), 2 ulp = 4 for expf; the same again averaged in the
      // sum, 300 / 128 + 7 + 3 additions < 13, one division: below 104.
      EXPECT_NEAR(got[r * columns + c], want, want * std::ldexp(104.0, -24));
    }
  }
}

TEST(ArrayPrograms, Histogram) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program p("histogram", seed);
    std::vector<uint32_t> in(3000), want(256, 0);
    for (size_t k = 0; k < in.size(); ++k) {
      in[k] = hashed(uint32_t(k)) & hashed(uint32_t(k) + 77);
      for (int byte = 0; byte < 4; ++byte) {
        ++want[in[k] >> 8 * byte & 255];
      }
    }
    uint64_t bins = p.upload(std::vector<uint32_t>(256, 0));
    p.check(p.run("histogram",
                  parameters(p.upload(in), uint32_t(in.size()), bins),
                  {256, 1, 1}, {5, 1, 1}));
    EXPECT_EQ(p.download<uint32_t>(bins, 256), want);
  }
}

} // namespace
