#include "lib/Reference/Wgrad.h"

#include "lib/Reference/Layout.h"
#include "lib/Reference/Panels.h"
#include "lib/Reference/Parallel.h"

#include <algorithm>
#include <cmath>

using namespace grouped_moe::reference;

namespace {

constexpr int64_t kChunk = 256; // columns of K that are decoded together

/// One group's rows of a factor.
struct Side {
  const WgradFactor &factor;
  int64_t allRows; // R
  ScaleRegion region;
  const std::array<double, 256> &data, &scale;

  double at(int64_t row, int64_t column) const {
    int64_t m = region.firstRow + row;
    int64_t element =
        factor.transposed ? column * allRows + m : m * factor.columns + column;
    return data[factor.data->codeAt(element)] *
           scale[factor.scales->bytes[region.offset(m, column)]];
  }
};

class WgradRun {
public:
  WgradRun(const WgradProblem &problem, unsigned threads)
      : p(problem), threads(threads), n(problem.lhs.columns),
        k(problem.rhs.columns),
        errors(problem.withErrors && problem.epilogue->bounded) {}
  void run();

private:
  void computeGroup(int64_t group, const Side &lhs, const Side &rhs);
  void finishRow(EpilogueState &state, int64_t group, int64_t row,
                 int64_t column, int count);

  const WgradProblem &p;
  unsigned threads;
  int64_t n, k;
  bool errors;
};

void WgradRun::finishRow(EpilogueState &state, int64_t group, int64_t row,
                         int64_t column, int count) {
  int64_t first = (group * n + row) * k + column;
  int reg = 1;
  for (const WgradInput &input : p.inputs) {
    float *values = state.floats(reg++);
    int64_t ofGroup = input.array->elements() == 1 ? 0 : group;
    for (int i = 0; i < count; ++i) {
      values[i] = static_cast<float>(
          input.array->at(input.perElement ? first + i : ofGroup));
    }
  }
  state.run(count);
  for (size_t v = 0; v < p.outputs.size(); ++v) {
    Array &output = *p.outputs[v];
    int yield = p.epilogue->yields[v];
    for (int i = 0; i < count; ++i) {
      float value = state.floats(yield)[i];
      if (p.accumulate) {
        value = static_cast<float>(output.at(first + i)) + value;
      }
      output.set(first + i, value);
      if (errors) {
        output.errors[first + i] = state.errors(yield)[i];
      }
    }
  }
}

void WgradRun::computeGroup(int64_t group, const Side &lhs, const Side &rhs) {
  int64_t depth = lhs.region.rows;
  std::vector<double> panels, magnitudes;
  for (int64_t column = 0; column < k; column += kChunk) {
    int64_t width = std::min(kChunk, k - column); // a multiple of 16
    panels.resize(width * depth);
    parallelFor(width / kColumns, threads, [&](int64_t panel) {
      for (int64_t m = 0; m < depth; ++m) {
        for (int64_t c = 0; c < kColumns; ++c) {
          panels[(panel * depth + m) * kColumns + c] =
              rhs.at(m, column + panel * kColumns + c);
        }
      }
    });
    if (errors) {
      magnitudes.resize(panels.size());
      std::transform(panels.begin(), panels.end(), magnitudes.begin(),
                     [](double x) { return std::fabs(x); });
    }
    parallelFor((n + kRowBlock - 1) / kRowBlock, threads, [&](int64_t block) {
      int64_t row = block * kRowBlock, rows = std::min(kRowBlock, n - row);
      std::vector<double> a(kRowBlock * depth, 0.0);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t m = 0; m < depth; ++m) {
          a[r * depth + m] = lhs.at(m, row + r);
        }
      }
      std::vector<double> c(kRowBlock * width, 0.0), bound;
      multiplyPanels(a.data(), panels.data(), depth, width, c.data());
      if (errors) {
        for (double &x : a) {
          x = std::fabs(x);
        }
        bound.assign(c.size(), 0.0);
        multiplyPanels(a.data(), magnitudes.data(), depth, width, bound.data());
      }
      EpilogueState state(*p.epilogue, errors);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < width; ++i) {
          int64_t at = panelOffset(r, i);
          state.floats(0)[i] = static_cast<float>(c[at]);
          if (errors) {
            state.errors(0)[i] =
                static_cast<double>(depth) * 0x1p-23 * bound[at];
          }
        }
        finishRow(state, group, row + r, column, static_cast<int>(width));
      }
    });
  }
}

void WgradRun::run() {
  ScaleForm form{/*column=*/true, /*perGroup=*/true, p.block};
  auto regions = [&](const WgradFactor &factor) {
    return scaleRegions(form, 1, p.rows, factor.columns, p.ends);
  };
  std::vector<ScaleRegion> ofLhs = regions(p.lhs), ofRhs = regions(p.rhs);
  for (Array *output : p.outputs) {
    output->defined = DefinedPart();
    output->derived = true;
    output->isSum = false;
    output->errors.assign(errors ? output->elements() : 0, 0.0);
  }
  const auto &scale = decodeTable(p.lhs.scales->format);
  for (size_t group = 0; group < p.ends.size(); ++group) {
    if (p.accumulate && ofLhs[group].rows == 0) {
      continue;
    }
    Side lhs{p.lhs, p.rows, ofLhs[group], decodeTable(p.lhs.data->format),
             scale};
    Side rhs{p.rhs, p.rows, ofRhs[group], decodeTable(p.rhs.data->format),
             scale};
    computeGroup(static_cast<int64_t>(group), lhs, rhs);
  }
}

} // namespace

void grouped_moe::reference::computeWgrad(const WgradProblem &problem,
                                          unsigned threads) {
  static_assert(kChunk <= EpilogueState::kWidth);
  WgradRun(problem, threads).run();
}
