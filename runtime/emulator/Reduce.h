// Reductions of asynchronous copies into memory (ISA 9.7.9.25.5): element
// by element, each a relaxed atomic update.
#ifndef GMOE_RUNTIME_EMULATOR_REDUCE_H
#define GMOE_RUNTIME_EMULATOR_REDUCE_H

#include "runtime/core/Types.h"
#include "runtime/emulator/Decoder.h"

namespace gmoe::emulator {

enum class Reduction : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// The element type that a tensor map's type stands for; None: no reductions.
Type reductionType(TensorMapType type);
bool reductionSupported(Reduction op, Type type);
/// to = op(to, from), for a pair that is supported.
void reduceElement(Reduction op, Type type, uint8_t *to, const uint8_t *from,
                   bool ftz = false);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_REDUCE_H
