// cluster_reduction.cu, tma_pipeline.cu and launch_control.cu.
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

TEST(ClusterPrograms, LaunchControl) {
  const uint32_t gridX = 12, gridY = 5, ctas = gridX * gridY;
  bool someStoodForMany = false, someWereLaunchedLater = false;
  for (uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    Program p("launch_control", seed);
    uint64_t counts = p.upload(std::vector<uint32_t>(ctas, 0));
    uint64_t rounds = p.upload(std::vector<uint32_t>(ctas, 0));
    p.check(p.run("countCtas", parameters(counts, rounds), {64, 1, 1},
                  {gridX, gridY, 1}));
    EXPECT_EQ(p.download<uint32_t>(counts, ctas),
              std::vector<uint32_t>(ctas, 64));
    uint32_t total = 0, launched = 0;
    for (uint32_t r : p.download<uint32_t>(rounds, ctas)) {
      total += r;
      launched += r > 0;
      someStoodForMany |= r > 2;
    }
    EXPECT_EQ(total, ctas);
    // Some requests are refused, so that clusters are left to be launched.
    someWereLaunchedLater |= launched > 4;
  }
  EXPECT_TRUE(someStoodForMany);
  EXPECT_TRUE(someWereLaunchedLater);
}

} // namespace
