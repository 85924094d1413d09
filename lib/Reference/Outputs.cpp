#include "lib/Reference/Outputs.h"

#include "lib/Reference/Parallel.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace grouped_moe::reference;

static constexpr int64_t kStripe = 32; // rows of a task: a block of columns

OutputWriter::OutputWriter(std::vector<GemmOutput> outputs, OutputFacts shared)
    : facts(std::move(shared)) {
  for (GemmOutput &output : outputs) {
    State state;
    state.out = output;
    state.firstValue = numValues;
    numValues += output.pair ? 2 : 1;
    defineOutput(state);
    states.push_back(std::move(state));
  }
}

void OutputWriter::defineOutput(State &state) {
  Array &array = *state.out.array;
  int64_t last = facts.ends.back();
  auto groups = static_cast<int64_t>(facts.ends.size());
  int64_t sums = 0;
  for (Array *written : {state.out.array, state.out.scales}) {
    if (written) {
      written->defined = {};
      written->restKept = written->derived = true;
      written->isSum = false;
      written->errors.clear();
    }
  }
  switch (state.out.form) {
  case OutputForm::plain:
    array.defineRows(last);
    if (facts.withErrors) {
      array.errors.assign(array.elements(), 0.0);
    }
    break;
  case OutputForm::quantized: {
    bool columnsFirst = isColumnsFirst(array.format, state.out.scaleForm);
    array.defineRows(last, columnsFirst);
    Array &scales = *state.out.scales;
    state.regions = scaleRegions(state.out.scaleForm, 1, facts.rows,
                                 array.shape[columnsFirst ? 0 : 1], facts.ends);
    scales.defined = definedScales(scales, state.regions, last, false);
    clearDefined(scales);
    break;
  }
  case OutputForm::rowSum:
    array.defineRows(last);
    array.isSum = true;
    sums = facts.rows;
    break;
  case OutputForm::groupColumnSum:
    array.isSum = true;
    state.width = array.shape.back();
    sums = groups * state.width;
    break;
  case OutputForm::groupAmax:
    state.width = state.out.pair ? 2 : 1;
    sums = groups * state.width;
    break;
  }
  state.sums.assign(sums, 0.0);
  if (facts.withErrors && array.isSum) {
    state.magnitudes.assign(sums, 0.0);
    state.errors.assign(sums, 0.0);
    array.errors.assign(sums, 0.0);
  }
}

void OutputWriter::writeRows(State &state, const ValueTile &tile, int64_t first,
                             int64_t rows) {
  Array &array = *state.out.array;
  int64_t width = array.shape.back();
  // Of a pair, 32 columns of one half lie together.
  int64_t run = state.out.pair ? 32 : tile.columns;
  for (int half = 0; half < (state.out.pair ? 2 : 1); ++half) {
    const std::vector<float> &values = tile.values[state.firstValue + half];
    for (int64_t column = 0; column < tile.columns; column += run) {
      int64_t stored = storedColumn(state, half, tile.column + column);
      int64_t source = first * tile.columns + column;
      if (state.out.form == OutputForm::quantized) {
        BlockRule rule{array.format, state.out.rule, 1};
        if (!facts.normConst.empty()) {
          rule.normConst =
              facts.normConst[facts.normConst.size() == 1 ? 0 : tile.group];
        }
        size_t region = state.out.scaleForm.perGroup ? tile.group : 0;
        Tile part{&values[source], tile.columns, tile.row + first, rows,
                  stored,          run};
        quantizeTile(rule, state.regions[region], part, array,
                     *state.out.scales);
        continue;
      }
      for (int64_t r = 0; r < rows; ++r) {
        int64_t target = (tile.row + first + r) * width + stored;
        for (int64_t c = 0; c < run; ++c) {
          int64_t from = source + r * tile.columns + c;
          array.set(target + c, values[from]);
          if (facts.withErrors) {
            array.errors[target + c] =
                tile.errors[state.firstValue + half][from];
          }
        }
      }
    }
  }
}

void OutputWriter::reduceRows(State &state, const ValueTile &tile,
                              int64_t first, int64_t rows) {
  const std::vector<float> &values = tile.values[state.firstValue];
  for (int64_t r = first; r < first + rows; ++r) {
    int64_t target = tile.row + r;
    for (int64_t at = r * tile.columns; at < (r + 1) * tile.columns; ++at) {
      state.sums[target] += values[at];
      if (facts.withErrors) {
        state.magnitudes[target] += std::fabs(double{values[at]});
        state.errors[target] += tile.errors[state.firstValue][at];
      }
    }
  }
}

void OutputWriter::reduceColumns(State &state, const ValueTile &tile) {
  bool isAmax = state.out.form == OutputForm::groupAmax;
  for (int half = 0; half < (state.out.pair ? 2 : 1); ++half) {
    const std::vector<float> &values = tile.values[state.firstValue + half];
    for (int64_t c = 0; c < tile.columns; ++c) {
      int64_t target =
          tile.group * state.width +
          (isAmax ? half : storedColumn(state, half, tile.column + c));
      for (int64_t r = 0; r < tile.rows; ++r) {
        int64_t at = r * tile.columns + c;
        double magnitude = std::fabs(double{values[at]});
        double &sum = state.sums[target];
        if (isAmax) {
          // Once NaN, always NaN: no comparison with it holds.
          sum = std::isnan(magnitude) || magnitude > sum ? magnitude : sum;
          continue;
        }
        sum += values[at];
        if (facts.withErrors) {
          state.magnitudes[target] += magnitude;
          state.errors[target] += tile.errors[state.firstValue + half][at];
        }
      }
    }
  }
}

void OutputWriter::write(const ValueTile &tile, unsigned threads) {
  for (State &state : states) {
    OutputForm form = state.out.form;
    if (form == OutputForm::groupColumnSum || form == OutputForm::groupAmax) {
      reduceColumns(state, tile);
      continue;
    }
    parallelFor((tile.rows + kStripe - 1) / kStripe, threads, [&](int64_t s) {
      int64_t first = s * kStripe;
      int64_t rows = std::min(kStripe, tile.rows - first);
      if (form == OutputForm::rowSum) {
        reduceRows(state, tile, first, rows);
      } else {
        writeRows(state, tile, first, rows);
      }
    });
  }
}

/// Of `count` elements from `first` on, each a sum of `addends` values.
void OutputWriter::finishSums(State &state, int64_t count, int64_t first,
                              int64_t addends) const {
  Array &array = *state.out.array;
  for (int64_t i = first; i < first + count; ++i) {
    array.set(i, static_cast<float>(state.sums[i]));
    if (!array.errors.empty()) {
      // The values may be off, and each of the additions rounds.
      array.errors[i] =
          state.errors[i] + static_cast<double>(addends) * 0x1p-23 *
                                (state.magnitudes[i] + state.errors[i]);
    }
  }
}

void OutputWriter::finish() {
  for (State &state : states) {
    if (state.out.form == OutputForm::rowSum) {
      finishSums(state, facts.ends.back(), 0, facts.columns);
    } else if (state.width != 0) {
      int64_t begin = 0;
      for (size_t g = 0; g < facts.ends.size(); ++g) {
        finishSums(state, state.width, static_cast<int64_t>(g) * state.width,
                   facts.ends[g] - begin);
        begin = facts.ends[g];
      }
    }
  }
}
