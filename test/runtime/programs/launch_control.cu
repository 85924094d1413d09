// Cluster launch control: a running pair of CTAs takes over the work of pairs
// that have not been launched yet. Each CTA index must be counted once.
#include "ptx.cuh"

struct alignas(16) Response {
  uint64_t words[2];
};

/// Writes the response to every CTA of the cluster, and 16 bytes at their bars.
__device__ void tryCancelAll(Response *response, uint64_t *bar) {
  asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta"
               ".mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%0], [%1];" ::"r"(
                   sharedAddress(response)),
               "r"(sharedAddress(bar))
               : "memory");
}
/// False when nothing was canceled; else the index of the first CTA.
__device__ bool canceled(const Response &r, uint32_t &x, uint32_t &y) {
  uint32_t yes;
  asm volatile("{ .reg .b128 r; .reg .pred p;\n"
               "mov.b128 r, {%3, %4};\n"
               "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
               "selp.u32 %0, 1, 0, p;\n"
               "mov.u32 %1, 0; mov.u32 %2, 0;\n"
               "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 "
               "{%1, %2, _, _}, r; }"
               : "=&r"(yes), "=&r"(x), "=&r"(y)
               : "l"(r.words[0]), "l"(r.words[1]));
  return yes;
}

/// counts[y * gridDim.x + x] += 1 by each thread; rounds[...] is how many CTAs
/// the CTA that was launched there stood for.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64)
    countCtas(uint32_t *counts, uint32_t *rounds) {
  __shared__ Response response;
  __shared__ uint64_t bar;
  uint32_t rank = clusterRank(), x = blockIdx.x, y = blockIdx.y, done = 0;
  if (threadIdx.x == 0) {
    barrierInit(&bar, 1);
    barrierInitFence();
  }
  for (uint32_t phase = 0;; phase ^= 1) {
    // The barriers are initialized, the last response was read.
    clusterSync();
    if (threadIdx.x == 0) {
      barrierExpect(&bar, sizeof(Response));
      if (rank == 0) {
        tryCancelAll(&response, &bar);
      }
    }
    atomicAdd(&counts[y * gridDim.x + x], 1u);
    ++done;
    barrierWait(&bar, phase);
    Response r = response;
    fenceAsyncShared();
    if (!canceled(r, x, y)) {
      break;
    }
    x += rank;
  }
  if (threadIdx.x == 0) {
    rounds[blockIdx.y * gridDim.x + blockIdx.x] = done;
  }
  // Each CTA has waited for the last response to itself: none arrives later.
}
