// Every case on the emulator, against the expected values that the host
// computes on its own.
#include "runtime/emulator/EmulatorDevice.h"
#include "test/runtime/conformance/Run.h"

#include <gtest/gtest.h>

namespace gmoe::conformance {
namespace {

class Emulated : public testing::TestWithParam<size_t> {};

TEST_P(Emulated, MatchesTheIsa) {
  Family f = allFamilies()[GetParam()].build();
  for (uint64_t seed : {0, 7}) {
    EmulatorOptions options;
    options.target = "sm_90a";
    options.scheduleSeed = seed;
    // Correct programs: every finding of the checker would be a false one.
    options.hazards = HazardLevel::Full;
    auto device = createEmulatorDevice(options);
    auto image = load(*device, f);
    ASSERT_TRUE(image.ok()) << image.status().message();
    for (const Case &c : f.cases) {
      ASSERT_FALSE(c.expected.empty()) << c.name;
      auto got = run(*device, **image, c);
      if (!c.refusal.empty()) {
        ASSERT_FALSE(got.ok()) << c.name;
        EXPECT_NE(got.status().message().find(c.refusal), std::string::npos)
            << c.name << ": " << got.status().message();
        device = createEmulatorDevice(options);
        image = load(*device, f);
        continue;
      }
      if (!got) {
        ADD_FAILURE() << c.name << ": " << got.status().message();
        continue;
      }
      Difference d = compareExpected(c, *got);
      EXPECT_EQ(d.count, 0u) << c.name << "\n" << d.first;
    }
  }
}

std::vector<size_t> indices() {
  std::vector<size_t> v;
  for (size_t k = 0; k < allFamilies().size(); ++k) {
    v.push_back(k);
  }
  return v;
}

INSTANTIATE_TEST_SUITE_P(Conformance, Emulated, testing::ValuesIn(indices()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return std::string(allFamilies()[info.param].name);
                         });

} // namespace
} // namespace gmoe::conformance
