// Loops over host threads.
#ifndef LIB_REFERENCE_PARALLEL_H
#define LIB_REFERENCE_PARALLEL_H

#include <cstdint>
#include <functional>

namespace grouped_moe::reference {

/// body(i) for i in [0, count), in any order, on up to `threads` threads (0: as
/// many as the machine has).
void parallelFor(int64_t count, unsigned threads,
                 const std::function<void(int64_t)> &body);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_PARALLEL_H
