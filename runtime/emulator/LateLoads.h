// See LateLoads.cpp.
#ifndef GMOE_RUNTIME_EMULATOR_LATELOADS_H
#define GMOE_RUNTIME_EMULATOR_LATELOADS_H

#include "runtime/emulator/Machine.h"

namespace gmoe::emulator {

/// A tcgen05.ld to `destination` was issued.
void beginLateLoad(Warp &warp, const Operand &destination);
/// Delivers all loads when the instruction touches a register of one.
void deliverIfUsed(Warp &warp, const Instruction &instruction);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_LATELOADS_H
