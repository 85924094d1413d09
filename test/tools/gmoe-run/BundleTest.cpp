// gmoe-run on bundles: what it launches, compares and refuses. The kernels are
// written by hand, so that they can be wrong.
#include "test/runtime/core/TestBundle.h"
#include "tools/run/Run.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>

using namespace gmoe;
using namespace gmoe::test;

static const char *const kSource = R"(
func.func @entry(%q: tensor<?x32xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %q, %c0 : tensor<?x32xf8E4M3FN>
  %y0 = tensor.empty(%r) : tensor<?x32xf32>
  %y = grouped_moe.dequantize ins(%q : tensor<?x32xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x32xf32>) layout <row, whole, block = 32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
)";

/// Stores 6 to every element of a row of 32 f32.
static const char *const kSixes = R"(
.version 9.0
.target sm_100a
.address_size 64
.visible .entry sixes(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	shl.b32 %r1, %r1, 5;
	add.s32 %r0, %r0, %r1;
	ld.param.b64 %rd0, [out];
	mul.wide.u32 %rd1, %r0, 4;
	add.s64 %rd0, %rd0, %rd1;
	mov.b32 %r2, 0x40c00000;
	st.global.b32 [%rd0], %r2;
	ret;
}
)";

/// Entry "entry": q [R, 32] e4m3, s [ceildiv(R, 128), 1, 32, 4, 4] e8m0, y
/// [R, 32] f32, one row a CTA, written to argument `target`.
static gmoe::abi::BundleT sixesBundle(uint32_t target) {
  auto entry = std::make_unique<gmoe::abi::EntryT>();
  entry->name = "entry";
  Exprs e(*entry);
  int32_t rows = e.dim(0, 0), c1 = e.constant(1), c4 = e.constant(4),
          c32 = e.constant(32), c128 = e.constant(128);
  int32_t atoms = e.op(gmoe::abi::ExprKind::CeilDiv, rows, c128);
  addArgument(*entry, "q", gmoe::abi::ArgumentKind::Input,
              gmoe::abi::ElementType::E4M3, {rows, c32});
  addArgument(*entry, "s", gmoe::abi::ArgumentKind::Input,
              gmoe::abi::ElementType::E8M0, {atoms, c1, c32, c4, c4});
  addArgument(*entry, "y", gmoe::abi::ArgumentKind::Output,
              gmoe::abi::ElementType::F32, {rows, c32});
  auto temporary = std::make_unique<gmoe::abi::TemporaryT>();
  temporary->bytes = c128;
  entry->temporaries.push_back(std::move(temporary));
  auto launch = std::make_unique<gmoe::abi::LaunchT>();
  launch->kernel = "sixes";
  launch->grid = {target == 2 ? rows : c1, c1, c1};
  launch->cluster = {1, 1, 1};
  launch->block = {32, 1, 1};
  launch->param_bytes = 8;
  addPointer(*launch, 0, gmoe::abi::BufferKind::Argument, target);
  entry->launches.push_back(std::move(launch));
  gmoe::abi::BundleT bundle;
  bundle.source = kSource;
  bundle.entries.push_back(std::move(entry));
  addImage(bundle, "sm_100a", gmoe::abi::ImageFormat::Ptx, kSixes);
  return bundle;
}

namespace {

struct Outcome {
  int code;
  std::string out, err;
};

/// gmoe-run on the bundle, on the emulator.
Outcome runBundle(const gmoe::abi::BundleT &bundle,
                  std::vector<const char *> options) {
  const char *folder = std::getenv("TEST_TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/in.gmoe";
  std::ofstream(path, std::ios::binary) << gmoe::abi::writeBundle(bundle);
  std::vector<const char *> words = {"gmoe-run", path.c_str(),
                                     "--device=emulator"};
  words.insert(words.end(), options.begin(), options.end());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int code = run::runTool(static_cast<int>(words.size()), words.data());
  return {code, testing::internal::GetCapturedStdout(),
          testing::internal::GetCapturedStderr()};
}

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(Bundle, ChecksAgainstItsSource) {
  Outcome outcome =
      runBundle(sixesBundle(2), {"--arg=0=const:1.5", "--arg=1=const:4",
                                 "--rows=130", "--check", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char *part : {"\"launches\": 1", "\"workspace_bytes\": 128",
                           "\"bitwise\": true", "\"mma_instructions\": 0",
                           "\"target\": \"sm_100a\"", "\"passed\": true"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
}

TEST(Bundle, FindsWrongResults) {
  Outcome outcome =
      runBundle(sixesBundle(2), {"--arg=0=const:1.5", "--arg=1=const:2",
                                 "--rows=3", "--check"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.out, "FAILED")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err,
                       "check of result #0 failed: 96 elements differ, most at "
                       "[0, 0]: 6, expected 3"))
      << outcome.err;
  // The sizes agree to within 0 dB only.
  outcome =
      runBundle(sixesBundle(2), {"--arg=0=const:1.5", "--arg=1=const:2",
                                 "--rows=3", "--check", "--tolerance=sqnr:-1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(Bundle, HazardsAreFindings) {
  gmoe::abi::BundleT bundle = sixesBundle(2);
  // Every CTA writes the first row.
  std::string racing = kSixes;
  racing.replace(racing.find("mov.u32 %r1, %ctaid.x"), 21,
                 "mov.u32 %r1, 0;      ");
  bundle.images.clear();
  addImage(bundle, "sm_100a", gmoe::abi::ImageFormat::Ptx, racing);
  Outcome outcome = runBundle(bundle, {"--rows=3", "--json"});
  EXPECT_EQ(outcome.code, 1);
  for (const char *part : {"\"hazards\": [", "\"id\": \"write-unordered\"",
                           "\"line\": 17", "\"passed\": false"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  outcome = runBundle(bundle, {"--rows=3", "--hazards=off"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(Bundle, WrittenInputs) {
  Outcome outcome = runBundle(sixesBundle(0), {"--rows=8"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "argument 0 is an input and was written"))
      << outcome.err;
}

TEST(Bundle, WithoutSource) {
  gmoe::abi::BundleT bundle = sixesBundle(2);
  bundle.source.clear();
  Outcome outcome = runBundle(bundle, {"--rows=2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "argument \"y\"")) << outcome.out;
  outcome = runBundle(bundle, {"--rows=2", "--check"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "no source IR")) << outcome.err;
}

TEST(Bundle, Refused) {
  Outcome outcome = runBundle(sixesBundle(2), {"--target=sm_90a"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "sm_90a")) << outcome.err;
  outcome = runBundle(sixesBundle(2), {"--entry=other"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "other")) << outcome.err;
  // The source says something else than the bundle.
  gmoe::abi::BundleT bundle = sixesBundle(2);
  bundle.entries[0]->arguments[0]->element = gmoe::abi::ElementType::E5M2;
  outcome = runBundle(bundle, {});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "argument 0 has elements of e5m2"))
      << outcome.err;
}
