// Control flow that differs between the lanes of a warp.
#include <cstdint>

__device__ __noinline__ uint32_t triple(uint32_t v) { return 3 * v + 1; }
__device__ __noinline__ uint32_t halve(uint32_t v) { return v / 2; }
__device__ __noinline__ uint32_t mix(uint32_t v) {
  uint32_t h = v;
  for (uint32_t k = 0; k < v % 7; ++k) {
    h = h * 2654435761u ^ h >> 13;
  }
  return h;
}
__device__ uint32_t (*const kFunctions[3])(uint32_t) = {triple, halve, mix};

/// Steps of 3n + 1 until 1: a loop whose length the data decides.
extern "C" __global__ void collatz(const uint32_t *in, uint32_t *out, uint32_t n) {
  uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) {
    return;
  }
  uint32_t v = in[k], steps = 0;
  if (v == 0) {
    out[k] = 0xffffffffu;
    return;
  }
  while (v != 1) {
    v = v % 2 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  out[k] = steps;
}

/// A small stack machine: nested loops around a dense switch.
extern "C" __global__ void interpret(const uint8_t *code, uint32_t length, const uint32_t *in,
                                     uint32_t *out, uint32_t n) {
  uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) {
    return;
  }
  uint32_t a = in[k], b = k;
  for (uint32_t at = a % 5; at < length; ++at) {
    switch (code[at]) {
    case 0:
      a += b;
      break;
    case 1:
      b ^= a >> 3;
      break;
    case 2:
      a = __popc(a) + b;
      break;
    case 3:
      if (a & 1) {
        ++at;
      }
      break;
    case 4:
      for (uint32_t j = 0; j < (a & 7); ++j) {
        b = b * 5 + j;
      }
      break;
    case 5: {
      uint32_t t = a;
      a = b;
      b = t;
      break;
    }
    case 6:
      if (b % 11 == 3) {
        out[k] = a - b;
        return;
      }
      break;
    case 7:
      a = a << 5 | a >> 27;
      break;
    default:
      a = ~a;
    }
  }
  out[k] = a ^ b;
}

/// Calls through a table, chosen by each lane.
extern "C" __global__ void indirect(const uint32_t *in, uint32_t *out, uint32_t n) {
  uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) {
    uint32_t v = in[k];
    for (int step = 0; step < 4; ++step) {
      v = kFunctions[v % 3](v);
    }
    out[k] = v;
  }
}

/// Votes and matches among the lanes that took a branch.
extern "C" __global__ void votes(const uint32_t *in, uint32_t *out) {
  uint32_t v = in[threadIdx.x], result = 0;
  uint32_t odd = __ballot_sync(0xffffffffu, v & 1);
  if (v & 1) {
    uint32_t same = __match_any_sync(odd, v & 6);
    result = __popc(same) << 8 | uint32_t(__shfl_sync(same, int(v), __ffs(same) - 1)) % 251;
    __syncwarp(odd);
  } else {
    result = __any_sync(~odd, v % 3 == 0) ? 0x10000 : 0x20000;
  }
  out[threadIdx.x] = result + __reduce_max_sync(0xffffffffu, v);
}
