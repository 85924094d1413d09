// Evaluates a program's integer expressions for given shapes: one forward pass,
// 64-bit, where an overflow makes a value unusable instead of wrong.
#ifndef GMOE_RUNTIME_CORE_EVALUATE_H
#define GMOE_RUNTIME_CORE_EVALUATE_H

#include "runtime/core/Program.h"
#include "runtime/core/Status.h"

#include <cstdint>
#include <vector>

namespace gmoe {

/// The shape of one argument, or null for one that the caller leaves open.
using ShapeRefs = std::vector<const Shape *>;

class Values {
public:
  /// Shapes that are not null must have the arguments' ranks. `program` must
  /// outlive the values.
  Values(const Program &program, const ShapeRefs &shapes, uint32_t smCount);

  /// Refuses a value that overflowed, divided by zero or needs an open extent.
  Expected<int64_t> get(int32_t expr) const {
    if (state[expr] == State::Known) {
      return value[expr];
    }
    return failure(expr);
  }

private:
  enum class State : uint8_t { Known, Open, Overflow, DivisionByZero };
  Status failure(int32_t expr) const;

  const Program &program;
  std::vector<int64_t> value;
  std::vector<State> state;
};

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_EVALUATE_H
