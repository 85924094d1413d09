// An epilogue region as a list of vector steps. Compiled once for an op, run on
// chunks of a row.
#ifndef LIB_REFERENCE_EPILOGUE_H
#define LIB_REFERENCE_EPILOGUE_H

#include "lib/Reference/Codecs.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace grouped_moe::reference {

enum class StepKind : uint8_t {
  constant,
  select,
  cmpf,
  cmpi,
  bitcast,
  // f32 arithmetic
  add,
  sub,
  mul,
  div,
  neg,
  abs,
  maximum,
  minimum,
  maxnum,
  minnum,
  copysign,
  fma,
  convert, // between float formats
  fromSigned,
  fromUnsigned,
  function, // of double, rounded
  // integers
  andi,
  ori,
  xori,
  addi,
  subi,
  muli,
  shl,
  shru,
  shrs,
  extu,
  exts,
  trunci,
};

/// `type` is the result's format, `from` the first operand's.
struct Step {
  StepKind kind = StepKind::constant;
  Format type = Format::f32, from = Format::f32;
  int target = 0, a = 0, b = 0, c = 0; // registers
  unsigned predicate = 0;              // arith's, of a comparison
  float floatValue = 0;
  int32_t intValue = 0;
  double (*function)(double) = nullptr;
  bool approximate = false; // kernels are within 4 units of the function
};

struct Epilogue {
  std::vector<Step> steps;
  int registers = 0; // the first ones are the region's arguments
  std::vector<int> yields;
  /// Whether an error of the accumulator can be followed to the yields: every
  /// step that depends on it is of a kind with a known error bound.
  bool bounded = true;
};

/// Registers of one thread: `kWidth` elements each.
class EpilogueState {
public:
  static constexpr int kWidth = 256;

  EpilogueState(const Epilogue &epilogue, bool withErrors);
  float *floats(int reg) { return &floatData[size_t(reg) * kWidth]; }
  int32_t *ints(int reg) { return &intData[size_t(reg) * kWidth]; }
  double *errors(int reg) { return &errorData[size_t(reg) * kWidth]; }

  /// Runs on the first `count` elements of the argument registers.
  void run(int count);

private:
  void runFloat(const Step &step, int count);
  void runInt(const Step &step, int count);
  void runErrors(const Step &step, int count);

  const Epilogue &epilogue;
  bool withErrors;
  std::vector<float> floatData; // also f16 and bf16 values, which are exact
  std::vector<int32_t> intData; // i1 as 0 or 1
  std::vector<double> errorData;
};

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_EPILOGUE_H
