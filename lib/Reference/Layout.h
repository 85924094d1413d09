// Where the reference executor finds scales and pairs in memory: its own
// reading of the layouts, shared with no other part of the project.
#ifndef LIB_REFERENCE_LAYOUT_H
#define LIB_REFERENCE_LAYOUT_H

#include "lib/Reference/Array.h"

#include <cstdint>
#include <vector>

namespace grouped_moe::reference {

struct ScaleForm {
  bool column = false;   // a block runs down a column, not along a row
  bool perGroup = false; // every group starts new atoms
  int64_t block = 32;
};

/// The byte of the scale of line `line` (of `lines` in its matrix) and block
/// `block` (of `blocks`) in blocked scales; a line is a row of a matrix that is
/// quantized along rows.
inline int64_t scaleOffset(int64_t matrix, int64_t line, int64_t block,
                           int64_t lines, int64_t blocks) {
  int64_t atomLines = (lines + 127) / 128, atomBlocks = (blocks + 3) / 4;
  return matrix * atomLines * atomBlocks * 512 +
         (line / 128) * atomBlocks * 512 + (block / 4) * 512 +
         (line % 32) * 16 + ((line % 128) / 32) * 4 + block % 4;
}

/// Rows that share one set of atoms: a matrix, or a group of one.
struct ScaleRegion {
  ScaleForm form;
  int64_t firstRow = 0, rows = 0, columns = 0;
  int64_t base = 0; // byte of its first atom

  /// The scale of the element in row `row` of the array, column `column`.
  int64_t offset(int64_t row, int64_t column) const;
  int64_t bytes() const;
};

/// Of each group for a per-group form, else of each matrix.
std::vector<ScaleRegion> scaleRegions(ScaleForm form, int64_t matrices,
                                      int64_t rows, int64_t columns,
                                      const std::vector<int64_t> &ends);

/// The atoms with a scale of one of the first `rows` rows; `whole` counts only
/// those that hold no scale of a later row.
DefinedPart definedScales(const Array &scales,
                          const std::vector<ScaleRegion> &regions, int64_t rows,
                          bool whole);

/// The shape of the scales of a matrix of shape [L x] rows x columns. Per-group
/// forms: for `groups` groups that start at multiples of `aligned` rows.
std::vector<int64_t> scaleShape(ScaleForm form,
                                const std::vector<int64_t> &matrix,
                                int64_t groups = 1, int64_t aligned = 1);

/// Column `column` (of `columns`) of one half among the two of a matrix of
/// pairs: blocks of 32 columns that alternate, or the halves side by side.
inline int64_t pairedColumn(bool concatenated, int64_t columns, int half,
                            int64_t column) {
  if (concatenated) {
    return half * columns + column;
  }
  return (column / 32 * 2 + half) * 32 + column % 32;
}

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_LAYOUT_H
