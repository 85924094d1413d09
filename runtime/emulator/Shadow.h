// What the hazard checker remembers of memory: for every 32-bit word the last
// write and two readers since. Tensor memory has a cell for 16 lanes of a
// column.
#ifndef GMOE_RUNTIME_EMULATOR_SHADOW_H
#define GMOE_RUNTIME_EMULATOR_SHADOW_H

#include "runtime/emulator/Clock.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace gmoe::emulator {

/// Who accessed, when, and by which instruction; 0: nobody.
class Record {
public:
  Record() = default;
  Record(uint32_t component, uint32_t time, uint32_t instruction, bool strong,
         uint32_t bytes)
      : bits_(uint64_t(component) << 49 | uint64_t(time & kTimeMask) << 21 |
              uint64_t(std::min(instruction, 0xffffu)) << 5 |
              uint64_t(strong) << 4 | bytes) {}
  explicit operator bool() const { return bits_ != 0; }
  uint32_t component() const { return uint32_t(bits_ >> 49); }
  uint32_t time() const { return uint32_t(bits_ >> 21) & kTimeMask; }
  uint32_t instruction() const { return uint32_t(bits_ >> 5) & 0xffff; }
  /// An atomic or otherwise strong access: two of them do not race.
  bool strong() const { return bits_ >> 4 & 1; }
  /// The bytes of the word that it touched, one bit each.
  uint32_t bytes() const { return uint32_t(bits_ & 0xf); }
  bool isStream() const { return component() >= kFirstStream; }
  bool operator==(const Record &o) const { return bits_ == o.bits_; }
  bool operator!=(const Record &o) const { return bits_ != o.bits_; }

private:
  static constexpr uint32_t kTimeMask = 0xfffffff;
  uint64_t bits_ = 0;
};

struct Cell {
  Record write, read[2];
};

/// A word of global memory. Clusters run in several host threads and know of
/// each other only how far the other one's releases were seen.
struct GlobalCell {
  Record write;
  uint32_t cluster = 0, clusterTime = 0;
};

struct GlobalPage {
  static constexpr uint32_t kBytes = 4096;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  GlobalCell cells[kBytes / 4];
};

class PageLock {
public:
  explicit PageLock(GlobalPage &page) : page_(page) {
    while (page_.busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~PageLock() { page_.busy.clear(std::memory_order_release); }
  PageLock(const PageLock &) = delete;
  PageLock &operator=(const PageLock &) = delete;

private:
  GlobalPage &page_;
};

/// The bytes of a word that [offset, offset + bytes) covers.
inline uint32_t bytesIn(uint64_t word, uint64_t offset, uint64_t bytes) {
  uint64_t low = std::max(offset, word * 4);
  uint64_t high = std::min(offset + bytes, word * 4 + 4);
  return ((1u << (high - low)) - 1) << (low - word * 4);
}

/// The pages of one allocation that the running launch wrote.
class GlobalShadow {
public:
  explicit GlobalShadow(uint64_t bytes)
      : pages_(bytes / GlobalPage::kBytes + 1) {}
  ~GlobalShadow() {
    for (auto &page : pages_) {
      delete page.load(std::memory_order_relaxed);
    }
  }
  GlobalShadow(const GlobalShadow &) = delete;
  GlobalShadow &operator=(const GlobalShadow &) = delete;

  GlobalPage *find(uint64_t offset) const {
    return pages_[offset / GlobalPage::kBytes].load(std::memory_order_acquire);
  }
  GlobalPage &page(uint64_t offset) {
    auto &slot = pages_[offset / GlobalPage::kBytes];
    GlobalPage *page = slot.load(std::memory_order_acquire);
    if (!page) {
      auto *fresh = new GlobalPage;
      if (slot.compare_exchange_strong(page, fresh)) {
        return *fresh;
      }
      delete fresh;
    }
    return *page;
  }

private:
  std::vector<std::atomic<GlobalPage *>> pages_;
};

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_SHADOW_H
