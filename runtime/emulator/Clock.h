// Vector clocks of the hazard checker. A component is a thread, or a stream of
// asynchronous work: the phases of an mbarrier, the bulk groups of a thread, a
// queue of tensor operations. Threads are kept as one floor a warp and a few
// exceptions, because the lanes of a warp mostly know the same.
#ifndef GMOE_RUNTIME_EMULATOR_CLOCK_H
#define GMOE_RUNTIME_EMULATOR_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gmoe::emulator {

/// Components below are threads of the cluster; from here on, streams.
constexpr uint32_t kFirstStream = 16384;
constexpr uint32_t kMaximumStreams = 16384;

class Clock {
public:
  uint32_t get(uint32_t component) const {
    if (component >= kFirstStream) {
      uint32_t k = component - kFirstStream;
      return k < streams_.size() ? streams_[k] : 0;
    }
    uint32_t warp = component / 32;
    uint32_t time = warp < warps_.size() ? warps_[warp] : 0;
    for (const auto &[thread, t] : lanes_) {
      if (thread == component) {
        return std::max(time, t);
      }
    }
    return time;
  }
  bool knows(uint32_t component, uint32_t time) const {
    return get(component) >= time;
  }

  void raiseStream(uint32_t component, uint32_t time) {
    raise(streams_, component - kFirstStream, time);
  }
  /// The lanes `mask` of `warp` up to `time`; `whole`: those are all it has.
  void raiseLanes(uint32_t warp, uint32_t mask, bool whole, uint32_t time) {
    if (whole) {
      raise(warps_, warp, time);
      dropKnown(warp);
      return;
    }
    for (; mask; mask &= mask - 1) {
      raiseLane(warp * 32 + uint32_t(__builtin_ctz(mask)), time);
    }
  }
  void join(const Clock &o) {
    joinTimes(warps_, o.warps_);
    joinTimes(streams_, o.streams_);
    for (const auto &[thread, time] : o.lanes_) {
      raiseLane(thread, time);
    }
    lanes_.erase(std::remove_if(lanes_.begin(), lanes_.end(),
                                [&](const std::pair<uint32_t, uint32_t> &e) {
                                  uint32_t w = e.first / 32;
                                  return w < warps_.size() &&
                                         warps_[w] >= e.second;
                                }),
                 lanes_.end());
  }
  /// Whether this clock knows all that `o` does.
  bool covers(const Clock &o) const {
    for (uint32_t k = 0; k < o.warps_.size(); ++k) {
      if (o.warps_[k] > (k < warps_.size() ? warps_[k] : 0)) {
        return false; // lanes that know more are left aside
      }
    }
    for (uint32_t k = 0; k < o.streams_.size(); ++k) {
      if (o.streams_[k] > (k < streams_.size() ? streams_[k] : 0)) {
        return false;
      }
    }
    for (const auto &[thread, time] : o.lanes_) {
      if (!knows(thread, time)) {
        return false;
      }
    }
    return true;
  }
  bool empty() const {
    return warps_.empty() && streams_.empty() && lanes_.empty();
  }
  void clear() {
    warps_.clear();
    streams_.clear();
    lanes_.clear();
  }

private:
  using Times = std::vector<uint32_t>;
  static void raise(Times &times, uint32_t k, uint32_t time) {
    if (k >= times.size()) {
      times.resize(k + 1);
    }
    times[k] = std::max(times[k], time);
  }
  static void joinTimes(Times &to, const Times &from) {
    if (to.size() < from.size()) {
      to.resize(from.size());
    }
    for (size_t k = 0; k < from.size(); ++k) {
      to[k] = std::max(to[k], from[k]);
    }
  }
  void raiseLane(uint32_t thread, uint32_t time) {
    uint32_t warp = thread / 32;
    if (warp < warps_.size() && warps_[warp] >= time) {
      return;
    }
    for (auto &[t, known] : lanes_) {
      if (t == thread) {
        known = std::max(known, time);
        return;
      }
    }
    lanes_.emplace_back(thread, time);
  }
  void dropKnown(uint32_t warp) {
    lanes_.erase(std::remove_if(lanes_.begin(), lanes_.end(),
                                [&](const std::pair<uint32_t, uint32_t> &e) {
                                  return e.first / 32 == warp &&
                                         e.second <= warps_[warp];
                                }),
                 lanes_.end());
  }

  Times warps_, streams_;
  std::vector<std::pair<uint32_t, uint32_t>> lanes_; // (thread, time)
};

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_CLOCK_H
