// out = factor * in + tile number, tile by tile: a producer warp loads through a
// ring of three stages, four warps compute, one thread stores from two buffers.
#include "ptx.cuh"

constexpr int kSide = 32, kStages = 3, kWorkers = 128;
constexpr uint32_t kTileBytes = kSide * kSide * 4;

struct Shared {
  int32_t in[kStages][kSide * kSide];
  int32_t out[2][kSide * kSide];
  uint64_t full[kStages], empty[kStages];
};

extern "C" __global__ void __launch_bounds__(kWorkers + 32)
    scaleTiles(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out,
               int tilesX, int tiles, int factor) {
  __shared__ alignas(128) Shared s;
  if (threadIdx.x == 0) {
    for (int k = 0; k < kStages; ++k) {
      barrierInit(&s.full[k], 1);
      barrierInit(&s.empty[k], kWorkers);
    }
    barrierInitFence();
  }
  __syncthreads();
  int stage = 0, phase = 0;
  if (threadIdx.x >= kWorkers) {
    if (threadIdx.x == kWorkers) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        barrierWait(&s.empty[stage], phase ^ 1);
        barrierExpect(&s.full[stage], kTileBytes);
        loadTile(s.in[stage], &in, tile % tilesX * kSide, tile / tilesX * kSide, &s.full[stage]);
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
      }
    }
    return;
  }
  int buffer = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // The store from this buffer, two tiles ago, has read it.
    if (threadIdx.x == 0) {
      waitStoresRead<1>();
    }
    asm volatile("bar.sync 1, %0;" ::"n"(kWorkers) : "memory");
    barrierWait(&s.full[stage], phase);
    for (int k = threadIdx.x; k < kSide * kSide; k += kWorkers) {
      s.out[buffer][k] = s.in[stage][k] * factor + tile;
    }
    barrierArrive(&s.empty[stage]);
    fenceAsyncShared();
    asm volatile("bar.sync 1, %0;" ::"n"(kWorkers) : "memory");
    if (threadIdx.x == 0) {
      storeTile(&out, tile % tilesX * kSide, tile / tilesX * kSide, s.out[buffer]);
      commitStores();
    }
    buffer ^= 1;
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
  // The buffers must outlive the stores' reads; the end of the kernel does the
  // rest.
  if (threadIdx.x == 0) {
    waitStoresRead<0>();
  }
}
