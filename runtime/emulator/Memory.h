// Global memory: allocations with guard gaps, found by address.
#ifndef GMOE_RUNTIME_EMULATOR_MEMORY_H
#define GMOE_RUNTIME_EMULATOR_MEMORY_H

#include "runtime/core/Status.h"
#include "runtime/emulator/Shadow.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace gmoe::emulator {

struct Allocation {
  uint64_t base = 0, bytes = 0;
  std::unique_ptr<uint8_t[]> data;
  /// Of the running launch, with the hazard checker.
  mutable std::unique_ptr<GlobalShadow> shadow;
  /// One bit a byte that anybody wrote; empty unless asked for.
  std::unique_ptr<uint8_t[]> written;

  void markWritten(uint64_t offset, uint64_t count) const;
  void forgetWrites(uint64_t offset, uint64_t count) const;
  bool allWritten(uint64_t offset, uint64_t count) const;
};

/// Allocation and release are the host's; lookups may run in many threads
/// meanwhile only if neither happens.
class Memory {
public:
  explicit Memory(uint64_t limitBytes) : limit_(limitBytes) {}
  /// Allocations remember which bytes were written.
  void trackWrites() { tracksWrites_ = true; }
  Expected<uint64_t> allocate(uint64_t bytes);
  /// At a fixed address, for replaying a launch.
  Status allocateAt(uint64_t address, uint64_t bytes);
  Status release(uint64_t address);

  /// The allocation that holds [address, address + bytes), or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;
  uint8_t *resolve(uint64_t address, uint64_t bytes) const;
  /// Forgets what earlier launches wrote; `on`: and follows the next one.
  void watch(bool on);
  /// "the nearest allocation is [base, end), 16 bytes below": for diagnostics.
  std::string describeNearest(uint64_t address) const;

private:
  std::map<uint64_t, Allocation> allocations_;
  bool tracksWrites_ = false;
  uint64_t next_ = 0;
  uint64_t total_ = 0;
  uint64_t limit_;
};

std::string hexadecimal(uint64_t value);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_MEMORY_H
