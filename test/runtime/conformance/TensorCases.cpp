// Tensor loads: ranks, types, swizzles, clipping and fill, strides, multicast,
// and tensor maps that the kernel edits (ISA 5.5, 9.7.9.26, 9.7.9.27).
#include "test/runtime/conformance/Exact.h"
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/Tensors.h"

namespace gmoe::conformance {
namespace {

void expectTile(Case &c, const Tensor &t) {
  unsigned n = sharedBytes(t);
  c.expected.assign((n + 127) / 128 * 128, 0xee);
  forElements(t, [&](unsigned offset, int64_t global) {
    if (global >= 0) {
      std::memcpy(&c.expected[offset], &c.inputs[0][size_t(global)], t.bytes);
      if (t.desc.type == TensorMapType::TF32 ||
          t.desc.type == TensorMapType::TF32Ftz) {
        uint32_t v;
        std::memcpy(&v, &c.expected[offset], 4);
        v = uint32_t(encode(kTF32, decode(kF32, v), Round::Nearest)) << 13;
        std::memcpy(&c.expected[offset], &v, 4);
      }
    } else {
      std::memset(&c.expected[offset], 0, t.bytes);
    }
  });
}

void loadCase(Kernels &k, const Tensor &t, const std::string &form = "tile") {
  unsigned n = (sharedBytes(t) + 127) / 128 * 128;
  Case &c = k.add(
      "load " + t.name,
      std::string("mov.b64 %d20, 0xeeeeeeeeeeeeeeee; mul.wide.u32 %d21, %t, "
                  "8; mov.u64 %d22, buf; add.s64 %d22, %d22, %d21;\n") +
          [&] {
            std::string text;
            for (unsigned at = 0; at < 16384; at += 1024) {
              text +=
                  "st.shared.b64 [%d22+" + std::to_string(at) + "], %d20;\n";
            }
            return text;
          }() +
          "setp.ne.u32 %p0, %t, 0; @!%p0 mbarrier.init.shared.b64 [bar], 1; "
          "fence.proxy.async; bar.sync 0;\n" +
          kMap +
          "@%p0 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
          std::to_string(tileBytes(t)) + "; cp.async.bulk.tensor." + rankOf(t) +
          ".shared::cluster.global." + form +
          ".mbarrier::complete_tx::bytes [buf], [%d1, " + coordinates(t) +
          "], [bar];" + kWait + copyLoop(n, false),
      1, 1, 0, kBuffer);
  c.block = {128, 1, 1};
  c.inputs = {randomTensor(t, 3)};
  c.maps = {{t.desc, 0, 0}};
  expectTile(c, t);
}

void loads(Kernels &k) {
  using T = TensorMapType;
  using S = TensorMapSwizzle;
  loadCase(k, tensor("1d u8", T::U8, {100}, {64}, {0}));
  loadCase(k, tensor("1d f32 past the end", T::F32, {100}, {64}, {80}));
  loadCase(k, tensor("1d u16 before the start", T::U16, {100}, {64}, {-16}));
  loadCase(k, tensor("1d u64 outside", T::U64, {100}, {64}, {200}));
  loadCase(k, tensor("1d u16 inside", T::U16, {100}, {64}, {24}));
  loadCase(k, tensor("1d u8 before the start", T::U8, {100}, {64}, {-16}));
  // A box must start at a multiple of 16 bytes in its row.
  for (const Tensor &t :
       {tensor("1d u16 at 20", T::U16, {100}, {64}, {20}),
        tensor("1d u16 at -20", T::U16, {100}, {64}, {-20}),
        tensor("1d u8 at 3", T::U8, {100}, {64}, {3}),
        tensor("1d u8 at -1", T::U8, {100}, {64}, {-1}),
        tensor("1d f32 at 1", T::F32, {100}, {64}, {1}),
        tensor("2d u16 at 20", T::U16, {100, 8}, {64, 4}, {20, 2}),
        tensor("2d u8 at -8", T::U8, {300, 8}, {128, 4}, {-8, 2}, S::B128),
        tensor("2d u64 at 1", T::U64, {30, 8}, {8, 4}, {1, 2}),
        tensor("3d u8 at 8", T::U8, {128, 4, 4}, {64, 2, 2}, {8, 1, 1})}) {
    loadCase(k, t);
    k.last().refusal = "not a multiple of 16";
  }
  for (T type : {T::U8, T::U16, T::U32, T::S32, T::U64, T::S64, T::F16, T::F32,
                 T::F64, T::BF16, T::F32Ftz, T::TF32, T::TF32Ftz}) {
    unsigned e = bytesOf(type);
    loadCase(k, tensor("2d of type " + std::to_string(unsigned(type)), type,
                       {128 / e, 20}, {64 / e, 8}, {int(32 / e), 15}, S::None,
                       0, 32));
  }
  const struct {
    S swizzle;
    unsigned span;
  } kSwizzles[] = {{S::None, 256}, {S::B32, 32}, {S::B64, 64}, {S::B128, 128}};
  for (const auto &s : kSwizzles) {
    for (unsigned rows : {8u, 24u, 64u}) {
      std::string n = "swizzle " + std::to_string(unsigned(s.swizzle)) + ", " +
                      std::to_string(rows) + " rows";
      loadCase(k, tensor("2d " + n, T::BF16, {300, 80}, {s.span / 2, rows},
                         {16, 3}, s.swizzle, 0, 16));
      loadCase(k, tensor("2d clipped " + n, T::U8, {300, 80}, {s.span, rows},
                         {-16, 30}, s.swizzle));
      loadCase(k, tensor("2d clipped below " + n, T::F32, {100, 80},
                         {s.span / 4, rows}, {96, -5}, s.swizzle));
    }
    loadCase(k,
             tensor("3d swizzle " + std::to_string(unsigned(s.swizzle)), T::U16,
                    {200, 10, 6}, {s.span / 2, 5, 3}, {8, 7, 4}, s.swizzle));
    loadCase(k, tensor("4d swizzle " + std::to_string(unsigned(s.swizzle)),
                       T::U8, {256, 5, 4, 3}, {s.span, 3, 2, 4}, {16, -1, 2, 0},
                       s.swizzle));
    loadCase(k, tensor("5d swizzle " + std::to_string(unsigned(s.swizzle)),
                       T::F32, {64, 3, 4, 3, 3}, {s.span / 4, 2, 3, 2, 2},
                       {4, 2, -1, 1, 2}, s.swizzle));
  }
  // Rows narrower than the span of the swizzle.
  loadCase(k, tensor("64-byte rows in a 128-byte swizzle", T::U8, {64, 64},
                     {64, 16}, {0, 4}, S::B128));
  loadCase(k, tensor("16-byte rows in a 128-byte swizzle", T::U8, {64, 64},
                     {16, 32}, {16, 4}, S::B128));
  loadCase(k, tensor("48-byte rows in a 64-byte swizzle", T::U16, {64, 64},
                     {24, 24}, {8, 4}, S::B64));
  loadCase(k, tensor("3d 16-byte rows in a 32-byte swizzle", T::U32,
                     {32, 20, 9}, {4, 7, 3}, {4, 2, 1}, S::B32));
  loadCase(k, tensor("256 rows", T::U8, {16, 300}, {16, 256}, {0, 10}));
  for (unsigned stride : {2u, 3u, 8u}) {
    Tensor t = tensor("element stride " + std::to_string(stride), T::U16,
                      {64, 100}, {32, 30}, {8, 60}, S::B64);
    t.desc.elementStrides[1] = stride;
    loadCase(k, t);
    Tensor u = tensor("3d element stride " + std::to_string(stride), T::U32,
                      {16, 20, 30}, {16, 6, 20}, {4, 3, 15});
    u.desc.elementStrides[1] = 2;
    u.desc.elementStrides[2] = stride;
    loadCase(k, u);
  }
}

/// Elements of the tf32 types are rounded, to nearest even.
void tf32Loads(Kernels &k) {
  const uint32_t kValues[3][8] = {
      {0x3f801000, 0x3f803000, 0xbf801000, 0x3f801001, 0x3f800fff, 0x7f7ff000,
       0x7f7fffff, 0xc0ffffff},
      {0x7f800001, 0x7fc01234, 0xff800fff, 0xffffffff, 0x7f800000, 0xff800000,
       0x7f802000, 0x7fbff000},
      {0x00000001, 0x00001000, 0x00003000, 0x000e340b, 0x807fffff, 0x00800001,
       0x807fefff, 0x80000fff}};
  for (TensorMapType type : {TensorMapType::F32, TensorMapType::F32Ftz,
                             TensorMapType::TF32, TensorMapType::TF32Ftz}) {
    for (const auto &values : kValues) {
      char first[40];
      std::snprintf(first, sizeof first, "words from %x, type %u", values[0],
                    unsigned(type));
      Tensor t = tensor(first, type, {8}, {8}, {0});
      loadCase(k, t);
      Case &c = k.last();
      c.stride = 4;
      std::memcpy(c.inputs[0].data(), values, 32);
      expectTile(c, t);
    }
  }
}

/// What lies behind a row whose length is no multiple of 16 bytes is not read.
void partialRows(Kernels &k) {
  using T = TensorMapType;
  loadCase(k, tensor("2d of 290 bytes", T::U8, {290, 20}, {64, 8}, {256, 3}));
  loadCase(k, tensor("2d of 298 bytes", T::U16, {149, 20}, {32, 8}, {128, 3},
                     TensorMapSwizzle::B64));
  loadCase(k, tensor("2d of 388 bytes", T::U32, {97, 20}, {16, 8}, {84, 3}));
  loadCase(k, tensor("1d of 91 bytes", T::U8, {91}, {64}, {48}));
}

void nanFill(Kernels &k) {
  for (TensorMapType type : {TensorMapType::F16, TensorMapType::BF16,
                             TensorMapType::F32, TensorMapType::F64}) {
    unsigned e = bytesOf(type);
    Tensor t = tensor("NaN fill, type " + std::to_string(unsigned(type)), type,
                      {128 / e, 20}, {64 / e, 8}, {int(96 / e), 15},
                      TensorMapSwizzle::B64, 1);
    loadCase(k, t);
    // The NaN that is filled in is not specified: compared as a NaN.
    Case &c = k.last();
    c.stride = e;
    c.rule = {Rule::AnyNaN, type == TensorMapType::F16    ? Rule::F16
                            : type == TensorMapType::BF16 ? Rule::BF16
                            : type == TensorMapType::F32  ? Rule::F32
                                                          : Rule::F64};
    forElements(t, [&](unsigned offset, int64_t global) {
      if (global < 0) {
        std::memset(&c.expected[offset], 0x7f, e);
        c.expected[offset + e - 2] = 0xff;
      }
    });
  }
}

void multicast(Kernels &k) {
  Tensor t = tensor("multicast to a cluster", TensorMapType::U8, {128, 64},
                    {128, 16}, {0, 8}, TensorMapSwizzle::B128);
  Case &c = k.add(
      t.name,
      std::string("setp.ne.u32 %p0, %t, 0; @!%p0 mbarrier.init.shared.b64 "
                  "[bar], 1; fence.mbarrier_init.release.cluster; "
                  "fence.proxy.async; barrier.cluster.arrive; "
                  "barrier.cluster.wait; mov.u32 %r1, %cluster_ctarank;\n") +
          kMap +
          "@%p0 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [bar], "
          "4096; mul.lo.u32 %r2, %r1, 2048; mov.u32 %r3, buf; add.u32 %r3, "
          "%r3, %r2; shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, 8; mov.b16 %h1, "
          "3; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
          "complete_tx::bytes.multicast::cluster [%r3], [%d1, {0, %r4}], "
          "[bar], %h1;" +
          kWait +
          "mov.u32 %r5, %ctaid.x; mul.wide.u32 %d9, %r5, 4096; add.s64 %d10, "
          "%o, %d9;\n" +
          copyLoop(4096, false, "%d10") +
          "barrier.cluster.arrive; barrier.cluster.wait;",
      1, 1, 0, kBuffer, "\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n");
  c.block = {128, 1, 1};
  c.grid = c.cluster = {2, 1, 1};
  c.inputs = {randomTensor(t, 4)};
  c.maps = {{t.desc, 0, 0}};
  std::vector<uint8_t> tiles(4096);
  for (unsigned half = 0; half < 2; ++half) {
    Tensor part = t;
    part.at[1] = 8 + int(half) * 16;
    forElements(part, [&](unsigned offset, int64_t global) {
      tiles[half * 2048 + offset] = c.inputs[0][size_t(global)];
    });
  }
  c.expected = tiles;
  c.expected.insert(c.expected.end(), tiles.begin(), tiles.end());
}

/// The kernel copies the map to `scratch`, changes it there, and loads by it.
void edited(Kernels &k) {
  Tensor t = tensor("tensormap.replace", TensorMapType::U16, {64, 32, 4},
                    {32, 4, 1}, {8, 2, 1}, TensorMapSwizzle::B64, 0, 16);
  for (bool inGlobal : {false, true}) {
    std::string where = inGlobal ? "global" : "shared::cta";
    std::string address = inGlobal ? "%a1" : "%d8";
    auto replace = [&](const std::string &field, const std::string &value,
                       const std::string &type = "b32") {
      return "tensormap.replace.tile." + field + "." + where + ".b1024." +
             type + " [" + address + "], " + value + ";\n";
    };
    std::string copy = "mul.wide.u32 %d5, %t, 8; mov.b64 %d6, m0; "
                       "cvta.param.u64 %d6, %d6; add.s64 %d6, %d6, %d5; "
                       "setp.lt.u32 %p1, %t, 16; @%p1 ld.b64 %d7, [%d6]; "
                       "mov.u64 %d8, buf; add.s64 %d8, %d8, 8192; ";
    copy += inGlobal ? "add.s64 %d9, %a1, %d5; @%p1 st.global.b64 [%d9], %d7;"
                     : "add.s64 %d9, %d8, %d5; @%p1 st.shared.b64 [%d9], %d7;";
    std::string publish =
        inGlobal
            ? "fence.proxy.tensormap::generic.release.gpu;\n"
            : "bar.warp.sync 0xffffffff; "
              "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."
              "release.gpu.sync.aligned [%a1], [%d8], 128;\n";
    Case &c = k.add(
        t.name + " in " + where,
        "setp.ne.u32 %p0, %t, 0; @!%p0 mbarrier.init.shared.b64 [bar], 1; "
        "fence.proxy.async; " +
            copy +
            " bar.sync 0; setp.ge.u32 %p2, %t, 32; @%p2 bra wait; @%p0 "
            "bra publish;\n" +
            replace("global_address", "%a0", "b64") +
            replace("global_dim", "0, 60") + replace("global_dim", "1, 6") +
            replace("global_dim", "2, 3") +
            replace("global_stride", "0, 144", "b64") +
            replace("global_stride", "1, 4608", "b64") +
            replace("box_dim", "0, 16") + replace("box_dim", "1, 6") +
            replace("box_dim", "2, 2") + replace("element_stride", "1, 1") +
            replace("elemtype", "6") + replace("swizzle_mode", "1") +
            replace("fill_mode", "0") + replace("rank", "2") +
            replace("interleave_layout", "0") + "publish: " + publish +
            "@%p0 bra wait; fence.proxy.tensormap::generic.acquire.gpu [%a1], "
            "128; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 384; "
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::"
            "complete_tx::bytes [buf], [%a1, {56, 2, 1}], [bar];" +
            kWait + copyLoop(384, false),
        2, 1, 0, kBuffer);
    c.block = {128, 1, 1};
    c.inputs = {randomTensor(t, 6), std::vector<uint8_t>(128)};
    c.maps = {{t.desc, 0, 64}}; // the kernel corrects the address
    Tensor now = tensor("", TensorMapType::F16, {60, 6, 3}, {16, 6, 2},
                        {56, 2, 1}, TensorMapSwizzle::B32);
    now.desc.strides = {144, 4608, 0, 0};
    c.expected.assign(384, 0);
    forElements(now, [&](unsigned offset, int64_t global) {
      if (global >= 0) {
        std::memcpy(&c.expected[offset], &c.inputs[0][size_t(global)], 2);
      }
    });
  }
}

} // namespace

Family tensorLoadFamily() {
  Kernels k("tensorLoad");
  loads(k);
  tf32Loads(k);
  partialRows(k);
  nanFill(k);
  multicast(k);
  edited(k);
  return k.take();
}

} // namespace gmoe::conformance
