// A whole CUDA program: it checks itself, and the offsets of Abi.h through
// CUDA's own headers.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void add(const float *a, const float *b, float *out, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) {
    out[k] = a[k] + b[k];
  }
}

#define CHECK(x)                                                                                   \
  if (!(x)) {                                                                                      \
    std::printf("failed: %s\n", #x);                                                               \
    return 1;                                                                                      \
  }

int main() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  CHECK(p.major == 10 && p.minor == 0 && p.multiProcessorCount == 16 && p.warpSize == 32);
  CHECK(p.maxThreadsDim[2] == 64 && p.maxGridSize[0] == 0x7fffffff && p.maxGridSize[1] == 65535);
  CHECK(p.sharedMemPerBlockOptin == 232448 && p.sharedMemPerMultiprocessor == 233472);
  CHECK(p.clusterLaunch == 1 && p.reservedSharedMemPerBlock == 1024 && p.l2CacheSize == 1 << 26);
  cudaFuncAttributes f;
  CHECK(cudaFuncGetAttributes(&f, add) == cudaSuccess);
  CHECK(f.maxThreadsPerBlock == 1024 && f.maxDynamicSharedSizeBytes == 232448);
  int optin = 0;
  CHECK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess);
  CHECK(optin == 232448);

  const int n = 1000;
  std::vector<float> a(n), b(n), out(n);
  for (int k = 0; k < n; ++k) {
    a[k] = float(k);
    b[k] = 0.5f;
  }
  float *da, *db, *dout;
  CHECK(cudaMalloc(&da, n * 4) == cudaSuccess && cudaMalloc(&db, n * 4) == cudaSuccess);
  CHECK(cudaMalloc(&dout, n * 4) == cudaSuccess);
  cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice);
  add<<<(n + 127) / 128, 128>>>(da, db, dout, n);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  cudaMemcpy(out.data(), dout, n * 4, cudaMemcpyDeviceToHost);
  for (int k = 0; k < n; ++k) {
    CHECK(out[k] == float(k) + 0.5f);
  }
  cudaFree(da);
  cudaFree(db);
  cudaFree(dout);
  std::printf("passed\n");
  return 0;
}
