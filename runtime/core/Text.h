// Builds messages without iostreams, which would double the runtime's size.
#ifndef GMOE_RUNTIME_CORE_TEXT_H
#define GMOE_RUNTIME_CORE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace gmoe {

/// A number that cat() prints in hexadecimal: addresses.
struct Hex {
  uint64_t value;
};

namespace detail {
inline void append(std::string &out, std::string_view text) { out += text; }
inline void append(std::string &out, Hex hex) {
  char digits[16];
  unsigned count = 0;
  do {
    digits[count++] = "0123456789abcdef"[hex.value & 15];
    hex.value >>= 4;
  } while (hex.value);
  out += "0x";
  while (count) {
    out += digits[--count];
  }
}
template <typename T>
std::enable_if_t<std::is_integral_v<T>> append(std::string &out, T value) {
  out += std::to_string(value);
}
} // namespace detail

template <typename... Parts> std::string cat(const Parts &...parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_TEXT_H
