#include "lib/Reference/Interleave.h"

#include "lib/Reference/Layout.h"

#include <algorithm>

using namespace grouped_moe::reference;

/// move(matrix, source row, row) for all rows of all matrices.
template <typename Move>
static void forEachRow(int64_t matrices, int64_t rows, const Move &move) {
  int64_t halfRows = rows / 2;
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    for (int half = 0; half < 2; ++half) {
      for (int64_t f = 0; f < halfRows; ++f) {
        move(matrix, pairedColumn(/*concatenated=*/true, halfRows, half, f),
             pairedColumn(/*concatenated=*/false, halfRows, half, f));
      }
    }
  }
}

void grouped_moe::reference::interleaveRows(const Array &input, Array &data) {
  int64_t rows = input.shape[1];
  int64_t columns = input.shape.size() == 3 ? input.shape[2] : 1;
  int64_t rowBytes = columns * sizeOf(input.format);
  data.errors.assign(input.errors.size(), 0);
  forEachRow(
      input.shape[0], rows, [&](int64_t matrix, int64_t from, int64_t to) {
        int64_t source = matrix * rows + from, target = matrix * rows + to;
        std::copy_n(&input.bytes[source * rowBytes], rowBytes,
                    &data.bytes[target * rowBytes]);
        if (!input.errors.empty()) {
          std::copy_n(&input.errors[source * columns], columns,
                      &data.errors[target * columns]);
        }
      });
}

void grouped_moe::reference::interleaveScales(
    const std::vector<int64_t> &matrix, const Array &input, Array &scales) {
  int64_t rows = matrix[1], blocks = matrix[2] / 32;
  std::fill(scales.bytes.begin(), scales.bytes.end(), 0);
  forEachRow(matrix[0], rows, [&](int64_t m, int64_t from, int64_t to) {
    for (int64_t block = 0; block < blocks; ++block) {
      scales.bytes[scaleOffset(m, to, block, rows, blocks)] =
          input.bytes[scaleOffset(m, from, block, rows, blocks)];
    }
  });
}
