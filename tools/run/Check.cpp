#include "tools/run/Check.h"

#include "runtime/core/Text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace gmoe;
using namespace gmoe::run;

static bool isFloat(Format format) {
  return format == Format::f32 || format == Format::f16 ||
         format == Format::bf16;
}

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

/// "[3, 17]"
static std::string position(const Array &array, int64_t element) {
  Shape indices(array.shape.size());
  for (size_t d = indices.size(); d-- > 0;) {
    indices[d] = element % array.shape[d];
    element /= array.shape[d];
  }
  return textOf(indices);
}

/// Formats whose elements are bytes of one program, NaN included.
static bool isNarrow(Format format) {
  return format == Format::e8m0 || format == Format::e2m1 ||
         grouped_moe::reference::isFp8(format);
}

static bool sameBits(const Array &a, const Array &b, int64_t element) {
  if (a.format == Format::e2m1) {
    return a.codeAt(element) == b.codeAt(element);
  }
  unsigned size = grouped_moe::reference::sizeOf(a.format);
  return std::memcmp(&a.bytes[element * size], &b.bytes[element * size],
                     size) == 0;
}

/// The distance of neighbours at `value`.
static double unitAt(Format format, double value) {
  int digits = format == Format::f32 ? 24 : format == Format::f16 ? 11 : 8;
  int lowest = format == Format::f16 ? -14 : -126;
  int exponent = value == 0 ? lowest : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, lowest) - digits + 1);
}

/// An f32 sum may cancel to anything: only a bound says how far it may be off.
static bool judgedByErrors(const Array &expected) {
  return expected.format == Format::f16 || expected.format == Format::bf16 ||
         (expected.format == Format::f32 && expected.isSum);
}

namespace {

class Comparer {
public:
  Comparer(const Array &actual, const Array &expected,
           const Tolerance &tolerance)
      : actual(actual), expected(expected), tolerance(tolerance) {}
  Comparison run();

private:
  void compareElement(int64_t element);
  void judge();
  void fail(std::string reason) {
    if (result.passed) {
      result.passed = false;
      result.reason = std::move(reason);
    }
  }

  const Array &actual, &expected;
  const Tolerance &tolerance;
  Comparison result;
  double signal = 0, noise = 0;
  int64_t worst = -1, outside = -1; // elements
};

} // namespace

void Comparer::compareElement(int64_t element) {
  bool same = sameBits(actual, expected, element);
  if (!expected.defined.contains(element)) {
    if (!same && expected.restKept) {
      result.bitwise = false;
      ++result.differing;
      fail(cat("element ", position(expected, element),
               " is past the last offset, and was written"));
    }
    return;
  }
  double x = actual.at(element), y = expected.at(element);
  // NaN payloads of wider formats are free.
  bool equal =
      same || (!isNarrow(expected.format) && std::isnan(x) && std::isnan(y));
  if (std::isfinite(y)) {
    signal += y * y;
  }
  if (equal) {
    return;
  }
  result.bitwise = false;
  ++result.differing;
  double error = std::fabs(x - y);
  if (!std::isfinite(error)) {
    error = std::numeric_limits<double>::infinity();
  }
  noise += error * error;
  if (worst < 0 || error > result.maxError) {
    worst = element;
    result.maxError = error;
  }
  if (outside < 0 && isFloat(expected.format)) {
    double bound = unitAt(expected.format, y) +
                   (expected.errors.empty() ? 0 : expected.errors[element]);
    // The unit of the larger of the two: they may lie across a power of two.
    bound = std::max(bound,
                     bound - unitAt(expected.format, y) +
                         (std::isfinite(x) ? unitAt(expected.format, x) : 0));
    if (!(std::isfinite(error) && error <= bound)) {
      outside = element;
    }
  }
}

void Comparer::judge() {
  if (result.bitwise || !result.passed) {
    return;
  }
  std::string where =
      cat(result.differing, " elements differ, most at ",
          position(expected, worst), ": ", number(actual.at(worst)),
          ", expected ", number(expected.at(worst)));
  auto atLeast = [&](double decibel) {
    if (!(result.sqnr >= decibel)) {
      fail(cat(where, "; ", number(result.sqnr), " dB, expected at least ",
               number(decibel), " dB"));
    }
  };
  switch (tolerance.kind) {
  case Tolerance::Kind::Bitwise:
    fail(where);
    return;
  case Tolerance::Kind::Sqnr:
    atLeast(tolerance.decibel);
    return;
  case Tolerance::Kind::Default:
    break;
  }
  if (!isFloat(expected.format)) {
    fail(where);
  } else if (expected.errors.empty() || !judgedByErrors(expected)) {
    atLeast(expected.format == Format::f32   ? 85
            : expected.format == Format::f16 ? 60
                                             : 50);
  } else if (outside >= 0) {
    fail(cat(where, "; element ", position(expected, outside), " is ",
             number(actual.at(outside)), ", expected ",
             number(expected.at(outside)), " within one unit and ",
             number(expected.errors[outside])));
  }
}

Comparison Comparer::run() {
  if (actual.format != expected.format || actual.shape != expected.shape ||
      actual.bytes.size() != expected.bytes.size()) {
    result.bitwise = false;
    fail(cat("shape is ", textOf(actual.shape), ", expected ",
             textOf(expected.shape)));
    return result;
  }
  for (int64_t element = 0; element < expected.elements(); ++element) {
    compareElement(element);
  }
  if (noise > 0) {
    result.sqnr = 10 * std::log10(signal / noise);
  }
  judge();
  return result;
}

Comparison run::compare(const Array &actual, const Array &expected,
                        const Tolerance &tolerance) {
  return Comparer(actual, expected, tolerance).run();
}

bool run::needsErrors(const Array &actual, const Array &expected,
                      const Tolerance &tolerance) {
  if (tolerance.kind != Tolerance::Kind::Default || !judgedByErrors(expected)) {
    return false;
  }
  return !compare(actual, expected, tolerance).bitwise;
}
