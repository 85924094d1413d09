// gemm_f16.cu and gemm_f16_pair.cu on small integers, where f16 products and
// f32 sums are exact in any order.
#include "runtime/numerics/Codecs.h"
#include "test/runtime/programs/ProgramSupport.h"
#include "tools/emulate/LaunchFile.h"

#include <cstdlib>

using namespace gmoe;
using namespace gmoe::test;

namespace {

constexpr uint32_t kShared = 3 * 32768 + 1024;

struct Problem {
  uint32_t m, n, k;
  std::vector<uint16_t> a, b;
  std::vector<float> want;

  Problem(uint32_t rows, uint32_t columns, uint32_t depth)
      : m(rows), n(columns), k(depth), a(rows * depth), b(columns * depth),
        want(rows * columns) {
    std::vector<float> fa(a.size()), fb(b.size());
    for (uint32_t i = 0; i < a.size(); ++i) {
      fa[i] = float(hashed(i) % 9) - 4;
      a[i] = numerics::encodeF16(fa[i]);
    }
    for (uint32_t i = 0; i < b.size(); ++i) {
      fb[i] = float(hashed(i + 12345) % 9) - 4;
      b[i] = numerics::encodeF16(fb[i]);
    }
    for (uint32_t i = 0; i < m; ++i) {
      for (uint32_t j = 0; j < n; ++j) {
        for (uint32_t x = 0; x < k; ++x) {
          want[i * n + j] += fa[i * k + x] * fb[j * k + x];
        }
      }
    }
  }

  void run(const char *program, const char *kernel, Dim3 grid, uint64_t seed) {
    Program p(program, seed);
    auto mapOf = [&](const std::vector<uint16_t> &values) {
      return p.map(matrixMap(TensorMapType::F16, p.upload(values),
                             values.size() / k, k, 2, 128, 64,
                             TensorMapSwizzle::B128));
    };
    uint64_t d = p.poisoned<float>(want.size());
    p.check(p.run(kernel, parameters(mapOf(a), mapOf(b), d, n, k), {192, 1, 1},
                  grid, kShared));
    ASSERT_EQ(p.download<float>(d, want.size()), want) << "seed " << seed;
  }
};

TEST(GemmPrograms, OneCta) {
  Problem problem(256, 256, 320);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    problem.run("gemm_f16", "gemmOneCta", {2, 2, 1}, seed);
  }
}

TEST(GemmPrograms, CtaPair) {
  Problem problem(512, 512, 320);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    problem.run("gemm_f16_pair", "gemmPair", {4, 2, 1}, seed);
  }
}

std::string scratch(const std::string &name) {
  const char *folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/" + name;
}
template <class T>
void write(const std::string &name, const T *data, size_t bytes) {
  std::ofstream(scratch(name), std::ios::binary)
      .write(reinterpret_cast<const char *>(data), std::streamsize(bytes));
}

TEST(GemmPrograms, LaunchFile) {
  Problem problem(128, 128, 128);
  std::string ptx = readFile("test/runtime/programs/ptx/gemm_f16.ptx");
  std::string json = readFile("test/runtime/programs/gemm_f16.json");
  write("gemm_f16.ptx", ptx.data(), ptx.size());
  write("gemm_f16.json", json.data(), json.size());
  write("a.bin", problem.a.data(), problem.a.size() * 2);
  write("b.bin", problem.b.data(), problem.b.size() * 2);
  std::vector<uint8_t> poison(problem.want.size() * 4, 0xff);
  write("d.bin", poison.data(), poison.size());
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    EmulatorOptions options;
    options.scheduleSeed = seed;
    std::string report;
    Status status = runLaunchFile(scratch("gemm_f16.json"), options, report);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_NE(report.find("mma 8, macs 2097152"), std::string::npos) << report;
    std::string out = readFile(scratch("out.bin"));
    ASSERT_EQ(out.size(), poison.size());
    EXPECT_EQ(std::memcmp(out.data(), problem.want.data(), out.size()), 0);
  }
}

} // namespace
