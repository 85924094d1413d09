#include "runtime/emulator/EmulatorDevice.h"
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Parser.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <sstream>
#include <thread>

namespace gmoe {
namespace emulator {
namespace {

struct Image : LoadedImage {
  std::string source;
  AstModule module;
  ModuleSymbols symbols;
  std::vector<std::unique_ptr<Program>> programs;
  Memory *memory = nullptr;
  std::vector<uint64_t> variables;

  ~Image() override {
    for (uint64_t address : variables) {
      (void)memory->release(address);
    }
  }
};

/// The comment `// moe_kernel.roles KERNEL: load 4 1, mma 5 1` of our compiler.
std::vector<WarpRole> rolesOf(const std::string &ptx,
                              const std::string &kernel) {
  std::vector<WarpRole> roles;
  size_t at = ptx.find("// moe_kernel.roles " + kernel + ": ");
  if (at == std::string::npos) {
    return roles;
  }
  at = ptx.find(": ", at) + 2;
  std::istringstream line(ptx.substr(at, ptx.find('\n', at) - at));
  for (std::string item; std::getline(line, item, ',');) {
    std::istringstream words(item);
    WarpRole role;
    if (words >> role.name >> role.firstWarp >> role.warps) {
      roles.push_back(std::move(role));
    }
  }
  return roles;
}

Status loadVariables(Image &image, Memory &memory) {
  for (const AstVariable &v : image.module.variables) {
    if (v.space != StateSpace::Global && v.space != StateSpace::Const) {
      continue;
    }
    Expected<uint64_t> address =
        memory.allocate(std::max<uint64_t>(v.bytes, 16));
    if (!address) {
      return address.status();
    }
    image.variables.push_back(*address);
    if (!image.symbols.globals.emplace(v.name, *address).second) {
      return invalidArgument("line " + std::to_string(v.line) + ": '" + v.name +
                             "' is defined twice");
    }
    const Allocation *a = memory.find(*address, v.bytes);
    if (a) {
      a->markWritten(0, v.bytes); // zero without an initializer
    }
    if (!v.data.empty()) {
      std::memcpy(memory.resolve(*address, v.data.size()), v.data.data(),
                  v.data.size());
    }
  }
  for (size_t k = 0; k < image.module.functions.size(); ++k) {
    const AstFunction &f = image.module.functions[k];
    uint64_t address = kCodeWindow + k * kFunctionBytes;
    if (!f.isEntry && f.hasBody &&
        !image.symbols.globals.emplace(f.name, address).second) {
      return invalidArgument("line " + std::to_string(f.line) + ": '" + f.name +
                             "' is defined twice");
    }
  }
  for (const AstVariable &v : image.module.variables) {
    for (const auto &[offset, name] : v.relocations) {
      auto it = image.symbols.globals.find(name);
      if (it == image.symbols.globals.end()) {
        return invalidArgument("line " + std::to_string(v.line) +
                               ": the address of '" + name + "' is not known");
      }
      // Shared variables have no place of their own to hold an address.
      uint8_t *p = memory.resolve(image.symbols.globals[v.name] + offset, 8);
      if (!p) {
        return invalidArgument("line " + std::to_string(v.line) + ": '" +
                               v.name + "' cannot hold an address");
      }
      uint64_t value;
      std::memcpy(&value, p, 8);
      value += it->second;
      std::memcpy(p, &value, 8);
    }
  }
  return Status();
}

class Emulator final : public EmulatorDevice {
public:
  explicit Emulator(const EmulatorOptions &options)
      : options_(options), memory_(options.memoryBytes) {
    info_.name = "emulator";
    info_.target = options.target;
    info_.smCount = std::max(1u, options.smCount);
    info_.maxSharedBytes = kMaximumSharedBytes;
    if (options.hazards == HazardLevel::Full) {
      memory_.trackWrites();
    }
  }

  const DeviceInfo &info() const override { return info_; }
  std::vector<ImageFormat> imageFormats() const override {
    return {ImageFormat::Ptx};
  }
  Expected<uint64_t> allocate(uint64_t bytes) override {
    return memory_.allocate(bytes);
  }
  Status allocateAt(uint64_t address, uint64_t bytes) override {
    return memory_.allocateAt(address, bytes);
  }
  Status release(uint64_t address) override { return memory_.release(address); }
  Status copyToDevice(uint64_t address, const void *source, uint64_t bytes,
                      StreamHandle) override {
    uint8_t *p = nullptr;
    Status status = host(address, bytes, p);
    if (status && bytes) {
      std::memcpy(p, source, bytes);
      markWritten(address, bytes);
    }
    return status;
  }
  Status copyToHost(void *target, uint64_t address, uint64_t bytes,
                    StreamHandle) override {
    uint8_t *p = nullptr;
    Status status = host(address, bytes, p);
    if (status && bytes) {
      std::memcpy(target, p, bytes);
    }
    return status;
  }
  Status fill(uint64_t address, uint8_t value, uint64_t bytes,
              StreamHandle) override {
    uint8_t *p = nullptr;
    Status status = host(address, bytes, p);
    if (status && bytes) {
      std::memset(p, value, bytes);
      markWritten(address, bytes);
    }
    return status;
  }
  Status poison(uint64_t address, uint64_t bytes) override {
    uint8_t *p = nullptr;
    Status status = host(address, bytes, p);
    if (status && bytes) {
      std::memset(p, 0xff, bytes);
      const Allocation *a = memory_.find(address, bytes);
      a->forgetWrites(address - a->base, bytes);
    }
    return status;
  }
  Status synchronize(StreamHandle) override { return Status(); }
  Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) override {
    return emulator::encodeTensorMap(desc);
  }

  Expected<std::unique_ptr<LoadedImage>>
  loadImage(ImageFormat format, std::string_view text) override {
    if (format != ImageFormat::Ptx) {
      return invalidArgument("the emulator loads PTX only");
    }
    auto image = std::make_unique<Image>();
    image->memory = &memory_;
    image->source =
        options_.rewrite ? options_.rewrite(text) : std::string(text);
    Expected<AstModule> module = parseModule(image->source);
    if (!module) {
      return module.status();
    }
    image->module = std::move(*module);
    image->symbols.module = &image->module;
    Status status = loadVariables(*image, memory_);
    if (!status) {
      return status;
    }
    for (const AstFunction &f : image->module.functions) {
      if (!f.isEntry || !f.hasBody) {
        continue;
      }
      auto program = std::make_unique<Program>();
      status = Decoder(image->symbols, *program).run(f);
      if (!status) {
        return status;
      }
      program->roles = rolesOf(image->source, f.name);
      image->programs.push_back(std::move(program));
    }
    return std::unique_ptr<LoadedImage>(std::move(image));
  }

  std::vector<EmulatorKernel> kernels(const LoadedImage &image) const override {
    std::vector<EmulatorKernel> result;
    for (const auto &p : static_cast<const Image &>(image).programs) {
      EmulatorKernel k;
      k.name = p->name;
      k.parameterBytes = p->parameterBytes;
      for (const KernelParameter &parameter : p->parameters) {
        k.parameterOffsets.push_back(parameter.offset);
        k.parameterSizes.push_back(parameter.bytes);
      }
      result.push_back(std::move(k));
    }
    return result;
  }

  Status launch(LoadedImage &loaded, const KernelLaunch &l,
                StreamHandle) override {
    const Image &image = static_cast<const Image &>(loaded);
    const Program *program = nullptr;
    for (const auto &p : image.programs) {
      if (p->name == l.kernel) {
        program = p.get();
      }
    }
    if (!program) {
      return Status(StatusCode::NotFound,
                    "the image has no kernel '" + l.kernel + "'");
    }
    LaunchContext x;
    Status status = check(*program, l, x);
    return status ? run(x) : status;
  }

  const EmulatorStats &stats() const override { return stats_; }
  void setScheduleSeed(uint64_t seed) override { options_.scheduleSeed = seed; }
  const std::vector<Finding> &findings() const override { return findings_; }

private:
  void markWritten(uint64_t address, uint64_t bytes) {
    const Allocation *a = memory_.find(address, bytes);
    a->markWritten(address - a->base, bytes);
    a->cleanLines(address - a->base, bytes);
  }
  Status host(uint64_t address, uint64_t bytes, uint8_t *&out) {
    out = bytes ? memory_.resolve(address, bytes) : nullptr;
    if (bytes && !out) {
      return invalidArgument("copy of " + std::to_string(bytes) + " bytes at " +
                             hexadecimal(address) + " is out of bounds: " +
                             memory_.describeNearest(address));
    }
    return Status();
  }

  Status check(const Program &p, const KernelLaunch &l, LaunchContext &x) {
    auto refuse = [&](const std::string &what) {
      return invalidArgument("launch of '" + l.kernel + "': " + what);
    };
    auto text = [](const Dim3 &d) {
      return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " +
             std::to_string(d.z);
    };
    x.grid = l.grid;
    x.block = l.block;
    x.cluster = l.cluster;
    if (p.cluster[0]) {
      Dim3 required{p.cluster[0], p.cluster[1], p.cluster[2]};
      bool unset = l.cluster.x * l.cluster.y * l.cluster.z == 1;
      if (!unset && (required.x != l.cluster.x || required.y != l.cluster.y ||
                     required.z != l.cluster.z)) {
        return refuse("cluster is " + text(l.cluster) +
                      ", the kernel requires " + text(required));
      }
      x.cluster = required;
    }
    for (const Dim3 &d : {x.grid, x.block, x.cluster}) {
      if (!d.x || !d.y || !d.z) {
        return refuse("grid " + text(x.grid) + ", block " + text(x.block) +
                      " and cluster " + text(x.cluster) +
                      " must have no zero dimension");
      }
    }
    if (x.grid.x > 0x7fffffff || x.grid.y > 65535 || x.grid.z > 65535) {
      return refuse("grid is " + text(x.grid) +
                    ", limit 2147483647 x 65535 x 65535");
    }
    if (x.block.x > 1024 || x.block.y > 1024 || x.block.z > 64 ||
        x.block.x * x.block.y * x.block.z > kMaximumThreads) {
      return refuse("block is " + text(x.block) + ", limit 1024 threads");
    }
    if (p.requiredThreads[0] && (p.requiredThreads[0] != x.block.x ||
                                 p.requiredThreads[1] != x.block.y ||
                                 p.requiredThreads[2] != x.block.z)) {
      return refuse("block is " + text(x.block) + ", the kernel requires " +
                    text({p.requiredThreads[0], p.requiredThreads[1],
                          p.requiredThreads[2]}));
    }
    uint64_t most = uint64_t(p.maximumThreads[0]) * p.maximumThreads[1] *
                    p.maximumThreads[2];
    if (most && uint64_t(x.block.x) * x.block.y * x.block.z > most) {
      return refuse("block is " + text(x.block) + ", the kernel allows " +
                    std::to_string(most) + " threads");
    }
    uint64_t size = uint64_t(x.cluster.x) * x.cluster.y * x.cluster.z;
    if (size > kMaximumClusterSize) {
      return refuse("cluster is " + text(x.cluster) + ", limit " +
                    std::to_string(kMaximumClusterSize) + " CTAs");
    }
    if (p.maximumClusterRank && size > p.maximumClusterRank) {
      return refuse("cluster is " + text(x.cluster) + ", the kernel allows " +
                    std::to_string(p.maximumClusterRank) + " CTAs");
    }
    if (x.grid.x % x.cluster.x || x.grid.y % x.cluster.y ||
        x.grid.z % x.cluster.z) {
      return refuse("grid " + text(x.grid) +
                    " is not a multiple of the cluster " + text(x.cluster));
    }
    uint64_t shared = uint64_t(p.dynamicSharedOffset) + l.dynamicSharedBytes;
    if (l.dynamicSharedBytes == 0) {
      shared = uint64_t(p.staticSharedBytes) + kReservedSharedBytes;
    }
    if (shared - kReservedSharedBytes > kMaximumSharedBytes) {
      return refuse("shared memory is " +
                    std::to_string(shared - kReservedSharedBytes) + " bytes (" +
                    std::to_string(p.staticSharedBytes) + " static, " +
                    std::to_string(l.dynamicSharedBytes) + " dynamic), limit " +
                    std::to_string(kMaximumSharedBytes));
    }
    if (l.params.size() != p.parameterBytes) {
      return refuse("parameters have " + std::to_string(l.params.size()) +
                    " bytes, the kernel takes " +
                    std::to_string(p.parameterBytes));
    }
    x.memory = &memory_;
    x.program = &p;
    x.launch = &l;
    x.params = l.params;
    x.clusters = {x.grid.x / x.cluster.x, x.grid.y / x.cluster.y,
                  x.grid.z / x.cluster.z};
    x.clusterSize = uint32_t(size);
    x.smCount = info_.smCount;
    x.sharedBytes = uint32_t(shared);
    x.seed = options_.scheduleSeed;
    x.instructionLimit = options_.instructionLimit;
    return Status();
  }

  Status run(LaunchContext &x) {
    LaunchHazards hazards(options_.hazards,
                          std::max(1u, options_.maximumFindings));
    bool watched = options_.hazards != HazardLevel::Off;
    x.hazards = watched ? &hazards : nullptr;
    memory_.watch(watched);
    uint64_t total = uint64_t(x.clusters.x) * x.clusters.y * x.clusters.z;
    unsigned threads = options_.threads ? options_.threads
                                        : std::thread::hardware_concurrency();
    threads = unsigned(
        std::min<uint64_t>(std::max(1u, std::min(threads, 64u)), total));
    std::atomic<uint64_t> next{0}, firstFailure{~uint64_t(0)};
    x.nextCluster = &next;
    std::mutex mutex;
    Status failure;
    Counters sum;
    auto work = [&] {
      Cluster cluster;
      Hazards checker(hazards);
      cluster.hazards = watched ? &checker : nullptr;
      for (;;) {
        uint64_t id = next++;
        // Earlier clusters still run, so that the first failure is the same one
        // whatever the number of threads.
        if (id >= total || id > firstFailure.load() || hazards.enough()) {
          break;
        }
        initializeCluster(cluster, x, id);
        runCluster(cluster);
        if (cluster.failed()) {
          std::lock_guard<std::mutex> lock(mutex);
          if (id < firstFailure.load()) {
            firstFailure = id;
            failure = cluster.status;
          }
        }
      }
      std::lock_guard<std::mutex> lock(mutex);
      sum.instructions += cluster.counters.instructions;
      sum.threadInstructions += cluster.counters.threadInstructions;
      sum.mmaInstructions += cluster.counters.mmaInstructions;
      sum.macs += cluster.counters.macs;
      sum.cpInstructions += cluster.counters.cpInstructions;
      sum.tmaBytes += cluster.counters.tmaBytes;
    };
    std::vector<std::thread> pool;
    for (unsigned k = 1; k < threads; ++k) {
      pool.emplace_back(work);
    }
    work();
    for (std::thread &t : pool) {
      t.join();
    }
    ++stats_.launches;
    stats_.instructions += sum.instructions;
    stats_.threadInstructions += sum.threadInstructions;
    stats_.mmaInstructions += sum.mmaInstructions;
    stats_.macs += sum.macs;
    stats_.cpInstructions += sum.cpInstructions;
    stats_.tmaBytes += sum.tmaBytes;
    memory_.keepLines(
        [&](const GlobalWrite &write) { return hazards.isReleased(write); });
    memory_.watch(false);
    findings_ = hazards.take();
    return findings_.empty() ? failure : summary(failure);
  }

  Status summary(const Status &failure) const {
    std::string text;
    for (const Finding &f : findings_) {
      text += (text.empty() ? "[" : "\n[") + std::string(findingId(f.kind)) +
              "] " + f.text;
    }
    if (!failure.ok() && failure.code() != StatusCode::Hazard) {
      text += "\n" + failure.message();
    }
    return Status(StatusCode::Hazard, text);
  }

  EmulatorOptions options_;
  DeviceInfo info_;
  Memory memory_;
  EmulatorStats stats_;
  std::vector<Finding> findings_;
};

} // namespace
} // namespace emulator

std::unique_ptr<EmulatorDevice>
createEmulatorDevice(const EmulatorOptions &options) {
  return std::make_unique<emulator::Emulator>(options);
}

} // namespace gmoe
