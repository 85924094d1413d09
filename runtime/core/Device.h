// The device interface: memory, tensor maps, kernel images and kernel launches.
// Implementations: runtime/cuda (libcuda by dlopen) and runtime/emulator.
#ifndef GMOE_RUNTIME_CORE_DEVICE_H
#define GMOE_RUNTIME_CORE_DEVICE_H

#include "runtime/core/Status.h"
#include "runtime/core/Types.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gmoe {

struct DeviceInfo {
  std::string name;   // of the chip or "emulator"
  std::string target; // "sm_100a": the only chip whose images fit
  uint32_t smCount = 0;
  uint32_t maxSharedBytes = 0; // dynamic shared memory a CTA may ask for
};

enum class ImageFormat { Ptx, Cubin };

/// One launch of one kernel. `params` is the kernel's parameter space, byte for
/// byte, as the PTX declares it.
struct KernelLaunch {
  std::string kernel;
  Dim3 grid, block, cluster;
  uint32_t dynamicSharedBytes = 0;
  std::vector<uint8_t> params;
  /// Where each parameter starts in `params`, in the order of declaration. The
  /// machine code may place them elsewhere: cuda passes them one by one.
  std::vector<uint32_t> paramOffsets;
};

/// Opaque stream handle: a CUstream for cuda, unused by the emulator.
using StreamHandle = void *;

/// A loaded PTX or cubin image. Destroying it unloads it.
class LoadedImage {
public:
  virtual ~LoadedImage() = default;
};

class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceInfo &info() const = 0;
  /// The image formats this device runs, best first.
  virtual std::vector<ImageFormat> imageFormats() const = 0;

  // Memory. Addresses are device addresses; 0 is never returned for bytes > 0.
  virtual Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual Status release(uint64_t address) = 0;
  virtual Status copyToDevice(uint64_t address, const void *source,
                              uint64_t bytes, StreamHandle stream) = 0;
  virtual Status copyToHost(void *target, uint64_t address, uint64_t bytes,
                            StreamHandle stream) = 0;
  virtual Status fill(uint64_t address, uint8_t value, uint64_t bytes,
                      StreamHandle stream) = 0;
  virtual Status synchronize(StreamHandle stream) = 0;

  virtual Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) = 0;
  virtual Expected<std::unique_ptr<LoadedImage>>
  loadImage(ImageFormat format, std::string_view image) = 0;
  /// Enqueues one kernel. The emulator runs it before it returns.
  virtual Status launch(LoadedImage &image, const KernelLaunch &launch,
                        StreamHandle stream) = 0;
};

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_DEVICE_H
