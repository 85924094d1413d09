// Tensor copies that only sm_100a has: gather4 and scatter4, barriers of a CTA
// pair, packed 4-bit stores (ISA 5.5.7, 9.7.9.27).
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

constexpr uint32_t kColumns = 128, kRows = 50;

TensorMapDesc matrixMap(uint64_t address, uint32_t box,
                        TensorMapSwizzle swizzle) {
  TensorMapDesc d;
  d.type = TensorMapType::U8;
  d.rank = 2;
  d.address = address;
  d.dims = {kColumns, kRows, 0, 0, 0};
  d.strides = {kColumns, 0, 0, 0};
  d.box = {box, 1, 0, 0, 0};
  d.swizzle = swizzle;
  return d;
}

std::vector<uint8_t> matrix() {
  std::vector<uint8_t> v(kColumns * kRows);
  for (size_t k = 0; k < v.size(); ++k) {
    v[k] = uint8_t(k * 7 + k / kColumns);
  }
  return v;
}

const int kChosen[4] = {17, 3, 60, 49}; // 60 is outside

/// Chunks of 16 bytes are exchanged by the number of the 128-byte line.
uint32_t placeOf(TensorMapSwizzle mode, uint32_t at) {
  uint32_t chunks = mode == TensorMapSwizzle::B128  ? 8
                    : mode == TensorMapSwizzle::B64 ? 4
                                                    : 1;
  return (at / 16 ^ (at / 128 % chunks)) * 16 + at % 16;
}

std::string gatherText(bool gather, uint32_t bytes) {
  std::string n = std::to_string(bytes);
  std::string copy =
      gather
          ? "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
            "mbarrier::complete_tx::bytes [buf], [%d0, {16, 17, 3, 60, 49}], "
            "[bar];"
          : "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4."
            "bulk_group [%d0, {16, 17, 3, 60, 49}], [buf]; "
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  return std::string(prologue()) +
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 buffer) "
         "{\n.shared .align 1024 .b8 buf[1024]; .shared .align 8 .b64 bar;\n"
         ".reg .b32 %r<6>; .reg .b64 %d<8>; .reg .pred %p<4>;\n"
         "mov.u32 %r0, %tid.x; setp.ne.s32 %p0, %r0, 0; mov.b64 %d0, map; "
         "cvta.param.u64 %d0, %d0; ld.param.b64 %d1, [buffer]; mul.wide.u32 "
         "%d2, %r0, 8; add.s64 %d1, %d1, %d2; mov.u64 %d3, buf; add.s64 %d3, "
         "%d3, %d2; setp.lt.u32 %p2, %r0, " +
         std::to_string(bytes / 8) +
         ";\n@!%p0 mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; " +
         (gather ? ""
                 : "@%p2 ld.global.b64 %d4, [%d1]; @%p2 st.shared.b64 [%d3], "
                   "%d4; fence.proxy.async; ") +
         "bar.sync 0; @%p0 bra A; " +
         (gather ? "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + n + "; "
                 : std::string()) +
         copy + "\nA: " +
         (gather ? "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 "
                   "bra A; @%p2 ld.shared.b64 %d4, [%d3]; @%p2 st.global.b64 "
                   "[%d1], %d4; "
                 : "") +
         "ret; }\n";
}

void check(bool gather, uint32_t box, TensorMapSwizzle swizzle) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Machine m(seed);
    uint32_t bytes = 4 * box;
    Status status = m.load(gatherText(gather, bytes));
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<uint8_t> global = matrix(), tile(bytes);
    for (uint32_t k = 0; k < bytes; ++k) {
      tile[k] = uint8_t(200 - k);
    }
    uint64_t tensor = m.upload(global), buffer = m.upload(tile);
    auto map = m.device->encodeTensorMap(matrixMap(tensor, box, swizzle));
    ASSERT_TRUE(map.ok()) << map.status().message();
    std::vector<uint8_t> params;
    append(params, *map, 64);
    append(params, buffer);
    status = m.run("k", params, {128, 1, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<uint8_t> wantTile = tile, wantGlobal = global;
    for (uint32_t r = 0; r < 4; ++r) {
      for (uint32_t x = 0; x < box; ++x) {
        uint32_t at = placeOf(swizzle, r * box + x);
        bool inside = kChosen[r] < int(kRows) && 16 + x < kColumns;
        uint32_t g = uint32_t(kChosen[r]) * kColumns + 16 + x;
        if (gather) {
          wantTile[at] = inside ? global[g] : 0;
        } else if (inside) {
          wantGlobal[g] = tile[at];
        }
      }
    }
    EXPECT_EQ(m.download<uint8_t>(buffer, bytes), wantTile);
    EXPECT_EQ(m.download<uint8_t>(tensor, global.size()), wantGlobal);
  }
}

TEST(TmaGather, Gather4) {
  check(true, 64, TensorMapSwizzle::None);
  check(true, 64, TensorMapSwizzle::B64);
  check(true, 128, TensorMapSwizzle::B128); // the last columns are outside
}
TEST(TmaGather, Scatter4) {
  check(false, 64, TensorMapSwizzle::None);
  check(false, 64, TensorMapSwizzle::B64);
  check(false, 128, TensorMapSwizzle::B128);
}

/// Four CTAs, two pairs: CTA 0 multicasts to all, and with .cta_group::2 the
/// barriers of the even CTAs count the bytes of both halves of their pair.
TEST(TmaPairs, BarrierOfTheLeader) {
  std::string text =
      std::string(prologue()) +
      ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)\n"
      ".explicitcluster\n.reqnctapercluster 4, 1, 1\n{\n"
      ".shared .align 1024 .b8 buf[64]; .shared .align 8 .b64 bar;\n"
      ".reg .b32 %r<10>; .reg .b64 %d<8>; .reg .pred %p<6>; .reg .b16 %h;\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; setp.ne.s32 %p0, "
      "%r0, 0; and.b32 %r2, %r1, 1; setp.ne.s32 %p1, %r2, 0; or.pred %p2, %p0, "
      "%p1; mov.b64 %d0, map; cvta.param.u64 %d0, %d0;\n"
      "@!%p0 mbarrier.init.shared.b64 [bar], 1; "
      "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; "
      "barrier.cluster.wait;\n"
      // Only even CTAs expect: 128 bytes, for themselves and their peer.
      "@!%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128; or.b32 %r3, "
      "%r0, %r1; setp.ne.s32 %p3, %r3, 0; mov.b16 %h, 15; mov.u32 %r4, bar; "
      "and.b32 %r4, %r4, 0xFEFFFFFF; @!%p3 "
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes.multicast::cluster.cta_group::2 [buf], [%d0, {32, "
      "5}], [%r4], %h;\n"
      "@%p1 bra B; A: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0; @!%p4 "
      "bra A; B: barrier.cluster.arrive; barrier.cluster.wait; mul.wide.u32 "
      "%d1, %r1, 64; ld.param.b64 %d2, [out]; add.s64 %d2, %d2, %d1; "
      "mul.wide.u32 %d3, %r0, 4; add.s64 %d2, %d2, %d3; mov.u64 %d4, buf; "
      "add.s64 %d4, %d4, %d3; setp.lt.u32 %p5, %r0, 16; @%p5 ld.shared.b32 "
      "%r5, [%d4]; @%p5 st.global.b32 [%d2], %r5; barrier.cluster.arrive; "
      "barrier.cluster.wait; ret; }\n";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Machine m(seed);
    Status status = m.load(text);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<uint8_t> global = matrix();
    uint64_t tensor = m.upload(global);
    uint64_t out = m.upload(std::vector<uint8_t>(256, 0));
    auto map = m.device->encodeTensorMap(
        matrixMap(tensor, 64, TensorMapSwizzle::None));
    ASSERT_TRUE(map.ok());
    std::vector<uint8_t> params;
    append(params, *map, 64);
    append(params, out);
    status = m.run("k", params, {32, 1, 1}, {4, 1, 1}, 0, {4, 1, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    auto got = m.download<uint8_t>(out, 256);
    for (uint32_t k = 0; k < 256; ++k) {
      ASSERT_EQ(got[k], global[5 * kColumns + 32 + k % 64]);
    }
  }
}

} // namespace
