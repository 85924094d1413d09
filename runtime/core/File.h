// Whole files: bounded reads, and writes that leave no partial file.
#ifndef GMOE_RUNTIME_CORE_FILE_H
#define GMOE_RUNTIME_CORE_FILE_H

#include "runtime/core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace gmoe {

Expected<std::string> readFile(const std::string &path, uint64_t maxBytes);

/// Writes a temporary file beside `path` and renames it.
Status writeFile(const std::string &path, std::string_view contents);

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_FILE_H
