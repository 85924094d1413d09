// cluster_reduction.cu and tma_pipeline.cu.
#include "test/runtime/programs/ProgramSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

TEST(ClusterPrograms, DistributedSharedMemory) {
  const uint32_t rows = 37, clusters = 3, columns = 256;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program p("cluster_reduction", seed);
    std::vector<int32_t> in(clusters * rows * columns),
        want(clusters * columns);
    for (uint32_t k = 0; k < in.size(); ++k) {
      in[k] = int32_t(hashed(k)) >> 8;
      want[k / (rows * columns) * columns + k % columns] += in[k];
    }
    uint64_t out = p.poisoned<int32_t>(want.size());
    p.check(p.run("columnSums", parameters(p.upload(in), out, rows),
                  {columns, 1, 1}, {8 * clusters, 1, 1}));
    EXPECT_EQ(p.download<int32_t>(out, want.size()), want);
  }
}

TEST(ClusterPrograms, TmaPipeline) {
  // The last tiles hang over both edges: loads fill zeros, stores are clipped.
  const int rows = 90, columns = 148, factor = 7, tilesX = 5, tiles = 15;
  for (uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    Program p("tma_pipeline", seed);
    std::vector<int32_t> in(rows * columns), want(rows * columns);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        int k = r * columns + c;
        in[k] = int32_t(hashed(uint32_t(k)) % 100000);
        want[k] = in[k] * factor + r / 32 * tilesX + c / 32;
      }
    }
    uint64_t out = p.poisoned<int32_t>(in.size());
    auto mapOf = [&](uint64_t address) {
      return p.map(matrixMap(TensorMapType::S32, address, rows, columns, 4, 32,
                             32, TensorMapSwizzle::None));
    };
    p.check(p.run(
        "scaleTiles",
        parameters(mapOf(p.upload(in)), mapOf(out), tilesX, tiles, factor),
        {160, 1, 1}, {2, 1, 1}));
    ASSERT_EQ(p.download<int32_t>(out, in.size()), want) << "seed " << seed;
  }
}

} // namespace
