// Any bytes as PTX: the emulator refuses or runs them, within bounds of memory
// and time, and never crashes.
#include "runtime/emulator/EmulatorDevice.h"

#include <cstring>

using namespace gmoe;

namespace {

constexpr uint64_t kBufferBytes = 1 << 16;
constexpr unsigned kKernels = 3; // launched of one image

/// Every eight parameter bytes hold the address of the same buffer.
void launch(EmulatorDevice &device, LoadedImage &image,
            const EmulatorKernel &kernel, uint64_t buffer) {
  KernelLaunch l;
  l.kernel = kernel.name;
  l.block = {32, 1, 1};
  l.params.resize(kernel.parameterBytes);
  for (size_t k = 0; k + 8 <= l.params.size(); k += 8) {
    std::memcpy(&l.params[k], &buffer, 8);
  }
  for (uint64_t offset : kernel.parameterOffsets) {
    l.paramOffsets.push_back(uint32_t(offset));
  }
  (void)device.launch(image, l, nullptr);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  EmulatorOptions options;
  options.threads = 1;
  options.memoryBytes = 1 << 24;
  options.instructionLimit = 2000;
  options.scheduleSeed = size;
  auto device = createEmulatorDevice(options);
  auto buffer = device->allocate(kBufferBytes);
  auto image = device->loadImage(
      ImageFormat::Ptx,
      std::string_view(reinterpret_cast<const char *>(data), size));
  if (!buffer || !image) {
    return 0;
  }
  unsigned count = 0;
  for (const EmulatorKernel &kernel : device->kernels(**image)) {
    if (count++ == kKernels) {
      break;
    }
    launch(*device, **image, kernel, *buffer);
  }
  return 0;
}
