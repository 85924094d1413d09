#include "runtime/emulator/Finding.h"

namespace gmoe {

const char *findingId(FindingKind kind) {
  static const char *const kIds[] = {
      "read-unordered",     "write-unordered",  "overwrite-in-use",
      "uninitialized",      "proxy-fence",      "tcgen05-fence",
      "tensormap-fence",    "tensormap-in-use", "transaction-bytes",
      "arrival-count",      "skipped-phase",    "barrier-lifetime",
      "tmem-leak",          "tmem-free",        "tmem-use",
      "out-of-bounds",      "misaligned",       "not-converged",
      "deadlock",           "register-budget",  "launch-control",
      "exit-while-pending", "barrier-misuse"};
  static_assert(sizeof kIds / sizeof *kIds == size_t(FindingKind::Count));
  return kIds[size_t(kind)];
}

} // namespace gmoe
