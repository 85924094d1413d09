// What PTX of other compilers relies on beyond the letter of the ISA.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

/// k(map, out): loads a box of 128 packed elements by 2 rows, announcing
/// `bytes` bytes, and copies 256 bytes of shared memory to out.
std::string packedLoad(const std::string &bytes) {
  return std::string(prologue()) +
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {\n"
         ".shared .align 1024 .b8 buf[256]; .shared .align 8 .b64 mb;\n"
         ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;\n"
         "mov.b32 %r1, 0; mbarrier.init.shared.b64 [mb], 1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [mb], " +
         bytes +
         ";\n"
         "mov.b64 %d0, map; cvta.param.u64 %d0, %d0;\n"
         "cp.async.bulk.tensor.2d.shared::cta.global.tile"
         ".mbarrier::complete_tx::bytes [buf], [%d0, {%r1, %r1}], [mb];\n"
         "W: mbarrier.try_wait.parity.shared.b64 %p1, [mb], 0;\n"
         "@!%p1 bra W; ld.param.b64 %d1, [out]; mov.b32 %r4, buf;\n"
         "L: ld.shared.b8 %r6, [%r4]; st.global.b8 [%d1], %r6;\n"
         "add.s32 %r4, %r4, 1; add.s64 %d1, %d1, 1; add.s32 %r1, %r1, 1;\n"
         "setp.lt.u32 %p2, %r1, 256; @%p2 bra L; ret; }\n";
}

struct PackedRun {
  Status status;
  std::vector<uint8_t> got, data;
};
PackedRun runPacked(const std::string &bytes, bool clearBit) {
  PackedRun run;
  Machine m;
  EXPECT_TRUE(m.load(packedLoad(bytes)).ok());
  for (int k = 0; k < 128; ++k) {
    run.data.push_back(uint8_t(k * 5 + 1));
  }
  // An address with bit 21 set, as the workaround would change it.
  uint64_t address = 0x7f1000200000;
  EXPECT_TRUE(m.device->allocateAt(address, 128).ok());
  EXPECT_TRUE(
      m.device->copyToDevice(address, run.data.data(), 128, nullptr).ok());
  TensorMapDesc d;
  d.type = TensorMapType::U4Align16B;
  d.rank = 2;
  d.address = address;
  d.dims = {128, 2};
  d.strides = {64};
  d.box = {128, 2};
  auto map = m.device->encodeTensorMap(d);
  EXPECT_TRUE(map.ok()) << map.status().message();
  if (clearBit) {
    map->bytes[8 + 21 / 8] &= uint8_t(~(1u << 21 % 8));
  }
  uint64_t out = m.upload(std::vector<uint8_t>(256, 0xee));
  std::vector<uint8_t> params;
  append(params, *map);
  append(params, out);
  run.status = m.run("k", params, {1, 1, 1});
  run.got = m.download<uint8_t>(out, 256);
  return run;
}

TEST(ForeignPtx, PaddingOfPackedElementsIsNotCounted) {
  // 256 elements of 4 bits are 128 bytes of transaction, though they take 256
  // bytes of shared memory.
  PackedRun run = runPacked("128", false);
  ASSERT_TRUE(run.status.ok()) << run.status.message();
  for (int k = 0; k < 128; ++k) {
    EXPECT_EQ(run.got[size_t(k / 8 * 16 + k % 8)], run.data[size_t(k)]);
  }
  EXPECT_FALSE(runPacked("256", false).status.ok());
}

TEST(ForeignPtx, TensorMapSurvivesTheDriverWorkaround) {
  PackedRun run = runPacked("128", true);
  ASSERT_TRUE(run.status.ok()) << run.status.message();
  EXPECT_EQ(run.got[0], 1);
}

TEST(ForeignPtx, TensorAccessWithoutWait) {
  const std::string ptx = kernelText(
      "mov.b32 %r1, 32;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %r1;\n"
      "bar.warp.sync -1; ld.shared.b32 %r2, [slot];\n"
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%t};\n"
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r2];\n"
      "cvt.u64.u32 %out, %r7; tcgen05.wait::ld.sync.aligned;\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, %r1;\n",
      ".shared .align 4 .b32 slot;\n");
  Machine m;
  EmulatorOptions options;
  options.hazards = HazardLevel::Off; // it asks for the waits
  m.device = createEmulatorDevice(options);
  ASSERT_TRUE(m.load(ptx).ok());
  uint64_t out = m.upload(std::vector<uint64_t>(32, 0));
  std::vector<uint8_t> params;
  append(params, out);
  Status status = m.run("k", params);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(m.download<uint64_t>(out, 32)[7], 7u);
}

TEST(ForeignPtx, PrintAndAssert) {
  const std::string declarations =
      ".extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 "
      "b);\n"
      ".extern .func __assertfail (.param .b64 a, .param .b64 b);\n";
  auto r = runBody("{ .param .b64 a; .param .b64 b; .param .b32 result;\n"
                   "st.param.b64 [a], 0; st.param.b64 [b], 0;\n"
                   "call.uni (result), vprintf, (a, b);\n"
                   "ld.param.b32 %r1, [result]; cvt.s64.s32 %out, %r1; }\n",
                   32, declarations);
  EXPECT_LT(int64_t(r[0]), 0); // nothing was printed
  std::string message = failureOf("setp.ne.s32 %p0, %t, 9; @%p0 bra A;\n"
                                  "{ .param .b64 a; .param .b64 b;\n"
                                  "st.param.b64 [a], 0; st.param.b64 [b], 0;\n"
                                  "call.uni __assertfail, (a, b); }\nA:",
                                  32, declarations);
  EXPECT_NE(message.find("a device assertion failed"), std::string::npos)
      << message;
  EXPECT_NE(message.find("thread 9"), std::string::npos) << message;
}

TEST(ForeignPtx, NamesDefinedTwice) {
  // A variable with an address in it, hidden by a function of its name.
  Machine m;
  Status status = m.load(std::string(prologue()) +
                         ".global .u64 x[1] = {x};\n.func x() { ret; }\n");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("'x' is defined twice"),
            std::string::npos)
      << status.message();
  EXPECT_FALSE(m.load(std::string(prologue()) +
                      ".global .b8 x[1]; .global .u64 x[1] = {x};\n")
                   .ok());
  EXPECT_FALSE(m.load(std::string(prologue()) +
                      ".shared .u64 x[1] = {y}; .global .u32 y;\n")
                   .ok());
}

} // namespace
