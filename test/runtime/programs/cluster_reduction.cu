// Column sums over a cluster of eight CTAs: every CTA sums its rows in shared
// memory, then adds one eighth of the columns over all CTAs through distributed
// shared memory.
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;
constexpr int kColumns = 256, kCtas = 8;

extern "C" __global__ void __cluster_dims__(kCtas, 1, 1) __launch_bounds__(kColumns)
    columnSums(const int32_t *in, int32_t *out, int rows) {
  __shared__ int32_t sums[kColumns];
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank();
  int32_t v = 0;
  for (int row = int(rank); row < rows; row += kCtas) {
    v += in[(blockIdx.x / kCtas * rows + row) * kColumns + threadIdx.x];
  }
  sums[threadIdx.x] = v;
  cluster.sync();
  if (threadIdx.x < kColumns / kCtas) {
    int column = int(rank) * (kColumns / kCtas) + int(threadIdx.x);
    int32_t total = 0;
    for (int peer = 0; peer < kCtas; ++peer) {
      total += cluster.map_shared_rank(sums, peer)[column];
    }
    out[blockIdx.x / kCtas * kColumns + column] = total;
  }
  // A CTA's shared memory must outlive its readers.
  cluster.sync();
}
