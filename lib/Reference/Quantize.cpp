#include "lib/Reference/Quantize.h"

#include "lib/Reference/Parallel.h"

#include <algorithm>
#include <cmath>

using namespace grouped_moe::reference;

static constexpr int64_t kBlock = 32;

std::vector<int64_t>
grouped_moe::reference::rowScaleShape(const std::vector<int64_t> &matrix) {
  std::vector<int64_t> shape(matrix.begin(), matrix.end() - 2);
  int64_t rows = matrix[matrix.size() - 2], blocks = matrix.back() / kBlock;
  shape.insert(shape.end(), {(rows + 127) / 128, (blocks + 3) / 4, 32, 4, 4});
  return shape;
}

uint8_t grouped_moe::reference::quantizeBlock(Format format, bool floorRounding,
                                              const float *values,
                                              uint8_t *data) {
  float amax = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    float magnitude = std::fabs(values[i]);
    // Once NaN, always NaN: no comparison with it holds.
    amax = std::isnan(magnitude) || magnitude > amax ? magnitude : amax;
  }
  uint8_t b =
      floorRounding ? scaleFloor(format, amax) : scaleRceil(format, amax);
  float multiplier = scaleMultiplier(b);
  for (int64_t i = 0; i < kBlock; ++i) {
    data[i] = b == 255 ? 0x7F : encodeFp8(format, values[i] * multiplier);
  }
  return b;
}

void grouped_moe::reference::quantize(const Array &input, bool floorRounding,
                                      Array &data, Array &scales,
                                      unsigned threads) {
  int64_t columns = input.shape.back(), blocks = columns / kBlock;
  int64_t rows = input.shape[input.shape.size() - 2];
  int64_t matrices = input.shape.size() == 3 ? input.shape[0] : 1;
  std::fill(scales.bytes.begin(), scales.bytes.end(), 0);
  parallelFor(matrices * rows, threads, [&](int64_t row) {
    for (int64_t block = 0; block < blocks; ++block) {
      float values[kBlock];
      int64_t start = row * columns + block * kBlock;
      for (int64_t i = 0; i < kBlock; ++i) {
        values[i] = static_cast<float>(input.at(start + i));
      }
      scales.bytes[scaleOffset(row / rows, row % rows, block, rows, blocks)] =
          quantizeBlock(data.format, floorRounding, values, &data.bytes[start]);
    }
  });
}

void grouped_moe::reference::dequantize(const Array &data, const Array &scales,
                                        Array &output, unsigned threads) {
  int64_t columns = data.shape.back(), blocks = columns / kBlock;
  int64_t rows = data.shape[data.shape.size() - 2];
  int64_t matrices = data.shape.size() == 3 ? data.shape[0] : 1;
  const std::array<double, 256> &values = decodeTable(data.format);
  const std::array<double, 256> &factors = decodeTable(Format::e8m0);
  unsigned size = sizeOf(output.format);
  parallelFor(matrices * rows, threads, [&](int64_t row) {
    for (int64_t i = 0; i < columns; ++i) {
      uint8_t scale = scales.bytes[scaleOffset(row / rows, row % rows,
                                               i / kBlock, rows, blocks)];
      int64_t at = row * columns + i;
      // The f64 product is exact: one rounding, to the f32 product.
      float product =
          static_cast<float>(values[data.bytes[at]] * factors[scale]);
      encode(output.format, product, &output.bytes[at * size]);
    }
  });
}
