// Global memory: allocations with guard gaps, found by address.
#ifndef GMOE_RUNTIME_EMULATOR_MEMORY_H
#define GMOE_RUNTIME_EMULATOR_MEMORY_H

#include "runtime/core/Status.h"
#include "runtime/emulator/Shadow.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gmoe::emulator {

/// What threads of earlier launches did to 128 bytes, since the host wrote
/// them.
enum class LineState : uint8_t {
  Clean,
  Changed,
  Released // and behind a fence towards readers of tensor maps
};

struct Allocation {
  uint64_t base = 0, bytes = 0;
  std::unique_ptr<uint8_t[]> data;
  /// Of the running launch, with the hazard checker.
  mutable std::unique_ptr<GlobalShadow> shadow;
  /// One bit a byte that anybody wrote; empty unless asked for.
  std::unique_ptr<uint8_t[]> written;

  /// One a line; empty where all are clean.
  mutable std::vector<LineState> lines;
  static constexpr uint64_t kLineBytes = 128;

  /// Of lines that hold these bytes, the first that is not clean.
  LineState lineState(uint64_t offset, uint64_t count) const;
  void cleanLines(uint64_t offset, uint64_t count) const;
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
  /// Keeps of a launch which lines its threads wrote.
  template <class IsReleased> void keepLines(IsReleased isReleased);
  /// "the nearest allocation is [base, end), 16 bytes below": for diagnostics.
  std::string describeNearest(uint64_t address) const;

private:
  std::map<uint64_t, Allocation> allocations_;
  bool tracksWrites_ = false;
  uint64_t next_ = 0;
  uint64_t total_ = 0;
  uint64_t limit_;
};

template <class IsReleased> void Memory::keepLines(IsReleased isReleased) {
  for (auto &[address, a] : allocations_) {
    if (!a.shadow) {
      continue;
    }
    uint64_t last = ~uint64_t(0);
    a.shadow->forEachWrite([&](uint64_t offset, const GlobalWrite &write) {
      if (write.write.isStream()) {
        return;
      }
      a.lines.resize(a.bytes / Allocation::kLineBytes + 1);
      uint64_t number = offset / Allocation::kLineBytes;
      LineState &line = a.lines[number];
      bool sound = last != number || line == LineState::Released;
      line =
          sound && isReleased(write) ? LineState::Released : LineState::Changed;
      last = number;
    });
  }
}

std::string hexadecimal(uint64_t value);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_MEMORY_H
