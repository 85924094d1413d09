#include "lib/Reference/Gemm.h"

#include "lib/Reference/Quantize.h"

#include "lib/Reference/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace grouped_moe::reference;

// FP8 products have at most 8 significant bits: they are exact in f64, so that
// a fused multiply-add rounds like the two operations.
#pragma clang fp contract(fast)

namespace {

constexpr int kColumns = 8;      // of a panel: one vector
constexpr int kRows = 4;         // of a micro-tile
constexpr int kRowBlock = 64;    // of a task
constexpr int64_t kChunk = 1024; // columns whose panels are decoded at a time
constexpr int64_t kDepth = 512;  // of k: a panel slice stays in the first cache

typedef double Vector __attribute__((vector_size(8 * kColumns), aligned(8)));

/// c[kRows][kColumns] += a[kRows][depth] * panel[depth][kColumns]
__attribute__((target_clones("avx512f", "avx2,fma", "default"))) void
multiply(const double *a, int64_t stride, const double *panel, int64_t depth,
         double *c) {
  Vector sum[kRows];
  std::memcpy(sum, c, sizeof(sum));
  for (int64_t k = 0; k < depth; ++k) {
    Vector b;
    std::memcpy(&b, panel + k * kColumns, sizeof(b));
    for (int r = 0; r < kRows; ++r) {
      sum[r] += a[r * stride + k] * b;
    }
  }
  std::memcpy(c, sum, sizeof(sum));
}

class GemmRun {
public:
  GemmRun(const GemmProblem &problem, unsigned threads)
      : p(problem), threads(threads), n(problem.rhs->shape[1]),
        k(problem.rhs->shape[2]), data(decodeTable(problem.lhs->format)),
        scale(decodeTable(Format::e8m0)) {}
  void run();

private:
  void decodePanels(int64_t group, int64_t column, int64_t columns);
  void decodeRows(int64_t row, int64_t rows, double *target) const;
  void computeBlock(int64_t group, int64_t row, int64_t rows, int64_t column,
                    int64_t columns) const;
  void multiplyBlock(const double *a, const std::vector<double> &b,
                     int64_t columns, double *c) const;
  void finish(EpilogueState &state, int64_t group, int64_t row, int64_t column,
              int count, const double *acc, const double *magnitude) const;

  const GemmProblem &p;
  unsigned threads;
  int64_t n, k;
  const std::array<double, 256> &data, &scale;
  std::vector<double> panels, magnitudes;
};

/// One row of `k` elements times their scales, every `step` doubles.
void decodeRow(const uint8_t *bytes, const uint8_t *scales, int64_t matrix,
               int64_t row, int64_t rows, int64_t k,
               const std::array<double, 256> &data,
               const std::array<double, 256> &scale, double *target,
               int64_t step) {
  for (int64_t block = 0; block < k / 32; ++block) {
    double factor =
        scale[scales[scaleOffset(matrix, row, block, rows, k / 32)]];
    for (int64_t i = block * 32; i < block * 32 + 32; ++i) {
      target[i * step] = data[bytes[i]] * factor;
    }
  }
}

void GemmRun::decodePanels(int64_t group, int64_t column, int64_t columns) {
  panels.resize(columns * k);
  parallelFor(columns / kColumns, threads, [&](int64_t panel) {
    double *start = &panels[panel * kColumns * k];
    for (int64_t c = 0; c < kColumns; ++c) {
      int64_t row = column + panel * kColumns + c;
      decodeRow(&p.rhs->bytes[(group * n + row) * k], p.rhsScales->bytes.data(),
                group, row, n, k, data, scale, start + c, kColumns);
    }
  });
  if (p.withErrors) {
    magnitudes.resize(panels.size());
    std::transform(panels.begin(), panels.end(), magnitudes.begin(),
                   [](double x) { return std::fabs(x); });
  }
}

void GemmRun::decodeRows(int64_t row, int64_t rows, double *target) const {
  for (int64_t r = 0; r < rows; ++r) {
    decodeRow(&p.lhs->bytes[(row + r) * k], p.lhsScales->bytes.data(), 0,
              row + r, p.lhs->shape[0], k, data, scale, target + r * k, 1);
  }
}

/// c is [columns / kColumns][kRowBlock][kColumns].
void GemmRun::multiplyBlock(const double *a, const std::vector<double> &b,
                            int64_t columns, double *c) const {
  for (int64_t panel = 0; panel < columns / kColumns; ++panel) {
    double *tile = c + panel * kRowBlock * kColumns;
    for (int64_t start = 0; start < k; start += kDepth) {
      int64_t depth = std::min(kDepth, k - start);
      for (int r = 0; r < kRowBlock; r += kRows) {
        multiply(a + r * k + start, k, &b[(panel * k + start) * kColumns],
                 depth, tile + r * kColumns);
      }
    }
  }
}

void GemmRun::computeBlock(int64_t group, int64_t row, int64_t rows,
                           int64_t column, int64_t columns) const {
  std::vector<double> a(kRowBlock * k, 0.0); // missing rows count as zero
  decodeRows(row, rows, a.data());
  std::vector<double> c(kRowBlock * columns, 0.0), bound;
  multiplyBlock(a.data(), panels, columns, c.data());
  if (p.withErrors) {
    for (double &x : a) {
      x = std::fabs(x);
    }
    bound.assign(c.size(), 0.0);
    multiplyBlock(a.data(), magnitudes, columns, bound.data());
  }
  EpilogueState state(*p.epilogue, p.withErrors);
  std::vector<double> acc(EpilogueState::kWidth), magnitude(acc.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t first = 0; first < columns; first += EpilogueState::kWidth) {
      int count = static_cast<int>(
          std::min<int64_t>(EpilogueState::kWidth, columns - first));
      for (int i = 0; i < count; ++i) {
        int64_t at = ((first + i) / kColumns * kRowBlock + r) * kColumns +
                     (first + i) % kColumns;
        acc[i] = c[at];
        magnitude[i] = p.withErrors ? bound[at] : 0;
      }
      finish(state, group, row + r, column + first, count, acc.data(),
             magnitude.data());
    }
  }
}

void GemmRun::finish(EpilogueState &state, int64_t group, int64_t row,
                     int64_t column, int count, const double *acc,
                     const double *magnitude) const {
  float *sum = state.floats(0);
  for (int i = 0; i < count; ++i) {
    sum[i] = static_cast<float>(acc[i]);
  }
  for (size_t input = 0; input < p.inputs.size(); ++input) {
    const Array &array = *p.inputs[input].array;
    float *values = state.floats(static_cast<int>(input) + 1);
    Follows follows = p.inputs[input].follows;
    if (follows == Follows::row || follows == Follows::group) {
      float value =
          static_cast<float>(array.at(follows == Follows::row ? row : group));
      std::fill(values, values + count, value);
      continue;
    }
    int64_t start = (follows == Follows::element ? row : group) * n + column;
    for (int i = 0; i < count; ++i) {
      values[i] = static_cast<float>(array.at(start + i));
    }
  }
  bool errors = p.withErrors && p.epilogue->bounded;
  if (errors) {
    for (int i = 0; i < count; ++i) {
      state.errors(0)[i] = static_cast<double>(k) * 0x1p-23 * magnitude[i];
    }
  }
  state.run(count);
  for (size_t output = 0; output < p.outputs.size(); ++output) {
    Array &array = *p.outputs[output];
    int reg = p.epilogue->yields[output];
    int64_t start = row * n + column;
    unsigned size = sizeOf(array.format);
    if (output < p.scales.size() && p.scales[output].array) {
      const GemmScales &scales = p.scales[output];
      for (int i = 0; i < count; i += 32) {
        scales.array->bytes[scaleOffset(0, row, (column + i) / 32,
                                        array.shape[0], n / 32)] =
            quantizeBlock(array.format, scales.floorRounding,
                          state.floats(reg) + i, &array.bytes[start + i]);
      }
      continue;
    }
    for (int i = 0; i < count; ++i) {
      encode(array.format, state.floats(reg)[i],
             &array.bytes[(start + i) * size]);
    }
    if (errors) {
      std::copy(state.errors(reg), state.errors(reg) + count,
                &array.errors[start]);
    }
  }
}

void GemmRun::run() {
  for (Array *output : p.outputs) {
    output->errors.clear();
    if (p.withErrors && p.epilogue->bounded) {
      output->errors.assign(output->elements(), 0.0);
    }
  }
  int64_t begin = 0;
  for (size_t group = 0; group < p.ends.size(); ++group) {
    int64_t rows = p.ends[group] - begin;
    for (int64_t column = 0; rows > 0 && column < n; column += kChunk) {
      int64_t columns = std::min(kChunk, n - column);
      decodePanels(group, column, columns);
      parallelFor((rows + kRowBlock - 1) / kRowBlock, threads, [&](int64_t b) {
        int64_t first = b * kRowBlock;
        computeBlock(group, begin + first,
                     std::min<int64_t>(kRowBlock, rows - first), column,
                     columns);
      });
    }
    begin = p.ends[group];
  }
}

} // namespace

void grouped_moe::reference::computeGemm(const GemmProblem &problem,
                                         unsigned threads) {
  GemmRun(problem, threads).run();
}
