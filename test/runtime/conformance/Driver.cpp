// Runs every conformance case on the emulator and, with --device=cuda, on the
// GPU, and compares: docs/guides/conformance.md.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/emulator/EmulatorDevice.h"
#include "test/runtime/conformance/Run.h"

#include <cstdio>
#include <cstring>

using namespace gmoe;
using namespace gmoe::conformance;

namespace {

struct Totals {
  size_t cases = 0, elements = 0, failed = 0;
  size_t emulatorWrong = 0, deviceWrong = 0, different = 0;
};

void report(const Case &c, const char *what, const Difference &d) {
  std::printf("  %s: %zu %s: %s\n%s", c.kernel.c_str(), d.count, what,
              c.name.c_str(), d.first.c_str());
}

/// Names every kernel of a refused module that is refused on its own.
void loadOneByOne(const Family &f, Device &device) {
  const std::string mark = ".visible .entry ";
  size_t at = f.ptx.find(mark);
  Family one = f;
  std::string preamble = f.ptx.substr(0, at);
  while (at != std::string::npos) {
    size_t next = f.ptx.find(mark, at + 1);
    one.ptx = preamble + f.ptx.substr(at, next - at);
    auto image = load(device, one);
    if (!image) {
      std::printf("  cannot load: %s\n", image.status().message().c_str());
    }
    at = next;
  }
}

void runFamily(const Family &f, Device &emulator, Device *cuda, bool verbose,
               Totals &t) {
  auto image = load(emulator, f);
  if (!image) {
    loadOneByOne(f, emulator);
    t.failed += f.cases.size();
    return;
  }
  std::unique_ptr<LoadedImage> deviceImage;
  if (cuda) {
    auto loaded = load(*cuda, f);
    if (!loaded) {
      std::printf("  device cannot load: %s\n",
                  loaded.status().message().c_str());
      t.failed += f.cases.size();
      return;
    }
    deviceImage = std::move(*loaded);
  }
  for (const Case &c : f.cases) {
    ++t.cases;
    t.elements += c.expected.size() / c.stride;
    if (verbose) {
      std::printf("  %s %s\n", c.kernel.c_str(), c.name.c_str());
      std::fflush(stdout);
    }
    auto got = run(emulator, **image, c);
    if (!got) {
      std::printf("  %s: emulator fails: %s: %s\n", c.kernel.c_str(),
                  c.name.c_str(), got.status().message().c_str());
      ++t.failed;
      continue;
    }
    Difference d = compareExpected(c, *got);
    t.emulatorWrong += d.count;
    if (d.count) {
      report(c, "emulator results are not what the ISA says", d);
    }
    if (!cuda) {
      continue;
    }
    auto theirs = run(*cuda, *deviceImage, c);
    if (!theirs) {
      std::printf("  %s: device fails: %s: %s\n", c.kernel.c_str(),
                  c.name.c_str(), theirs.status().message().c_str());
      ++t.failed;
      continue;
    }
    d = compareExpected(c, *theirs);
    t.deviceWrong += d.count;
    if (d.count) {
      report(c, "device results are not what the test expects", d);
    }
    d = compareDevices(c, *got, *theirs);
    // Approximations may differ within the ISA's bound: counted, not shown.
    t.different += d.count;
    if (d.count && (verbose || c.exact.empty())) {
      report(c, "results differ between emulator and device", d);
    }
  }
}

void print(const char *name, const Totals &t, bool cuda) {
  std::printf("%-14s %4zu cases %8zu results, %zu failed, emulator wrong %zu",
              name, t.cases, t.elements, t.failed, t.emulatorWrong);
  if (cuda) {
    std::printf(", device wrong %zu, different %zu", t.deviceWrong,
                t.different);
  }
  std::printf("\n");
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  bool useCuda = false, verbose = false, dump = false;
  std::string only;
  for (int k = 1; k < argc; ++k) {
    std::string a = argv[k];
    if (a == "--device=cuda") {
      useCuda = true;
    } else if (a == "--verbose") {
      verbose = true;
    } else if (a == "--ptx") {
      dump = true;
    } else if (a.rfind("--family=", 0) == 0) {
      only = "," + a.substr(9) + ",";
    } else if (a != "--device=emulator") {
      std::fprintf(stderr, "usage: conformance [--device=emulator|cuda] "
                           "[--family=NAME,...] [--verbose] [--ptx]\n");
      return 2;
    }
  }
  EmulatorOptions options;
  options.target = "sm_90a";
  auto emulator = createEmulatorDevice(options);
  std::unique_ptr<Device> cuda;
  if (useCuda) {
    CudaOptions cudaOptions;
    cudaOptions.allowPtx = true;
    auto opened = openCudaDevice(cudaOptions);
    if (!opened) {
      std::fprintf(stderr, "%s\n", opened.status().message().c_str());
      return 1;
    }
    cuda = std::move(*opened);
    std::printf("device: %s, %s\n", cuda->info().name.c_str(),
                cuda->info().target.c_str());
  }
  Totals sum;
  for (const FamilyEntry &entry : allFamilies()) {
    if (!only.empty() &&
        only.find("," + std::string(entry.name) + ",") == std::string::npos) {
      continue;
    }
    Family f = entry.build();
    if (dump) {
      std::fputs(f.ptx.c_str(), stdout);
      continue;
    }
    Totals t;
    Device *other = cuda.get();
    if (other && f.needsBlackwell &&
        other->info().target.rfind("sm_9", 0) == 0) {
      std::printf("%s: not on this GPU\n", entry.name);
      other = nullptr;
    }
    runFamily(f, *emulator, other, verbose, t);
    print(entry.name, t, other != nullptr);
    sum.cases += t.cases;
    sum.elements += t.elements;
    sum.failed += t.failed;
    sum.emulatorWrong += t.emulatorWrong;
    sum.deviceWrong += t.deviceWrong;
    sum.different += t.different;
  }
  if (dump) {
    return 0;
  }
  print("total", sum, useCuda);
  return sum.failed || sum.emulatorWrong || sum.deviceWrong ? 1 : 0;
}
