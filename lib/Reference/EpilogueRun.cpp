// Executes the steps of an epilogue.
#include "lib/Reference/Epilogue.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace grouped_moe::reference;

EpilogueState::EpilogueState(const Epilogue &epilogue, bool withErrors)
    : epilogue(epilogue), withErrors(withErrors && epilogue.bounded),
      floatData(size_t(epilogue.registers) * kWidth),
      intData(size_t(epilogue.registers) * kWidth),
      errorData(this->withErrors ? size_t(epilogue.registers) * kWidth : 0) {}

static bool isInt(Format format) {
  return format == Format::i1 || format == Format::i32;
}

/// +0 is above -0; NaN is for the caller.
static float larger(float x, float y) {
  return x == y ? (std::signbit(x) ? y : x) : (x > y ? x : y);
}
static float smaller(float x, float y) {
  return x == y ? (std::signbit(x) ? x : y) : (x < y ? x : y);
}

/// arith.cmpf predicates are bits of the outcomes that they hold for: equal 1,
/// greater 2, less 4, unordered 8, but in an order of their own.
static bool compareFloats(unsigned predicate, float x, float y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case 0:
    return false;
  case 1:
    return x == y;
  case 2:
    return x > y;
  case 3:
    return x >= y;
  case 4:
    return x < y;
  case 5:
    return x <= y;
  case 6:
    return !unordered && x != y;
  case 7:
    return !unordered;
  case 8:
    return unordered || x == y;
  case 9:
    return unordered || x > y;
  case 10:
    return unordered || x >= y;
  case 11:
    return unordered || x < y;
  case 12:
    return unordered || x <= y;
  case 13:
    return x != y;
  case 14:
    return unordered;
  default:
    return true;
  }
}

static bool compareInts(unsigned predicate, int32_t x, int32_t y) {
  auto ux = static_cast<uint32_t>(x), uy = static_cast<uint32_t>(y);
  switch (predicate) {
  case 0:
    return x == y;
  case 1:
    return x != y;
  case 2:
    return x < y;
  case 3:
    return x <= y;
  case 4:
    return x > y;
  case 5:
    return x >= y;
  case 6:
    return ux < uy;
  case 7:
    return ux <= uy;
  case 8:
    return ux > uy;
  default:
    return ux >= uy;
  }
}

/// The signed value of an integer register: a set i1 is -1.
static int32_t signedValue(Format format, int32_t value) {
  return format == Format::i1 ? -value : value;
}

void EpilogueState::runFloat(const Step &step, int count) {
  float *__restrict r = floats(step.target);
  const float *a = floats(step.a), *b = floats(step.b), *c = floats(step.c);
  auto each = [&](auto compute) {
    for (int i = 0; i < count; ++i) {
      r[i] = compute(i);
    }
  };
  bool rounded = true; // arithmetic of f16 and bf16 still needs its rounding
  switch (step.kind) {
  case StepKind::constant:
    each([&](int) { return step.floatValue; });
    break;
  case StepKind::add:
    each([&](int i) { return a[i] + b[i]; });
    rounded = false;
    break;
  case StepKind::sub:
    each([&](int i) { return a[i] - b[i]; });
    rounded = false;
    break;
  case StepKind::mul:
    each([&](int i) { return a[i] * b[i]; });
    rounded = false;
    break;
  case StepKind::div:
    each([&](int i) { return a[i] / b[i]; });
    rounded = false;
    break;
  case StepKind::neg:
    each([&](int i) { return -a[i]; });
    break;
  case StepKind::abs:
    each([&](int i) { return std::fabs(a[i]); });
    break;
  case StepKind::maximum:
    each([&](int i) {
      return std::isnan(a[i]) || std::isnan(b[i]) ? NAN : larger(a[i], b[i]);
    });
    break;
  case StepKind::minimum:
    each([&](int i) {
      return std::isnan(a[i]) || std::isnan(b[i]) ? NAN : smaller(a[i], b[i]);
    });
    break;
  case StepKind::maxnum:
    each([&](int i) {
      return std::isnan(a[i])   ? b[i]
             : std::isnan(b[i]) ? a[i]
                                : larger(a[i], b[i]);
    });
    break;
  case StepKind::minnum:
    each([&](int i) {
      return std::isnan(a[i])   ? b[i]
             : std::isnan(b[i]) ? a[i]
                                : smaller(a[i], b[i]);
    });
    break;
  case StepKind::copysign:
    each([&](int i) { return std::copysign(a[i], b[i]); });
    break;
  case StepKind::fma:
    if (step.type == Format::f32) {
      each([&](int i) { return std::fma(a[i], b[i], c[i]); });
    } else {
      // The product of two narrow floats is exact in f64.
      each([&](int i) {
        return static_cast<float>(
            roundTo(step.type, std::fma(double{a[i]}, b[i], c[i])));
      });
    }
    break;
  case StepKind::function:
    each([&](int i) {
      return static_cast<float>(roundTo(step.type, step.function(a[i])));
    });
    break;
  case StepKind::convert:
    each([&](int i) { return static_cast<float>(roundTo(step.type, a[i])); });
    break;
  case StepKind::fromSigned:
  case StepKind::fromUnsigned: {
    const int32_t *x = ints(step.a);
    bool isSigned = step.kind == StepKind::fromSigned;
    each([&](int i) {
      double value = isSigned ? double(signedValue(step.from, x[i]))
                              : double(static_cast<uint32_t>(x[i]));
      return static_cast<float>(roundTo(step.type, value));
    });
    break;
  }
  case StepKind::select: {
    const int32_t *condition = ints(step.a);
    each([&](int i) { return condition[i] ? b[i] : c[i]; });
    break;
  }
  case StepKind::bitcast:
    if (isInt(step.from)) {
      std::memcpy(r, ints(step.a), sizeof(float) * count);
    } else if (step.from == step.type) {
      std::memcpy(r, a, sizeof(float) * count);
    } else {
      each([&](int i) {
        uint16_t bits = encodeHalf(step.from, a[i]);
        return static_cast<float>(decode(step.type, &bits));
      });
    }
    break;
  default:
    break;
  }
  if (!rounded && step.type != Format::f32) {
    each([&](int i) { return static_cast<float>(roundTo(step.type, r[i])); });
  }
}

void EpilogueState::runInt(const Step &step, int count) {
  int32_t *r = ints(step.target);
  const int32_t *a = ints(step.a), *b = ints(step.b), *c = ints(step.c);
  const float *fa = floats(step.a), *fb = floats(step.b);
  unsigned width = step.type == Format::i1 ? 1 : 32;
  auto u = [](int32_t x) { return static_cast<uint32_t>(x); };
  auto each = [&](auto compute) {
    for (int i = 0; i < count; ++i) {
      uint32_t value = static_cast<uint32_t>(compute(i));
      r[i] = static_cast<int32_t>(width == 1 ? value & 1 : value);
    }
  };
  switch (step.kind) {
  case StepKind::constant:
    each([&](int) { return step.intValue; });
    break;
  case StepKind::cmpf:
    each([&](int i) { return compareFloats(step.predicate, fa[i], fb[i]); });
    break;
  case StepKind::cmpi:
    each([&](int i) {
      return compareInts(step.predicate, signedValue(step.from, a[i]),
                         signedValue(step.from, b[i]));
    });
    break;
  case StepKind::select:
    each([&](int i) { return a[i] ? b[i] : c[i]; });
    break;
  case StepKind::bitcast:
    if (isInt(step.from)) {
      each([&](int i) { return a[i]; });
    } else {
      std::memcpy(r, fa, sizeof(float) * count);
    }
    break;
  case StepKind::andi:
    each([&](int i) { return a[i] & b[i]; });
    break;
  case StepKind::ori:
    each([&](int i) { return a[i] | b[i]; });
    break;
  case StepKind::xori:
    each([&](int i) { return a[i] ^ b[i]; });
    break;
  case StepKind::addi:
    each([&](int i) { return u(a[i]) + u(b[i]); });
    break;
  case StepKind::subi:
    each([&](int i) { return u(a[i]) - u(b[i]); });
    break;
  case StepKind::muli:
    each([&](int i) { return u(a[i]) * u(b[i]); });
    break;
  // A shift by the width or more is poison; this is what PTX computes.
  case StepKind::shl:
    each([&](int i) { return u(b[i]) < width ? u(a[i]) << b[i] : 0u; });
    break;
  case StepKind::shru:
    each([&](int i) { return u(b[i]) < width ? u(a[i]) >> b[i] : 0u; });
    break;
  case StepKind::shrs:
    each([&](int i) {
      int32_t value = signedValue(step.type, a[i]);
      return value >> std::min(u(b[i]), 31u);
    });
    break;
  case StepKind::extu:
  case StepKind::trunci:
    each([&](int i) { return a[i]; });
    break;
  case StepKind::exts:
    each([&](int i) { return signedValue(step.from, a[i]); });
    break;
  default:
    break;
  }
}

void EpilogueState::runErrors(const Step &step, int count) {
  double *r = errors(step.target);
  const double *ea = errors(step.a), *eb = errors(step.b), *ec = errors(step.c);
  const float *a = floats(step.a), *b = floats(step.b);
  const float *value = floats(step.target);
  double unit = step.type == Format::f32   ? 0x1p-23
                : step.type == Format::f16 ? 0x1p-10
                                           : 0x1p-7;
  // An operand that is off may also round the other way.
  auto each = [&](auto compute) {
    for (int i = 0; i < count; ++i) {
      double error = compute(i);
      r[i] = error > 0 ? error + unit * std::fabs(double{value[i]}) : 0;
    }
  };
  auto product = [&](int i) {
    return std::fabs(double{a[i]}) * eb[i] + std::fabs(double{b[i]}) * ea[i] +
           ea[i] * eb[i];
  };
  switch (step.kind) {
  case StepKind::add:
  case StepKind::sub:
    each([&](int i) { return ea[i] + eb[i]; });
    break;
  case StepKind::mul:
    each(product);
    break;
  case StepKind::div: // the divisor does not depend on the accumulator
    each([&](int i) {
      double error = ea[i] + std::fabs(double{value[i]}) * eb[i];
      return error / std::max(std::fabs(double{b[i]}) - eb[i], 0.0);
    });
    break;
  case StepKind::function: // of an exact operand
    for (int i = 0; i < count; ++i) {
      double units = step.approximate ? 4 : 0;
      r[i] = units * (unit * std::fabs(double{value[i]}) + 0x1p-149);
    }
    break;
  case StepKind::fma:
    each([&](int i) { return product(i) + ec[i]; });
    break;
  case StepKind::neg:
  case StepKind::abs:
  case StepKind::convert:
    each([&](int i) { return ea[i]; });
    break;
  case StepKind::maximum:
  case StepKind::minimum:
  case StepKind::maxnum:
  case StepKind::minnum:
    each([&](int i) { return std::max(ea[i], eb[i]); });
    break;
  case StepKind::select: // the condition is exact
    each([&](int i) { return ints(step.a)[i] ? eb[i] : ec[i]; });
    break;
  default: // does not depend on the accumulator
    std::fill(r, r + count, 0.0);
    break;
  }
}

void EpilogueState::run(int count) {
  for (const Step &step : epilogue.steps) {
    if (isInt(step.type)) {
      runInt(step, count);
    } else {
      runFloat(step, count);
      if (withErrors) {
        runErrors(step, count);
      }
    }
  }
}
