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
  uint64_t bits() const { return bits_; }
  static Record ofBits(uint64_t bits) {
    Record r;
    r.bits_ = bits;
    return r;
  }
  bool operator==(const Record &o) const { return bits_ == o.bits_; }
  bool operator!=(const Record &o) const { return bits_ != o.bits_; }

private:
  static constexpr uint32_t kTimeMask = 0xfffffff;
  uint64_t bits_ = 0;
};

struct Cell {
  Record write, read[2];
};

/// The last write to a word of global memory, by a component of a cluster.
struct GlobalWrite {
  Record write;
  uint64_t cluster = 0;
};

/// Two halves without a lock: they can only be torn where two clusters touch
/// one word at the same time, which is a finding, or where both do it
/// atomically.
class GlobalCell {
public:
  GlobalWrite load() const {
    GlobalWrite w;
    w.cluster = cluster_.load(std::memory_order_relaxed);
    w.write = Record::ofBits(record_.load(std::memory_order_relaxed));
    return w;
  }
  void store(Record record, uint64_t cluster) {
    cluster_.store(cluster, std::memory_order_relaxed);
    record_.store(record.bits(), std::memory_order_relaxed);
  }

private:
  std::atomic<uint64_t> record_{0}, cluster_{0};
};

struct GlobalPage {
  static constexpr uint32_t kBytes = 4096;
  GlobalCell cells[kBytes / 4];
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

  /// Calls f(offset, write) for every word that was written.
  template <class F> void forEachWrite(F f) const {
    for (uint64_t p = 0; p < pages_.size(); ++p) {
      GlobalPage *page = pages_[p].load(std::memory_order_acquire);
      for (uint64_t k = 0; page && k < GlobalPage::kBytes / 4; ++k) {
        GlobalWrite write = page->cells[k].load();
        if (write.write) {
          f(p * GlobalPage::kBytes + k * 4, write);
        }
      }
    }
  }

private:
  std::vector<std::atomic<GlobalPage *>> pages_;
};

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_SHADOW_H
