// Kernels with one synchronization instruction removed or weakened.
#ifndef TOOLS_MUTATION_MUTANTS_H
#define TOOLS_MUTATION_MUTANTS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmoe::mutation {

struct Mutant {
  std::string change;      // "removed", "parity flipped", ...
  std::string instruction; // as it was
  uint32_t line = 0;       // of the PTX
  /// Replaces `length` characters at `begin`; then inserts `early`, if any, at
  /// `earlyAt`, which lies before.
  size_t begin = 0, length = 0, earlyAt = 0;
  std::string text, early;

  std::string apply(std::string_view ptx) const;
};

/// All mutants of the synchronization instructions of `ptx`, in its order.
std::vector<Mutant> findMutants(std::string_view ptx);

} // namespace gmoe::mutation

#endif // TOOLS_MUTATION_MUTANTS_H
