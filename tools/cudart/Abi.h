// The part of CUDA 13.0's runtime and driver ABI that this library needs, so
// that it builds without the toolkit. test/tools/cudart checks it against the
// toolkit's headers where there are some.
#ifndef GMOE_TOOLS_CUDART_ABI_H
#define GMOE_TOOLS_CUDART_ABI_H

#include <cstddef>
#include <cstdint>

namespace gmoe::cudart {

enum Error : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidDeviceFunction = 98,
  LaunchFailure = 719,
};
enum CopyKind : int {
  HostToHost = 0,
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  ByAddress = 4,
};

struct Dim {
  unsigned x, y, z;
};
/// cudaLaunchAttribute: the value is a union of 64 bytes.
struct LaunchAttribute {
  int id, padding;
  union {
    Dim cluster;
    unsigned char bytes[64];
  };
};
constexpr int kClusterDimension = 4;
struct LaunchConfig {
  Dim grid, block;
  size_t dynamicSharedBytes;
  void *stream;
  const LaunchAttribute *attributes;
  unsigned attributeCount;
};
struct PointerAttributes {
  int type, device; // type: 0 unregistered, 2 device
  void *devicePointer, *hostPointer;
  long reserved[8];
};
/// The prefix of cudaFuncAttributes that has been stable.
struct FunctionAttributes {
  size_t sharedBytes, constantBytes, localBytes;
  int maximumThreads, registers, ptxVersion, binaryVersion, cacheModeCA,
      maximumDynamicSharedBytes;
};

// cudaDeviceProp: offsets in bytes.
constexpr size_t kPropertyBytes = 1008;
struct Property {
  size_t offset, bytes;
  uint64_t value;
};

// What nvcc's host code hands over.
struct FatBinaryWrapper {
  int magic, version;
  const uint8_t *data;
  void *more;
};
struct FatBinaryHeader {
  uint32_t magic;
  uint16_t version, headerBytes;
  uint64_t bytes;
};
struct FatBinaryEntry {
  uint16_t kind, version; // kind 1: PTX
  uint32_t headerBytes;
  uint64_t bytes;
  uint32_t compressedBytes; // 0: not compressed
};

} // namespace gmoe::cudart

#endif // GMOE_TOOLS_CUDART_ABI_H
