// Checks of a bundle beyond what the FlatBuffers verifier sees: after them, no
// index, enum or count of the launch programs can lead a reader astray.
#ifndef GMOE_RUNTIME_CORE_VALIDATE_H
#define GMOE_RUNTIME_CORE_VALIDATE_H

#include "runtime/abi/bundle_generated.h"
#include "runtime/core/Status.h"

#include <cstdint>

namespace gmoe {

/// Limits on what a bundle may ask of the host: a file cannot make the runtime
/// allocate or loop without bound.
struct BundleLimits {
  static constexpr uint32_t entries = 4096;
  static constexpr uint32_t images = 256;
  static constexpr uint32_t kernels = 65536;
  static constexpr uint32_t exprs = 65536;
  static constexpr uint32_t arguments = 256;
  static constexpr uint32_t temporaries = 1024;
  static constexpr uint32_t launches = 1024;
  static constexpr uint32_t params = 1024;
  static constexpr uint32_t rank =
      8; // of an argument: L x RM x RK x 32 x 4 x 4 and room
  static constexpr uint32_t tensorMapRank = 5; // of a tensor map (cuda.h)
  static constexpr uint32_t nameBytes = 4096;
  static constexpr uint32_t argumentAlignment = 4096; // bytes
  static constexpr int64_t stride = int64_t{1} << 40; // elements
  static constexpr uint32_t workspaceAlignment = 256; // bytes
  static constexpr uint32_t paramBytes = 32764; // CUDA's kernel parameters
};

/// The payload must have passed the FlatBuffers verifier.
Status validate(const abi::Bundle &bundle);

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_VALIDATE_H
