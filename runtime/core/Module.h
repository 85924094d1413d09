// A loaded bundle: its entries, images and kernel listing. Loading trusts no
// byte of the file.
#ifndef GMOE_RUNTIME_CORE_MODULE_H
#define GMOE_RUNTIME_CORE_MODULE_H

#include "runtime/core/Device.h"
#include "runtime/core/Launch.h"
#include "runtime/core/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gmoe {

const char *nameOf(ImageFormat format); // "ptx", "cubin"

/// The bytes live in the module.
struct ImageInfo {
  std::string target;
  ImageFormat format = ImageFormat::Ptx;
  std::string_view data;
};

/// What ptxas reported; zero when the bundle was compiled without it.
struct KernelInfo {
  std::string name, target;
  uint32_t registers = 0;
  uint32_t spillBytes = 0;
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedBytes = 0;
  uint32_t tmemColumns = 0;
  std::string description;
};

class Module {
public:
  static constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

  Module(Module &&) = default;
  Module &operator=(Module &&) = default;

  /// Copies `bytes`.
  static Expected<Module> load(std::string_view bytes);
  static Expected<Module> loadFile(const std::string &path);

  uint32_t formatVersion() const { return version; }
  const std::vector<Entry> &entries() const { return entryList; }
  const std::vector<ImageInfo> &images() const { return imageList; }
  const std::vector<KernelInfo> &kernels() const { return kernelList; }
  const std::string &producer() const { return producerText; }
  /// The IR that was compiled; empty when stripped.
  const std::string &source() const { return sourceText; }

  /// The entry of that name; an empty name stands for the only entry. Lists the
  /// names when there is none.
  Expected<const Entry *> findEntry(std::string_view name) const;
  /// The image for this device's target, in the first format that the device
  /// takes; lists the bundle's images when there is none.
  Expected<const ImageInfo *> chooseImage(const Device &device) const;
  /// Loads that image. Keep the result: it serves every launch of this module
  /// on this device, and must not outlive the device.
  Expected<std::unique_ptr<LoadedImage>> loadImage(Device &device) const;

private:
  Module() = default;
  static Expected<Module> loadPayload(uint32_t version,
                                      std::vector<uint8_t> payload);
  void read();

  uint32_t version = 0;
  std::vector<uint8_t> payload; // the images point into it
  std::vector<Entry> entryList;
  std::vector<ImageInfo> imageList;
  std::vector<KernelInfo> kernelList;
  std::string producerText, sourceText;
};

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_MODULE_H
