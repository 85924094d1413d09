// Runs an entry of a bundle on a device.
#ifndef TOOLS_RUN_DEVICERUN_H
#define TOOLS_RUN_DEVICERUN_H

#include "runtime/core/Module.h"
#include "tools/run/Options.h"
#include "tools/run/Signature.h"

#include <memory>
#include <optional>

namespace gmoe::run {

struct DeviceReport {
  std::string device, target;
  uint64_t launches = 0, fills = 0, workspaceBytes = 0;
  std::optional<EmulatorStats> emulator;
  std::vector<Finding> hazards;
};

/// A device and, when it is one, the emulator behind it.
struct OpenDevice {
  std::unique_ptr<Device> device;
  EmulatorDevice *emulator = nullptr;
};
Expected<OpenDevice> openDevice(const Options &options);

/// The entry's arguments are the signature's, then memory of their own for
/// results (those that no argument holds, or all). Arguments that the entry
/// writes are updated.
Status runOnDevice(OpenDevice &device, const Module &module,
                   const Signature &signature, const Options &options,
                   std::vector<Array> &arguments, std::vector<Array> &results,
                   DeviceReport &report);

} // namespace gmoe::run

#endif // TOOLS_RUN_DEVICERUN_H
