// Block quantization along rows and its inverse, from their equations.
#ifndef LIB_REFERENCE_QUANTIZE_H
#define LIB_REFERENCE_QUANTIZE_H

#include "lib/Reference/Array.h"

namespace grouped_moe::reference {

/// The shape of the row, whole scale array of a matrix of shape [L x] rows x
/// columns with blocks of 32.
std::vector<int64_t> rowScaleShape(const std::vector<int64_t> &matrix);

/// Quantizes one block of 32 values; returns its scale byte.
uint8_t quantizeBlock(Format format, bool floorRounding, const float *values,
                      uint8_t *data);

/// Writes every byte of both outputs; padding scales are 0.
void quantize(const Array &input, bool floorRounding, Array &data,
              Array &scales, unsigned threads);

void dequantize(const Array &data, const Array &scales, Array &output,
                unsigned threads);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_QUANTIZE_H
