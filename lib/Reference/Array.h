// A value of the reference executor: a dense row-major array.
#ifndef LIB_REFERENCE_ARRAY_H
#define LIB_REFERENCE_ARRAY_H

#include "lib/Reference/Codecs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace grouped_moe::reference {

struct Array {
  Format format = Format::f32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
  /// Rows that the program defined; -1: all of them.
  int64_t definedRows = -1;
  /// The other rows keep what the destination held: so for outputs of a gemm,
  /// not for what an op made of such an output.
  bool restKept = true;
  /// Computed from a gemm's output, so that another order of its sums shows.
  bool derived = false;
  /// Bounds on the error of other orders of summation, an element each, before
  /// its rounding to the format; empty where none is known.
  std::vector<double> errors;

  Array() = default;
  Array(Format format, std::vector<int64_t> shape, uint8_t fill = 0)
      : format(format), shape(std::move(shape)) {
    bytes.assign(static_cast<size_t>(elements()) * sizeOf(format), fill);
  }
  int64_t elements() const {
    int64_t count = 1;
    for (int64_t extent : shape) {
      count *= extent;
    }
    return count;
  }
  double at(int64_t index) const {
    return decode(format, &bytes[static_cast<size_t>(index) * sizeOf(format)]);
  }
};

/// "4x512x256xf8E4M3FN"
std::string describe(const Array &array);

/// The byte of the scale of row `row` (of `rows` in its matrix) and block
/// `block` (of `blocks`) in a blocked scale array, row and whole.
inline int64_t scaleOffset(int64_t matrix, int64_t row, int64_t block,
                           int64_t rows, int64_t blocks) {
  int64_t rm = (rows + 127) / 128, rk = (blocks + 3) / 4;
  return matrix * rm * rk * 512 + (row / 128) * rk * 512 + (block / 4) * 512 +
         (row % 32) * 16 + ((row % 128) / 32) * 4 + block % 4;
}

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_ARRAY_H
