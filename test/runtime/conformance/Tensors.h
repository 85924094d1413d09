// Tensors in global memory and their tiles in shared memory, for the cases of
// tensor copies: where each element of a tile lies (ISA 5.5).
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_TENSORS_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_TENSORS_H

#include "test/runtime/conformance/Kernels.h"

#include <algorithm>
#include <cstring>

namespace gmoe::conformance {

struct Tensor {
  TensorMapDesc desc;
  unsigned bytes = 1; // of an element
  std::vector<int> at;
  std::string name;
};

inline unsigned bytesOf(TensorMapType t) {
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
inline Tensor tensor(const std::string &name, TensorMapType type,
                     const std::vector<unsigned> &dims,
                     const std::vector<unsigned> &box,
                     const std::vector<int> &at,
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

inline uint64_t sizeOf(const Tensor &t) {
  const TensorMapDesc &d = t.desc;
  return d.rank == 1 ? d.dims[0] * t.bytes
                     : d.strides[d.rank - 2] * d.dims[d.rank - 1];
}

inline unsigned extentOf(const Tensor &t, unsigned k) {
  unsigned s = k == 0 ? 1 : t.desc.elementStrides[k];
  return (t.desc.box[k] + s - 1) / s;
}
inline unsigned tileBytes(const Tensor &t) {
  unsigned n = t.bytes;
  for (unsigned k = 0; k < t.desc.rank; ++k) {
    n *= extentOf(t, k);
  }
  return n;
}

inline unsigned spanOf(TensorMapSwizzle mode) {
  return mode == TensorMapSwizzle::B32    ? 32
         : mode == TensorMapSwizzle::B64  ? 64
         : mode == TensorMapSwizzle::B128 ? 128
                                          : 0;
}
/// Of a row of the tile in shared memory. Rows narrower than the swizzle's span
/// lie one span apart: the CUDA programming guide wants memory for the full
/// width; the ISA says nothing of them.
inline unsigned pitchOf(const Tensor &t) {
  return std::max(extentOf(t, 0) * t.bytes, spanOf(t.desc.swizzle));
}
/// What a tile takes in shared memory; the mbarrier counts tileBytes.
inline unsigned sharedBytes(const Tensor &t) {
  return tileBytes(t) / (extentOf(t, 0) * t.bytes) * pitchOf(t);
}

/// 16-byte chunks of a span are exchanged by the number of the 128-byte line.
inline unsigned swizzled(TensorMapSwizzle mode, unsigned offset) {
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
    unsigned n = extentOf(t, 0), at = e / n * pitchOf(t) + e % n * t.bytes;
    f(swizzled(d.swizzle, at), inside ? global : -1);
  }
}

inline std::vector<uint8_t> randomTensor(const Tensor &t, uint64_t seed) {
  Draw draw(seed);
  std::vector<uint8_t> v(sizeOf(t));
  for (uint8_t &b : v) {
    b = uint8_t(draw()) & 0x3f; // no NaN or infinity in any float type
  }
  return v;
}

inline std::string coordinates(const Tensor &t) {
  std::string text = "{";
  for (size_t k = 0; k < t.at.size(); ++k) {
    text += (k ? ", " : "") + std::to_string(t.at[k]);
  }
  return text + "}";
}
inline std::string rankOf(const Tensor &t) {
  return std::to_string(t.desc.rank) + "d";
}

const char *const kBuffer = ".shared .align 1024 .b8 buf[16384]; .shared "
                            ".align 8 .b64 bar;";
const char *const kWait =
    "\nwait: mbarrier.try_wait.parity.shared.b64 %p9, [bar], 0; @!%p9 bra "
    "wait;\n";
/// Copies n bytes from shared memory to `to`, or from `to` to shared memory.
inline std::string copyLoop(unsigned n, bool toShared,
                            const std::string &to = "%o") {
  std::string l = toShared ? "fill" : "dump";
  std::string global = "[%d51]", shared = "[%d52]";
  return "mul.wide.u32 %d50, %t, 8; add.s64 %d51, " + to +
         ", %d50; mov.u64 %d52, buf; add.s64 %d52, %d52, %d50; mov.u32 %r50, "
         "%t; " +
         l + ": setp.ge.u32 %p8, %r50, " + std::to_string(n / 8) +
         "; @%p8 bra " + l + "end; " +
         (toShared
              ? "ld.global.b64 %d53, [%d51]; st.shared.b64 [%d52], %d53; "
              : "ld.shared.b64 %d53, [%d52]; st.global.b64 [%d51], %d53; ") +
         "add.s64 %d51, %d51, 1024; add.s64 %d52, %d52, 1024; add.u32 %r50, "
         "%r50, 128; bra " +
         l + "; " + l + "end:\n";
}
const char *const kMap = "mov.b64 %d1, m0; cvta.param.u64 %d1, %d1;\n";

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_TENSORS_H
