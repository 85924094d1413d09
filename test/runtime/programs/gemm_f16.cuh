// D[M, N] = A[M, K] times B[N, K] transposed, f16 to f32, one output tile of
// CTAS x 128 rows and CTAS x 128 columns a CTA or CTA pair. Warps 0 to 3 store,
// warp 4 loads, warp 5 multiplies.
#pragma once
#include "tcgen05.cuh"

constexpr int kTileK = 64; // one swizzled row of 128 bytes
constexpr int kStages = 3;
constexpr uint32_t kOperandBytes = 128 * kTileK * 2;

struct Control {
  uint64_t full[kStages], empty[kStages], done;
  uint32_t accumulator;
};

template <int CTAS> __device__ void everyoneArrives() {
  if (CTAS == 1) {
    __syncthreads();
  } else {
    clusterSync();
  }
}

template <int CTAS>
__device__ void gemm(const TensorMap *a, const TensorMap *b, float *d, int n, int k) {
  constexpr uint32_t kColumns = 128 * CTAS;
  extern __shared__ uint8_t window[];
  __shared__ Control c;
  // Swizzling goes by addresses: operands begin at multiples of 1024.
  uint8_t *tiles = window + (1024 - sharedAddress(window) % 1024) % 1024;
  uint32_t rank = CTAS == 1 ? 0 : clusterRank();
  int warp = threadIdx.x / 32;
  int row = int(blockIdx.x) * 128;
  int column = int(blockIdx.y) * int(kColumns);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrierInit(&c.full[s], 1);
      barrierInit(&c.empty[s], 1);
    }
    barrierInit(&c.done, 1);
    barrierInitFence();
  }
  if (warp == 5) {
    tensorAlloc<CTAS>(&c.accumulator, kColumns);
  }
  everyoneArrives<CTAS>();
  uint32_t accumulator = c.accumulator;

  int steps = k / kTileK, stage = 0, phase = 0;
  auto advance = [&] {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  };
  if (warp == 4 && electOne()) {
    for (int step = 0; step < steps; ++step) {
      uint8_t *tile = tiles + stage * 2 * kOperandBytes;
      barrierWait(&c.empty[stage], phase ^ 1);
      if (rank == 0) {
        barrierExpect(&c.full[stage], CTAS * 2 * kOperandBytes);
      }
      int bRow = column + int(rank) * 128;
      if (CTAS == 1) {
        loadTile(tile, a, step * kTileK, row, &c.full[stage]);
        loadTile(tile + kOperandBytes, b, step * kTileK, bRow, &c.full[stage]);
      } else {
        loadTilePair(tile, a, step * kTileK, row, &c.full[stage]);
        loadTilePair(tile + kOperandBytes, b, step * kTileK, bRow, &c.full[stage]);
      }
      advance();
    }
    // The leader's commits must have arrived in both CTAs before one ends.
    for (int s = 0; CTAS == 2 && s < kStages; ++s) {
      barrierWait(&c.empty[stage], phase ^ 1);
      advance();
    }
  } else if (warp == 5 && rank == 0 && electOne()) {
    for (int step = 0; step < steps; ++step) {
      barrierWait(&c.full[stage], phase);
      uint64_t da = operandDescriptor(tiles + stage * 2 * kOperandBytes);
      uint64_t db = operandDescriptor(tiles + stage * 2 * kOperandBytes + kOperandBytes);
      for (int part = 0; part < 4; ++part) { // 16 elements, 32 bytes
        multiply<CTAS>(accumulator, da + 2 * part, db + 2 * part,
                       instructionDescriptor(128 * CTAS, kColumns), step + part > 0);
      }
      commitProducts<CTAS>(&c.empty[stage]);
      advance();
    }
    commitProducts<CTAS>(&c.done);
  } else if (warp < 4) {
    barrierWait(&c.done, 0);
    fenceAfterThreadSync();
    float *out = d + size_t(row + threadIdx.x) * n + column;
#pragma unroll 1
    for (uint32_t x = 0; x < kColumns; x += 16) {
      float v[16];
      loadColumns(accumulator + (uint32_t(warp) << 21) + x, v);
      for (int j = 0; j < 16; ++j) {
        out[x + j] = v[j];
      }
    }
  }
  everyoneArrives<CTAS>();
  if (warp == 5) {
    tensorFree<CTAS>(accumulator, kColumns);
  }
}
