// Products of doubles, blocked for the caches.
#ifndef LIB_REFERENCE_PANELS_H
#define LIB_REFERENCE_PANELS_H

#include <cstdint>

namespace grouped_moe::reference {

inline constexpr int64_t kColumns = 8;   // of a panel: one vector
inline constexpr int64_t kRowBlock = 64; // rows that are multiplied together

/// Where (row, column) of a product lies: [column / 8][row of 64][column % 8].
inline int64_t panelOffset(int64_t row, int64_t column) {
  return (column / kColumns * kRowBlock + row) * kColumns + column % kColumns;
}

/// c += a x b: `a` is 64 rows of `depth`, `b` `width` columns in panels,
/// [column / 8][depth][column % 8], and c as panelOffset says.
void multiplyPanels(const double *a, const double *b, int64_t depth,
                    int64_t width, double *c);

} // namespace grouped_moe::reference

#endif // LIB_REFERENCE_PANELS_H
