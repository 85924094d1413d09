// Reads and writes .npy files, the arrays of the command-line tools.
#ifndef GMOE_RUNTIME_CORE_NPY_H
#define GMOE_RUNTIME_CORE_NPY_H

#include "runtime/core/Element.h"
#include "runtime/core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmoe {

/// The type that a .npy file stores an element type as. numpy knows no narrow
/// floats: bf16 is stored as u2, the 8-bit types as u1, e2m1 as u1 with two
/// elements a byte, low nibble first.
const char *npyTypeOf(ElementType element); // "<f4"

/// The array of a .npy file, as stored.
struct NpyArray {
  std::string type; // numpy's: "<f4", "|u1"
  Shape shape;      // of the stored elements
  std::vector<uint8_t> bytes;

  /// Refuses another stored type. The result is in elements: for e2m1 the last
  /// extent is twice the stored one.
  Expected<Shape> shapeAs(ElementType element) const;
};

/// Versions 1 to 3, little-endian, C order. `what` names the file in messages.
Expected<NpyArray> parseNpy(std::string_view file, std::string_view what);
Expected<NpyArray> readNpy(const std::string &path);

/// The file for an array of `shape` elements in `bytes`.
Expected<std::string> formatNpy(ElementType element, const Shape &shape,
                                const void *bytes, uint64_t size);
/// Writes beside `path`, then renames: there is never a partial file.
Status writeNpy(const std::string &path, ElementType element,
                const Shape &shape, const void *bytes, uint64_t size);

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_NPY_H
