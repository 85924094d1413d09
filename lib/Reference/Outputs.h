// From the values of an epilogue to what a grouped product writes.
#ifndef LIB_REFERENCE_OUTPUTS_H
#define LIB_REFERENCE_OUTPUTS_H

#include "lib/Reference/Quantize.h"

#include <cstdint>
#include <vector>

namespace grouped_moe::reference {

enum class OutputForm : uint8_t {
  plain,
  quantized,
  rowSum,         // over the columns
  groupColumnSum, // over the rows of each group
  groupAmax
};

struct GemmOutput {
  Array *array = nullptr;
  OutputForm form = OutputForm::plain;
  bool pair = false; // two values for each element
  // Of a quantized output:
  Array *scales = nullptr;
  ScaleForm scaleForm;
  ScaleRule rule = ScaleRule::up;
};

/// What the outputs share.
struct OutputFacts {
  std::vector<int64_t> ends; // of the groups
  int64_t rows = 0;          // R
  int64_t columns = 0;       // E, of the epilogue
  bool concatenated = false; // pairs
  bool withErrors = false;
  std::vector<float> normConst; // none, one, or one for each group
};

/// The epilogue's values on a rectangle of one group's elements: value `v` of
/// (r, c) is values[v][r * columns + c]. Starts at a whole block of rows of the
/// group, and at a multiple of 32 columns.
struct ValueTile {
  int64_t group = 0;
  int64_t row = 0, rows = 0, column = 0, columns = 0;
  std::vector<std::vector<float>> values;
  std::vector<std::vector<double>> errors; // bounds, when there are any
};

/// Sums are of the f32 values, in f64, and rounded once.
class OutputWriter {
public:
  /// Marks what will be defined, and clears the atoms of scales.
  OutputWriter(std::vector<GemmOutput> outputs, OutputFacts facts);
  /// Values that the outputs take from the epilogue.
  unsigned values() const { return numValues; }
  void write(const ValueTile &tile, unsigned threads);
  /// After the last tile: the reductions.
  void finish();

private:
  /// An output and the running sums of its elements.
  struct State {
    GemmOutput out;
    unsigned firstValue = 0;
    int64_t width = 0; // of the sums of a group
    std::vector<ScaleRegion> regions;
    std::vector<double> sums, magnitudes, errors;
  };
  void defineOutput(State &state);
  void writeRows(State &state, const ValueTile &tile, int64_t first,
                 int64_t rows);
  void reduceRows(State &state, const ValueTile &tile, int64_t first,
                  int64_t rows);
  void reduceColumns(State &state, const ValueTile &tile);
  void finishSums(State &state, int64_t count, int64_t first,
                  int64_t addends) const;
  int64_t storedColumn(const State &state, int half, int64_t column) const {
    return state.out.pair
               ? pairedColumn(facts.concatenated, facts.columns, half, column)
               : column;
  }

  OutputFacts facts;
  std::vector<State> states;
  unsigned numValues = 0;
};

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_OUTPUTS_H
