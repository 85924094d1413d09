// Compares results with the reference executor's.
#ifndef TOOLS_RUN_CHECK_H
#define TOOLS_RUN_CHECK_H

#include "tools/run/Options.h"
#include "tools/run/Signature.h"

#include <limits>
#include <string>

namespace gmoe::run {

struct Comparison {
  bool bitwise = true; // any NaN equals any NaN
  double maxError = 0;
  double sqnr = std::numeric_limits<double>::infinity(); // dB
  int64_t differing = 0;
  bool passed = true;
  std::string reason; // of a failure
};

/// Elements of rows that the program defines count towards the result; the
/// others must hold the bytes that the destination held (expected.restKept) or
/// are free. Without a tolerance a result passes when it is bitwise equal, or
/// * f32: the signal is at least 85 dB above the error;
/// * f16, bf16 and f32 sums of an epilogue's values: every element is within
///   one unit in the last place plus expected.errors, the bound on another
///   order of summation; where there is no bound (an epilogue that is not
///   piecewise linear in the accumulator, an operand that another product
///   made), at least 60 dB (f16), 50 dB (bf16) or 85 dB (f32).
Comparison compare(const Array &actual, const Array &expected,
                   const Tolerance &tolerance);

/// Whether the verdict could be another one with expected.errors.
bool needsErrors(const Array &actual, const Array &expected,
                 const Tolerance &tolerance);

} // namespace gmoe::run

#endif // TOOLS_RUN_CHECK_H
