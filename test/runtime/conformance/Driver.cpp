// Runs every conformance case on the emulator and, with --device=cuda, on the
// GPU, and compares: docs/guides/conformance.md.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/emulator/EmulatorDevice.h"
#include "test/runtime/conformance/Run.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gmoe;
using namespace gmoe::conformance;

namespace {

struct Totals {
  size_t cases = 0, elements = 0, failed = 0;
  size_t emulatorWrong = 0, deviceWrong = 0, different = 0;
  void add(const Totals &t) {
    cases += t.cases;
    elements += t.elements;
    failed += t.failed;
    emulatorWrong += t.emulatorWrong;
    deviceWrong += t.deviceWrong;
    different += t.different;
  }
};

struct Options {
  bool cuda = false, verbose = false, dump = false;
  std::string families, name;
  bool wants(const FamilyEntry &f) const {
    return families.empty() ||
           families.find("," + std::string(f.name) + ",") != std::string::npos;
  }
  bool wants(const Case &c) const {
    return name.empty() || c.kernel == name || c.name == name;
  }
};

/// How far a family is, in memory that a process shares with its parent: after
/// an error of the GPU, which stays with the process, another one goes on.
struct Progress {
  Totals totals;
  size_t next = 0; // the case to run
  bool running = false, started = false, named = false, onDevice = false;
};
constexpr int kGoOn = 3, kNoDevice = 4;

void report(const Case &c, const char *what, const Difference &d) {
  std::printf("  %s: %zu %s: %s\n%s", c.kernel.c_str(), d.count, what,
              c.name.c_str(), d.first.c_str());
}

/// The module with this kernel and no other.
Family onlyKernel(const Family &f, const std::string &kernel) {
  const std::string mark = ".visible .entry ";
  Family one;
  one.name = f.name;
  one.needsBlackwell = f.needsBlackwell;
  one.ptx = f.ptx.substr(0, f.ptx.find(mark));
  size_t at = f.ptx.find(mark + kernel + "(");
  if (at != std::string::npos) {
    one.ptx += f.ptx.substr(at, f.ptx.find(mark, at + 1) - at);
  }
  return one;
}

using Image = std::unique_ptr<LoadedImage>;

/// The family's module, or none where the device refuses it: then every case
/// loads its own.
Image loadAll(Device &device, const Family &f) {
  Expected<Image> image = load(device, f);
  return image ? std::move(*image) : Image();
}

Expected<std::vector<uint8_t>> runOn(Device &device, Image &all,
                                     const Family &f, const Case &c) {
  if (all) {
    return run(device, *all, c);
  }
  Expected<Image> one = load(device, onlyKernel(f, c.kernel));
  return one ? run(device, **one, c)
             : Expected<std::vector<uint8_t>>(one.status());
}

/// Runs the cases from progress.next on. False: the GPU failed at a case, and
/// cannot be used by this process any more.
bool runFamily(const Family &f, Device &emulator, Device *cuda,
               const Options &options, Progress &progress) {
  bool single = !options.name.empty();
  Image image = single ? Image() : loadAll(emulator, f);
  Image deviceImage = cuda && !single ? loadAll(*cuda, f) : Image();
  Totals &t = progress.totals;
  for (; progress.next < f.cases.size(); ++progress.next) {
    const Case &c = f.cases[progress.next];
    if (!options.wants(c)) {
      continue;
    }
    ++t.cases;
    t.elements += c.expected.size() / c.stride;
    if (options.verbose) {
      std::printf("  %s %s\n", c.kernel.c_str(), c.name.c_str());
      std::fflush(stdout);
    }
    progress.running = true;
    auto got = runOn(emulator, image, f, c);
    if (!c.refusal.empty()) {
      if (got || got.status().message().find(c.refusal) == std::string::npos) {
        std::printf("  %s: the emulator must refuse this: %s\n",
                    c.kernel.c_str(), c.name.c_str());
        ++t.emulatorWrong;
      }
      if (cuda) {
        auto theirs = runOn(*cuda, deviceImage, f, c);
        if (theirs) {
          std::printf("  %s: the device runs this, the emulator does not: %s\n",
                      c.kernel.c_str(), c.name.c_str());
          ++t.deviceWrong;
        } else {
          progress.running = false;
          ++progress.next;
          return false;
        }
      }
      progress.running = false;
      continue;
    }
    if (!got) {
      std::printf("  %s: emulator fails: %s: %s\n", c.kernel.c_str(),
                  c.name.c_str(), got.status().message().c_str());
      ++t.failed;
    }
    Difference d;
    if (got) {
      d = compareExpected(c, *got);
      t.emulatorWrong += d.count;
      if (d.count) {
        report(c, "emulator results are not what the ISA says", d);
      }
    }
    if (cuda) {
      auto theirs = runOn(*cuda, deviceImage, f, c);
      if (!theirs) {
        std::printf("  %s: device fails: %s: %s\n", c.kernel.c_str(),
                    c.name.c_str(), theirs.status().message().c_str());
        t.failed += got ? 1 : 0;
        progress.running = false;
        ++progress.next;
        return false;
      }
      d = compareExpected(c, *theirs);
      t.deviceWrong += d.count;
      if (d.count) {
        report(c, "device results are not what the test expects", d);
      }
      if (got) {
        d = compareDevices(c, *got, *theirs);
        // Approximations may differ within the ISA's bound: counted, not shown.
        t.different += d.count;
        if (d.count && (options.verbose || c.exact.empty())) {
          report(c, "results differ between emulator and device", d);
        }
      }
    }
    progress.running = false;
  }
  return true;
}

std::unique_ptr<Device> openEmulator() {
  EmulatorOptions options;
  options.target = "sm_90a";
  return createEmulatorDevice(options);
}

/// What a child process does: the rest of a family, on its own context.
int runOnGpu(const Family &f, const Options &options, Progress &progress) {
  CudaOptions cudaOptions;
  cudaOptions.allowPtx = true;
  auto cuda = openCudaDevice(cudaOptions);
  if (!cuda) {
    std::printf("%s\n", cuda.status().message().c_str());
    return kNoDevice;
  }
  const DeviceInfo &info = (*cuda)->info();
  if (!progress.named) {
    std::printf("device: %s, %s\n", info.name.c_str(), info.target.c_str());
    progress.named = true;
  }
  bool can = !f.needsBlackwell || info.target.rfind("sm_9", 0) != 0;
  if (!can && !progress.started) {
    std::printf("%s: not on this GPU\n", f.name.c_str());
  }
  progress.started = true;
  progress.onDevice = can;
  auto emulator = openEmulator();
  return runFamily(f, *emulator, can ? cuda->get() : nullptr, options, progress)
             ? 0
             : kGoOn;
}

/// Runs a family in child processes: after an error a GPU's context, and with
/// it the process, can do nothing more. Each child gets at least one case done.
bool runInChildren(const Family &f, const Options &options,
                   Progress &progress) {
  for (;;) {
    std::fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
      std::perror("fork");
      return false;
    }
    if (child == 0) {
      int code = runOnGpu(f, options, progress);
      std::fflush(stdout);
      _exit(code); // a broken context is not worth tidying up
    }
    int status = 0;
    // A kernel that hangs: the case is given up, whatever it waits for.
    constexpr unsigned kTicks = 3600; // of 50 ms
    size_t at = progress.next;
    unsigned ticks = 0;
    bool hangs = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(50000);
      ticks =
          *static_cast<volatile size_t *>(&progress.next) == at ? ticks + 1 : 0;
      at = progress.next;
      if (ticks == kTicks) {
        hangs = true;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 0) {
      return true;
    }
    if (code == kNoDevice) {
      return false;
    }
    if (code != kGoOn) { // the child ended in the middle of a case
      if (!progress.running) {
        std::printf("  %s: a process ends outside its cases\n", f.name.c_str());
        progress.totals.failed += f.cases.size() - progress.next;
        return true;
      }
      const Case &c = f.cases[progress.next++];
      std::printf("  %s: %s: %s\n", c.kernel.c_str(),
                  hangs ? "does not end" : "its process dies", c.name.c_str());
      ++progress.totals.failed;
      progress.running = false;
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

bool parse(int argc, char **argv, Options &o) {
  for (int k = 1; k < argc; ++k) {
    std::string a = argv[k];
    if (a == "--device=cuda") {
      o.cuda = true;
    } else if (a == "--verbose") {
      o.verbose = true;
    } else if (a == "--ptx") {
      o.dump = true;
    } else if (a.rfind("--family=", 0) == 0) {
      o.families = "," + a.substr(9) + ",";
    } else if (a.rfind("--case=", 0) == 0) {
      o.name = a.substr(7);
    } else if (a != "--device=emulator") {
      std::fprintf(stderr,
                   "usage: conformance [--device=emulator|cuda] "
                   "[--family=NAME,...] [--case=NAME] [--verbose] [--ptx]\n");
      return false;
    }
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    return 2;
  }
  // What a child prints before it is killed is not lost.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  void *shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  Progress &progress = *new (shared) Progress();
  Totals sum;
  for (const FamilyEntry &entry : allFamilies()) {
    if (!options.wants(entry)) {
      continue;
    }
    Family f = entry.build();
    if (options.dump) {
      for (const Case &c : f.cases) {
        if (!options.name.empty() && options.wants(c)) {
          std::fputs(onlyKernel(f, c.kernel).ptx.c_str(), stdout);
        }
      }
      if (options.name.empty()) {
        std::fputs(f.ptx.c_str(), stdout);
      }
      continue;
    }
    if (std::none_of(f.cases.begin(), f.cases.end(),
                     [&](const Case &c) { return options.wants(c); })) {
      continue;
    }
    progress.totals = Totals();
    progress.next = 0;
    progress.running = progress.started = progress.onDevice = false;
    if (options.cuda) {
      if (!runInChildren(f, options, progress)) {
        return 1;
      }
    } else {
      auto emulator = openEmulator();
      (void)runFamily(f, *emulator, nullptr, options, progress);
    }
    print(entry.name, progress.totals, progress.onDevice);
    sum.add(progress.totals);
  }
  if (options.dump) {
    return 0;
  }
  print("total", sum, options.cuda);
  return sum.failed || sum.emulatorWrong || sum.deviceWrong ? 1 : 0;
}
