// .npy files: round trips, and refusals of what a header may claim.
#include "runtime/core/Npy.h"

#include "runtime/core/File.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

namespace gmoe::test {
namespace {

/// A file of that version with this header dictionary and data.
std::string npy(const std::string &header, const std::string &data,
                int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return file + header + data;
}

std::string dict(const std::string &type, const std::string &shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape +
         ", }";
}

void expectRefusal(const std::string &file, const char *message) {
  Expected<NpyArray> array = parseNpy(file, "x.npy");
  ASSERT_FALSE(array.ok()) << "expected: " << message;
  EXPECT_NE(array.status().message().find(message), std::string::npos)
      << array.status().message();
}

TEST(Npy, RoundTripsEveryType) {
  std::string path = testing::TempDir() + "/npy_test.npy";
  for (unsigned i = 0; i < kElementTypeCount; ++i) {
    ElementType element = static_cast<ElementType>(i);
    Shape shape{3, 2, 4};
    std::vector<uint8_t> bytes(*byteSize(element, shape));
    for (size_t k = 0; k < bytes.size(); ++k) {
      bytes[k] = static_cast<uint8_t>(k * 7);
    }
    Status status = writeNpy(path, element, shape, bytes.data(), bytes.size());
    ASSERT_TRUE(status.ok()) << status.message();
    Expected<NpyArray> array = readNpy(path);
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->type, npyTypeOf(element));
    EXPECT_EQ(array->bytes, bytes);
    Expected<Shape> read = array->shapeAs(element);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, shape);
  }
  std::remove(path.c_str());
}

TEST(Npy, PacksPairs) {
  uint8_t bytes[2] = {0x21, 0x43};
  Expected<std::string> file = formatNpy(ElementType::E2M1, {1, 4}, bytes, 2);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size() % 64, 2u);
  EXPECT_NE(file->find("'shape': (1, 2)"), std::string::npos);
  EXPECT_FALSE(formatNpy(ElementType::E2M1, {2, 3}, bytes, 3).ok());
  EXPECT_FALSE(formatNpy(ElementType::F32, {2}, bytes, 2).ok());
}

TEST(Npy, ReadsWhatNumpyWrites) {
  for (int version : {1, 2, 3}) {
    Expected<NpyArray> array =
        parseNpy(npy(dict("<f4", "(2,)"), "12345678", version), "x.npy");
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, Shape{2});
  }
  EXPECT_TRUE(parseNpy(npy(dict("<f4", "()"), "1234"), "x").ok());
  EXPECT_TRUE(parseNpy(npy(dict("|u1", "(0, 5)"), ""), "x").ok());
  EXPECT_TRUE(
      parseNpy(npy(dict("<i8", "(1, 1, 1)") + "    \n", "12345678"), "x").ok());
}

TEST(Npy, Refusals) {
  expectRefusal("", "x.npy: not a .npy file");
  expectRefusal("PK\3\4 a zip file", "not a .npy file");
  expectRefusal(npy(dict("<f4", "(1,)"), "1234", 4), ".npy version 4");
  expectRefusal(npy(dict(">f4", "(1,)"), "1234"), "big-endian (>f4)");
  expectRefusal(npy(dict("<c8", "(1,)"), "12345678"), "element type \"<c8\"");
  expectRefusal(npy(dict("|O", "(1,)"), "12345678"), "element type \"|O\"");
  expectRefusal(
      npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "1234"),
      "Fortran order");
  expectRefusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                    "'shape': (1,), }",
                    "1234"),
                "structured array");
  expectRefusal(npy("{'descr': '<f4', 'shape': (1,), }", "1234"),
                "expected descr, fortran_order and shape");
  expectRefusal(npy("{'descr': '<f4', 'x': 1}", "1234"), "unknown key \"x\"");
  expectRefusal(npy(dict("<f4", "(-1,)"), "1234"), "expected extents");
  expectRefusal(npy(dict("<f4", "(99999999999999999999,)"), "1234"),
                "below 2^63");
  expectRefusal(npy(dict("<f4", "(4611686018427387904, 4)"), "1234"),
                "larger than 2^63 bytes");
  expectRefusal(npy(dict("<f4", "(1099511627776,)"), "1234"),
                "has 4 bytes of data, expected 4398046511104 for <f4");
  expectRefusal(npy(dict("<f4", "(1,)"), "12345"), "has 5 bytes of data");
  expectRefusal(npy(dict("<f4", "(1,)"), "1234").substr(0, 30),
                "truncated inside its header");
}

TEST(Npy, NoPrefixIsAccepted) {
  std::string file = npy(dict("<f4", "(2, 1)"), "12345678");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(parseNpy(file.substr(0, size), "x").ok());
  }
}

TEST(Npy, TypesMustMatch) {
  Expected<NpyArray> array = parseNpy(npy(dict("<f4", "(1,)"), "1234"), "x");
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->shapeAs(ElementType::BF16).status().message(),
            "stored type is <f4, expected <u2 for bf16");
}

TEST(Npy, UnwritableTargets) {
  Status status =
      writeNpy("/nonexistent/x.npy", ElementType::F32, {1}, "1234", 4);
  EXPECT_EQ(status.message(),
            "cannot write /nonexistent/x.npy: No such file or directory");
  // The rename fails: no temporary file is left behind.
  std::string directory = testing::TempDir();
  EXPECT_FALSE(writeFile(directory, "x").ok());
  EXPECT_FALSE(readNpy("/nonexistent/x.npy").ok());
}

} // namespace
} // namespace gmoe::test
