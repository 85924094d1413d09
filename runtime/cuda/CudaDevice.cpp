#include "runtime/cuda/CudaDevice.h"

#include "runtime/core/Text.h"
#include "runtime/cuda/Driver.h"

#include <map>
#include <mutex>
#include <utility>

using namespace gmoe;
using namespace gmoe::cuda;

namespace {

/// Makes a context current for a scope.
class ContextScope {
public:
  ContextScope(const Driver &driver, Context context) : driver(driver) {
    (void)driver.currentGet(&previous);
    changed = previous != context;
    if (changed) {
      (void)driver.currentSet(context);
    }
  }
  ~ContextScope() {
    if (changed) {
      (void)driver.currentSet(previous);
    }
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  const Driver &driver;
  Context previous = nullptr;
  bool changed = false;
};

/// The primary context of a device, retained.
struct Primary {
  explicit Primary(Driver driver) : driver(driver) {}
  ~Primary() {
    if (context) {
      (void)driver.primaryRelease(device);
    }
  }
  Primary(const Primary &) = delete;
  Primary &operator=(const Primary &) = delete;

  Driver driver;
  DeviceId device = 0;
  Context context = nullptr;
};

class CudaImage : public LoadedImage {
public:
  CudaImage(std::shared_ptr<Primary> primary, ModuleHandle module)
      : primary(std::move(primary)), module(module) {}
  ~CudaImage() override {
    ContextScope scope(primary->driver, primary->context);
    (void)primary->driver.moduleUnload(module);
  }

  struct Kernel {
    Function function = nullptr;
    std::vector<size_t> paramBytes; // of each parameter
    uint32_t sharedBytes = 0;
    bool largeClusters = false;
  };

  /// The kernel, allowed what the launch asks for. Its function and parameters
  /// do not change any more.
  Expected<const Kernel *> prepare(const KernelLaunch &launch);

private:
  Status find(const std::string &name, Kernel &kernel);

  std::shared_ptr<Primary> primary;
  ModuleHandle module;
  std::mutex mutex; // guards kernels
  std::map<std::string, Kernel> kernels;
};

Status CudaImage::find(const std::string &name, Kernel &kernel) {
  const Driver &driver = primary->driver;
  Function function = nullptr;
  Result result = driver.moduleFunction(&function, module, name.c_str());
  if (result == kNotFound) {
    return notFound("the image has no kernel of that name: recompile it");
  }
  if (Status s = driver.check(result, "cannot find the kernel"); !s) {
    return s;
  }
  size_t offset = 0, bytes = 0;
  // The first index behind the last parameter is an error.
  while (driver.paramInfo(function, kernel.paramBytes.size(), &offset,
                          &bytes) == kSuccess) {
    kernel.paramBytes.push_back(bytes);
  }
  kernel.function = function;
  return {};
}

Expected<const CudaImage::Kernel *>
CudaImage::prepare(const KernelLaunch &launch) {
  const Driver &driver = primary->driver;
  std::lock_guard<std::mutex> lock(mutex);
  Kernel &kernel = kernels[launch.kernel];
  if (!kernel.function) {
    kernel.paramBytes.clear();
    if (Status s = find(launch.kernel, kernel); !s) {
      return s;
    }
  }
  if (launch.dynamicSharedBytes > kernel.sharedBytes) {
    if (Status s = driver.check(
            driver.functionSet(kernel.function, kMaxDynamicSharedBytes,
                               static_cast<int>(launch.dynamicSharedBytes)),
            cat("cannot get ", launch.dynamicSharedBytes,
                " bytes of dynamic shared memory"));
        !s) {
      return s;
    }
    kernel.sharedBytes = launch.dynamicSharedBytes;
  }
  uint64_t cluster =
      uint64_t{launch.cluster.x} * launch.cluster.y * launch.cluster.z;
  if (cluster > 8 && !kernel.largeClusters) {
    if (Status s = driver.check(
            driver.functionSet(kernel.function, kNonPortableClusterAllowed, 1),
            cat("cannot use clusters of ", cluster, " CTAs"));
        !s) {
      return s;
    }
    kernel.largeClusters = true;
  }
  return &kernel;
}

/// A pointer to each parameter, once they are known to fit the kernel: the
/// driver reads as many bytes as the kernel declares.
Expected<std::vector<void *>> pointersOf(const KernelLaunch &launch,
                                         const CudaImage::Kernel &kernel) {
  size_t count = kernel.paramBytes.size();
  if (launch.paramOffsets.size() != count) {
    return invalidBundle(
        cat("the kernel has ", count, " parameters, but the launch gives ",
            launch.paramOffsets.size(), ": recompile the bundle"));
  }
  std::vector<void *> pointers(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t start = launch.paramOffsets[i];
    uint64_t end =
        i + 1 < count ? launch.paramOffsets[i + 1] : launch.params.size();
    if (start > end || end > launch.params.size() ||
        end - start < kernel.paramBytes[i]) {
      return invalidBundle(
          cat("parameter ", i, " of the kernel has ", kernel.paramBytes[i],
              " bytes, but the launch "
              "gives ",
              end > start ? end - start : 0, ": recompile the bundle"));
    }
    pointers[i] = const_cast<uint8_t *>(launch.params.data() + start);
  }
  return pointers;
}

class CudaDevice : public Device {
public:
  CudaDevice(std::shared_ptr<Primary> primary, DeviceInfo info, bool allowPtx)
      : primary(std::move(primary)), driver(this->primary->driver),
        deviceInfo(std::move(info)), allowPtx(allowPtx) {}

  const DeviceInfo &info() const override { return deviceInfo; }
  std::vector<ImageFormat> imageFormats() const override {
    return allowPtx
               ? std::vector<ImageFormat>{ImageFormat::Cubin, ImageFormat::Ptx}
               : std::vector<ImageFormat>{ImageFormat::Cubin};
  }

  Expected<uint64_t> allocate(uint64_t bytes) override;
  Status release(uint64_t address) override {
    ContextScope scope(driver, primary->context);
    return driver.check(driver.memFree(address),
                        cat("cannot release address ", Hex{address}));
  }
  Status copyToDevice(uint64_t address, const void *source, uint64_t bytes,
                      StreamHandle stream) override {
    ContextScope scope(driver, primary->context);
    return driver.check(
        bytes ? driver.copyToDevice(address, source, bytes, stream) : kSuccess,
        cat("cannot copy ", bytes, " bytes to address ", Hex{address}));
  }
  Status copyToHost(void *target, uint64_t address, uint64_t bytes,
                    StreamHandle stream) override {
    ContextScope scope(driver, primary->context);
    return driver.check(
        bytes ? driver.copyToHost(target, address, bytes, stream) : kSuccess,
        cat("cannot copy ", bytes, " bytes from address ", Hex{address}));
  }
  Status fill(uint64_t address, uint8_t value, uint64_t bytes,
              StreamHandle stream) override {
    ContextScope scope(driver, primary->context);
    return driver.check(
        bytes ? driver.fill(address, value, bytes, stream) : kSuccess,
        cat("cannot fill ", bytes, " bytes at address ", Hex{address}));
  }
  Status synchronize(StreamHandle stream) override {
    ContextScope scope(driver, primary->context);
    return driver.check(driver.streamWait(stream), "the device failed");
  }

  Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) override;
  Expected<std::unique_ptr<LoadedImage>>
  loadImage(ImageFormat format, std::string_view image) override;
  Status launch(LoadedImage &image, const KernelLaunch &launch,
                StreamHandle stream) override;

private:
  std::shared_ptr<Primary> primary;
  const Driver &driver;
  DeviceInfo deviceInfo;
  bool allowPtx;
};

Expected<uint64_t> CudaDevice::allocate(uint64_t bytes) {
  if (bytes == 0) {
    return uint64_t{0};
  }
  ContextScope scope(driver, primary->context);
  DevicePointer pointer = 0;
  Result result = driver.memAlloc(&pointer, bytes);
  if (result == kOutOfMemory) {
    return deviceError(cat("out of device memory: ", bytes,
                           " bytes do not fit ", deviceInfo.name,
                           ": free memory or use fewer rows"));
  }
  if (Status s = driver.check(result, cat("cannot allocate ", bytes, " bytes"));
      !s) {
    return s;
  }
  return uint64_t{pointer};
}

Expected<TensorMap> CudaDevice::encodeTensorMap(const TensorMapDesc &desc) {
  // Host work, but the driver wants to know which chip it is for.
  ContextScope scope(driver, primary->context);
  TensorMap map;
  Result result = driver.encodeTiled(
      map.bytes.data(), static_cast<unsigned>(desc.type), desc.rank,
      reinterpret_cast<void *>(desc.address), desc.dims.data(),
      desc.strides.data(), desc.box.data(), desc.elementStrides.data(),
      desc.interleave, static_cast<unsigned>(desc.swizzle), desc.l2Promotion,
      desc.oobFill);
  if (result == kSuccess) {
    return map;
  }
  std::string dims, box;
  for (uint32_t i = 0; i < desc.rank; ++i) {
    dims += cat(i ? " x " : "", desc.dims[i]);
    box += cat(i ? " x " : "", desc.box[i]);
  }
  return driver.check(result,
                      cat("cannot encode a tensor map of ", dims,
                          " elements with a box of ", box, ", type ",
                          static_cast<unsigned>(desc.type), ", swizzle ",
                          static_cast<unsigned>(desc.swizzle), ", address ",
                          Hex{desc.address}));
}

Expected<std::unique_ptr<LoadedImage>>
CudaDevice::loadImage(ImageFormat format, std::string_view image) {
  if (format == ImageFormat::Ptx && !allowPtx) {
    return unavailable("the image is PTX, which the driver would compile: "
                       "allow PTX images, or compile the bundle with a cubin");
  }
  ContextScope scope(driver, primary->context);
  // The driver reads PTX up to its terminating zero.
  std::string bytes(image);
  char log[4096] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  ModuleHandle module = nullptr;
  Result result = driver.moduleLoad(&module, bytes.c_str(), 2, options, values);
  log[sizeof(log) - 1] = '\0';
  if (Status s =
          driver.check(result, cat("cannot load the ",
                                   format == ImageFormat::Ptx ? "ptx" : "cubin",
                                   " image on ", deviceInfo.name));
      !s) {
    return log[0] ? Status(s.code(), cat(s.message(), ": ", log)) : s;
  }
  return std::unique_ptr<LoadedImage>(
      std::make_unique<CudaImage>(primary, module));
}

Status CudaDevice::launch(LoadedImage &image, const KernelLaunch &launch,
                          StreamHandle stream) {
  ContextScope scope(driver, primary->context);
  Expected<const CudaImage::Kernel *> kernel =
      static_cast<CudaImage &>(image).prepare(launch);
  if (!kernel) {
    return kernel.status();
  }
  Expected<std::vector<void *>> params = pointersOf(launch, **kernel);
  if (!params) {
    return params.status();
  }
  LaunchAttribute cluster{};
  cluster.id = kClusterDimension;
  cluster.value.cluster[0] = launch.cluster.x;
  cluster.value.cluster[1] = launch.cluster.y;
  cluster.value.cluster[2] = launch.cluster.z;
  LaunchConfig config{};
  config.grid[0] = launch.grid.x;
  config.grid[1] = launch.grid.y;
  config.grid[2] = launch.grid.z;
  config.block[0] = launch.block.x;
  config.block[1] = launch.block.y;
  config.block[2] = launch.block.z;
  config.sharedBytes = launch.dynamicSharedBytes;
  config.stream = stream;
  config.attributes = &cluster;
  // Chips before 9.0 know no clusters.
  config.attributeCount =
      uint64_t{launch.cluster.x} * launch.cluster.y * launch.cluster.z > 1;
  return driver.check(
      driver.launch(&config, (*kernel)->function, params->data(), nullptr),
      "launch failed");
}

} // namespace

std::string gmoe::cudaTargetOf(int major, int minor) {
  return cat("sm_", major, minor, major >= 9 ? "a" : "");
}

Expected<std::unique_ptr<Device>>
gmoe::openCudaDevice(const CudaOptions &options) {
  Expected<Driver> opened = Driver::open(options.library);
  if (!opened) {
    return opened.status();
  }
  auto primary = std::make_shared<Primary>(*opened);
  const Driver &driver = primary->driver;
  if (Status s = driver.check(driver.init(0), "cannot start the CUDA driver");
      !s) {
    return unavailable(s.message() + ": use --device=emulator without a GPU");
  }
  int count = 0;
  if (Status s = driver.check(driver.deviceCount(&count),
                              "cannot count the CUDA devices");
      !s) {
    return s;
  }
  if (options.ordinal < 0 || options.ordinal >= count) {
    return unavailable(cat("no CUDA device ", options.ordinal, ": there are ",
                           count, ", or use --device=emulator"));
  }
  DeviceInfo info;
  char name[256] = "";
  int major = 0, minor = 0, sms = 0, shared = 0;
  Result results[] = {
      driver.deviceGet(&primary->device, options.ordinal),
      driver.deviceName(name, sizeof(name), primary->device),
      driver.deviceAttribute(&major, kCapabilityMajor, primary->device),
      driver.deviceAttribute(&minor, kCapabilityMinor, primary->device),
      driver.deviceAttribute(&sms, kMultiprocessorCount, primary->device),
      driver.deviceAttribute(&shared, kMaxSharedBytesOptin, primary->device),
      driver.primaryRetain(&primary->context, primary->device)};
  for (Result result : results) {
    if (Status s = driver.check(
            result, cat("cannot open CUDA device ", options.ordinal));
        !s) {
      return s;
    }
  }
  info.name = name;
  info.target = cudaTargetOf(major, minor);
  info.smCount = static_cast<uint32_t>(sms);
  info.maxSharedBytes = static_cast<uint32_t>(shared);
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(
      std::move(primary), std::move(info), options.allowPtx));
}
