// Shared by the emulator's tests: run a PTX snippet and read its output back.
#ifndef GMOE_TEST_RUNTIME_EMULATOR_TESTSUPPORT_H
#define GMOE_TEST_RUNTIME_EMULATOR_TESTSUPPORT_H

#include "runtime/emulator/EmulatorDevice.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace gmoe::test {

inline std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class T>
void append(std::vector<uint8_t> &params, const T &value,
            size_t align = sizeof(T)) {
  while (params.size() % align) {
    params.push_back(0);
  }
  const uint8_t *p = reinterpret_cast<const uint8_t *>(&value);
  params.insert(params.end(), p, p + sizeof(T));
}

/// A device with a one-line launch.
struct Machine {
  std::unique_ptr<EmulatorDevice> device;
  std::unique_ptr<LoadedImage> image;

  explicit Machine(uint64_t seed = 0) {
    EmulatorOptions options;
    options.scheduleSeed = seed;
    device = createEmulatorDevice(options);
  }
  Status load(const std::string &ptx) {
    auto loaded = device->loadImage(ImageFormat::Ptx, ptx);
    if (!loaded) {
      return loaded.status();
    }
    image = std::move(*loaded);
    return Status();
  }
  template <class T> uint64_t upload(const std::vector<T> &values) {
    uint64_t bytes = values.size() * sizeof(T);
    auto address = device->allocate(bytes);
    EXPECT_TRUE(address.ok());
    EXPECT_TRUE(
        device->copyToDevice(*address, values.data(), bytes, nullptr).ok());
    return *address;
  }
  template <class T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    Status status =
        device->copyToHost(values.data(), address, count * sizeof(T), nullptr);
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
  Status run(const std::string &kernel, std::vector<uint8_t> params,
             Dim3 block = {32, 1, 1}, Dim3 grid = {1, 1, 1},
             uint32_t sharedBytes = 0, Dim3 cluster = {1, 1, 1}) {
    KernelLaunch launch;
    launch.kernel = kernel;
    launch.grid = grid;
    launch.block = block;
    launch.cluster = cluster;
    launch.dynamicSharedBytes = sharedBytes;
    launch.params = std::move(params);
    return device->launch(*image, launch, nullptr);
  }
};

inline const char *prologue() {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n";
}

/// A kernel `k(out)` whose threads each run `body` and store the 64-bit %out at
/// out + 8 * tid. %p0-7, %h0-31 (b16), %r0-63, %d0-63, %t (tid), %o (out).
inline std::string kernelText(const std::string &body,
                              const std::string &before = "") {
  return std::string(prologue()) + before +
         ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<8>; .reg .b16 %h<32>; .reg .b32 %r<64>;\n"
         ".reg .b64 %d<64>; .reg .b64 %out; .reg .b32 %t; .reg .b64 %o;\n"
         "mov.u32 %t, %tid.x; ld.param.b64 %o, [out]; mov.b64 %out, 0;\n" +
         body +
         "\nmad.wide.u32 %o, %t, 8, %o;\nst.global.b64 [%o], %out;\nret;\n}\n";
}

/// Runs `body` in `threads` threads and returns %out of each.
inline std::vector<uint64_t> runBody(const std::string &body,
                                     uint32_t threads = 32,
                                     const std::string &before = "",
                                     uint64_t seed = 0,
                                     uint32_t sharedBytes = 0) {
  Machine m(seed);
  Status status = m.load(kernelText(body, before));
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status) {
    return std::vector<uint64_t>(threads, 0xdead);
  }
  uint64_t out = m.upload(std::vector<uint64_t>(threads, 0));
  std::vector<uint8_t> params;
  append(params, out);
  status = m.run("k", params, {threads, 1, 1}, {1, 1, 1}, sharedBytes);
  EXPECT_TRUE(status.ok()) << status.message();
  return m.download<uint64_t>(out, threads);
}

/// The message of a load or launch that must fail.
inline std::string failureOf(const std::string &body, uint32_t threads = 32,
                             const std::string &before = "",
                             uint32_t sharedBytes = 0) {
  Machine m;
  Status status = m.load(kernelText(body, before));
  if (!status) {
    return status.message();
  }
  uint64_t out = m.upload(std::vector<uint64_t>(threads, 0));
  std::vector<uint8_t> params;
  append(params, out);
  status = m.run("k", params, {threads, 1, 1}, {1, 1, 1}, sharedBytes);
  EXPECT_FALSE(status.ok());
  return status.message();
}

} // namespace gmoe::test

#endif // GMOE_TEST_RUNTIME_EMULATOR_TESTSUPPORT_H
