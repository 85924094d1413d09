// Reads LAUNCH.json, runs it on the emulator and writes the buffers asked for.
// The format: docs/guides/emulate_a_kernel.md.
#ifndef GMOE_TOOLS_EMULATE_LAUNCHFILE_H
#define GMOE_TOOLS_EMULATE_LAUNCHFILE_H

#include "runtime/emulator/EmulatorDevice.h"

#include <string>

namespace gmoe {

/// Files named in the launch are relative to its own folder. On success
/// `report` is one line of statistics.
Status runLaunchFile(const std::string &path, const EmulatorOptions &options,
                     std::string &report);

} // namespace gmoe

#endif // GMOE_TOOLS_EMULATE_LAUNCHFILE_H
