// Where the address windows lie, and the limits of the emulated SM.
#ifndef GMOE_RUNTIME_EMULATOR_LAYOUT_H
#define GMOE_RUNTIME_EMULATOR_LAYOUT_H

#include <cstdint>

namespace gmoe::emulator {

constexpr uint64_t kGlobalBase = 0x7f0000000000ull;
// Generic windows; the low 32 bits are the address in the space itself.
constexpr uint64_t kSharedWindow = 0x600000000000ull;
constexpr uint64_t kLocalWindow = 0x610000000000ull;
constexpr uint64_t kParamWindow = 0x620000000000ull;
/// Where functions seem to lie, for their pointers: by index in the module.
constexpr uint64_t kCodeWindow = 0x630000000000ull;
constexpr uint64_t kFunctionBytes = 16;
constexpr uint64_t kWindowMask = 0xffffffff00000000ull;

/// The driver keeps the first bytes of shared memory for itself since sm_90.
constexpr uint32_t kReservedSharedBytes = 1024;
constexpr uint32_t kMaximumSharedBytes = 232448;
constexpr uint32_t kMaximumThreads = 1024;
constexpr uint32_t kMaximumClusterSize = 16;
constexpr uint32_t kMaximumParameterBytes = 32764;

constexpr uint32_t kTmemLanes = 128;
constexpr uint32_t kTmemColumns = 512;

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_LAYOUT_H
