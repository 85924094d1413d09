// Tensor copies: ranks, types, swizzles, clipping and fill, strides, stores,
// reductions, multicast, and tensor maps that the kernel edits (ISA 5.5,
// 9.7.9.25.5, 9.7.9.26, 9.7.9.27).
#include "test/runtime/conformance/FloatReference.h"
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/Kernels.h"

#include <algorithm>
#include <cstring>

namespace gmoe::conformance {
namespace {

struct Tensor {
  TensorMapDesc desc;
  unsigned bytes = 1; // of an element
  std::vector<int> at;
  std::string name;
};

unsigned bytesOf(TensorMapType t) {
  switch (t) {
  case TensorMapType::U8:
    return 1;
  case TensorMapType::U16:
  case TensorMapType::F16:
  case TensorMapType::BF16:
    return 2;
  case TensorMapType::U64:
  case TensorMapType::S64:
  case TensorMapType::F64:
    return 8;
  default:
    return 4;
  }
}

/// Strides without gaps but for `pad` bytes behind each row.
Tensor tensor(const std::string &name, TensorMapType type,
              const std::vector<unsigned> &dims,
              const std::vector<unsigned> &box, const std::vector<int> &at,
              TensorMapSwizzle swizzle = TensorMapSwizzle::None,
              unsigned oobFill = 0, unsigned pad = 0) {
  Tensor t;
  t.name = name;
  t.at = at;
  t.bytes = bytesOf(type);
  t.desc.type = type;
  t.desc.rank = uint32_t(dims.size());
  t.desc.swizzle = swizzle;
  t.desc.oobFill = oobFill;
  uint64_t stride = (uint64_t(dims[0]) * t.bytes + 15) / 16 * 16 + pad;
  for (unsigned k = 0; k < dims.size(); ++k) {
    t.desc.dims[k] = dims[k];
    t.desc.box[k] = box[k];
    if (k > 0) {
      t.desc.strides[k - 1] = stride;
      stride *= dims[k];
    }
  }
  return t;
}

uint64_t sizeOf(const Tensor &t) {
  const TensorMapDesc &d = t.desc;
  return d.rank == 1 ? d.dims[0] * t.bytes
                     : d.strides[d.rank - 2] * d.dims[d.rank - 1];
}

unsigned extentOf(const Tensor &t, unsigned k) {
  unsigned s = k == 0 ? 1 : t.desc.elementStrides[k];
  return (t.desc.box[k] + s - 1) / s;
}
unsigned tileBytes(const Tensor &t) {
  unsigned n = t.bytes;
  for (unsigned k = 0; k < t.desc.rank; ++k) {
    n *= extentOf(t, k);
  }
  return n;
}

/// 16-byte chunks of a span are exchanged by the number of the 128-byte line.
unsigned swizzled(TensorMapSwizzle mode, unsigned offset) {
  unsigned chunks = mode == TensorMapSwizzle::B32    ? 2
                    : mode == TensorMapSwizzle::B64  ? 4
                    : mode == TensorMapSwizzle::B128 ? 8
                                                     : 1;
  unsigned line = offset / 128, chunk = offset / 16;
  return ((chunk ^ (line % chunks)) * 16) + offset % 16;
}

/// Calls f(offset in the tile, global offset or -1) for every element.
template <class F> void forElements(const Tensor &t, F f) {
  const TensorMapDesc &d = t.desc;
  unsigned total = tileBytes(t) / t.bytes;
  for (unsigned e = 0; e < total; ++e) {
    unsigned rest = e;
    int64_t global = 0;
    bool inside = true;
    for (unsigned k = 0; k < d.rank; ++k) {
      unsigned n = extentOf(t, k);
      int64_t x = t.at[k] + int64_t(rest % n) * (k ? d.elementStrides[k] : 1);
      rest /= n;
      inside &= x >= 0 && x < int64_t(d.dims[k]);
      global += x * int64_t(k ? d.strides[k - 1] : t.bytes);
    }
    f(swizzled(d.swizzle, e * t.bytes), inside ? global : -1);
  }
}

std::vector<uint8_t> randomTensor(const Tensor &t, uint64_t seed) {
  Draw draw(seed);
  std::vector<uint8_t> v(sizeOf(t));
  for (uint8_t &b : v) {
    b = uint8_t(draw()) & 0x3f; // no NaN or infinity in any float type
  }
  return v;
}

std::string coordinates(const Tensor &t) {
  std::string text = "{";
  for (size_t k = 0; k < t.at.size(); ++k) {
    text += (k ? ", " : "") + std::to_string(t.at[k]);
  }
  return text + "}";
}
std::string rankOf(const Tensor &t) {
  return std::to_string(t.desc.rank) + "d";
}

const char *const kBuffer = ".shared .align 1024 .b8 buf[16384]; .shared "
                            ".align 8 .b64 bar;";
const char *const kWait =
    "\nwait: mbarrier.try_wait.parity.shared.b64 %p9, [bar], 0; @!%p9 bra "
    "wait;\n";
/// Copies n bytes from shared memory to `to`, or from `to` to shared memory.
std::string copyLoop(unsigned n, bool toShared, const std::string &to = "%o") {
  std::string l = toShared ? "fill" : "dump";
  std::string global = "[%d51]", shared = "[%d52]";
  return "mul.wide.u32 %d50, %t, 8; add.s64 %d51, " + to +
         ", %d50; mov.u64 %d52, buf; add.s64 %d52, %d52, %d50; mov.u32 %r50, "
         "%t; " +
         l + ": setp.ge.u32 %p8, %r50, " + std::to_string(n / 8) + "; @%p8 bra " +
         l + "end; " +
         (toShared ? "ld.global.b64 %d53, [%d51]; st.shared.b64 [%d52], %d53; "
                   : "ld.shared.b64 %d53, [%d52]; st.global.b64 [%d51], %d53; ") +
         "add.s64 %d51, %d51, 1024; add.s64 %d52, %d52, 1024; add.u32 %r50, "
         "%r50, 128; bra " +
         l + "; " + l + "end:\n";
}
const char *const kMap = "mov.b64 %d1, m0; cvta.param.u64 %d1, %d1;\n";

void expectTile(Case &c, const Tensor &t) {
  unsigned n = tileBytes(t);
  c.expected.assign((n + 127) / 128 * 128, 0xee);
  forElements(t, [&](unsigned offset, int64_t global) {
    if (global >= 0) {
      std::memcpy(&c.expected[offset], &c.inputs[0][size_t(global)], t.bytes);
    } else {
      std::memset(&c.expected[offset], 0, t.bytes);
    }
  });
}

void loadCase(Kernels &k, const Tensor &t, const std::string &form = "tile") {
  unsigned n = (tileBytes(t) + 127) / 128 * 128;
  Case &c = k.add(
      "load " + t.name,
      std::string("mov.b64 %d20, 0xeeeeeeeeeeeeeeee; mul.wide.u32 %d21, %t, "
                  "8; mov.u64 %d22, buf; add.s64 %d22, %d22, %d21;\n") +
          [&] {
            std::string text;
            for (unsigned at = 0; at < 16384; at += 1024) {
              text += "st.shared.b64 [%d22+" + std::to_string(at) +
                      "], %d20;\n";
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
  loadCase(k, tensor("1d u16 before the start", T::U16, {100}, {64}, {-20}));
  loadCase(k, tensor("1d u64 outside", T::U64, {100}, {64}, {200}));
  for (T type : {T::U8, T::U16, T::U32, T::S32, T::U64, T::S64, T::F16, T::F32,
                 T::F64, T::BF16}) {
    unsigned e = bytesOf(type);
    loadCase(k, tensor("2d of type " + std::to_string(unsigned(type)), type,
                       {128 / e, 20}, {64 / e, 8}, {int(32 / e), 15}, S::None,
                       0, 32));
  }
  const struct {
    S swizzle;
    unsigned span;
  } kSwizzles[] = {
      {S::None, 256}, {S::B32, 32}, {S::B64, 64}, {S::B128, 128}};
  for (const auto &s : kSwizzles) {
    for (unsigned rows : {8u, 24u, 64u}) {
      std::string n = "swizzle " + std::to_string(unsigned(s.swizzle)) + ", " +
                      std::to_string(rows) + " rows";
      loadCase(k, tensor("2d " + n, T::BF16, {300, 80}, {s.span / 2, rows},
                         {16, 3}, s.swizzle, 0, 16));
      loadCase(k, tensor("2d clipped " + n, T::U8, {300, 80}, {s.span, rows},
                         {-8, 30}, s.swizzle));
      loadCase(k, tensor("2d clipped below " + n, T::F32, {100, 80},
                         {s.span / 4, rows}, {96, -5}, s.swizzle));
    }
    loadCase(k, tensor("3d swizzle " + std::to_string(unsigned(s.swizzle)),
                       T::U16, {200, 10, 6}, {s.span / 2, 5, 3}, {8, 7, 4},
                       s.swizzle));
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

void nanFill(Kernels &k) {
  for (TensorMapType type :
       {TensorMapType::F16, TensorMapType::BF16, TensorMapType::F32,
        TensorMapType::F64}) {
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

/// A store of the tile, plain or reducing, into the output.
void storeCase(Kernels &k, const Tensor &t, const std::string &reduction = "",
               const std::function<uint64_t(uint64_t, uint64_t)> &f = nullptr) {
  unsigned n = (tileBytes(t) + 127) / 128 * 128;
  std::string op = reduction.empty() ? "cp.async.bulk.tensor."
                                     : "cp.reduce.async.bulk.tensor.";
  Case &c = k.add((reduction.empty() ? "store " : reduction + " ") + t.name,
                  copyLoop(n, true, "%a0") +
                      "fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 "
                      "%p0, %t, 0; @%p0 bra end;\n" +
                      kMap + op + rankOf(t) + ".global.shared::cta" +
                      (reduction.empty() ? "" : "." + reduction) +
                      ".tile.bulk_group [%d1, " + coordinates(t) +
                      "], [buf]; cp.async.bulk.commit_group; "
                      "cp.async.bulk.wait_group 0; end:",
                  1, 1, 0, kBuffer);
  c.block = {128, 1, 1};
  std::vector<uint8_t> tile(n);
  Draw draw(15);
  for (uint8_t &b : tile) {
    b = uint8_t(draw()) & 0x3f;
  }
  c.inputs = {tile};
  c.maps = {{t.desc, -1, 0}};
  c.initial = randomTensor(t, 16);
  c.expected = c.initial;
  c.stride = t.bytes;
  forElements(t, [&](unsigned offset, int64_t global) {
    if (global < 0) {
      return;
    }
    uint64_t x = 0, y = 0;
    std::memcpy(&x, &c.initial[size_t(global)], t.bytes);
    std::memcpy(&y, &tile[offset], t.bytes);
    y = f ? f(x, y) : y;
    std::memcpy(&c.expected[size_t(global)], &y, t.bytes);
  });
}

void stores(Kernels &k) {
  using T = TensorMapType;
  using S = TensorMapSwizzle;
  const struct {
    S swizzle;
    unsigned span;
  } kSwizzles[] = {
      {S::None, 256}, {S::B32, 32}, {S::B64, 64}, {S::B128, 128}};
  for (const auto &s : kSwizzles) {
    std::string n = " swizzle " + std::to_string(unsigned(s.swizzle));
    storeCase(k, tensor("2d" + n, T::BF16, {300, 40}, {s.span / 2, 16}, {16, 3},
                        s.swizzle, 0, 16));
    storeCase(k, tensor("2d clipped" + n, T::F32, {100, 40}, {s.span / 4, 16},
                        {96, 30}, s.swizzle));
    storeCase(k, tensor("2d clipped at the start" + n, T::U8, {300, 40},
                        {s.span, 16}, {-5, -3}, s.swizzle));
    storeCase(k, tensor("3d" + n, T::U16, {200, 10, 6}, {s.span / 2, 5, 3},
                        {8, 7, 4}, s.swizzle));
    storeCase(k, tensor("5d" + n, T::F32, {64, 3, 4, 3, 3},
                        {s.span / 4, 2, 3, 2, 2}, {4, 2, -1, 1, 2}, s.swizzle));
  }
  storeCase(k, tensor("1d", T::U64, {100}, {64}, {60}));
  storeCase(k, tensor("4d", T::U8, {64, 5, 4, 3}, {32, 3, 2, 2}, {16, 3, 1, 2}));
  auto box = [](const char *name, T type, unsigned e) {
    return tensor(name, type, {128 / e, 12}, {64 / e, 8}, {int(96 / e), 2},
                  S::B64);
  };
  auto sum = [](const Format &f, bool ftz = false) {
    return [&f, ftz](uint64_t a, uint64_t b) {
      Modifiers m;
      m.ftz = ftz;
      return arithmetic(f, "add", m, a, b, 0);
    };
  };
  auto least = [](const Format &f, const char *op) {
    std::string name = op;
    return [&f, name](uint64_t a, uint64_t b) {
      return arithmetic(f, name, Modifiers(), a, b, 0);
    };
  };
  storeCase(k, box("f32", T::F32, 4), "add", sum(kF32, true));
  storeCase(k, box("f16", T::F16, 2), "add", sum(kF16));
  storeCase(k, box("bf16", T::BF16, 2), "add", sum(kBF16));
  storeCase(k, box("f64", T::F64, 8), "add", sum(kF64));
  storeCase(k, box("f16", T::F16, 2), "min", least(kF16, "min"));
  storeCase(k, box("bf16", T::BF16, 2), "max", least(kBF16, "max"));
  for (const char *op :
       {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    std::string o = op;
    storeCase(k, box("u32", T::U32, 4), o, [o](uint64_t a, uint64_t b) {
      return o == "add"   ? a + b
             : o == "min" ? std::min(a, b)
             : o == "max" ? std::max(a, b)
             : o == "inc" ? (a >= b ? 0 : a + 1)
             : o == "dec" ? (a == 0 || a > b ? b : a - 1)
             : o == "and" ? a & b
             : o == "or"  ? a | b
                          : a ^ b;
    });
  }
  storeCase(k, box("s64", T::S64, 8), "max",
            [](uint64_t a, uint64_t b) { return std::max(a, b); });
  storeCase(k, box("u64", T::U64, 8), "add",
            [](uint64_t a, uint64_t b) { return a + b; });
  storeCase(k, box("s32", T::S32, 4), "min",
            [](uint64_t a, uint64_t b) { return std::min(a, b); });
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
      return "tensormap.replace.tile." + field + "." + where + ".b1024." + type +
             " [" + address + "], " + value + ";\n";
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
            copy + " bar.sync 0; setp.ge.u32 %p2, %t, 32; @%p2 bra wait; @%p0 "
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
            "complete_tx::bytes [buf], [%a1, {52, 2, 1}], [bar];" +
            kWait + copyLoop(384, false),
        2, 1, 0, kBuffer);
    c.block = {128, 1, 1};
    c.inputs = {randomTensor(t, 6), std::vector<uint8_t>(128)};
    c.maps = {{t.desc, 0, 64}}; // the kernel corrects the address
    Tensor now = tensor("", TensorMapType::F16, {60, 6, 3}, {16, 6, 2},
                        {52, 2, 1}, TensorMapSwizzle::B32);
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

Family tensorFamily() {
  Kernels k("tensor");
  loads(k);
  nanFill(k);
  stores(k);
  multicast(k);
  edited(k);
  return k.take();
}

} // namespace gmoe::conformance
