// Memory: device memory starts with every bit set, which reads as NaN.
#include "tools/cudart/State.h"

#include <cstdlib>
#include <cstring>

using namespace gmoe;
using namespace gmoe::cudart;

namespace {

bool onDevice(const State &s, const void *p) {
  uint64_t address = reinterpret_cast<uint64_t>(p);
  auto above = s.allocations.upper_bound(address);
  if (above == s.allocations.begin()) {
    return false;
  }
  auto a = std::prev(above);
  return address < a->first + a->second;
}

} // namespace

extern "C" {

Error cudaMalloc(void **out, size_t bytes) {
  State &s = state();
  Lock lock(s.mutex);
  *out = nullptr;
  if (bytes == 0) {
    return Success;
  }
  auto address = s.device->allocate(bytes);
  if (!address) {
    return report(address.status(), OutOfMemory);
  }
  (void)s.device->poison(*address, bytes);
  s.allocations[*address] = bytes;
  *out = reinterpret_cast<void *>(*address);
  return Success;
}
Error cudaFree(void *p) {
  State &s = state();
  Lock lock(s.mutex);
  s.allocations.erase(reinterpret_cast<uint64_t>(p));
  return report(s.device->release(reinterpret_cast<uint64_t>(p)), InvalidValue);
}
Error cudaMallocAsync(void **out, size_t bytes, void *) {
  return cudaMalloc(out, bytes);
}
Error cudaFreeAsync(void *p, void *) { return cudaFree(p); }
Error cudaMallocHost(void **out, size_t bytes) {
  *out = std::malloc(bytes);
  return *out || bytes == 0 ? Success : remember(OutOfMemory);
}
Error cudaFreeHost(void *p) {
  std::free(p);
  return Success;
}

Error cudaMemcpy(void *to, const void *from, size_t bytes, CopyKind kind) {
  State &s = state();
  Lock lock(s.mutex);
  bool toDevice = kind == HostToDevice || kind == DeviceToDevice ||
                  (kind == ByAddress && onDevice(s, to));
  bool fromDevice = kind == DeviceToHost || kind == DeviceToDevice ||
                    (kind == ByAddress && onDevice(s, from));
  std::vector<uint8_t> between;
  if (toDevice && fromDevice) {
    between.resize(bytes);
    Status status = s.device->copyToHost(
        between.data(), reinterpret_cast<uint64_t>(from), bytes, nullptr);
    if (!status) {
      return report(status, InvalidValue);
    }
    from = between.data();
    fromDevice = false;
  }
  if (toDevice) {
    return report(s.device->copyToDevice(reinterpret_cast<uint64_t>(to), from,
                                         bytes, nullptr),
                  InvalidValue);
  }
  if (fromDevice) {
    return report(s.device->copyToHost(to, reinterpret_cast<uint64_t>(from),
                                       bytes, nullptr),
                  InvalidValue);
  }
  std::memmove(to, from, bytes);
  return Success;
}
Error cudaMemcpyAsync(void *to, const void *from, size_t bytes, CopyKind kind,
                      void *) {
  return cudaMemcpy(to, from, bytes, kind);
}
Error cudaMemset(void *p, int value, size_t bytes) {
  State &s = state();
  Lock lock(s.mutex);
  return report(s.device->fill(reinterpret_cast<uint64_t>(p), uint8_t(value),
                               bytes, nullptr),
                InvalidValue);
}
Error cudaMemsetAsync(void *p, int value, size_t bytes, void *) {
  return cudaMemset(p, value, bytes);
}
Error cudaMemGetInfo(size_t *available, size_t *total) {
  *available = *total = size_t(8) << 30;
  return Success;
}
Error cudaPointerGetAttributes(PointerAttributes *a, const void *p) {
  *a = PointerAttributes();
  a->type = onDevice(state(), p) ? 2 : 0;
  (a->type ? a->devicePointer : a->hostPointer) = const_cast<void *>(p);
  return Success;
}

} // extern "C"
