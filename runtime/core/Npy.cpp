#include "runtime/core/Npy.h"

#include "runtime/core/File.h"
#include "runtime/core/Text.h"

#include <cstring>
#include <limits>

using namespace gmoe;

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 40;
constexpr size_t kMaxRank = 32;

/// The header is the text of a Python dictionary of three known keys.
class HeaderParser {
public:
  HeaderParser(std::string_view text, std::string_view what)
      : rest(text), what(what) {}

  Status parse(NpyArray &array);

private:
  Status fail(std::string_view reason) const {
    return invalidArgument(cat(what, ": malformed .npy header: ", reason));
  }
  void skipSpace() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n' ||
                             rest[0] == '\t' || rest[0] == '\r')) {
      rest.remove_prefix(1);
    }
  }
  bool take(std::string_view token) {
    skipSpace();
    if (rest.substr(0, token.size()) != token) {
      return false;
    }
    rest.remove_prefix(token.size());
    return true;
  }
  bool takeString(std::string &value);
  bool takeNumber(int64_t &value);
  Status parseField(NpyArray &array);
  Status parseShape(Shape &shape);

  std::string_view rest, what;
  bool hasType = false, hasOrder = false, hasShape = false;
};

bool HeaderParser::takeString(std::string &value) {
  skipSpace();
  if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) {
    return false;
  }
  size_t end = rest.find(rest[0], 1);
  if (end == std::string_view::npos) {
    return false;
  }
  value = std::string(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  return true;
}

bool HeaderParser::takeNumber(int64_t &value) {
  skipSpace();
  size_t digits = 0;
  value = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') {
    if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
        __builtin_add_overflow(value, int64_t{rest[digits] - '0'}, &value)) {
      return false;
    }
    ++digits;
  }
  rest.remove_prefix(digits);
  return digits != 0;
}

Status HeaderParser::parseShape(Shape &shape) {
  if (!take("(")) {
    return fail("expected a tuple as shape");
  }
  while (!take(")")) {
    int64_t extent = 0;
    if (!takeNumber(extent)) {
      return fail("expected extents of 0 or more below 2^63 in the shape");
    }
    if (shape.size() == kMaxRank) {
      return fail("more than 32 extents in the shape");
    }
    shape.push_back(extent);
    if (!take(",") && rest.substr(0, 1) != ")") {
      return fail("expected ',' or ')' in the shape");
    }
  }
  return {};
}

Status HeaderParser::parseField(NpyArray &array) {
  std::string key;
  if (!takeString(key) || !take(":")) {
    return fail("expected a key and ':'");
  }
  if (key == "descr") {
    hasType = true;
    if (!takeString(array.type)) {
      return invalidArgument(
          cat(what, ": is a structured array, expected one plain type"));
    }
    return {};
  }
  if (key == "fortran_order") {
    hasOrder = true;
    if (take("True")) {
      return invalidArgument(
          cat(what, ": is in Fortran order, expected C order: save "
                    "numpy.ascontiguousarray of it"));
    }
    return take("False") ? Status() : fail("expected True or False");
  }
  if (key == "shape") {
    hasShape = true;
    array.shape.clear();
    return parseShape(array.shape);
  }
  return fail("unknown key \"" + key + "\"");
}

Status HeaderParser::parse(NpyArray &array) {
  if (!take("{")) {
    return fail("expected '{'");
  }
  while (!take("}")) {
    if (Status s = parseField(array); !s) {
      return s;
    }
    if (!take(",") && rest.substr(0, 1) != "}") {
      return fail("expected ',' or '}'");
    }
  }
  skipSpace();
  if (!rest.empty()) {
    return fail("text behind the dictionary");
  }
  return hasType && hasOrder && hasShape
             ? Status()
             : fail("expected descr, fortran_order and shape");
}

/// Bytes of a stored element.
Expected<int64_t> widthOf(const std::string &type, std::string_view what) {
  if (!type.empty() && type[0] == '>') {
    return invalidArgument(cat(what, ": is big-endian (", type,
                               "), expected little-endian: convert it with "
                               "astype"));
  }
  static constexpr const char *known[] = {"<f2", "<f4", "<f8", "<i2", "<i4",
                                          "<i8", "<u2", "<u4", "<u8", "|i1",
                                          "|u1", "|b1", "<i1", "<u1"};
  for (const char *name : known) {
    if (type == name) {
      return int64_t{name[2] - '0'};
    }
  }
  return invalidArgument(cat(what, ": has element type \"", type,
                             "\", expected a plain integer or float type"));
}

} // namespace

const char *gmoe::npyTypeOf(ElementType element) {
  switch (element) {
  case ElementType::F32:
    return "<f4";
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "<u2";
  case ElementType::I32:
    return "<i4";
  case ElementType::I64:
    return "<i8";
  case ElementType::I8:
    return "|i1";
  default:
    return "|u1";
  }
}

Expected<Shape> NpyArray::shapeAs(ElementType element) const {
  std::string_view expected = npyTypeOf(element);
  if (type != expected) {
    return invalidArgument(cat("stored type is ", type, ", expected ", expected,
                               " for ", nameOf(element)));
  }
  Shape result = shape;
  if (element == ElementType::E2M1) {
    if (shape.empty() ||
        shape.back() > std::numeric_limits<int64_t>::max() / 2) {
      return invalidArgument("stored shape " + textOf(shape) +
                             " has no last axis of packed e2m1 pairs");
    }
    result.back() *= 2;
  }
  return result;
}

Expected<NpyArray> gmoe::parseNpy(std::string_view file,
                                  std::string_view what) {
  if (file.substr(0, kMagic.size()) != kMagic || file.size() < 10) {
    return invalidArgument(cat(what, ": not a .npy file"));
  }
  unsigned version = static_cast<uint8_t>(file[6]);
  if (version < 1 || version > 3) {
    return invalidArgument(cat(what, ": .npy version ", version,
                               ", expected 1 to 3: save it with numpy.save"));
  }
  size_t start = version == 1 ? 10 : 12;
  uint64_t length = 0;
  for (size_t i = 8; i < start && i < file.size(); ++i) {
    length |= uint64_t{static_cast<uint8_t>(file[i])} << (8 * (i - 8));
  }
  if (file.size() < start || length > file.size() - start) {
    return invalidArgument(cat(what, ": truncated inside its header"));
  }
  NpyArray array;
  if (Status s = HeaderParser(file.substr(start, length), what).parse(array);
      !s) {
    return s;
  }
  Expected<int64_t> bytes = widthOf(array.type, what);
  if (!bytes) {
    return bytes.status();
  }
  bool empty = false;
  for (int64_t extent : array.shape) {
    empty |= extent == 0;
  }
  for (int64_t extent : array.shape) {
    if (!empty && __builtin_mul_overflow(*bytes, extent, &*bytes)) {
      return invalidArgument(cat(what, ": shape ", textOf(array.shape),
                                 " is larger than 2^63 bytes"));
    }
  }
  uint64_t expected = empty ? 0 : static_cast<uint64_t>(*bytes);
  std::string_view data = file.substr(start + length);
  if (data.size() != expected) {
    return invalidArgument(cat(what, ": has ", data.size(),
                               " bytes of data, expected ", expected, " for ",
                               array.type, " ", textOf(array.shape),
                               ": it was truncated or grew"));
  }
  array.bytes.assign(data.begin(), data.end());
  return array;
}

Expected<NpyArray> gmoe::readNpy(const std::string &path) {
  Expected<std::string> file = readFile(path, kMaxFileBytes);
  if (!file) {
    return file.status();
  }
  return parseNpy(*file, path);
}

Expected<std::string> gmoe::formatNpy(ElementType element, const Shape &shape,
                                      const void *bytes, uint64_t size) {
  Expected<uint64_t> expected = byteSize(element, shape);
  if (!expected) {
    return expected.status();
  }
  if (size != *expected) {
    return invalidArgument(cat("array of ", nameOf(element), " ", textOf(shape),
                               " has ", size, " bytes, expected ", *expected));
  }
  Expected<Shape> storage = storageShape(element, shape);
  if (!storage) {
    return storage.status();
  }
  std::string header = cat("{'descr': '", npyTypeOf(element),
                           "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < storage->size(); ++i) {
    header += cat(i ? ", " : "", (*storage)[i]);
  }
  header += storage->size() == 1 ? ",), }" : "), }";
  // numpy aligns the data to 64 bytes and ends the header with a line break.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\x00';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(static_cast<const char *>(bytes), size);
  return file;
}

Status gmoe::writeNpy(const std::string &path, ElementType element,
                      const Shape &shape, const void *bytes, uint64_t size) {
  Expected<std::string> file = formatNpy(element, shape, bytes, size);
  if (!file) {
    return Status(file.status().code(),
                  cat("cannot write ", path, ": ", file.status().message()));
  }
  return writeFile(path, *file);
}
