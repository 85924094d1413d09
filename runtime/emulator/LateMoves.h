// See LateMoves.cpp.
#ifndef GMOE_RUNTIME_EMULATOR_LATEMOVES_H
#define GMOE_RUNTIME_EMULATOR_LATEMOVES_H

#include "runtime/emulator/Machine.h"

namespace gmoe::emulator {

/// Gives the movs that may read an undelivered register a handler that notices.
void markLateMoves(Program &program);
/// A tcgen05.ld to `destination` was issued.
void beginLateLoad(Warp &warp, const Operand &destination);
/// Every load was delivered: copies again what was copied too early.
void finishLateMoves(Warp &warp);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_LATEMOVES_H
