// Loading: what a bundle says, and that no altered file gets past the checks.
#include "test/runtime/core/TestBundle.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

// Inside the namespace: the standard library has a global `abi` too.
namespace gmoe::test {
namespace {

void expectFailure(const std::string &bytes, const char *message,
                   StatusCode code = StatusCode::InvalidBundle) {
  Expected<Module> module = Module::load(bytes);
  ASSERT_FALSE(module.ok()) << "expected: " << message;
  EXPECT_EQ(module.status().code(), code);
  EXPECT_NE(module.status().message().find(message), std::string::npos)
      << module.status().message();
}

/// Drives everything that a loaded module offers: a mutated bundle that still
/// loads must be safe to use.
void exercise(const Module &module) {
  FakeDevice device;
  FakeDevice::Image image;
  (void)module.loadImage(device);
  for (const Entry &entry : module.entries()) {
    std::vector<Shape> given;
    std::vector<ArgumentValue> values;
    for (const ArgumentInfo &argument : entry.arguments()) {
      given.emplace_back(argument.extents.size(), 256);
      for (size_t i = 0; i < argument.extents.size(); ++i) {
        if (argument.extents[i].kind == ExtentKind::Static) {
          given.back()[i] = argument.extents[i].value;
        } else if (argument.extents[i].kind == ExtentKind::Dependent) {
          given.back().clear();
          break;
        }
      }
    }
    Expected<std::vector<Shape>> shapes = entry.shapes(given);
    if (!shapes) {
      continue;
    }
    Expected<uint64_t> bytes = entry.workspaceSize(*shapes, device.info());
    for (const Shape &shape : *shapes) {
      values.push_back({0x10000, shape});
    }
    (void)entry.launch(device, image, values,
                       {0x100000, bytes ? *bytes : uint64_t{0}}, nullptr);
  }
}

TEST(Module, Queries) {
  Expected<Module> module = Module::load(abi::writeBundle(gemmBundle()));
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->formatVersion(), abi::kFormatVersion);
  EXPECT_EQ(module->producer(), "test 1");
  EXPECT_EQ(module->source(), "module {}");
  ASSERT_EQ(module->images().size(), 2u);
  EXPECT_EQ(module->images()[1].data, "cubin bytes");
  ASSERT_EQ(module->kernels().size(), 2u);
  EXPECT_EQ(module->kernels()[0].registers, 32u);
  Expected<const Entry *> entry = module->findEntry("");
  ASSERT_TRUE(entry.ok());
  const std::vector<ArgumentInfo> &arguments = (*entry)->arguments();
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].name, "a");
  EXPECT_EQ(arguments[0].element, ElementType::F16);
  EXPECT_EQ(arguments[0].extents[0].kind, ExtentKind::Free);
  EXPECT_EQ(arguments[0].extents[1].kind, ExtentKind::Static);
  EXPECT_EQ(arguments[0].extents[1].value, 64);
  EXPECT_EQ(arguments[2].kind, ArgumentKind::Output);
  EXPECT_EQ(arguments[2].extents[0].kind, ExtentKind::Dependent);
  Expected<const Entry *> missing = module->findEntry("conv");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().message(),
            "bundle has no entry \"conv\", it has gemm");
}

TEST(Module, WritingIsReproducible) {
  EXPECT_EQ(abi::writeBundle(gemmBundle()), abi::writeBundle(gemmBundle()));
}

TEST(Module, Header) {
  std::string bytes = abi::writeBundle(gemmBundle());
  expectFailure("", "bundle has 0 bytes, expected 32");
  std::string magic = bytes;
  magic[0] = 'X';
  expectFailure(magic, "not a bundle");
  std::string newer = bytes;
  newer[8] = 7;
  expectFailure(newer, "format version 7 is newer than this runtime's 3: use "
                       "a newer runtime or recompile");
  std::string older = abi::addHeader(
      reinterpret_cast<const uint8_t *>(bytes.data()) + sizeof(abi::Header),
      bytes.size() - sizeof(abi::Header), /*version=*/1);
  Expected<Module> module = Module::load(older);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->formatVersion(), 1u);
  expectFailure(bytes + "x", "it was truncated or grew");
  std::string altered = bytes;
  altered.back() ^= 1;
  expectFailure(altered, "checksum does not match");
  std::string junk(64, 'j');
  expectFailure(
      abi::addHeader(reinterpret_cast<const uint8_t *>(junk.data()), 64),
      "tables do not verify");
}

TEST(Module, Files) {
  expectFailure(std::string(1, 'x'), "bundle has 1 bytes");
  Expected<Module> missing = Module::loadFile("/nonexistent/x.gmoe");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
  std::string path = testing::TempDir() + "/module_test.gmoe";
  std::string bytes = abi::writeBundle(gemmBundle());
  std::FILE *file = std::fopen(path.c_str(), "wb");
  ASSERT_TRUE(file);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  EXPECT_TRUE(Module::loadFile(path).ok());
  std::remove(path.c_str());
  EXPECT_FALSE(Module::loadFile(testing::TempDir()).ok());
}

TEST(Module, TruncationsAtEveryLength) {
  std::string bytes = abi::writeBundle(gemmBundle());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Module::load(std::string_view(bytes).substr(0, size)).ok());
    if (size > sizeof(abi::Header)) {
      // A truthful header: the verifier has to find it.
      std::string fixed = abi::addHeader(
          reinterpret_cast<const uint8_t *>(bytes.data()) + sizeof(abi::Header),
          size - sizeof(abi::Header));
      Expected<Module> module = Module::load(fixed);
      if (module) {
        exercise(*module);
      }
    }
  }
}

TEST(Module, EveryByteMutatedWithStaleChecksum) {
  std::string bytes = abi::writeBundle(gemmBundle());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string mutated = bytes;
    mutated[i] = static_cast<char>(mutated[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(Module::load(mutated).ok()) << "byte " << i;
  }
}

TEST(Module, EveryByteMutatedWithFreshChecksum) {
  std::string bytes = abi::writeBundle(gemmBundle());
  std::string payload = bytes.substr(sizeof(abi::Header));
  std::mt19937 random(1);
  unsigned refused = 0, accepted = 0;
  for (size_t i = 0; i < payload.size(); ++i) {
    for (unsigned value : {0u, 1u, 0x7fu, 0x80u, 0xffu, unsigned(random())}) {
      std::string mutated = payload;
      mutated[i] = static_cast<char>(value);
      Expected<Module> module = Module::load(abi::addHeader(
          reinterpret_cast<const uint8_t *>(mutated.data()), mutated.size()));
      if (module) {
        exercise(*module);
        ++accepted;
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 200u);
  EXPECT_GT(accepted, 200u);
}

} // namespace
} // namespace gmoe::test
