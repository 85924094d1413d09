// Arrays with padding between their rows, as a device sees them.
#ifndef TOOLS_RUN_PADDING_H
#define TOOLS_RUN_PADDING_H

#include "runtime/core/Status.h"
#include "tools/run/Signature.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gmoe::run {

/// The bytes from the first to the last element, `fill` between rows.
Expected<std::vector<uint8_t>> addPadding(const Array &array,
                                          const std::vector<int64_t> &strides,
                                          uint8_t fill);
/// The elements of such bytes; refuses padding that is not `fill`.
Expected<std::vector<uint8_t>>
removePadding(const Array &array, const std::vector<int64_t> &strides,
              uint8_t fill, const std::vector<uint8_t> &padded);

} // namespace gmoe::run

#endif // TOOLS_RUN_PADDING_H
