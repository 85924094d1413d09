// An entry of a bundle: resolves shapes and workspace, and launches its
// kernels.
#ifndef GMOE_RUNTIME_CORE_LAUNCH_H
#define GMOE_RUNTIME_CORE_LAUNCH_H

#include "runtime/core/Device.h"
#include "runtime/core/Evaluate.h"
#include "runtime/core/Program.h"
#include "runtime/core/Status.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gmoe {

/// Every workspace address must be a multiple of this many bytes.
inline constexpr uint64_t kWorkspaceAlignment = 256;

/// An argument at launch: a dense row-major array in device memory.
struct ArgumentValue {
  uint64_t address = 0;
  Shape shape; // elements, also for packed types
};

/// Device memory that an entry's temporaries live in. It belongs to the caller
/// and is in use until the launched work is done.
struct Workspace {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// Immutable: threads may launch one entry at the same time.
class Entry {
public:
  explicit Entry(Program program) : program_(std::move(program)) {}

  const std::string &name() const { return program_.name; }
  const std::vector<ArgumentInfo> &arguments() const {
    return program_.arguments;
  }
  const Program &program() const { return program_; }

  /// The shape of every argument. `given` has one shape an argument, an empty
  /// one (or none, at the end) where it is to be derived.
  Expected<std::vector<Shape>> shapes(const std::vector<Shape> &given) const;

  /// Bytes of workspace for these shapes (given as in shapes()).
  Expected<uint64_t> workspaceSize(const std::vector<Shape> &given,
                                   const DeviceInfo &info) const;

  /// Enqueues the entry's fills and kernels in order. Neither reads device
  /// memory on the host nor allocates any. `image` is Module::loadImage's for
  /// this device.
  Status launch(Device &device, LoadedImage &image,
                const std::vector<ArgumentValue> &arguments,
                Workspace workspace, StreamHandle stream) const;

  /// Reads offsets and pointer arrays back and refuses what breaks the entry's
  /// contract. Waits for the stream: a debugging aid.
  Status checkInputs(Device &device,
                     const std::vector<ArgumentValue> &arguments,
                     StreamHandle stream) const;

private:
  class Launcher;

  template <typename... Parts> Status fail(const Parts &...parts) const;
  std::string argumentText(size_t index) const;
  Status checkRank(size_t index, const Shape &shape) const;
  Status checkShape(size_t index, const Shape &shape,
                    const Values &values) const;
  Status checkShapes(const ShapeRefs &shapes, const Values &values) const;
  Expected<ShapeRefs> refsOf(const std::vector<ArgumentValue> &values) const;
  Expected<uint64_t> layOut(const Values &values,
                            std::vector<uint64_t> *offsets) const;
  Status checkOffsets(Device &device, const OffsetsContract &contract,
                      const ArgumentValue &argument, const Values &values,
                      StreamHandle stream) const;
  Status checkPointers(Device &device, const PointersContract &contract,
                       const std::vector<ArgumentValue> &arguments,
                       StreamHandle stream) const;

  Program program_;
};

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_LAUNCH_H
