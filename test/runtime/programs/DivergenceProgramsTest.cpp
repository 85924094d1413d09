// divergence.cu, against the same functions on the host.
#include "test/runtime/programs/ProgramSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

uint32_t triple(uint32_t v) { return 3 * v + 1; }
uint32_t halve(uint32_t v) { return v / 2; }
uint32_t mix(uint32_t v) {
  uint32_t h = v;
  for (uint32_t k = 0; k < v % 7; ++k) {
    h = (h * 2654435761u) ^ (h >> 13);
  }
  return h;
}

uint32_t collatz(uint32_t v) {
  if (v == 0) {
    return 0xffffffffu;
  }
  uint32_t steps = 0;
  for (; v != 1; ++steps) {
    v = v % 2 ? 3 * v + 1 : v / 2;
  }
  return steps;
}

uint32_t interpret(const std::vector<uint8_t> &code, uint32_t a, uint32_t b) {
  for (uint32_t at = a % 5; at < code.size(); ++at) {
    switch (code[at]) {
    case 0:
      a += b;
      break;
    case 1:
      b ^= a >> 3;
      break;
    case 2:
      a = uint32_t(__builtin_popcount(a)) + b;
      break;
    case 3:
      at += a & 1;
      break;
    case 4:
      for (uint32_t j = 0; j < (a & 7); ++j) {
        b = b * 5 + j;
      }
      break;
    case 5:
      std::swap(a, b);
      break;
    case 6:
      if (b % 11 == 3) {
        return a - b;
      }
      break;
    case 7:
      a = a << 5 | a >> 27;
      break;
    default:
      a = ~a;
    }
  }
  return a ^ b;
}

constexpr uint32_t kCount = 333; // the last warp is not full

/// Runs `kernel` over hashed inputs, with `before` ahead of them.
template <class F, class... Before>
void compare(const char *kernel, uint32_t limit, F want, Before... before) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program p("divergence", seed);
    std::vector<uint32_t> in(kCount);
    for (uint32_t k = 0; k < kCount; ++k) {
      in[k] = hashed(k) % limit;
    }
    uint64_t out = p.poisoned<uint32_t>(kCount);
    p.check(p.run(kernel, parameters(before(p)..., p.upload(in), out, kCount),
                  {96, 1, 1}, {4, 1, 1}));
    std::vector<uint32_t> got = p.download<uint32_t>(out, kCount);
    for (uint32_t k = 0; k < kCount; ++k) {
      ASSERT_EQ(got[k], want(in[k], k)) << kernel << " of " << in[k];
    }
  }
}

TEST(DivergencePrograms, DataDependentLoops) {
  compare("collatz", 1000, [](uint32_t v, uint32_t) { return collatz(v); });
}

TEST(DivergencePrograms, Switch) {
  std::vector<uint8_t> code(60);
  for (uint32_t k = 0; k < code.size(); ++k) {
    code[k] = uint8_t(hashed(k + 5) % 9);
  }
  compare(
      "interpret", 0xffffffffu,
      [&](uint32_t v, uint32_t k) { return interpret(code, v, k); },
      [&](Program &p) { return p.upload(code); },
      [&](Program &) { return uint32_t(code.size()); });
}

TEST(DivergencePrograms, FunctionPointers) {
  compare("indirect", 100000, [](uint32_t v, uint32_t) {
    uint32_t (*const functions[3])(uint32_t) = {triple, halve, mix};
    for (int step = 0; step < 4; ++step) {
      v = functions[v % 3](v);
    }
    return v;
  });
}

TEST(DivergencePrograms, Votes) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program p("divergence", seed);
    std::vector<uint32_t> in(32), want(32);
    uint32_t most = 0, three = 0;
    for (uint32_t k = 0; k < 32; ++k) {
      in[k] = hashed(k + uint32_t(seed)) % 5000;
      most = std::max(most, in[k]);
      three |= in[k] % 2 == 0 && in[k] % 3 == 0;
    }
    for (uint32_t k = 0; k < 32; ++k) {
      uint32_t same = 0;
      for (uint32_t j = 0; j < 32; ++j) {
        same |= uint32_t((in[j] & 1) && (in[j] & 6) == (in[k] & 6)) << j;
      }
      want[k] = most + (in[k] % 2 ? uint32_t(__builtin_popcount(same)) << 8 |
                                        in[uint32_t(__builtin_ctz(same))] % 251
                        : three   ? 0x10000
                                  : 0x20000);
    }
    uint64_t out = p.poisoned<uint32_t>(32);
    p.check(p.run("votes", parameters(p.upload(in), out)));
    EXPECT_EQ(p.download<uint32_t>(out, 32), want);
  }
}

TEST(DivergencePrograms, CallOfNoFunction) {
  Program p("divergence", 0);
  std::string ptx = readFile("test/runtime/programs/ptx/divergence.ptx");
  const std::string table = "{_Z6triplej, _Z5halvej, _Z3mixj}";
  ptx.replace(ptx.find(table), table.size(), "{_Z6triplej, _Z5halvej, 0}");
  p.check(p.load(ptx));
  uint64_t out = p.poisoned<uint32_t>(1);
  Status status = p.run(
      "indirect", parameters(p.upload(std::vector<uint32_t>{2}), out, 1u));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("where no function is"),
            std::string::npos)
      << status.message();
}

} // namespace
