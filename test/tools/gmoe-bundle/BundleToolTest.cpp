// gmoe-bundle: what it prints, extracts, strips and refuses.
#include "test/runtime/core/TestBundle.h"

#include "runtime/core/File.h"
#include "tools/bundle/BundleTool.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace gmoe::test {
namespace {

Expected<BundleToolOptions> parse(std::vector<const char *> args) {
  args.insert(args.begin(), "gmoe-bundle");
  return parseBundleToolOptions(static_cast<int>(args.size()), args.data());
}

TEST(BundleTool, Describes) {
  Expected<Module> module = Module::load(abi::writeBundle(gemmBundle()));
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(describeBundle(*module),
            R"(bundle format 3
producer test 1
source 9 bytes of IR
entry gemm
  argument 0 a: input f16 [R, 64], aligned to 16 bytes
  argument 1 offsets: input i32 [4], aligned to 16 bytes
  argument 2 out: output f32 [ceildiv(R, 128), 32], aligned to 16 bytes
  argument 1 holds cumulative ends up to R rows, each a multiple of 8
  temporary 0: R * 4 bytes
  temporary 1: 100 bytes
  launch prepare: grid [min(sms, R), 1, 1], cluster 1x1x1, block 128x1x1, 0 bytes of dynamic shared memory, 28 bytes of parameters
    parameter at byte 0: pointer to argument 1 offsets
    parameter at byte 8: pointer to temporary 1
    parameter at byte 16: i64 R * 4
    parameter at byte 24: i32 R
  launch main: grid [ceildiv(R, 128) * 2, 1, 1], cluster 2x1x1, block 256x1x1, 1000 bytes of dynamic shared memory, 144 bytes of parameters
    before it: zeros in temporary 0
    parameter at byte 0: tensor map of argument 0 a, type 6, dimensions 64 x R, box 64 x 128, swizzle 3
    parameter at byte 128: pointer to argument 2 out
    parameter at byte 136: pointer to temporary 0
kernel prepare for sm_100a: 32 registers, 0 bytes spilled, 0 bytes of static and 0 bytes of dynamic shared memory, 0 columns of tensor memory
kernel main for sm_100a: 32 registers, 0 bytes spilled, 0 bytes of static and 0 bytes of dynamic shared memory, 0 columns of tensor memory
image sm_100a ptx: 6 bytes
image sm_100a cubin: 11 bytes
)");
}

TEST(BundleTool, DescribesWhatALaunchAsksOfExtents) {
  abi::BundleT bundle = gemmBundle();
  bundle.entries[0]->arguments[0]->multiples = {32, 1};
  Expected<Module> module = Module::load(abi::writeBundle(bundle));
  ASSERT_TRUE(module.ok());
  EXPECT_NE(describeBundle(*module).find(
                "  argument 0 a: input f16 [R, 64], aligned to 16 bytes, R a "
                "multiple of 32\n"),
            std::string::npos);
}

TEST(BundleTool, SharedExpressionsStayShort) {
  abi::BundleT bundle = gemmBundle();
  int32_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    bundle.entries[0]->exprs.emplace_back(0, last, last, abi::ExprKind::Add);
    last = static_cast<int32_t>(bundle.entries[0]->exprs.size()) - 1;
  }
  bundle.entries[0]->temporaries[0]->bytes = last;
  Expected<Module> module = Module::load(abi::writeBundle(bundle));
  ASSERT_TRUE(module.ok());
  EXPECT_LT(describeBundle(*module).size(), 4000u);
}

TEST(BundleTool, Extracts) {
  Expected<Module> module = Module::load(abi::writeBundle(gemmBundle()));
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(*extractFrom(*module, "ptx", ""), "// ptx");
  EXPECT_EQ(*extractFrom(*module, "cubin", "sm_100a"), "cubin bytes");
  EXPECT_EQ(*extractFrom(*module, "ir", ""), "module {}");
  EXPECT_EQ(extractFrom(*module, "cubin", "sm_90a").status().message(),
            "bundle has no cubin for sm_90a, its images are: sm_100a ptx, "
            "sm_100a cubin");
}

TEST(BundleTool, Strips) {
  std::string bytes = abi::writeBundle(gemmBundle());
  Expected<std::string> stripped = stripSource(bytes);
  ASSERT_TRUE(stripped.ok());
  EXPECT_LT(stripped->size(), bytes.size());
  Expected<Module> module = Module::load(*stripped);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->source(), "");
  EXPECT_EQ(module->producer(), "test 1");
  EXPECT_EQ(module->entries()[0].program().launches.size(), 2u);
  EXPECT_FALSE(extractFrom(*module, "ir", "").ok());
  // Nothing but the source is lost.
  abi::BundleT expected = gemmBundle();
  expected.source.clear();
  EXPECT_EQ(*stripped, abi::writeBundle(expected));
}

TEST(BundleTool, Usage) {
  EXPECT_FALSE(parse({}).ok());
  EXPECT_FALSE(parse({"a.gmoe", "b.gmoe"}).ok());
  EXPECT_FALSE(parse({"a.gmoe", "--extract=sass"}).ok());
  EXPECT_FALSE(parse({"a.gmoe", "--strip-source"}).ok());
  EXPECT_FALSE(parse({"a.gmoe", "-o"}).ok());
  EXPECT_FALSE(parse({"a.gmoe", "--frob"}).ok());
  EXPECT_TRUE(parse({"--version"}).ok());
}

TEST(BundleTool, Runs) {
  std::string path = testing::TempDir() + "/bundle_tool.gmoe";
  std::string out;
  ASSERT_TRUE(writeFile(path, abi::writeBundle(gemmBundle())).ok());
  Expected<BundleToolOptions> options =
      parse({path.c_str(), "--extract=ir", "-o", (path + ".mlir").c_str()});
  ASSERT_TRUE(options.ok());
  ASSERT_TRUE(runBundleTool(*options, out).ok());
  EXPECT_EQ(*readFile(path + ".mlir", 100), "module {}");
  options->input = "/nonexistent.gmoe";
  EXPECT_EQ(runBundleTool(*options, out).message(),
            "cannot open /nonexistent.gmoe: No such file or directory");
  options->action = BundleToolOptions::Action::Version;
  ASSERT_TRUE(runBundleTool(*options, out).ok());
  EXPECT_NE(out.find("bundle format 3"), std::string::npos);
  std::remove(path.c_str());
  std::remove((path + ".mlir").c_str());
}

} // namespace
} // namespace gmoe::test
