// What the supported chips can hold and execute: the only home of such numbers.
#ifndef LIB_TARGET_TARGET_H
#define LIB_TARGET_TARGET_H

#include <cstdint>
#include <string_view>

namespace grouped_moe {

/// Facts of one chip. Sources: PTX ISA 9.0, "Tensor memory", "mbarrier",
/// "tcgen05.mma" (tables 39 and 55); CUDA C++ programming guide, "Technical
/// specifications per compute capability". Of speed, for estimates: B200, 148
/// SMs, 7.67 TB/s at 1.85 GHz; SemiAnalysis' public microbenchmarks of tcgen05.
struct Target {
  std::string_view chip;
  /// Lowest PTX version (major * 10 + minor) that has the instructions used.
  int minPtxVersion;
  /// Dynamic shared memory of one CTA, bytes.
  int64_t maxSharedBytes;
  /// Tensor memory of one SM: 32-bit columns of `tensorLanes` lanes.
  int64_t tensorColumns;
  int64_t tensorLanes;
  /// Least columns of one allocation; allocations are powers of two.
  int64_t minTensorColumns;
  /// Pending arrivals and transaction bytes of one mbarrier phase.
  int64_t maxBarrierCount;
  /// Rows of the accumulator of a one-CTA block-scaled MMA.
  int64_t mmaM;
  /// K of one block-scaled MMA of 8-bit operands, which is also a scale block.
  int64_t mmaK;

  /// Whether a block-scaled MMA has this N; for a pair of CTAs, least N and
  /// step are twice those of one.
  bool isLegalMmaN(int64_t n, bool isPair) const {
    int64_t ctas = isPair ? 2 : 1;
    return n >= minMmaN * ctas && n <= maxMmaN && n % (stepMmaN * ctas) == 0;
  }
  int64_t minMmaN, maxMmaN, stepMmaN;

  /// Streaming multiprocessors; an estimate's, a launch asks the device.
  int64_t sms;
  /// Bytes of global memory in a clock of one SM, when all of them ask.
  int64_t globalBytesPerClock;
  /// Bytes of L2 in a clock of one SM: assumed, none is published for this
  /// chip.
  int64_t l2BytesPerClock;
  /// Clocks from a bulk load to its bytes: 0.8 us of small ones, from DRAM.
  int64_t loadLatency;
  /// Clocks of one saturated block-scaled MMA of N columns and 32 bytes of K,
  /// of 128 rows for each CTA: N / 2, or its operands at 128 bytes a clock: the
  /// microbenchmarks' 48, 64 and 128 for 64, 128 and 256 columns of one CTA, 64
  /// and 128 for 128 and 256 of a pair.
  int64_t mmaClocks(int64_t n, bool isPair) const {
    int64_t operands = 128 * 32 + n * 32 / (isPair ? 2 : 1);
    return operands / 128 > n / 2 ? operands / 128 : n / 2;
  }
};

/// The facts of `chip`, or null if it is not supported.
const Target *lookupTarget(std::string_view chip);

/// The target that resources are checked against when none is named.
const Target &defaultTarget();

/// Names of the supported chips, for diagnostics.
std::string_view supportedChips();

} // namespace grouped_moe

#endif // LIB_TARGET_TARGET_H
