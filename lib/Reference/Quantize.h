// Block quantization and its inverse, from their equations.
#ifndef LIB_REFERENCE_QUANTIZE_H
#define LIB_REFERENCE_QUANTIZE_H

#include "lib/Reference/Array.h"
#include "lib/Reference/Layout.h"

namespace grouped_moe::reference {

/// `up` and `floor` give e8m0 scales, `nearest` e4m3 ones.
enum class ScaleRule : uint8_t { up, floor, nearest };

/// How a block of values becomes a scale and codes.
struct BlockRule {
  Format format = Format::e4m3; // of the data
  ScaleRule scale = ScaleRule::up;
  float normConst = 1;
};

/// Whether quantized data lies columns first: of e2m1 that is summed over rows,
/// two rows share a byte.
bool isColumnsFirst(Format data, const ScaleForm &form);

/// Quantizes one block of `count` values; returns its scale byte.
uint8_t quantizeBlock(const BlockRule &rule, const float *values, int64_t count,
                      uint8_t *codes);

/// A part of a matrix: value (r, c) is at values[r * stride + c], and is the
/// element (row + r, column + c). Whole blocks, but for rows that the region
/// has not: those count as zeros.
struct Tile {
  const float *values = nullptr;
  int64_t stride = 0;
  int64_t row = 0, rows = 0, column = 0, columns = 0;
};

/// Writes the data and the scales of the tile's blocks.
void quantizeTile(const BlockRule &rule, const ScaleRegion &region,
                  const Tile &tile, Array &data, Array &scales);

/// Rows outside the regions are left alone; scale bytes of their atoms that
/// belong to no element are 0.
void quantize(const Array &input, const BlockRule &rule,
              const std::vector<ScaleRegion> &regions, Array &data,
              Array &scales, unsigned threads);

void dequantize(const Array &data, const Array &scales,
                const std::vector<ScaleRegion> &regions, Array &output,
                unsigned threads);

/// Sets the bytes of the scales' defined atoms to 0.
void clearDefined(Array &scales);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_QUANTIZE_H
