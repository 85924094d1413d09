#include "runtime/core/Element.h"

#include "runtime/core/Text.h"

using namespace gmoe;

const char *gmoe::nameOf(ElementType type) {
  static constexpr const char *names[kElementTypeCount] = {
      "f32", "f16", "bf16", "e4m3", "e5m2", "e8m0", "e2m1", "i8", "i32", "i64"};
  unsigned index = static_cast<unsigned>(type);
  return index < kElementTypeCount ? names[index] : "unknown";
}

std::string gmoe::textOf(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += cat(i ? ", " : "", shape[i]);
  }
  return text + "]";
}

Expected<Shape> gmoe::storageShape(ElementType type, const Shape &shape) {
  Shape storage = shape;
  if (type == ElementType::E2M1) {
    if (shape.empty() || shape.back() % 2 != 0) {
      return invalidArgument(
          cat("e2m1 packs two elements a byte, but the last extent of shape ",
              textOf(shape), " is odd: pad it to an even number of elements"));
    }
    storage.back() /= 2;
  }
  return storage;
}

Expected<uint64_t> gmoe::byteSize(ElementType type, const Shape &shape) {
  int64_t bytes = bitsOf(type) < 8 ? 1 : bitsOf(type) / 8;
  Expected<Shape> storage = storageShape(type, shape);
  if (!storage) {
    return storage.status();
  }
  bool empty = false;
  for (int64_t extent : *storage) {
    if (extent < 0) {
      return invalidArgument(
          cat("shape ", textOf(shape), " has a negative extent"));
    }
    empty |= extent == 0;
  }
  for (int64_t extent : *storage) {
    if (!empty && __builtin_mul_overflow(bytes, extent, &bytes)) {
      return invalidArgument(cat("shape ", textOf(shape), " of ", nameOf(type),
                                 " is larger than 2^63 bytes"));
    }
  }
  return empty ? uint64_t{0} : static_cast<uint64_t>(bytes);
}
