// Contents of the arguments: files, constants, and data made up so that every
// sum is exact and what must not be read shows.
#ifndef TOOLS_RUN_GENERATE_H
#define TOOLS_RUN_GENERATE_H

#include "tools/run/Options.h"
#include "tools/run/Signature.h"

#include <vector>

namespace gmoe::run {

/// One array for each argument. What is not given is generated: small integers
/// and powers of two, skewed groups with an empty one, and, with poison, NaN in
/// rows past the last offset, in scale padding and in outputs.
Expected<std::vector<Array>> makeArguments(const Signature &signature,
                                           const Options &options);

/// The bytes of memory that nothing was written to.
inline uint8_t fillOf(const Options &options) {
  return options.poison ? 0xFF : 0;
}

/// The row count R of these arguments; 0 when no extent is dynamic.
int64_t rowsOf(const Signature &signature, const std::vector<Array> &arrays);

/// Extents for R rows, of an argument or a result.
template <typename Facts>
std::vector<int64_t> resolveShape(const Facts &facts, int64_t rows) {
  std::vector<int64_t> resolved = facts.shape;
  for (int64_t &extent : resolved) {
    if (extent == kRows) {
      extent = facts.extent                   ? facts.extent(rows)
               : facts.format == Format::e8m0 ? (rows + 127) / 128
                                              : rows;
    }
  }
  return resolved;
}

/// The array of a file, of this format.
Expected<Array> readArray(const std::string &path, Format format);
Status writeArray(const std::string &path, const Array &array);

} // namespace gmoe::run

#endif // TOOLS_RUN_GENERATE_H
