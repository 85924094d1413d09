#include "lib/Reference/Panels.h"

#include <algorithm>
#include <cstring>

using namespace grouped_moe::reference;

// FP8 products have at most 8 significant bits: they are exact in f64, so that
// a fused multiply-add rounds like the two operations.
#pragma clang fp contract(fast)

namespace {

constexpr int kRows = 4;        // of a micro-tile
constexpr int64_t kDepth = 512; // a panel slice stays in the first cache

typedef double Vector __attribute__((vector_size(8 * kColumns), aligned(8)));

/// c[kRows][kColumns] += a[kRows][depth] * panel[depth][kColumns]
__attribute__((target_clones("avx512f", "avx2,fma", "default"))) void
multiply(const double *a, int64_t stride, const double *panel, int64_t depth,
         double *c) {
  Vector sum[kRows];
  std::memcpy(sum, c, sizeof(sum));
  for (int64_t k = 0; k < depth; ++k) {
    Vector b;
    std::memcpy(&b, panel + k * kColumns, sizeof(b));
    for (int r = 0; r < kRows; ++r) {
      sum[r] += a[r * stride + k] * b;
    }
  }
  std::memcpy(c, sum, sizeof(sum));
}

} // namespace

void grouped_moe::reference::multiplyPanels(const double *a, const double *b,
                                            int64_t depth, int64_t width,
                                            double *c) {
  for (int64_t panel = 0; panel < width / kColumns; ++panel) {
    double *tile = c + panel * kRowBlock * kColumns;
    for (int64_t start = 0; start < depth; start += kDepth) {
      int64_t count = std::min(kDepth, depth - start);
      for (int r = 0; r < kRowBlock; r += kRows) {
        multiply(a + r * depth + start, depth,
                 b + (panel * depth + start) * kColumns, count,
                 tile + r * kColumns);
      }
    }
  }
}
