// Counts of bytes: shared atomics for a CTA, global atomics for the grid.
#include <cstdint>

extern "C" __global__ void __launch_bounds__(256)
    histogram(const uint32_t *words, uint32_t count, uint32_t *bins) {
  __shared__ uint32_t local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (uint32_t k = blockIdx.x * 256 + threadIdx.x; k < count; k += gridDim.x * 256) {
    uint32_t word = words[k];
    for (int byte = 0; byte < 4; ++byte) {
      atomicAdd(&local[word >> 8 * byte & 255], 1u);
    }
  }
  __syncthreads();
  if (local[threadIdx.x]) {
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
  }
}
