// Families of hand-written kernels.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_KERNELS_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_KERNELS_H

#include "test/runtime/conformance/Case.h"

namespace gmoe::conformance {

/// Wraps bodies into kernels. Every body finds: %t (thread in the CTA), %o (the
/// output), %a0… (the inputs), parameters m0… (tensor maps) and s0… (scalars),
/// and registers %p0-15, %h0-63 (b16), %r0-159, %f0-159 (b32 for fragments),
/// %d0-63, %q0-7 (b128).
class Kernels {
public:
  explicit Kernels(std::string name, const std::string &preamble = "") {
    family_.name = std::move(name);
    family_.ptx = moduleHeader() + preamble;
  }

  /// The reference is good until the next call. `attributes` follow the
  /// parameter list (.reqnctapercluster …); `shared` are declarations.
  Case &add(const std::string &name, const std::string &body,
            unsigned inputs = 0, unsigned maps = 0, unsigned scalars = 0,
            const std::string &shared = "", const std::string &attributes = "",
            unsigned blobBytes = 0) {
    Case c;
    c.name = name;
    c.kernel = "k" + std::to_string(family_.cases.size());
    std::string params = ".param .u64 out", loads = "ld.param.u64 %o, [out];\n";
    for (unsigned k = 0; k < inputs; ++k) {
      std::string n = std::to_string(k);
      params += ", .param .u64 in" + n;
      loads += "ld.param.u64 %a" + n + ", [in" + n + "];\n";
    }
    for (unsigned k = 0; k < maps; ++k) {
      params += ", .param .align 64 .b8 m" + std::to_string(k) + "[128]";
    }
    for (unsigned k = 0; k < scalars; ++k) {
      params += ", .param .u32 s" + std::to_string(k);
    }
    if (blobBytes) {
      params += ", .param .align 8 .b8 b0[" + std::to_string(blobBytes) + "]";
    }
    family_.ptx += ".visible .entry " + c.kernel + "(" + params + ")" +
                   attributes + "\n{\n" + shared +
                   "\n.reg .pred %p<16>; .reg .b16 %h<64>; .reg .b32 %r<160>, "
                   "%f<160>, %t;\n.reg .b64 %d<64>, %o, %a<6>; .reg .b128 "
                   "%q<8>;\nmov.u32 %t, %tid.x;\n" +
                   loads + body + "\nret;\n}\n";
    c.block = {32, 1, 1};
    family_.cases.push_back(std::move(c));
    return family_.cases.back();
  }
  Case &last() { return family_.cases.back(); }
  Family take() { return std::move(family_); }

private:
  Family family_;
};

/// Stores %r<reg> of each thread at out + 4 * (thread + `at`).
inline std::string storeWord(const std::string &reg, unsigned at = 0) {
  return "mul.wide.u32 %d63, %t, 4; add.s64 %d63, %d63, %o; st.global.b32 "
         "[%d63+" +
         std::to_string(4 * at) + "], " + reg + ";\n";
}

/// `count` expected words.
inline void expectWords(Case &c, unsigned count,
                        const std::function<uint32_t(uint32_t)> &value) {
  c.stride = 4;
  for (uint32_t t = 0; t < count; ++t) {
    appendValue(c.expected, value(t));
  }
}

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_KERNELS_H
