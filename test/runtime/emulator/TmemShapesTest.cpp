// tcgen05.ld and st in every shape (ISA 9.7.16.8): where each register of each
// thread lies in tensor memory, plain and with packed 16-bit columns.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

struct Place {
  uint32_t lane, column;
};

/// The figures of ISA 9.7.16.2.3: a register of a thread, for one warp. Packed
/// columns count as one.
Place placeOf(const std::string &shape, uint32_t t, uint32_t r,
              uint32_t split) {
  if (shape == "32x32b") {
    return {t, r};
  }
  if (shape == "16x64b") { // two threads a row; odd threads eight rows below
    return {t / 4 + (t % 2) * 8, 2 * r + t / 2 % 2};
  }
  if (shape == "16x128b") { // four threads a row; odd registers below
    return {t / 4 + r % 2 * 8, r / 2 * 4 + t % 4};
  }
  if (shape == "16x256b") { // pairs of registers beside each other
    return {t / 4 + r / 2 % 2 * 8, r / 4 * 8 + t % 4 * 2 + r % 2};
  }
  return {t % 16, r + (t >= 16 ? split : 0)}; // 16x32bx2
}
uint32_t registersOf(const std::string &shape, uint32_t times) {
  return times * (shape == "16x128b" ? 2 : shape == "16x256b" ? 4 : 1);
}

std::string list(uint32_t n) {
  std::string text = "{";
  for (uint32_t k = 0; k < n; ++k) {
    text += (k ? ",%v" : "%v") + std::to_string(k);
  }
  return text + "}";
}

/// Word (lane, column) of a warp's quarter starts as lane << 16 | column, or
/// for packed tests as a 16-bit number.
uint32_t wordOf(uint32_t lane, uint32_t column, bool packed) {
  return packed ? (lane * 512 + column) & 0xffff : lane << 16 | column;
}

/// Fills 128 columns, runs `access` (with %a the address), and stores %v0… or
/// the 128 columns of each thread.
std::vector<uint32_t> run(const std::string &access, uint32_t registers,
                          bool packed, bool load) {
  std::string fill, dump;
  for (uint32_t c = 0; c < 128; ++c) {
    std::string at = std::to_string(c);
    fill += std::string(packed ? "mad.lo.u32 %x, %l, 512, " + at +
                                     "; and.b32 %x, %x, 0xffff;"
                               : "mad.lo.u32 %x, %l, 65536, " + at + ";") +
            " add.u32 %y, %b, " + at +
            "; tcgen05.st.sync.aligned.32x32b.x1.b32 [%y], {%x};\n";
  }
  std::string values;
  for (uint32_t r = 0; r < registers; ++r) {
    std::string v = "%v" + std::to_string(r);
    values += "mad.lo.u32 " + v + ", %t, 0x10001, " +
              std::to_string(0x01000100u * (r + 1)) + ";\n";
  }
  uint32_t words = load ? registers : 128;
  for (uint32_t r = 0; r < words; ++r) {
    std::string at = std::to_string(r);
    if (!load) {
      dump += "add.u32 %y, %b, " + at +
              "; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%x}, [%y]; "
              "tcgen05.wait::ld.sync.aligned;\n";
    }
    dump += "st.global.b32 [%o+" + std::to_string(4 * r) + "], " +
            (load ? "%v" + at : std::string("%x")) + ";\n";
  }
  std::string text =
      std::string(prologue()) +
      ".visible .entry k(.param .u64 out) {\n.shared .align 4 .b32 slot;\n"
      ".reg .b32 %v<128>, %t, %l, %w, %x, %y, %a, %b, %n; .reg .b64 %o, %z; "
      ".reg .pred %p;\n"
      "mov.u32 %t, %tid.x; mov.u32 %l, %laneid; shr.u32 %w, %t, 5; "
      "ld.param.b64 "
      "%o, [out]; mul.lo.u32 %n, %t, " +
      std::to_string(4 * words) +
      "; cvt.u64.u32 %z, %n; add.s64 %o, %o, %z; setp.ne.u32 %p, %w, 0; @%p "
      "bra A; mov.b32 %n, 512; "
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %n;\n"
      "A: bar.sync 0; ld.shared.b32 %b, [slot]; shl.b32 %n, %w, 21; add.u32 "
      "%b, %b, %n; mov.b32 %a, %b;\n" +
      fill + "tcgen05.wait::st.sync.aligned;\n" + values + access + "\n" +
      dump +
      "bar.sync 0; @%p bra B; mov.b32 %n, 512; ld.shared.b32 %x, [slot]; "
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %x, %n;\nB: ret; }\n";
  Machine m(5);
  Status status = m.load(text);
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status) {
    return {};
  }
  uint64_t out = m.upload(std::vector<uint32_t>(128 * words, 0));
  std::vector<uint8_t> params;
  append(params, out);
  status = m.run("k", params, {128, 1, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  return m.download<uint32_t>(out, 128 * words);
}

struct Shape {
  const char *name;
  std::vector<uint32_t> times;
};
const Shape kShapes[] = {{"32x32b", {1, 2, 16, 64}},
                         {"16x64b", {1, 2, 8, 32}},
                         {"16x128b", {1, 2, 16}},
                         {"16x256b", {1, 4, 8}},
                         {"16x32bx2", {1, 2, 16}}};
constexpr uint32_t kSplit = 40;

std::string access(const Shape &s, uint32_t times, bool load, bool packed,
                   uint32_t half) {
  std::string name = s.name;
  bool split = name == "16x32bx2";
  std::string offset = split ? ", " + std::to_string(kSplit) : "";
  std::string text = "add.u32 %a, %a, " + std::to_string(half << 20 | 3) + "; ";
  std::string vector = list(registersOf(name, times));
  std::string base = std::string("tcgen05.") + (load ? "ld" : "st") +
                     ".sync.aligned." + name + ".x" + std::to_string(times) +
                     (packed ? load ? ".pack::16b" : ".unpack::16b" : "") +
                     ".b32 ";
  return text +
         (load ? base + vector + ", [%a]" + offset
               : base + "[%a]" + offset + ", " + vector) +
         "; tcgen05.wait::" + (load ? "ld" : "st") + ".sync.aligned;";
}

void check(const Shape &s, uint32_t times, bool load, bool packed,
           uint32_t half) {
  std::string name = s.name;
  SCOPED_TRACE(name + ".x" + std::to_string(times) + (load ? " ld" : " st") +
               (packed ? " packed" : "") + (half ? " upper lanes" : ""));
  uint32_t n = registersOf(name, times);
  auto got = run(access(s, times, load, packed, half), n, packed, load);
  ASSERT_FALSE(got.empty());
  // After a store: what every word should be.
  std::vector<uint32_t> memory(4 * 32 * 128);
  for (uint32_t t = 0; t < 128; ++t) {
    for (uint32_t c = 0; c < 128; ++c) {
      memory[t * 128 + c] = wordOf(t % 32, c, packed);
    }
  }
  for (uint32_t t = 0; t < 128; ++t) {
    for (uint32_t r = 0; r < n; ++r) {
      bool split = name == "16x32bx2";
      Place p = placeOf(name, t % 32, r, 0);
      uint32_t lane = p.lane + 16 * half;
      uint32_t column = 3 + (packed ? 2 * p.column : p.column) +
                        (split && t % 32 >= 16 ? kSplit : 0);
      uint32_t at = (t / 32 * 32 + lane) * 128 + column;
      uint32_t value = t * 0x10001 + 0x01000100u * (r + 1);
      if (load) {
        uint32_t want =
            packed ? (memory[at] & 0xffff) | memory[at + 1] << 16 : memory[at];
        ASSERT_EQ(got[t * n + r], want) << "thread " << t << " register " << r;
      } else if (packed) {
        memory[at] = value & 0xffff;
        memory[at + 1] = value >> 16;
      } else {
        memory[at] = value;
      }
    }
  }
  if (!load) {
    for (uint32_t k = 0; k < memory.size(); ++k) {
      ASSERT_EQ(got[k], memory[k])
          << "lane " << k / 128 << " column " << k % 128;
    }
  }
}

TEST(TmemShapes, Load) {
  for (const Shape &s : kShapes) {
    for (uint32_t times : s.times) {
      check(s, times, true, false, 0);
    }
  }
}
TEST(TmemShapes, Store) {
  for (const Shape &s : kShapes) {
    for (uint32_t times : s.times) {
      check(s, times, false, false, 0);
    }
  }
}
TEST(TmemShapes, PackedLoad) {
  for (const Shape &s : kShapes) {
    for (uint32_t times : {1u, 2u, 4u}) {
      check(s, times, true, true, 0);
    }
  }
}
TEST(TmemShapes, UnpackedStore) {
  for (const Shape &s : kShapes) {
    for (uint32_t times : {1u, 2u, 4u}) {
      check(s, times, false, true, 0);
    }
  }
}
TEST(TmemShapes, UpperLanesOfAWarp) {
  for (const Shape &s : kShapes) {
    if (std::string(s.name) != "32x32b") {
      check(s, 2, true, false, 1);
      check(s, 2, false, false, 1);
    }
  }
}

TEST(TmemShapes, OtherWarpsLanesAreRefused) {
  std::string e = failureOf(
      "setp.ge.u32 %p0, %t, 32; @%p0 bra A; mov.b32 %r1, 64; "
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %r1; A: "
      "bar.sync 0; ld.shared.b32 %r2, [slot]; add.u32 %r2, %r2, 0x200000; "
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r2];",
      32, ".shared .align 4 .b32 slot;\n");
  EXPECT_NE(e.find("not open to warp 0"), std::string::npos) << e;
}

} // namespace
