// The weight gradient, from its equation; free of the IR.
#ifndef LIB_REFERENCE_WGRAD_H
#define LIB_REFERENCE_WGRAD_H

#include "lib/Reference/Array.h"
#include "lib/Reference/Epilogue.h"

#include <cstdint>
#include <vector>

namespace grouped_moe::reference {

/// A factor: R rows and `columns`, or the other way round.
struct WgradFactor {
  const Array *data = nullptr, *scales = nullptr;
  bool transposed = false;
  int64_t columns = 0;
};

struct WgradInput {
  const Array *array = nullptr;
  bool perElement = false; // else per group, or one of all groups
};

/// Shapes agree and `ends` are legal: the caller has checked both.
struct WgradProblem {
  WgradFactor lhs, rhs;
  int64_t rows = 0;   // R
  int64_t block = 32; // rows that share a scale
  std::vector<int64_t> ends;
  std::vector<WgradInput> inputs;
  /// Registers: the accumulator, then the inputs.
  const Epilogue *epilogue = nullptr;
  std::vector<Array *> outputs; // (L, N, K)
  bool accumulate = false;      // add to what the outputs hold
  /// Also bounds for sums in f32 in any order, as GemmProblem has them.
  bool withErrors = false;
};

/// acc is the f32 nearest to the f64 sum of the products.
void computeWgrad(const WgradProblem &problem, unsigned threads);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_WGRAD_H
