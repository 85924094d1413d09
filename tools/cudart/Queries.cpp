// What programs ask of a device; streams, events and errors, where everything
// is done when a call returns; and the driver's entry points.
#include "tools/cudart/State.h"

#include <cstdio>
#include <cstring>

using namespace gmoe;
using namespace gmoe::cudart;

namespace {

constexpr uint64_t kSharedBytes = 232448, kClusters = 8;

uint64_t smCount() { return state().device->info().smCount; }
uint64_t majorVersion() {
  return state().device->info().target.compare(0, 5, "sm_90") == 0 ? 9 : 10;
}

/// cuTensorMapEncodeTiled; enumerations have the values of TensorMapDesc.
int encodeTiled(void *map, uint32_t type, uint32_t rank, void *address,
                const uint64_t *dims, const uint64_t *strides,
                const uint32_t *box, const uint32_t *elementStrides,
                uint32_t interleave, uint32_t swizzle, uint32_t promotion,
                uint32_t fill) {
  TensorMapDesc d;
  d.type = TensorMapType(type);
  d.rank = rank;
  d.address = reinterpret_cast<uint64_t>(address);
  for (uint32_t k = 0; k < rank && k < 5; ++k) {
    d.dims[k] = dims[k];
    d.box[k] = box[k];
    d.elementStrides[k] = elementStrides[k];
    if (k + 1 < rank) {
      d.strides[k] = strides[k];
    }
  }
  d.interleave = interleave;
  d.swizzle = TensorMapSwizzle(swizzle);
  d.l2Promotion = promotion;
  d.oobFill = fill;
  auto encoded = state().device->encodeTensorMap(d);
  if (!encoded) {
    return report(encoded.status(), InvalidValue);
  }
  std::memcpy(map, encoded->bytes.data(), encoded->bytes.size());
  return 0;
}
int driverVersion(int *version) {
  *version = 13000;
  return 0;
}
int maximumClusters(int *count, void *, const void *) {
  *count = int(kClusters);
  return 0;
}

} // namespace

extern "C" {

Error cudaGetDeviceProperties(void *properties, int) {
  const Property values[] = {
      {288, 8, uint64_t(8) << 30}, // totalGlobalMem
      {296, 8, 49152},             // sharedMemPerBlock
      {304, 4, 65536},             // regsPerBlock
      {308, 4, 32},                // warpSize
      {320, 4, 1024},              // maxThreadsPerBlock
      {324, 4, 1024},              // maxThreadsDim
      {328, 4, 1024},              //
      {332, 4, 64},                //
      {336, 4, 0x7fffffff},        // maxGridSize
      {340, 4, 65535},             //
      {344, 4, 65535},             //
      {360, 4, majorVersion()},    // major
      {384, 4, smCount()},         // multiProcessorCount
      {588, 4, 1},                 // unifiedAddressing
      {596, 4, 1 << 26},           // l2CacheSize
      {604, 4, 2048},              // maxThreadsPerMultiProcessor
      {624, 8, 233472},            // sharedMemPerMultiprocessor
      {632, 4, 65536},             // regsPerMultiprocessor
      {672, 8, kSharedBytes},      // sharedMemPerBlockOptin
      {688, 4, 32},                // maxBlocksPerMultiProcessor
      {696, 8, 1024},              // reservedSharedMemPerBlock
      {748, 4, 1},                 // clusterLaunch
  };
  std::memset(properties, 0, kPropertyBytes);
  std::strcpy(static_cast<char *>(properties), "grouped-moe emulator");
  for (const Property &p : values) {
    std::memcpy(static_cast<char *>(properties) + p.offset, &p.value, p.bytes);
  }
  return Success;
}
Error cudaDeviceGetAttribute(int *value, int attribute, int) {
  // By the numbers of cudaDeviceAttr.
  const int known[][2] = {{1, 1024},       {2, 1024},
                          {3, 1024},       {4, 64},
                          {5, 0x7fffffff}, {6, 65535},
                          {7, 65535},      {8, 49152},
                          {10, 32},        {12, 65536},
                          {13, 1000000},   {16, int(smCount())},
                          {38, 1 << 26},   {39, 2048},
                          {41, 1},         {75, int(majorVersion())},
                          {76, 0},         {81, 233472},
                          {82, 65536},     {83, 0},
                          {95, 0},         {97, int(kSharedBytes)},
                          {106, 32},       {111, 1024},
                          {120, 1}};
  for (const auto &[id, v] : known) {
    if (id == attribute) {
      *value = v;
      return Success;
    }
  }
  std::fprintf(stderr, "gmoe-cudart: device attribute %d is not known\n",
               attribute);
  *value = 0;
  return remember(InvalidValue);
}
Error cudaGetDevice(int *device) {
  *device = 0;
  return Success;
}
Error cudaSetDevice(int device) {
  return device == 0 ? Success : remember(InvalidValue);
}
Error cudaGetDeviceCount(int *count) {
  *count = 1;
  return Success;
}
Error cudaDriverGetVersion(int *version) {
  *version = 13000;
  return Success;
}
Error cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return Success;
}
Error cudaDeviceReset() { return Success; }

// Functions.
Error cudaFuncSetAttribute(const void *, int, int) { return Success; }
Error cudaFuncGetAttributes(FunctionAttributes *a, const void *) {
  *a = FunctionAttributes();
  a->maximumThreads = 1024;
  a->registers = 64;
  a->ptxVersion = a->binaryVersion = int(majorVersion() * 10);
  a->maximumDynamicSharedBytes = int(kSharedBytes);
  return Success;
}
Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *,
                                                    int, size_t) {
  *count = 1;
  return Success;
}
Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count,
                                                             const void *, int,
                                                             size_t, unsigned) {
  *count = 1;
  return Success;
}
Error cudaOccupancyMaxActiveClusters(int *count, const void *, const void *) {
  *count = int(kClusters);
  return Success;
}

// Streams and events.
Error cudaStreamCreate(void **stream) {
  *stream = nullptr;
  return Success;
}
Error cudaStreamCreateWithFlags(void **stream, unsigned) {
  *stream = nullptr;
  return Success;
}
Error cudaStreamDestroy(void *) { return Success; }
Error cudaStreamSynchronize(void *) { return state().last; }
Error cudaDeviceSynchronize() { return state().last; }
Error cudaEventCreate(void **event) {
  *event = nullptr;
  return Success;
}
Error cudaEventCreateWithFlags(void **event, unsigned) {
  *event = nullptr;
  return Success;
}
Error cudaEventRecord(void *, void *) { return Success; }
Error cudaEventSynchronize(void *) { return state().last; }
Error cudaEventDestroy(void *) { return Success; }
Error cudaEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = 1;
  return Success;
}

// Errors.
Error cudaGetLastError() {
  Error error = state().last;
  state().last = Success;
  return error;
}
Error cudaPeekAtLastError() { return state().last; }
const char *cudaGetErrorString(Error error) {
  return error == Success ? "no error" : "an error that stderr describes";
}
const char *cudaGetErrorName(Error error) {
  return error == Success ? "cudaSuccess" : "cudaError";
}

// The driver.
int cuTensorMapEncodeTiled(void *map, uint32_t type, uint32_t rank,
                           void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box,
                           const uint32_t *elementStrides, uint32_t interleave,
                           uint32_t swizzle, uint32_t promotion,
                           uint32_t fill) {
  return encodeTiled(map, type, rank, address, dims, strides, box,
                     elementStrides, interleave, swizzle, promotion, fill);
}
int cuMemsetD32Async(uint64_t address, uint32_t value, size_t count, void *) {
  std::vector<uint32_t> values(count, value);
  return report(
      state().device->copyToDevice(address, values.data(), count * 4, nullptr),
      InvalidValue);
}
int cuGetErrorString(int, const char **text) {
  *text = "an error that stderr describes";
  return 0;
}
Error cudaGetDriverEntryPointByVersion(const char *name, void **entry, unsigned,
                                       unsigned long long, int *result) {
  const std::pair<const char *, void *> known[] = {
      {"cuTensorMapEncodeTiled", reinterpret_cast<void *>(&encodeTiled)},
      {"cuDriverGetVersion", reinterpret_cast<void *>(&driverVersion)},
      {"cuOccupancyMaxActiveClusters",
       reinterpret_cast<void *>(&maximumClusters)}};
  *entry = nullptr;
  for (const auto &[candidate, address] : known) {
    if (std::strcmp(candidate, name) == 0) {
      *entry = address;
    }
  }
  if (!*entry) {
    std::fprintf(stderr, "gmoe-cudart: no driver entry %s\n", name);
  }
  if (result) {
    *result = *entry ? 0 : 1; // 1: the symbol was not found
  }
  return Success;
}

} // extern "C"
