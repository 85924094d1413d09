#include "lib/Reference/Gemm.h"

#include "lib/Reference/Panels.h"
#include "lib/Reference/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace grouped_moe::reference;

namespace {

constexpr int64_t kChunk = 1024; // columns and rows of a tile of values

/// A factor: lines of `k` elements, `lines` of them in a matrix, and their
/// scales.
struct Lines {
  const Array &array, &scales;
  int64_t lines, k, block;
  bool transposed; // the elements of a line are `lines` apart
  const std::array<double, 256> &data = decodeTable(array.format),
                                &scale = decodeTable(scales.format);

  /// One line times its scales, every `step` doubles; scaleAt(b) is the byte of
  /// the scale of block b.
  template <typename ScaleAt>
  void decode(int64_t matrix, int64_t line, ScaleAt scaleAt, double *target,
              int64_t step) const {
    int64_t first = matrix * lines * k + (transposed ? line : line * k);
    int64_t stride = transposed ? lines : 1;
    for (int64_t b = 0; b < k / block; ++b) {
      double factor = scale[scales.bytes[scaleAt(b)]];
      for (int64_t i = b * block; i < (b + 1) * block; ++i) {
        target[i * step] = data[array.codeAt(first + i * stride)] * factor;
      }
    }
  }
};

class GemmRun {
public:
  GemmRun(const GemmProblem &problem, unsigned threads)
      : p(problem), threads(threads),
        n(problem.rhs->shape[problem.rhsTransposed ? 2 : 1]),
        k(problem.rhs->shape[problem.rhsTransposed ? 1 : 2]),
        halves(problem.paired ? 2 : 1), columns(n / halves),
        errors(p.withErrors && p.epilogue->bounded),
        lhs{*p.lhs, *p.lhsScales, p.lhs->shape[0], k, p.block, false},
        rhs{*p.rhs, *p.rhsScales, n, k, p.block, p.rhsTransposed},
        lhsRegions(scaleRegions(p.lhsForm, 1, lhs.lines, k, p.ends)) {}
  void run();

private:
  void decodePanels(int half, const ValueTile &tile);
  void decodeRows(int64_t group, int64_t row, int64_t rows,
                  double *target) const;
  void computeTile(ValueTile &tile) const;
  void computeBlock(ValueTile &tile, int64_t first, int64_t rows) const;
  void loadInputs(EpilogueState &state, int64_t group, int64_t row,
                  int64_t column, int count) const;

  const GemmProblem &p;
  unsigned threads;
  int64_t n, k;
  int halves;
  int64_t columns; // of the epilogue
  bool errors;
  Lines lhs, rhs;
  std::vector<ScaleRegion> lhsRegions;          // one, or one of each group
  std::vector<double> panels[2], magnitudes[2]; // of each half
};

/// The rows of rhs that give the tile's columns.
void GemmRun::decodePanels(int half, const ValueTile &tile) {
  panels[half].resize(tile.columns * k);
  parallelFor(tile.columns / kColumns, threads, [&](int64_t panel) {
    double *start = &panels[half][panel * kColumns * k];
    for (int64_t c = 0; c < kColumns; ++c) {
      int64_t row = tile.column + panel * kColumns + c;
      if (p.paired) {
        row = pairedColumn(p.concatenated, columns, half, row);
      }
      auto scaleAt = [&](int64_t block) {
        return scaleOffset(tile.group, row, block, n, k / p.block);
      };
      rhs.decode(tile.group, row, scaleAt, start + c, kColumns);
    }
  });
  if (errors) {
    magnitudes[half].resize(panels[half].size());
    std::transform(panels[half].begin(), panels[half].end(),
                   magnitudes[half].begin(),
                   [](double x) { return std::fabs(x); });
  }
}

void GemmRun::decodeRows(int64_t group, int64_t row, int64_t rows,
                         double *target) const {
  const ScaleRegion &region = lhsRegions[p.lhsForm.perGroup ? group : 0];
  for (int64_t r = 0; r < rows; ++r) {
    auto scaleAt = [&](int64_t block) {
      return region.offset(row + r, block * p.block);
    };
    lhs.decode(0, row + r, scaleAt, target + r * k, 1);
  }
}

void GemmRun::computeBlock(ValueTile &tile, int64_t first, int64_t rows) const {
  std::vector<double> a(kRowBlock * k, 0.0); // missing rows count as zero
  decodeRows(tile.group, tile.row + first, rows, a.data());
  std::vector<double> c[2], bound[2];
  for (int half = 0; half < halves; ++half) {
    c[half].assign(kRowBlock * tile.columns, 0.0);
    multiplyPanels(a.data(), panels[half].data(), k, tile.columns,
                   c[half].data());
  }
  if (errors) {
    for (double &x : a) {
      x = std::fabs(x);
    }
    for (int half = 0; half < halves; ++half) {
      bound[half].assign(kRowBlock * tile.columns, 0.0);
      multiplyPanels(a.data(), magnitudes[half].data(), k, tile.columns,
                     bound[half].data());
    }
  }
  EpilogueState state(*p.epilogue, errors);
  constexpr int64_t width = EpilogueState::kWidth;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t start = 0; start < tile.columns; start += width) {
      int count = static_cast<int>(std::min(width, tile.columns - start));
      for (int half = 0; half < halves; ++half) {
        for (int i = 0; i < count; ++i) {
          int64_t at = panelOffset(r, start + i);
          state.floats(half)[i] = static_cast<float>(c[half][at]);
          if (errors) {
            state.errors(half)[i] =
                static_cast<double>(k) * 0x1p-23 * bound[half][at];
          }
        }
      }
      loadInputs(state, tile.group, tile.row + first + r, tile.column + start,
                 count);
      state.run(count);
      int64_t target = (first + r) * tile.columns + start;
      for (size_t v = 0; v < tile.values.size(); ++v) {
        int reg = p.epilogue->yields[v];
        std::copy_n(state.floats(reg), count, &tile.values[v][target]);
        if (errors) {
          std::copy_n(state.errors(reg), count, &tile.errors[v][target]);
        }
      }
    }
  }
}

void GemmRun::loadInputs(EpilogueState &state, int64_t group, int64_t row,
                         int64_t column, int count) const {
  int reg = halves;
  for (const GemmInput &input : p.inputs) {
    const Array &array = *input.array;
    bool byRow =
        input.follows == Follows::element || input.follows == Follows::row;
    bool hasColumns = input.follows == Follows::element ||
                      input.follows == Follows::groupColumn;
    bool isShared = input.follows == Follows::group && array.elements() == 1;
    int64_t line = byRow ? row : isShared ? 0 : group;
    for (int half = 0; half < (input.pair ? 2 : 1); ++half, ++reg) {
      float *values = state.floats(reg);
      if (!hasColumns) {
        std::fill_n(values, count, static_cast<float>(array.at(line)));
        continue;
      }
      for (int i = 0; i < count; ++i) {
        int64_t at = column + i;
        if (input.pair) {
          at = pairedColumn(p.concatenated, columns, half, at);
        }
        values[i] =
            static_cast<float>(array.at(line * array.shape.back() + at));
      }
    }
  }
}

void GemmRun::computeTile(ValueTile &tile) const {
  tile.values.resize(p.epilogue->yields.size());
  tile.errors.resize(errors ? tile.values.size() : 0);
  for (std::vector<float> &values : tile.values) {
    values.resize(tile.rows * tile.columns);
  }
  for (std::vector<double> &bounds : tile.errors) {
    bounds.resize(tile.rows * tile.columns);
  }
  parallelFor((tile.rows + kRowBlock - 1) / kRowBlock, threads, [&](int64_t b) {
    int64_t first = b * kRowBlock;
    computeBlock(tile, first, std::min<int64_t>(kRowBlock, tile.rows - first));
  });
}

void GemmRun::run() {
  OutputWriter writer(p.outputs, {p.ends, p.lhs->shape[0], columns,
                                  p.concatenated, errors, p.normConst});
  ValueTile tile;
  int64_t begin = 0;
  for (size_t group = 0; group < p.ends.size(); ++group) {
    int64_t end = p.ends[group];
    tile.group = static_cast<int64_t>(group);
    for (int64_t column = 0; begin < end && column < columns;
         column += kChunk) {
      tile.column = column;
      tile.columns = std::min(kChunk, columns - column);
      for (int half = 0; half < halves; ++half) {
        decodePanels(half, tile);
      }
      for (tile.row = begin; tile.row < end; tile.row += kChunk) {
        tile.rows = std::min(kChunk, end - tile.row);
        computeTile(tile);
        writer.write(tile, threads);
      }
    }
    begin = end;
  }
  writer.finish();
}

} // namespace

void grouped_moe::reference::computeGemm(const GemmProblem &problem,
                                         unsigned threads) {
  GemmRun(problem, threads).run();
}
