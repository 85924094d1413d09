// The grouped product, from its equation; free of the IR.
#ifndef LIB_REFERENCE_GEMM_H
#define LIB_REFERENCE_GEMM_H

#include "lib/Reference/Array.h"
#include "lib/Reference/Epilogue.h"

#include <cstdint>
#include <vector>

namespace grouped_moe::reference {

enum class Follows : uint8_t { element, row, group, groupColumn };

struct GemmInput {
  Follows follows = Follows::element;
  const Array *array = nullptr;
};

/// The scales of a quantized output.
struct GemmScales {
  Array *array = nullptr; // null: the output is plain
  bool floorRounding = false;
};

/// Shapes agree and `ends` are legal: the caller has checked both.
struct GemmProblem {
  const Array *lhs = nullptr, *lhsScales = nullptr;
  const Array *rhs = nullptr, *rhsScales = nullptr;
  std::vector<int64_t> ends;
  std::vector<GemmInput> inputs;
  const Epilogue *epilogue = nullptr;
  std::vector<Array *> outputs;   // one for each yielded value
  std::vector<GemmScales> scales; // of each output, or empty: all plain
  /// Also compute how far a product that sums in f32, in any order, may be from
  /// each output, into Array::errors: K * 2^-23 * sum of |products|, followed
  /// through the epilogue.
  bool withErrors = false;
};

/// acc is the f32 nearest to the f64 sum of the products, which are exact in
/// f64. Rows past the last end keep their bytes.
void computeGemm(const GemmProblem &problem, unsigned threads);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_GEMM_H
