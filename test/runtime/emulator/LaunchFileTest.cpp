// The documented example of gmoe-emulate runs, and bad launch files are
// refused.
#include "tools/emulate/LaunchFile.h"
#include "test/runtime/emulator/TestSupport.h"

#include <cstdlib>

using namespace gmoe;

namespace {

const std::string kExample = "docs/guides/emulate_a_kernel/";

std::string scratch() {
  const char *folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/";
}
void write(const std::string &name, const std::string &text) {
  std::ofstream(scratch() + name, std::ios::binary) << text;
}

TEST(LaunchFile, DocumentedExample) {
  for (const char *name : {"scale.ptx", "launch.json", "in.bin"}) {
    std::string text = test::readFile(kExample + name);
    ASSERT_FALSE(text.empty()) << name;
    write(name, text);
  }
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EmulatorOptions options;
    options.scheduleSeed = seed;
    std::string report;
    Status status = runLaunchFile(scratch() + "launch.json", options, report);
    ASSERT_TRUE(status.ok()) << status.message();
    std::string out = test::readFile(scratch() + "out.bin");
    ASSERT_EQ(out.size(), 256u);
    for (int k = 0; k < 64; ++k) {
      float v;
      std::memcpy(&v, out.data() + 4 * k, 4);
      EXPECT_EQ(v, 2.0f * float(k));
    }
    EXPECT_NE(report.find("tma bytes 256"), std::string::npos) << report;
  }
}

TEST(LaunchFile, Refusals) {
  const std::pair<const char *, const char *> kCases[] = {
      {"{", "not valid JSON"},
      {"[]", "must be an object"},
      {"{\"foo\": 1}", "unknown key 'foo'"},
      {"{\"ptx\": \"scale.ptx\"}", "must be strings"},
      {"{\"ptx\": \"none.ptx\", \"kernel\": \"k\"}", "cannot read 'none.ptx'"},
      {"{\"ptx\": \"scale.ptx\", \"kernel\": \"k\", \"grid\": 3}", "'grid'"},
      {"{\"ptx\": \"scale.ptx\", \"kernel\": \"k\", \"params\": \"{x}\"}",
       "no buffer and no tensor map"},
      {"{\"ptx\": \"scale.ptx\", \"kernel\": \"k\", \"params\": \"0\"}",
       "hexadecimal"},
      {"{\"ptx\": \"scale.ptx\", \"kernel\": \"k\"}", "no kernel 'k'"}};
  write("scale.ptx", test::readFile(kExample + "scale.ptx"));
  for (const auto &[text, part] : kCases) {
    write("bad.json", text);
    std::string report;
    Status status =
        runLaunchFile(scratch() + "bad.json", EmulatorOptions(), report);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message();
  }
}

} // namespace
