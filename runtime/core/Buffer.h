// Owns one allocation of a device.
#ifndef GMOE_RUNTIME_CORE_BUFFER_H
#define GMOE_RUNTIME_CORE_BUFFER_H

#include "runtime/core/Device.h"
#include "runtime/core/Status.h"

#include <cstdint>
#include <utility>

namespace gmoe {

/// Move only; releases its memory when destroyed. The device must outlive it.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    Buffer old(std::move(*this));
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (device && start) {
      // A destructor has nobody to tell.
      (void)device->release(start);
    }
  }

  /// No bytes: a buffer at address 0.
  static Expected<Buffer> allocate(Device &device, uint64_t bytes) {
    Buffer buffer;
    buffer.device = &device;
    if (bytes != 0) {
      Expected<uint64_t> address = device.allocate(bytes);
      if (!address) {
        return address.status();
      }
      buffer.start = *address;
      buffer.size = bytes;
    }
    return Expected<Buffer>(std::move(buffer));
  }

  uint64_t address() const { return start; }
  uint64_t bytes() const { return size; }

private:
  void swap(Buffer &other) noexcept {
    std::swap(device, other.device);
    std::swap(start, other.start);
    std::swap(size, other.size);
  }

  Device *device = nullptr;
  uint64_t start = 0;
  uint64_t size = 0;
};

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_BUFFER_H
