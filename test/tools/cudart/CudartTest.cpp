// The entry points as nvcc's host code calls them, on a fat binary made here.
#include "test/runtime/emulator/TestSupport.h"
#include "tools/cudart/Abi.h"

#include <cstdlib>

using namespace gmoe;
using namespace gmoe::cudart;

extern "C" {
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **binary, const char *host, char *device,
                            const char *name, int, void *, void *, void *,
                            void *, int *);
Error cudaLaunchKernelExC(const LaunchConfig *config, const void *host,
                          void **arguments);
Error cudaLaunchKernel(const void *host, Dim grid, Dim block, void **arguments,
                       size_t sharedBytes, void *stream);
Error cudaMalloc(void **out, size_t bytes);
Error cudaFree(void *p);
Error cudaMemcpy(void *to, const void *from, size_t bytes, CopyKind kind);
Error cudaMemset(void *p, int value, size_t bytes);
Error cudaGetLastError();
}

namespace {

struct FatBinary {
  std::vector<uint8_t> bytes;
  FatBinaryWrapper wrapper{0x466243b1, 1, nullptr, nullptr};

  explicit FatBinary(const std::string &ptx) {
    FatBinaryEntry entry{1, 0, sizeof(FatBinaryEntry), ptx.size() + 1, 0};
    FatBinaryHeader header{0xba55ed50, 1, sizeof(FatBinaryHeader),
                           sizeof entry + ptx.size() + 1};
    test::append(bytes, header, 1);
    test::append(bytes, entry, 1);
    bytes.insert(bytes.end(), ptx.begin(), ptx.end());
    bytes.push_back(0);
    wrapper.data = bytes.data();
  }
};

/// Addresses that stand for host functions.
const char kHistogram = 0, kColumnSums = 0, kMissing = 0;

FatBinary &registered(const char *file) {
  static std::map<std::string, std::unique_ptr<FatBinary>> binaries;
  auto &binary = binaries[file];
  if (!binary) {
    binary = std::make_unique<FatBinary>(
        test::readFile(std::string("test/runtime/programs/ptx/") + file));
  }
  return *binary;
}

TEST(Cudart, LaunchesAndCopies) {
  void **handle = __cudaRegisterFatBinary(&registered("histogram.ptx").wrapper);
  __cudaRegisterFunction(handle, &kHistogram, nullptr, "histogram", -1, nullptr,
                         nullptr, nullptr, nullptr, nullptr);
  std::vector<uint32_t> words(100, 0x03020100), bins(256);
  void *in = nullptr, *out = nullptr;
  ASSERT_EQ(cudaMalloc(&in, 400), Success);
  ASSERT_EQ(cudaMalloc(&out, 1024), Success);
  EXPECT_EQ(cudaMemcpy(bins.data(), out, 1024, ByAddress), Success);
  EXPECT_EQ(bins[7], 0xffffffffu); // poison
  EXPECT_EQ(cudaMemcpy(in, words.data(), 400, HostToDevice), Success);
  EXPECT_EQ(cudaMemset(out, 0, 1024), Success);
  uint32_t count = 100;
  void *arguments[] = {&in, &count, &out};
  ASSERT_EQ(cudaLaunchKernel(&kHistogram, {2, 1, 1}, {256, 1, 1}, arguments, 0,
                             nullptr),
            Success);
  EXPECT_EQ(cudaMemcpy(bins.data(), out, 1024, DeviceToHost), Success);
  for (uint32_t k = 0; k < 256; ++k) {
    EXPECT_EQ(bins[k], k < 4 ? 100u : 0u);
  }
  EXPECT_EQ(cudaFree(in), Success);
  EXPECT_EQ(cudaFree(out), Success);
}

TEST(Cudart, ClusterAttribute) {
  void **handle =
      __cudaRegisterFatBinary(&registered("cluster_reduction.ptx").wrapper);
  __cudaRegisterFunction(handle, &kColumnSums, nullptr, "columnSums", -1,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
  std::vector<int32_t> values(16 * 256), sums(256);
  for (size_t k = 0; k < values.size(); ++k) {
    values[k] = int32_t(k);
  }
  void *in = nullptr, *out = nullptr;
  ASSERT_EQ(cudaMalloc(&in, values.size() * 4), Success);
  ASSERT_EQ(cudaMalloc(&out, 1024), Success);
  ASSERT_EQ(cudaMemcpy(in, values.data(), values.size() * 4, HostToDevice),
            Success);
  LaunchAttribute attribute{};
  attribute.id = kClusterDimension;
  attribute.cluster = {8, 1, 1};
  LaunchConfig config{{8, 1, 1}, {256, 1, 1}, 0, nullptr, &attribute, 1};
  int rows = 16;
  void *arguments[] = {&in, &out, &rows};
  ASSERT_EQ(cudaLaunchKernelExC(&config, &kColumnSums, arguments), Success);
  ASSERT_EQ(cudaMemcpy(sums.data(), out, 1024, DeviceToHost), Success);
  for (int32_t k = 0; k < 256; ++k) {
    EXPECT_EQ(sums[size_t(k)], 16 * k + 256 * 120);
  }
  // Refused: not the cluster that the kernel requires.
  attribute.cluster = {4, 1, 1};
  EXPECT_EQ(cudaLaunchKernelExC(&config, &kColumnSums, arguments),
            LaunchFailure);
  EXPECT_EQ(cudaGetLastError(), LaunchFailure);
  EXPECT_EQ(cudaGetLastError(), Success);
  EXPECT_EQ(cudaLaunchKernelExC(&config, &kMissing, arguments),
            InvalidDeviceFunction);
}

} // namespace
