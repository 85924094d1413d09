#include "runtime/emulator/Memory.h"
#include "runtime/emulator/Layout.h"

#include <cstdio>
#include <new>

namespace gmoe::emulator {
namespace {
constexpr uint64_t kAlign = 256;
constexpr uint64_t kGuardBytes = 4096;
} // namespace

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  return text;
}

Expected<uint64_t> Memory::allocate(uint64_t bytes) {
  if (bytes == 0) {
    return uint64_t(0);
  }
  if (bytes > limit_) {
    bytes = limit_ + 1; // refused below, without overflow on the way
  }
  if (next_ == 0) {
    next_ = kGlobalBase;
  }
  uint64_t address = next_;
  // A fixed allocation may lie in the way.
  for (;;) {
    auto above = allocations_.lower_bound(address);
    if (above != allocations_.begin()) {
      auto below = std::prev(above);
      uint64_t end = below->second.base + below->second.bytes + kGuardBytes;
      if (end > address) {
        address = (end + kAlign - 1) / kAlign * kAlign;
        continue;
      }
    }
    if (above != allocations_.end() &&
        address + bytes + kGuardBytes > above->first) {
      address =
          (above->first + above->second.bytes + kGuardBytes + kAlign - 1) /
          kAlign * kAlign;
      continue;
    }
    break;
  }
  Status status = allocateAt(address, bytes);
  if (!status) {
    return status;
  }
  next_ = (address + bytes + kGuardBytes + kAlign - 1) / kAlign * kAlign;
  return address;
}

Status Memory::allocateAt(uint64_t address, uint64_t bytes) {
  if (bytes == 0 || address == 0 || address + bytes < address) {
    return invalidArgument("allocation of " + std::to_string(bytes) +
                           " bytes at " + hexadecimal(address) +
                           " is not possible");
  }
  if (address < (kParamWindow | 0xffffffffu) &&
      address + bytes > kSharedWindow) {
    return invalidArgument("allocation at " + hexadecimal(address) +
                           " overlaps the shared, local or parameter window");
  }
  if (bytes > limit_ - total_) {
    return Status(StatusCode::DeviceError,
                  "out of device memory: " + std::to_string(bytes) +
                      " bytes asked for, " + std::to_string(total_) +
                      " in use, limit " + std::to_string(limit_));
  }
  auto above = allocations_.lower_bound(address);
  if ((above != allocations_.end() && above->first < address + bytes) ||
      (above != allocations_.begin() &&
       std::prev(above)->first + std::prev(above)->second.bytes > address)) {
    return invalidArgument("allocation at " + hexadecimal(address) +
                           " overlaps another one");
  }
  Allocation a;
  a.base = address;
  a.bytes = bytes;
  a.data.reset(new (std::nothrow) uint8_t[bytes]());
  if (!a.data) {
    return Status(StatusCode::DeviceError,
                  "out of host memory: " + std::to_string(bytes) +
                      " bytes asked for");
  }
  if (tracksWrites_) {
    a.written.reset(new (std::nothrow) uint8_t[bytes / 8 + 1]());
  }
  total_ += bytes;
  allocations_.emplace(address, std::move(a));
  return Status();
}

Status Memory::release(uint64_t address) {
  if (address == 0) {
    return Status();
  }
  auto it = allocations_.find(address);
  if (it == allocations_.end()) {
    return invalidArgument("no allocation begins at " + hexadecimal(address));
  }
  total_ -= it->second.bytes;
  allocations_.erase(it);
  return Status();
}

void Allocation::markWritten(uint64_t offset, uint64_t count) const {
  if (!written) {
    return;
  }
  // Clusters run in several host threads.
  for (uint64_t k = offset; k < offset + count;) {
    if (k % 8 == 0 && offset + count - k >= 8) {
      written[k / 8] = 0xff;
      k += 8;
    } else {
      __atomic_fetch_or(&written[k / 8], uint8_t(1u << (k % 8)),
                        __ATOMIC_RELAXED);
      ++k;
    }
  }
}

void Allocation::forgetWrites(uint64_t offset, uint64_t count) const {
  for (uint64_t k = offset; written && k < offset + count; ++k) {
    written[k / 8] &= uint8_t(~(1u << (k % 8)));
  }
}

bool Allocation::allWritten(uint64_t offset, uint64_t count) const {
  for (uint64_t k = offset; written && k < offset + count; ++k) {
    if (!(__atomic_load_n(&written[k / 8], __ATOMIC_RELAXED) >> (k % 8) & 1)) {
      return false;
    }
  }
  return true;
}

LineState Allocation::lineState(uint64_t offset, uint64_t count) const {
  for (uint64_t k = offset / kLineBytes; k * kLineBytes < offset + count; ++k) {
    if (k < lines.size() && lines[k] != LineState::Clean) {
      return lines[k];
    }
  }
  return LineState::Clean;
}

void Allocation::cleanLines(uint64_t offset, uint64_t count) const {
  for (uint64_t k = offset / kLineBytes;
       k < lines.size() && k * kLineBytes < offset + count; ++k) {
    lines[k] = LineState::Clean;
  }
}

void Memory::watch(bool on) {
  for (auto &[address, a] : allocations_) {
    a.shadow.reset();
    if (on) {
      a.shadow = std::make_unique<GlobalShadow>(a.bytes);
    }
  }
}

const Allocation *Memory::find(uint64_t address, uint64_t bytes) const {
  auto it = allocations_.upper_bound(address);
  if (it == allocations_.begin()) {
    return nullptr;
  }
  const Allocation &a = std::prev(it)->second;
  uint64_t offset = address - a.base;
  if (offset > a.bytes || bytes > a.bytes - offset) {
    return nullptr;
  }
  return &a;
}

uint8_t *Memory::resolve(uint64_t address, uint64_t bytes) const {
  const Allocation *a = find(address, bytes);
  return a ? a->data.get() + (address - a->base) : nullptr;
}

std::string Memory::describeNearest(uint64_t address) const {
  if (allocations_.empty()) {
    return "there is no allocation";
  }
  auto distance = [&](const Allocation &a) {
    if (address < a.base) {
      return a.base - address;
    }
    return address < a.base + a.bytes ? 0 : address - (a.base + a.bytes) + 1;
  };
  auto above = allocations_.upper_bound(address);
  const Allocation *best = nullptr;
  if (above != allocations_.end()) {
    best = &above->second;
  }
  if (above != allocations_.begin()) {
    const Allocation &below = std::prev(above)->second;
    if (!best || distance(below) < distance(*best)) {
      best = &below;
    }
  }
  std::string where =
      address < best->base
          ? std::to_string(best->base - address) + " bytes before it"
          : std::to_string(address - best->base) + " bytes into it";
  return "the nearest allocation is [" + hexadecimal(best->base) + ", " +
         hexadecimal(best->base + best->bytes) + "), " + where;
}

} // namespace gmoe::emulator
