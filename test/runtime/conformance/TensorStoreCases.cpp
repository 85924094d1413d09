// Tensor stores and reductions: swizzles, clipping, every operation and type
// (ISA 9.7.9.27).
#include "test/runtime/conformance/Families.h"
#include "test/runtime/conformance/FloatReference.h"
#include "test/runtime/conformance/Tensors.h"

#include <algorithm>

namespace gmoe::conformance {
namespace {

/// A store of the tile, plain or reducing, into the output.
void storeCase(Kernels &k, const Tensor &t, const std::string &reduction = "",
               const std::function<uint64_t(uint64_t, uint64_t)> &f = nullptr,
               bool subnormal = false) {
  unsigned n = (sharedBytes(t) + 127) / 128 * 128;
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
  c.initial = randomTensor(t, 16);
  if (subnormal) { // of f32, with either sign
    for (std::vector<uint8_t> *v : {&tile, &c.initial}) {
      for (size_t b = 0; b + 4 <= v->size(); b += 4) {
        (*v)[b + 3] = draw() % 2 ? 0x80 : 0;
        (*v)[b + 2] += b % 16 == 0 ? 0x80 : 0; // the smallest normals
      }
    }
  }
  c.inputs = {tile};
  c.maps = {{t.desc, -1, 0}};
  c.expected = c.initial;
  c.stride = t.bytes;
  // A store leaves out whole 16-byte pieces of a row: it writes what of the
  // tile lies in the padding behind the row's last element.
  Tensor padded = t;
  unsigned unit = std::max(1u, 16 / t.bytes);
  padded.desc.dims[0] = (t.desc.dims[0] + unit - 1) / unit * unit;
  forElements(padded, [&](unsigned offset, int64_t global) {
    if (global < 0 || size_t(global) + t.bytes > c.initial.size()) {
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
  } kSwizzles[] = {{S::None, 256}, {S::B32, 32}, {S::B64, 64}, {S::B128, 128}};
  for (const auto &s : kSwizzles) {
    std::string n = " swizzle " + std::to_string(unsigned(s.swizzle));
    storeCase(k, tensor("2d" + n, T::BF16, {300, 40}, {s.span / 2, 16}, {16, 3},
                        s.swizzle, 0, 16));
    storeCase(k, tensor("2d clipped" + n, T::F32, {100, 40}, {s.span / 4, 16},
                        {96, 30}, s.swizzle));
    storeCase(k, tensor("2d clipped in both" + n, T::U8, {300, 40},
                        {s.span, 16}, {288, 35}, s.swizzle));
    storeCase(k, tensor("3d" + n, T::U16, {200, 10, 6}, {s.span / 2, 5, 3},
                        {8, 7, 4}, s.swizzle));
    storeCase(k, tensor("5d" + n, T::F32, {64, 3, 4, 3, 3},
                        {s.span / 4, 2, 3, 2, 2}, {4, 2, 2, 1, 2}, s.swizzle));
  }
  storeCase(k, tensor("1d", T::U64, {100}, {64}, {60}));
  storeCase(k,
            tensor("4d", T::U8, {64, 5, 4, 3}, {32, 3, 2, 2}, {16, 3, 1, 2}));
  storeCase(k, tensor("2d of 290 bytes", T::U8, {290, 40}, {64, 16}, {256, 3}));
  storeCase(k, tensor("2d of 298 bytes", T::U16, {149, 40}, {32, 16}, {128, 3},
                      S::B64));
  storeCase(k, tensor("2d of 388 bytes", T::U32, {97, 40}, {16, 16}, {84, 3}));
  storeCase(k, tensor("1d of 91 bytes", T::U8, {91}, {64}, {48}));
  storeCase(k, tensor("tf32", T::TF32, {64, 40}, {16, 16}, {16, 3}));
  storeCase(k, tensor("u32, 388 bytes", T::U32, {97, 40}, {16, 16}, {84, 3}),
            "add", [](uint64_t a, uint64_t b) { return a + b; });
  storeCase(k, tensor("2d outside", T::U8, {300, 40}, {128, 16}, {32, 45}));
  storeCase(k, tensor("64-byte rows in a 128-byte swizzle", T::U8, {300, 40},
                      {64, 16}, {32, 30}, S::B128));
  storeCase(k, tensor("16-byte rows in a 64-byte swizzle", T::U32, {100, 40},
                      {4, 24}, {4, 3}, S::B64));
  // Loads may start before the tensor, stores may not (CUDA programming guide).
  for (const Tensor &t :
       {tensor("1d at -16", T::U8, {100}, {64}, {-16}),
        tensor("2d at -16, 0", T::U8, {300, 40}, {128, 16}, {-16, 0}),
        tensor("2d at 0, -3", T::U8, {300, 40}, {128, 16}, {0, -3}, S::B128),
        tensor("3d at 0, 0, -1", T::F32, {64, 9, 4}, {16, 2, 2}, {0, 0, -1})}) {
    storeCase(k, t);
    k.last().refusal = "must not be negative";
  }
  storeCase(k, tensor("u32 at 0, -2", T::U32, {64, 9}, {16, 4}, {0, -2}), "add",
            [](uint64_t a, uint64_t b) { return a + b; });
  k.last().refusal = "must not be negative";
  for (const Tensor &t :
       {tensor("1d at 4", T::U16, {100}, {64}, {4}),
        tensor("2d at 5", T::U8, {300, 40}, {128, 16}, {5, 3}, S::B128)}) {
    storeCase(k, t);
    k.last().refusal = "not a multiple of 16";
  }
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
  storeCase(k, box("f32", T::F32, 4), "add", sum(kF32));
  storeCase(k, box("f32 ftz", T::F32Ftz, 4), "add", sum(kF32, true));
  storeCase(k, box("subnormal f32", T::F32, 4), "add", sum(kF32), true);
  storeCase(k, box("subnormal f32 ftz", T::F32Ftz, 4), "add", sum(kF32, true),
            true);
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

} // namespace

Family tensorStoreFamily() {
  Kernels k("tensorStore");
  stores(k);
  return k.take();
}

} // namespace gmoe::conformance
