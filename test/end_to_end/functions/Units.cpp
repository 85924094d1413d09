// units FILE.ptx [--device=cuda] [--all]: how far each kernel of functions.mlir
// is from the function of its name, in units in the last place of f32.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/emulator/EmulatorDevice.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr double kLimit = 4.0; // units, docs/spec/grouped_moe.md
constexpr uint32_t kThreads = 128;

struct Function {
  const char *name;
  double (*exact)(double);
};
const Function functions[] = {
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}};

float ofBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

/// The distance in units of the exact result; NaN and infinity must be met.
double unitsOff(float actual, double exact) {
  auto nearest = static_cast<float>(exact);
  if (std::isnan(exact) || std::isnan(actual)) {
    return std::isnan(exact) && std::isnan(actual) ? 0 : INFINITY;
  }
  if (std::isinf(nearest) || std::isinf(actual)) {
    // One of two neighbours: the largest number and infinity.
    bool near = actual == nearest ||
                (std::isinf(actual) ? std::fabs(exact) > 3.4028233e38
                                    : std::fabs(actual) > 3.402822e38f);
    return near && std::signbit(actual) == std::signbit(nearest) ? 0 : INFINITY;
  }
  int exponent = std::max(std::ilogb(exact == 0 ? 1e-300 : exact), -126);
  return std::fabs(actual - exact) / std::ldexp(1.0, exponent - 23);
}

struct Worst {
  double units = 0;
  float at = 0;
};

class Run {
public:
  Run(gmoe::Device &device, gmoe::LoadedImage &image, uint32_t count)
      : device(device), image(image), count(count), results(count) {}

  gmoe::Status prepare() {
    auto made = device.allocate(uint64_t(count) * 4);
    if (!made) {
      return made.status();
    }
    address = *made;
    return {};
  }
  gmoe::Status run(const Function &function, uint32_t base, uint32_t step,
                   Worst &worst) {
    gmoe::KernelLaunch launch;
    launch.kernel = function.name;
    launch.grid = {count / kThreads, 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.cluster = {1, 1, 1};
    launch.params.resize(16);
    std::memcpy(&launch.params[0], &address, 8);
    std::memcpy(&launch.params[8], &base, 4);
    std::memcpy(&launch.params[12], &step, 4);
    launch.paramOffsets = {0, 8, 12};
    if (auto s = device.launch(image, launch, nullptr); !s) {
      return s;
    }
    if (auto s = device.copyToHost(results.data(), address, uint64_t(count) * 4,
                                   nullptr);
        !s) {
      return s;
    }
    if (auto s = device.synchronize(nullptr); !s) {
      return s;
    }
    compare(function, base, step, worst);
    return {};
  }

private:
  void compare(const Function &function, uint32_t base, uint32_t step,
               Worst &worst) {
    unsigned workers = std::max(1u, std::thread::hardware_concurrency());
    std::vector<Worst> found(workers);
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < workers; ++w) {
      threads.emplace_back([&, w] {
        for (uint32_t i = w; i < count; i += workers) {
          float x = ofBits(base + i * step);
          double off = unitsOff(results[i], function.exact(x));
          if (off > found[w].units) {
            found[w] = {off, x};
          }
        }
      });
    }
    for (unsigned w = 0; w < workers; ++w) {
      threads[w].join();
      worst = found[w].units > worst.units ? found[w] : worst;
    }
  }

  gmoe::Device &device;
  gmoe::LoadedImage &image;
  uint32_t count;
  std::vector<float> results;
  uint64_t address = 0;
};

int fail(const gmoe::Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  bool cuda = false, all = false;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    cuda |= word == "--device=cuda";
    all |= word == "--all";
    path = word[0] == '-' ? path : word;
  }
  std::ifstream file(path);
  std::string ptx((std::istreambuf_iterator<char>(file)), {});
  if (ptx.empty()) {
    std::fprintf(stderr, "usage: units FILE.ptx [--device=cuda] [--all]\n");
    return 2;
  }
  std::unique_ptr<gmoe::Device> device = gmoe::createEmulatorDevice();
  if (cuda) {
    gmoe::CudaOptions options;
    options.allowPtx = true;
    auto opened = gmoe::openCudaDevice(options);
    if (!opened) {
      return fail(opened.status());
    }
    device = std::move(*opened);
    // Plain arithmetic: another chip runs it as well.
    size_t at = ptx.find("sm_100a");
    ptx.replace(at, 7, device->info().target);
  }
  std::printf("%s\n", device->info().name.c_str());
  auto image = device->loadImage(gmoe::ImageFormat::Ptx, ptx);
  if (!image) {
    return fail(image.status());
  }
  uint32_t count = all ? 1u << 26 : 1u << 16;
  Run run(*device, **image, count);
  if (auto s = run.prepare(); !s) {
    return fail(s);
  }
  int failed = 0;
  for (const Function &function : functions) {
    Worst worst;
    for (uint64_t chunk = 0; chunk < (all ? 64u : 1u); ++chunk) {
      uint32_t base = uint32_t(chunk << 26), step = all ? 1 : 65537;
      if (auto s = run.run(function, base, step, worst); !s) {
        return fail(s);
      }
    }
    failed += !(worst.units <= kLimit);
    std::printf("%s: %.3f units, at %.9g\n", function.name, worst.units,
                worst.at);
  }
  std::printf("%d functions failed\n", failed);
  return failed != 0;
}
