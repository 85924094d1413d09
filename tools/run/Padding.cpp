#include "tools/run/Padding.h"

#include "runtime/core/Text.h"

#include <algorithm>

using namespace gmoe;
using namespace gmoe::run;

/// Calls f(row, first byte with padding) for each row, in order of both.
template <typename F>
static void forEachRow(const Array &array, const std::vector<int64_t> &strides,
                       F f) {
  unsigned bits = bitsOf(elementOf(array.format));
  int64_t rows = 1;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    rows *= array.shape[axis];
  }
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row, element = 0;
    for (size_t axis = strides.size(); axis-- > 0;) {
      element += rest % array.shape[axis] * strides[axis];
      rest /= array.shape[axis];
    }
    f(static_cast<size_t>(row), static_cast<size_t>(element * bits / 8));
  }
}

static size_t rowBytes(const Array &array) {
  return static_cast<size_t>(array.shape.back() *
                             bitsOf(elementOf(array.format)) / 8);
}

Expected<std::vector<uint8_t>>
run::addPadding(const Array &array, const std::vector<int64_t> &strides,
                uint8_t fill) {
  Expected<uint64_t> bytes =
      byteSize(elementOf(array.format), array.shape, strides);
  if (!bytes) {
    return bytes.status();
  }
  if (*bytes > kMaxArrayBytes) {
    return invalidArgument(cat("needs ", *bytes,
                               " bytes with its padding, "
                               "expected at most ",
                               kMaxArrayBytes));
  }
  std::vector<uint8_t> padded(*bytes, fill);
  if (!padded.empty()) {
    size_t size = rowBytes(array);
    forEachRow(array, strides, [&](size_t row, size_t at) {
      std::copy_n(array.bytes.begin() + row * size, size, padded.begin() + at);
    });
  }
  return Expected<std::vector<uint8_t>>(std::move(padded));
}

Expected<std::vector<uint8_t>>
run::removePadding(const Array &array, const std::vector<int64_t> &strides,
                   uint8_t fill, const std::vector<uint8_t> &padded) {
  std::vector<uint8_t> bytes(array.bytes.size());
  size_t size = rowBytes(array), end = 0;
  bool intact = true;
  size_t wrong = 0;
  if (!padded.empty()) {
    forEachRow(array, strides, [&](size_t row, size_t at) {
      for (; end < at; ++end) {
        if (intact && padded[end] != fill) {
          intact = false;
          wrong = row - 1;
        }
      }
      std::copy_n(padded.begin() + at, size, bytes.begin() + row * size);
      end = at + size;
    });
  }
  if (!intact) {
    return deviceError(cat("the padding behind row ", wrong, " was written"));
  }
  return Expected<std::vector<uint8_t>>(std::move(bytes));
}
