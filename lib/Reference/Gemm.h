// The grouped product, from its equation; free of the IR.
#ifndef LIB_REFERENCE_GEMM_H
#define LIB_REFERENCE_GEMM_H

#include "lib/Reference/Array.h"
#include "lib/Reference/Epilogue.h"
#include "lib/Reference/Outputs.h"

#include <cstdint>
#include <vector>

namespace grouped_moe::reference {

enum class Follows : uint8_t { element, row, group, groupColumn };

struct GemmInput {
  Follows follows = Follows::element;
  const Array *array = nullptr;
  bool pair = false; // two values for each element
};

/// Shapes agree and `ends` are legal: the caller has checked both.
struct GemmProblem {
  const Array *lhs = nullptr, *lhsScales = nullptr;
  const Array *rhs = nullptr, *rhsScales = nullptr;
  ScaleForm lhsForm;
  bool rhsTransposed = false; // (L, K, N), and its scales run down columns
  int64_t block = 32;         // elements along K that share a scale
  std::vector<int64_t> ends;
  bool paired = false;       // two accumulators, from pairs of rows of rhs
  bool concatenated = false; // the halves of pairs lie side by side
  std::vector<GemmInput> inputs;
  /// Registers: the accumulators, then the inputs, two of each pair.
  const Epilogue *epilogue = nullptr;
  std::vector<GemmOutput> outputs;
  std::vector<float> normConst; // none, one, or one for each group
  /// Also compute how far a product that sums in f32, in any order, may be from
  /// each output, into Array::errors: K * 2^-23 * sum of |products|, followed
  /// through the epilogue; for sums of N values N * 2^-23 * sum of |values|
  /// more.
  bool withErrors = false;
};

/// acc is the f32 nearest to the f64 sum of the products, which are exact in
/// f64. Rows past the last end keep their bytes.
void computeGemm(const GemmProblem &problem, unsigned threads);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_GEMM_H
