// tcgen05 for f16 products: CTAS is 1, or 2 for a CTA pair.
#pragma once
#include "ptx.cuh"

/// K-major operand in 128-byte rows, swizzled by 128 bytes (ISA table 40).
__device__ inline uint64_t operandDescriptor(const void *tile) {
  return 0x4000404000010000ull | (sharedAddress(tile) >> 4);
}
/// f16 inputs, f32 accumulator (ISA table 42).
__device__ constexpr uint32_t instructionDescriptor(uint32_t m, uint32_t n) {
  return 1u << 4 | n >> 3 << 17 | m >> 4 << 24;
}

template <int CTAS> __device__ inline void tensorAlloc(uint32_t *result, uint32_t columns) {
  if (CTAS == 1) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
                 "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(
                     sharedAddress(result)),
                 "r"(columns)
                 : "memory");
  } else {
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;\n"
                 "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::"r"(
                     sharedAddress(result)),
                 "r"(columns)
                 : "memory");
  }
}
template <int CTAS> __device__ inline void tensorFree(uint32_t address, uint32_t columns) {
  if (CTAS == 1) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "r"(columns));
  } else {
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "r"(columns));
  }
}
__device__ inline void fenceAfterThreadSync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

template <int CTAS>
__device__ inline void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t idesc,
                                bool accumulate) {
  if (CTAS == 1) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d),
                 "l"(a), "l"(b), "r"(idesc), "r"(uint32_t(accumulate))
                 : "memory");
  } else {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d),
                 "l"(a), "l"(b), "r"(idesc), "r"(uint32_t(accumulate))
                 : "memory");
  }
}
/// Arrives at `bar` of both CTAs of a pair when the products so far are done.
template <int CTAS> __device__ inline void commitProducts(uint64_t *bar) {
  if (CTAS == 1) {
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
            sharedAddress(bar))
        : "memory");
  } else {
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
                 ".multicast::cluster.b64 [%0], %1;" ::"r"(sharedAddress(bar)),
                 "h"(uint16_t(3))
                 : "memory");
  }
}
/// The tile goes to this CTA, its bytes count at the leader's barrier.
__device__ inline void loadTilePair(void *tile, const TensorMap *map, int x, int y,
                                    uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   sharedAddress(tile)),
               "l"(map), "r"(x), "r"(y), "r"(sharedAddress(bar) & 0xfeffffffu)
               : "memory");
}

/// 16 columns of the 32 lanes that this warp may read.
__device__ inline void loadColumns(uint32_t address, float (&v)[16]) {
  uint32_t r[16];
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];\n"
               "tcgen05.wait::ld.sync.aligned;"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]),
                 "=r"(r[6]), "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]),
                 "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15])
               : "r"(address)
               : "memory");
  for (int k = 0; k < 16; ++k) {
    v[k] = __uint_as_float(r[k]);
  }
}
