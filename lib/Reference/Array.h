// A value of the reference executor: a dense row-major array.
#ifndef LIB_REFERENCE_ARRAY_H
#define LIB_REFERENCE_ARRAY_H

#include "lib/Reference/Codecs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace grouped_moe::reference {

/// Which elements of an array the program defined: of every `of` runs of `run`
/// elements the first `count`. Rows of a matrix, and atoms of scales.
struct DefinedPart {
  int64_t run = 1, of = 1, count = 1;
  bool all() const { return count == of; }
  bool contains(int64_t element) const { return element / run % of < count; }
};

struct Array {
  Format format = Format::f32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes; // e2m1: two elements a byte, the low nibble first
  DefinedPart defined;
  /// The rest keeps what the destination held: so for outputs of a gemm, not
  /// for what an op made of such an output.
  bool restKept = true;
  /// Computed from a gemm's output, so that another order of its sums shows.
  bool derived = false;
  /// A sum of an epilogue's values.
  bool isSum = false;
  /// Bounds on the error of other orders of summation, an element each, before
  /// its rounding to the format; empty where none is known.
  std::vector<double> errors;

  Array() = default;
  Array(Format format, std::vector<int64_t> shape, uint8_t fill = 0)
      : format(format), shape(std::move(shape)) {
    bytes.assign(static_cast<size_t>(storageBytes(format, elements())), fill);
  }
  int64_t elements() const {
    int64_t count = 1;
    for (int64_t extent : shape) {
      count *= extent;
    }
    return count;
  }
  /// Of a vector, its elements; of a matrix, or each of several, its rows.
  int64_t rows() const {
    return shape[shape.size() < 2 ? 0 : shape.size() - 2];
  }
  /// The first `count` rows; with `columnsFirst` they are the fast extent.
  void defineRows(int64_t count, bool columnsFirst = false) {
    if (columnsFirst) {
      defined = {1, shape.back(), count};
      return;
    }
    defined = {shape.size() < 2 ? 1 : shape.back(), rows(), count};
  }
  /// Of an array that is defined by rows or everywhere.
  int64_t definedRows(bool columnsFirst = false) const {
    return !defined.all() ? defined.count
           : columnsFirst ? shape.back()
                          : rows();
  }

  double at(int64_t index) const {
    if (format == Format::e2m1) {
      return decodeTable(format)[codeAt(index)];
    }
    return decode(format, &bytes[static_cast<size_t>(index) * sizeOf(format)]);
  }
  /// Rounded as the format demands; not for scales and integers.
  void set(int64_t index, double value) {
    if (format == Format::e2m1) {
      setCode(index, encodeNarrow(format, static_cast<float>(value)));
      return;
    }
    encode(format, value, &bytes[static_cast<size_t>(index) * sizeOf(format)]);
  }
  /// Bits of an element of 8 bits or less.
  uint8_t codeAt(int64_t index) const {
    return format == Format::e2m1 ? bytes[index / 2] >> (index % 2 * 4) & 15
                                  : bytes[index];
  }
  void setCode(int64_t index, uint8_t code) {
    if (format != Format::e2m1) {
      bytes[index] = code;
      return;
    }
    int shift = index % 2 * 4;
    bytes[index / 2] = (bytes[index / 2] & ~(15 << shift)) | code << shift;
  }
};

/// "4x512x256xf8E4M3FN"
std::string describe(const Array &array);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_ARRAY_H
