// Registration of device code, and launches.
#include "tools/cudart/State.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace gmoe;
using namespace gmoe::cudart;

namespace gmoe::cudart {

State::State() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  EmulatorOptions options;
  options.scheduleSeed =
      std::strtoull(variable("GMOE_SCHEDULE_SEED").c_str(), nullptr, 0);
  if (!variable("GMOE_SM_COUNT").empty()) {
    options.smCount =
        uint32_t(std::strtoul(variable("GMOE_SM_COUNT").c_str(), nullptr, 0));
  }
  options.threads =
      unsigned(std::strtoul(variable("GMOE_THREADS").c_str(), nullptr, 0));
  if (!variable("GMOE_TARGET").empty()) {
    options.target = variable("GMOE_TARGET");
  }
  // Programs of others use what ptxas grants beyond the ISA: they run unless
  // checks are asked for.
  std::string hazards = variable("GMOE_HAZARDS");
  options.hazards = hazards == "full"   ? HazardLevel::Full
                    : hazards == "fast" ? HazardLevel::Fast
                                        : HazardLevel::Off;
  verbose = !variable("GMOE_VERBOSE").empty();
  recordFolder = variable("GMOE_RECORD");
  device = createEmulatorDevice(options);
}

State &state() {
  // Never destroyed: host code frees memory after main.
  static State *instance = new State();
  return *instance;
}

Error remember(Error error) {
  if (error != Success) {
    state().last = error;
  }
  return error;
}

Error report(const Status &status, Error error) {
  if (status.ok()) {
    return Success;
  }
  std::fprintf(stderr, "gmoe-cudart: %s\n",
               std::string(status.message()).c_str());
  return remember(error);
}

} // namespace gmoe::cudart

namespace {

void load(State &s, Binary &binary) {
  if (binary.loaded) {
    return;
  }
  binary.loaded = true;
  for (auto &image : binary.images) {
    auto loaded = s.device->loadImage(ImageFormat::Ptx, image->ptx);
    if (!loaded) {
      (void)report(loaded.status(), InvalidDeviceFunction);
      continue;
    }
    image->loaded = std::move(*loaded);
    for (EmulatorKernel &k : s.device->kernels(*image->loaded)) {
      binary.kernels[k.name] = {image.get(), k};
    }
  }
}

Error launch(const void *function, Dim grid, Dim block, Dim cluster,
             void **arguments, size_t sharedBytes) {
  State &s = state();
  Lock lock(s.mutex);
  auto f = s.functions.find(function);
  if (f == s.functions.end()) {
    return remember(InvalidDeviceFunction);
  }
  load(s, *f->second.binary);
  auto k = f->second.binary->kernels.find(f->second.name);
  if (k == f->second.binary->kernels.end()) {
    std::fprintf(stderr, "gmoe-cudart: no PTX of kernel %s\n",
                 f->second.name.c_str());
    return remember(InvalidDeviceFunction);
  }
  const EmulatorKernel &declared = k->second.declared;
  KernelLaunch l;
  l.kernel = f->second.name;
  l.grid = {grid.x, grid.y, grid.z};
  l.block = {block.x, block.y, block.z};
  l.cluster = {cluster.x, cluster.y, cluster.z};
  l.dynamicSharedBytes = uint32_t(sharedBytes);
  l.params.resize(declared.parameterBytes);
  for (size_t i = 0; i < declared.parameterOffsets.size(); ++i) {
    uint64_t begin = declared.parameterOffsets[i];
    uint64_t end = begin + declared.parameterSizes[i];
    std::memcpy(l.params.data() + begin, arguments[i], end - begin);
    l.paramOffsets.push_back(uint32_t(begin));
  }
  if (!s.recordFolder.empty()) {
    record(s, *k->second.image, l);
  }
  ++s.launches;
  EmulatorStats before = s.device->stats();
  auto start = std::chrono::steady_clock::now();
  Status status = s.device->launch(*k->second.image->loaded, l, nullptr);
  if (s.verbose) {
    const EmulatorStats &now = s.device->stats();
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    std::fprintf(
        stderr,
        "gmoe-cudart: %.80s, grid %u %u %u, block %u %u %u, cluster "
        "%u %u %u, %llu instructions, %llu mma, %llu tma bytes, "
        "%.2f s\n",
        l.kernel.c_str(), grid.x, grid.y, grid.z, block.x, block.y, block.z,
        cluster.x, cluster.y, cluster.z,
        (unsigned long long)(now.instructions - before.instructions),
        (unsigned long long)(now.mmaInstructions - before.mmaInstructions),
        (unsigned long long)(now.tmaBytes - before.tmaBytes), took.count());
  }
  return report(status, LaunchFailure);
}

} // namespace

extern "C" {

void **__cudaRegisterFatBinary(void *wrapper) {
  State &s = state();
  Lock lock(s.mutex);
  s.binaries.push_back(std::make_unique<Binary>());
  Binary *binary = s.binaries.back().get();
  const uint8_t *p = static_cast<FatBinaryWrapper *>(wrapper)->data;
  FatBinaryHeader header;
  std::memcpy(&header, p, sizeof header);
  const uint8_t *end = p + header.headerBytes + header.bytes;
  for (p += header.headerBytes; p < end;) {
    FatBinaryEntry entry;
    std::memcpy(&entry, p, sizeof entry);
    const char *text = reinterpret_cast<const char *>(p + entry.headerBytes);
    if (entry.kind == 1 && entry.compressedBytes) {
      std::fprintf(stderr, "gmoe-cudart: the PTX is compressed: compile with "
                           "nvcc --no-compress\n");
    } else if (entry.kind == 1) {
      binary->images.push_back(std::make_unique<Image>());
      binary->images.back()->ptx.assign(text, strnlen(text, entry.bytes));
    }
    p += entry.headerBytes + entry.bytes;
  }
  return reinterpret_cast<void **>(binary);
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 1; }
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int,
                       int) {}
void __cudaRegisterFunction(void **binary, const char *host, char *,
                            const char *name, int, void *, void *, void *,
                            void *, int *) {
  state().functions[host] = {reinterpret_cast<Binary *>(binary), name};
}
unsigned __cudaPushCallConfiguration(Dim grid, Dim block, size_t sharedBytes,
                                     void *stream) {
  state().configurations.push_back({grid, block, sharedBytes, stream});
  return 0;
}
Error __cudaPopCallConfiguration(Dim *grid, Dim *block, size_t *sharedBytes,
                                 void **stream) {
  State &s = state();
  if (s.configurations.empty()) {
    return InvalidValue;
  }
  CallConfiguration c = s.configurations.back();
  s.configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *sharedBytes = c.sharedBytes;
  *stream = c.stream;
  return Success;
}

Error __cudaGetKernel(const void **kernel, const void *host) {
  *kernel = host;
  return Success;
}
Error __cudaLaunchKernel(const void *kernel, Dim grid, Dim block,
                         void **arguments, size_t sharedBytes, void *) {
  return launch(kernel, grid, block, {1, 1, 1}, arguments, sharedBytes);
}
Error cudaLaunchKernel(const void *host, Dim grid, Dim block, void **arguments,
                       size_t sharedBytes, void *) {
  return launch(host, grid, block, {1, 1, 1}, arguments, sharedBytes);
}
Error cudaLaunchKernelExC(const LaunchConfig *config, const void *host,
                          void **arguments) {
  Dim cluster{1, 1, 1};
  for (unsigned k = 0; k < config->attributeCount; ++k) {
    if (config->attributes[k].id == kClusterDimension) {
      cluster = config->attributes[k].cluster;
    }
  }
  return launch(host, config->grid, config->block, cluster, arguments,
                config->dynamicSharedBytes);
}

} // extern "C"
