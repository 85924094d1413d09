// What the mutation score runs: entries compiled from IR, and launch files.
#ifndef TOOLS_MUTATION_KERNELS_H
#define TOOLS_MUTATION_KERNELS_H

#include "runtime/emulator/EmulatorDevice.h"

#include <memory>
#include <string>
#include <vector>

namespace gmoe::mutation {

/// One kernel, ready to run many times.
class Subject {
public:
  virtual ~Subject() = default;
  std::string name;
  uint32_t smCount = 1; // few CTAs have many tiles each
  /// Hazard when the checker found something.
  virtual Status run(const EmulatorOptions &options) = 0;
};

/// Reads a list: lines of "NAME run[:SMS] ARGUMENTS OF GMOE-RUN" or "NAME
/// emulate LAUNCH.json", empty ones and comments (#). Files are relative to the
/// list. SMS is the device's number of multiprocessors, 1 if absent.
Expected<std::vector<std::unique_ptr<Subject>>>
loadSubjects(const std::string &list);

} // namespace gmoe::mutation

#endif // TOOLS_MUTATION_KERNELS_H
