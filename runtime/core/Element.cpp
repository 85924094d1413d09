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

Expected<uint64_t> gmoe::byteSize(ElementType type, const Shape &shape,
                                  const std::vector<int64_t> &strides) {
  Expected<uint64_t> dense = byteSize(type, shape);
  if (!dense || *dense == 0 || strides.empty()) {
    return dense;
  }
  if (strides.size() + 1 != shape.size()) {
    return invalidArgument(cat("shape ", textOf(shape), " has ", strides.size(),
                               " strides, expected ", shape.size() - 1));
  }
  unsigned __int128 last = static_cast<unsigned __int128>(shape.back()) - 1;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    int64_t next = axis + 1 < strides.size() ? strides[axis + 1] : 1;
    if (strides[axis] <= 0 ||
        static_cast<unsigned __int128>(strides[axis]) <
            static_cast<unsigned __int128>(shape[axis + 1]) * next) {
      return invalidArgument(
          cat("axis ", axis + 1, " has ", shape[axis + 1], " elements, but ",
              strides[axis], " elements on the next of axis ", axis,
              " begins: the array was compiled for shorter rows"));
    }
    last += static_cast<unsigned __int128>(shape[axis] - 1) * strides[axis];
  }
  unsigned __int128 bytes = (last + 1) * bitsOf(type) / 8;
  if (bytes >= (static_cast<unsigned __int128>(1) << 63)) {
    return invalidArgument(cat("shape ", textOf(shape), " of ", nameOf(type),
                               " with its strides is larger than 2^63 bytes"));
  }
  return static_cast<uint64_t>(bytes);
}
