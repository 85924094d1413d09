// Element types of dense arrays, and how many bytes an array takes.
#ifndef GMOE_RUNTIME_CORE_ELEMENT_H
#define GMOE_RUNTIME_CORE_ELEMENT_H

#include "runtime/core/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gmoe {

/// Extents of a row-major array, slowest first, in elements.
using Shape = std::vector<int64_t>;

/// The values are those of the bundle's schema.
enum class ElementType : uint8_t {
  F32,
  F16,
  BF16,
  E4M3,
  E5M2,
  E8M0,
  E2M1,
  I8,
  I32,
  I64
};
inline constexpr unsigned kElementTypeCount = 10;

constexpr unsigned bitsOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::I32:
    return 32;
  case ElementType::F16:
  case ElementType::BF16:
    return 16;
  case ElementType::I64:
    return 64;
  case ElementType::E2M1:
    return 4;
  default:
    return 8;
  }
}

/// "f32", "e4m3", ...
const char *nameOf(ElementType type);

/// "[2, 128]"
std::string textOf(const Shape &shape);

/// The extents of the stored bytes: e2m1 packs two elements a byte along the
/// last axis, which must be even; other types are stored as they are.
Expected<Shape> storageShape(ElementType type, const Shape &shape);

/// Refuses negative extents, an odd last extent of e2m1, and sizes over 63
/// bits.
Expected<uint64_t> byteSize(ElementType type, const Shape &shape);
/// From the first to the last element of an array with strides (elements, of
/// every axis but the last; none: dense). Refuses rows that overlap as well.
Expected<uint64_t> byteSize(ElementType type, const Shape &shape,
                            const std::vector<int64_t> &strides);

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_ELEMENT_H
