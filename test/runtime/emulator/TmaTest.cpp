// Tensor copies: tiles of two and three dimensions, swizzles, bounds, stores;
// and the rules of tensor maps.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

/// kernel k(map, out, x, y, z): loads a box of `bytes` at (x, y[, z]) into
/// shared memory and copies shared memory to out, byte for byte.
std::string loadKernel(unsigned rank, uint32_t bytes) {
  std::string coordinates = rank == 2 ? "{%r1, %r2}" : "{%r1, %r2, %r3}";
  std::string size = std::to_string(bytes);
  return std::string(prologue()) +
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out,\n"
         ".param .u32 x, .param .u32 y, .param .u32 z) {\n"
         ".shared .align 1024 .b8 buf[" +
         size +
         "]; .shared .align 8 .b64 mb;\n"
         ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;\n"
         "ld.param.b32 %r1, [x]; ld.param.b32 %r2, [y]; ld.param.b32 %r3, "
         "[z];\n"
         "mov.u32 %r0, %tid.x; setp.ne.s32 %p0, %r0, 0; @%p0 bra R;\n"
         "mbarrier.init.shared.b64 [mb], 1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [mb], " +
         size +
         ";\n"
         "mov.b64 %d0, map; cvta.param.u64 %d0, %d0;\n"
         "cp.async.bulk.tensor." +
         std::to_string(rank) +
         "d.shared::cta.global.tile.mbarrier::complete_tx::bytes [buf], "
         "[%d0, " +
         coordinates +
         "], [mb];\n"
         "R: bar.sync 0; W: mbarrier.try_wait.parity.shared.b64 %p1, [mb], 0;\n"
         "@!%p1 bra W; ld.param.b64 %d1, [out]; mov.b32 %r4, buf;\n"
         "L: add.s32 %r5, %r4, %r0; ld.shared.b8 %r6, [%r5];\n"
         "cvt.u64.u32 %d2, %r0; add.s64 %d2, %d1, %d2; st.global.b8 [%d2], "
         "%r6;\n"
         "add.s32 %r0, %r0, 32; setp.lt.u32 %p2, %r0, " +
         size +
         ";\n"
         "@%p2 bra L; ret; }\n";
}

std::vector<uint8_t> runLoad(const TensorMapDesc &desc,
                             const std::vector<uint8_t> &data, uint32_t bytes,
                             int32_t x, int32_t y, int32_t z, uint64_t seed) {
  Machine m(seed);
  Status status = m.load(loadKernel(desc.rank, bytes));
  EXPECT_TRUE(status.ok()) << status.message();
  TensorMapDesc d = desc;
  d.address = m.upload(data);
  auto map = m.device->encodeTensorMap(d);
  EXPECT_TRUE(map.ok()) << map.status().message();
  uint64_t out = m.upload(std::vector<uint8_t>(bytes, 0xee));
  std::vector<uint8_t> params;
  append(params, *map);
  append(params, out);
  append(params, x);
  append(params, y);
  append(params, z);
  status = m.run("k", params);
  EXPECT_TRUE(status.ok()) << status.message();
  return m.download<uint8_t>(out, bytes);
}

TEST(Tma, Tile2DSwizzlesAndBounds) {
  constexpr int kWidth = 160, kHeight = 20; // bytes, rows
  std::vector<uint8_t> data(kWidth * kHeight);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = uint8_t(i * 7 + i / 160 + 1);
  }
  struct Case {
    TensorMapSwizzle swizzle;
    uint32_t inner, maskShifted;
  } cases[] = {{TensorMapSwizzle::None, 128, 0},
               {TensorMapSwizzle::B128, 128, 7},
               {TensorMapSwizzle::B64, 64, 3},
               {TensorMapSwizzle::B32, 32, 1}};
  for (const Case &c : cases) {
    for (int x : {0, 96, -16, -48}) {
      for (int y : {0, 10, -5, 100}) {
        TensorMapDesc d;
        d.rank = 2;
        d.dims = {kWidth, kHeight, 0, 0, 0};
        d.strides = {kWidth, 0, 0, 0};
        d.box = {c.inner, 16, 0, 0, 0};
        d.swizzle = c.swizzle;
        auto got = runLoad(d, data, c.inner * 16, x, y, 0, uint64_t(x + y + 9));
        for (uint32_t row = 0; row < 16; ++row) {
          for (uint32_t b = 0; b < c.inner; ++b) {
            int gx = x + int(b), gy = y + int(row);
            bool inside = gx >= 0 && gx < kWidth && gy >= 0 && gy < kHeight;
            uint8_t want = inside ? data[size_t(gy * kWidth + gx)] : 0;
            uint32_t at = row * c.inner + b;
            at ^= (at >> 7 & c.maskShifted) << 4;
            ASSERT_EQ(got[at], want) << x << " " << y << " " << row << " " << b;
          }
        }
      }
    }
  }
}

TEST(Tma, WhereStoresMayStart) {
  const std::string text =
      std::string(prologue()) +
      ".visible .entry k(.param .align 64 .b8 map[128], .param .b32 x) {\n"
      ".shared .align 128 .b8 buf[512]; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"
      ".reg .pred %p<2>; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;\n"
      "mov.b32 %r2, buf; add.s32 %r1, %r1, %r2; st.shared.b32 [%r1], %r0;\n"
      "fence.proxy.async.shared::cta; bar.sync 0;\n"
      "setp.ne.s32 %p0, %r0, 0; @%p0 bra E;\n"
      "mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.b32 %r4, [x];\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
      "[%d0, {%r4, 0}], [buf];\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E: ret; }\n";
  for (int32_t x : {0, 8, -8, 4, 1, 20}) {
    Machine m(1);
    ASSERT_TRUE(m.load(text).ok()) << m.load(text).message();
    TensorMapDesc d;
    d.type = TensorMapType::U16;
    d.rank = 2;
    d.address = m.upload(std::vector<uint16_t>(64 * 4, 0));
    d.dims = {64, 4, 0, 0, 0};
    d.strides = {128, 0, 0, 0};
    d.box = {16, 4, 0, 0, 0};
    auto map = m.device->encodeTensorMap(d);
    ASSERT_TRUE(map.ok());
    std::vector<uint8_t> params;
    append(params, *map);
    append(params, x);
    Status status = m.run("k", params);
    EXPECT_EQ(status.ok(), x >= 0 && x % 8 == 0) << x;
    if (!status) {
      EXPECT_NE(status.message().find(x < 0 ? "must not be negative"
                                            : "not a multiple of 16"),
                std::string::npos)
          << status.message();
    }
  }
}

TEST(Tma, Tile3D) {
  std::vector<uint16_t> values(16 * 6 * 3);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = uint16_t(i + 1);
  }
  std::vector<uint8_t> data(values.size() * 2);
  std::memcpy(data.data(), values.data(), data.size());
  TensorMapDesc d;
  d.type = TensorMapType::U16;
  d.rank = 3;
  d.dims = {16, 6, 3, 0, 0};
  d.strides = {32, 192, 0, 0};
  d.box = {8, 4, 2, 0, 0};
  auto got = runLoad(d, data, 8 * 4 * 2 * 2, 8, 3, 1, 5);
  for (uint32_t z = 0; z < 2; ++z) {
    for (uint32_t y = 0; y < 4; ++y) {
      for (uint32_t x = 0; x < 8; ++x) {
        uint16_t v;
        std::memcpy(&v, &got[((z * 4 + y) * 8 + x) * 2], 2);
        EXPECT_EQ(v, y < 3 ? values[(z + 1) * 96 + (y + 3) * 16 + x + 8] : 0);
      }
    }
  }
}

TEST(Tma, StoreClipsAndWaitGroupWaits) {
  const std::string text =
      std::string(prologue()) +
      ".visible .entry k(.param .align 64 .b8 map[128]) {\n"
      ".shared .align 128 .b8 buf[512]; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"
      ".reg .pred %p<2>; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;\n"
      "mov.b32 %r2, buf; add.s32 %r1, %r1, %r2; add.s32 %r3, %r0, 1;\n"
      "st.shared.b32 [%r1], %r3; fence.proxy.async.shared::cta; bar.sync 0;\n"
      "setp.ne.s32 %p0, %r0, 0; @%p0 bra E; mov.b64 %d0, map;\n"
      "cvta.param.u64 %d0, %d0; mov.b32 %r4, 8; mov.b32 %r5, 2;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
      "[%d0, {%r4, %r5}], [buf];\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n"
      "st.shared.b32 [buf], 99; cp.async.bulk.wait_group 0; E: ret; }\n";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Machine m(seed);
    ASSERT_TRUE(m.load(text).ok()) << m.load(text).message();
    uint64_t out = m.upload(std::vector<uint32_t>(12 * 4, 0));
    TensorMapDesc d;
    d.type = TensorMapType::U32;
    d.rank = 2;
    d.address = out;
    d.dims = {12, 4, 0, 0, 0};
    d.strides = {48, 0, 0, 0};
    d.box = {8, 4, 0, 0, 0};
    auto map = m.device->encodeTensorMap(d);
    ASSERT_TRUE(map.ok());
    std::vector<uint8_t> params;
    append(params, *map);
    Status status = m.run("k", params);
    ASSERT_TRUE(status.ok()) << status.message();
    auto got = m.download<uint32_t>(out, 48);
    for (uint32_t y = 0; y < 4; ++y) {
      for (uint32_t x = 0; x < 12; ++x) {
        EXPECT_EQ(got[y * 12 + x],
                  x >= 8 && y >= 2 ? (y - 2) * 8 + (x - 8) + 1 : 0u);
      }
    }
  }
}

TEST(TensorMap, Rules) {
  auto device = createEmulatorDevice();
  TensorMapDesc good;
  good.rank = 2;
  good.address = 0x7f0000000000;
  good.dims = {128, 128, 0, 0, 0};
  good.strides = {128, 0, 0, 0};
  good.box = {128, 128, 0, 0, 0};
  good.swizzle = TensorMapSwizzle::B128;
  EXPECT_TRUE(device->encodeTensorMap(good).ok());
  auto refused = [&](auto change, const char *part) {
    TensorMapDesc d = good;
    change(d);
    auto map = device->encodeTensorMap(d);
    ASSERT_FALSE(map.ok()) << part;
    EXPECT_NE(map.status().message().find(part), std::string::npos)
        << map.status().message();
  };
  refused([](TensorMapDesc &d) { d.rank = 0; }, "rank is 0");
  refused([](TensorMapDesc &d) { d.rank = 6; }, "rank is 6");
  refused([](TensorMapDesc &d) { d.dims[1] = 0; }, "dimension 1 is 0");
  refused([](TensorMapDesc &d) { d.box[1] = 257; }, "is 257");
  refused([](TensorMapDesc &d) { d.strides[0] = 24; }, "is 24 bytes");
  refused([](TensorMapDesc &d) { d.address += 8; }, "16 bytes");
  refused([](TensorMapDesc &d) { d.box[0] = 24; }, "inner box is 24");
  refused([](TensorMapDesc &d) { d.swizzle = TensorMapSwizzle::B64; },
          "the swizzle spans 64");
  refused([](TensorMapDesc &d) { d.elementStrides[0] = 9; }, "element stride");
  refused(
      [](TensorMapDesc &d) {
        d.type = TensorMapType::U4Align16B;
        d.box[0] = 64;
      },
      "box 0 (64)");
}

} // namespace
