// A device that executes PTX on the host: see docs/guides/emulate_a_kernel.md.
#ifndef GMOE_RUNTIME_EMULATOR_EMULATORDEVICE_H
#define GMOE_RUNTIME_EMULATOR_EMULATORDEVICE_H

#include "runtime/core/Device.h"
#include "runtime/emulator/Finding.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gmoe {

/// How much the emulator checks beyond bounds, alignment, and descriptors.
/// Fast: happens-before of shared, tensor and written global memory, barriers,
/// and registers that tcgen05.ld has not delivered. Full: also reads of
/// registers and of global memory that nothing wrote.
enum class HazardLevel { Off, Fast, Full };

struct EmulatorOptions {
  /// Draws the order of warps and of asynchronous completions.
  uint64_t scheduleSeed = 0;
  uint32_t smCount = 16;
  unsigned threads = 0; // host threads, 0: as many as there are cores
  std::string target = "sm_100a";
  HazardLevel hazards = HazardLevel::Fast;
  /// A launch stops after so many findings.
  uint32_t maximumFindings = 32;
  /// Changes PTX before it is loaded: for tests of the checker.
  std::function<std::string(std::string_view)> rewrite;
  uint64_t memoryBytes = uint64_t(1) << 38; // of the device
  /// Warp instructions that a host thread may execute in one launch before the
  /// launch fails; 0: any number.
  uint64_t instructionLimit = 0;
};

/// Totals over all launches of a device.
struct EmulatorStats {
  uint64_t launches = 0;
  uint64_t instructions = 0;       // warp instructions
  uint64_t threadInstructions = 0; // summed over active lanes
  uint64_t mmaInstructions = 0;    // tcgen05.mma
  uint64_t macs = 0;               // multiply-accumulates of those
  uint64_t cpInstructions = 0;     // tcgen05.cp
  uint64_t tmaBytes = 0;           // moved by bulk and tensor copies
};

/// A kernel of a loaded image, as its PTX declares it.
struct EmulatorKernel {
  std::string name;
  uint64_t parameterBytes = 0;
  std::vector<uint64_t> parameterOffsets, parameterSizes; // bytes
};

class EmulatorDevice : public Device {
public:
  virtual const EmulatorStats &stats() const = 0;
  /// Fills with 0xFF, and forgets that the bytes were ever written.
  virtual Status poison(uint64_t address, uint64_t bytes) = 0;
  virtual void setScheduleSeed(uint64_t seed) = 0;
  /// Of the last launch, which fails with StatusCode::Hazard if there are any.
  virtual const std::vector<Finding> &findings() const = 0;
  /// Memory at a fixed address, for replaying a recorded launch.
  virtual Status allocateAt(uint64_t address, uint64_t bytes) = 0;
  /// The kernels of an image that this device loaded.
  virtual std::vector<EmulatorKernel>
  kernels(const LoadedImage &image) const = 0;
};

std::unique_ptr<EmulatorDevice>
createEmulatorDevice(const EmulatorOptions &options = EmulatorOptions());

} // namespace gmoe

#endif // GMOE_RUNTIME_EMULATOR_EMULATORDEVICE_H
