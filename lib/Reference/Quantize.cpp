#include "lib/Reference/Quantize.h"

#include "lib/Reference/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace grouped_moe::reference;

static constexpr int64_t kLargestBlock = 32;
static constexpr int64_t kStripe = 32; // rows of a task

bool grouped_moe::reference::isColumnsFirst(Format data,
                                            const ScaleForm &form) {
  return data == Format::e2m1 && form.column;
}

namespace {
/// Where the element of a row and a column is in a matrix.
struct Places {
  Places(const Array &matrix, bool columnsFirst) {
    int64_t fast = matrix.shape.back();
    rowStep = columnsFirst ? 1 : fast;
    columnStep = columnsFirst ? fast : 1;
  }
  int64_t at(int64_t row, int64_t column) const {
    return row * rowStep + column * columnStep;
  }
  int64_t rowStep, columnStep;
};
} // namespace

static uint8_t exponentField(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits >> 23 & 0xFF;
}

static uint8_t blockScale(const BlockRule &rule, float amax) {
  if (rule.scale == ScaleRule::floor) {
    int exponent = exponentField(amax * rule.normConst);
    int shifted = exponent - largestExponentOf(rule.format);
    return exponent == 255 ? 255 : static_cast<uint8_t>(std::max(shifted, 0));
  }
  // Two products, each rounded to f32.
  const float inverse = 1.0f / largestOf(rule.format);
  float t = amax * inverse;
  t = t * rule.normConst;
  return rule.scale == ScaleRule::up ? encodeScaleUp(t)
                                     : encodeNarrow(Format::e4m3, t);
}

/// What each value is multiplied with before its rounding.
static float blockMultiplier(const BlockRule &rule, uint8_t scale) {
  float inverse;
  if (rule.scale == ScaleRule::nearest) {
    auto value = static_cast<float>(decodeTable(Format::e4m3)[scale]);
    if (value == 0) {
      return 0;
    }
    inverse = 1.0f / value;
  } else {
    inverse = scaleMultiplier(scale);
  }
  float product = rule.normConst * inverse;
  // c * 2^127 may be Inf; 0 times that would be NaN in a block of zeros.
  return std::isinf(product) ? std::numeric_limits<float>::max() : product;
}

uint8_t grouped_moe::reference::quantizeBlock(const BlockRule &rule,
                                              const float *values,
                                              int64_t count, uint8_t *codes) {
  float amax = 0;
  for (int64_t i = 0; i < count; ++i) {
    float magnitude = std::fabs(values[i]);
    // Once NaN, always NaN: no comparison with it holds.
    amax = std::isnan(magnitude) || magnitude > amax ? magnitude : amax;
  }
  uint8_t scale = blockScale(rule, amax);
  float multiplier = blockMultiplier(rule, scale);
  for (int64_t i = 0; i < count; ++i) {
    codes[i] = encodeNarrow(rule.format, values[i] * multiplier);
  }
  return scale;
}

void grouped_moe::reference::quantizeTile(const BlockRule &rule,
                                          const ScaleRegion &region,
                                          const Tile &tile, Array &data,
                                          Array &scales) {
  bool down = region.form.column;
  int64_t block = region.form.block;
  Places places(data, isColumnsFirst(data.format, region.form));
  for (int64_t r = 0; r < tile.rows; r += down ? block : 1) {
    for (int64_t c = 0; c < tile.columns; c += down ? 1 : block) {
      int64_t count = down ? std::min(block, tile.rows - r) : block;
      float values[kLargestBlock] = {};
      uint8_t codes[kLargestBlock];
      for (int64_t i = 0; i < count; ++i) {
        values[i] = tile.values[(r + (down ? i : 0)) * tile.stride + c +
                                (down ? 0 : i)];
      }
      int64_t row = tile.row + r, column = tile.column + c;
      scales.bytes[region.offset(row, column)] =
          quantizeBlock(rule, values, block, codes);
      for (int64_t i = 0; i < count; ++i) {
        data.setCode(places.at(row + (down ? i : 0), column + (down ? 0 : i)),
                     codes[i]);
      }
    }
  }
}

void grouped_moe::reference::clearDefined(Array &scales) {
  for (size_t i = 0; i < scales.bytes.size(); ++i) {
    if (scales.defined.contains(static_cast<int64_t>(i))) {
      scales.bytes[i] = 0;
    }
  }
}

/// body(region, first row, rows) for stripes of whole blocks.
template <typename Body>
static void forEachStripe(const std::vector<ScaleRegion> &regions,
                          unsigned threads, const Body &body) {
  for (const ScaleRegion &region : regions) {
    int64_t stripes = (region.rows + kStripe - 1) / kStripe;
    parallelFor(stripes, threads, [&](int64_t stripe) {
      int64_t first = stripe * kStripe;
      body(region, region.firstRow + first,
           std::min(kStripe, region.rows - first));
    });
  }
}

void grouped_moe::reference::quantize(const Array &input, const BlockRule &rule,
                                      const std::vector<ScaleRegion> &regions,
                                      Array &data, Array &scales,
                                      unsigned threads) {
  int64_t columns = input.shape.back();
  forEachStripe(regions, threads,
                [&](const ScaleRegion &region, int64_t row, int64_t rows) {
                  std::vector<float> values(rows * columns);
                  for (int64_t i = 0; i < rows * columns; ++i) {
                    values[i] = static_cast<float>(input.at(row * columns + i));
                  }
                  Tile tile{values.data(), columns, row, rows, 0, columns};
                  quantizeTile(rule, region, tile, data, scales);
                });
}

void grouped_moe::reference::dequantize(const Array &data, const Array &scales,
                                        const std::vector<ScaleRegion> &regions,
                                        Array &output, unsigned threads) {
  int64_t columns = output.shape.back();
  bool first = !regions.empty() && isColumnsFirst(data.format, regions[0].form);
  Places places(data, first);
  const std::array<double, 256> &factors = decodeTable(scales.format);
  forEachStripe(
      regions, threads,
      [&](const ScaleRegion &region, int64_t row, int64_t rows) {
        for (int64_t r = row; r < row + rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            double factor = factors[scales.bytes[region.offset(r, c)]];
            // The f64 product is exact: one rounding, to the f32 product.
            output.set(r * columns + c,
                       static_cast<float>(data.at(places.at(r, c)) * factor));
          }
        }
      });
}
