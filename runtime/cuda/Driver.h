// The part of the CUDA driver API that the runtime calls, found by dlopen. The
// declarations are the runtime's own, so it builds without a CUDA toolkit;
// values and layouts are the ABI that cuda.h documents.
#ifndef GMOE_RUNTIME_CUDA_DRIVER_H
#define GMOE_RUNTIME_CUDA_DRIVER_H

#include "runtime/core/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gmoe::cuda {

using Result = int; // CUresult
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotFound = 500;

using DeviceId = int;
using DevicePointer = unsigned long long;
using Context = struct ContextTag *;
using ModuleHandle = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = void *;

// CUdevice_attribute
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kMaxSharedBytesOptin = 97;
// CUfunction_attribute
inline constexpr int kMaxDynamicSharedBytes = 8;
inline constexpr int kNonPortableClusterAllowed = 14;
// CUjit_option
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;
// CUlaunchAttributeID
inline constexpr unsigned kClusterDimension = 4;

struct LaunchAttribute {
  unsigned id;
  unsigned padding;
  union {
    char bytes[64];
    unsigned cluster[3];
    uint64_t align;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

/// Member, exported symbol, parameters.
#define GMOE_CUDA_FUNCTIONS(X)                                                 \
  X(init, "cuInit", (unsigned))                                                \
  X(driverVersion, "cuDriverGetVersion", (int *))                              \
  X(errorName, "cuGetErrorName", (Result, const char **))                      \
  X(errorText, "cuGetErrorString", (Result, const char **))                    \
  X(deviceCount, "cuDeviceGetCount", (int *))                                  \
  X(deviceGet, "cuDeviceGet", (DeviceId *, int))                               \
  X(deviceName, "cuDeviceGetName", (char *, int, DeviceId))                    \
  X(deviceAttribute, "cuDeviceGetAttribute", (int *, int, DeviceId))           \
  X(primaryRetain, "cuDevicePrimaryCtxRetain", (Context *, DeviceId))          \
  X(primaryRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceId))                \
  X(currentGet, "cuCtxGetCurrent", (Context *))                                \
  X(currentSet, "cuCtxSetCurrent", (Context))                                  \
  X(memAlloc, "cuMemAlloc_v2", (DevicePointer *, size_t))                      \
  X(memFree, "cuMemFree_v2", (DevicePointer))                                  \
  X(copyToDevice, "cuMemcpyHtoDAsync_v2",                                      \
    (DevicePointer, const void *, size_t, Stream))                             \
  X(copyToHost, "cuMemcpyDtoHAsync_v2",                                        \
    (void *, DevicePointer, size_t, Stream))                                   \
  X(fill, "cuMemsetD8Async", (DevicePointer, unsigned char, size_t, Stream))   \
  X(streamWait, "cuStreamSynchronize", (Stream))                               \
  X(moduleLoad, "cuModuleLoadDataEx",                                          \
    (ModuleHandle *, const void *, unsigned, int *, void **))                  \
  X(moduleUnload, "cuModuleUnload", (ModuleHandle))                            \
  X(moduleFunction, "cuModuleGetFunction",                                     \
    (Function *, ModuleHandle, const char *))                                  \
  X(functionSet, "cuFuncSetAttribute", (Function, int, int))                   \
  X(paramInfo, "cuFuncGetParamInfo", (Function, size_t, size_t *, size_t *))   \
  X(launch, "cuLaunchKernelEx",                                                \
    (const LaunchConfig *, Function, void **, void **))                        \
  X(encodeTiled, "cuTensorMapEncodeTiled",                                     \
    (void *, unsigned, uint32_t, void *, const uint64_t *, const uint64_t *,   \
     const uint32_t *, const uint32_t *, unsigned, unsigned, unsigned,         \
     unsigned))

class Driver {
public:
  /// Loads the library and its symbols; it stays loaded with the process.
  static Expected<Driver> open(const std::string &library);

  /// "what: name (text)" as DeviceError, or success.
  Status check(Result result, const std::string &what) const;

#define GMOE_CUDA_MEMBER(member, symbol, params) Result(*member) params;
  GMOE_CUDA_FUNCTIONS(GMOE_CUDA_MEMBER)
#undef GMOE_CUDA_MEMBER
};

} // namespace gmoe::cuda

#endif // GMOE_RUNTIME_CUDA_DRIVER_H
