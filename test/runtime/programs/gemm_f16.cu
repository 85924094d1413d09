#include "gemm_f16.cuh"

extern "C" __global__ void __launch_bounds__(192)
    gemmOneCta(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *d,
               int n, int k) {
  gemm<1>(&a, &b, d, n, k);
}
