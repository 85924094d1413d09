// Rows of gate and up, from side by side to alternating blocks.
#ifndef LIB_REFERENCE_INTERLEAVE_H
#define LIB_REFERENCE_INTERLEAVE_H

#include "lib/Reference/Array.h"

namespace grouped_moe::reference {

/// Moves the elements of `input`, (L, 2 F) or (L, 2 F, K), with their error
/// bounds.
void interleaveRows(const Array &input, Array &data);

/// The same for the scales of rows of a matrix (L, 2 F, K); bytes that belong
/// to no element become 0.
void interleaveScales(const std::vector<int64_t> &matrix, const Array &input,
                      Array &scales);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_INTERLEAVE_H
