#include "lib/Reference/Parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

void grouped_moe::reference::parallelFor(
    int64_t count, unsigned threads, const std::function<void(int64_t)> &body) {
  if (threads == 0) {
    threads = std::max(1u, std::thread::hardware_concurrency());
  }
  threads = static_cast<unsigned>(std::min<int64_t>(threads, count));
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < count;) {
      body(i);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t) {
    pool.emplace_back(work);
  }
  work();
  for (std::thread &thread : pool) {
    thread.join();
  }
}
