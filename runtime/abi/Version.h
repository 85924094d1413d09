// The version of grouped-moe, printed by every tool.
#ifndef GMOE_RUNTIME_ABI_VERSION_H
#define GMOE_RUNTIME_ABI_VERSION_H

namespace gmoe {

inline constexpr char kVersion[] = "0.1.0";

/// What the compiler of this version is built with; it checks that this holds.
inline constexpr int kLlvmMajor = 22;
inline constexpr char kBuiltFor[] = "LLVM 22, PTX 9.0";

} // namespace gmoe

#endif // GMOE_RUNTIME_ABI_VERSION_H
