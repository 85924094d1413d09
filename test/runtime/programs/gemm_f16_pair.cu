// The grid's x counts CTAs: two of them make one tile of 256 rows.
#include "gemm_f16.cuh"

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(192)
    gemmPair(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *d,
             int n, int k) {
  gemm<2>(&a, &b, d, n, k);
}
