// What the ISA says floating-point arithmetic returns, on bit patterns.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_FLOATREFERENCE_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_FLOATREFERENCE_H

#include "test/runtime/conformance/Elementwise.h"
#include "test/runtime/conformance/Exact.h"

namespace gmoe::conformance {

struct Modifiers {
  Round round = Round::Nearest;
  bool ftz = false, sat = false, relu = false;
  bool nan = false, xorsign = false; // of min and max
};

/// `op`: add, sub, mul, fma, div, rcp, sqrt, min, max, abs, neg, copysign.
uint64_t arithmetic(const Format &f, const std::string &op, const Modifiers &m,
                    uint64_t a, uint64_t b, uint64_t c);

/// Operand tuples: edge values crossed, random bits, random values of like
/// magnitude, and for three operands sums that nearly cancel.
Columns floatTuples(const Format &f, unsigned operands);
/// Two 16-bit values in one register, from 16-bit tuples.
Columns packPairs(const Columns &halves);

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_FLOATREFERENCE_H
