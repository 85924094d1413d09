// How matrix fragments lie in the registers of a warp (ISA 9.7.14.5, 9.7.15.5):
// group g = lane / 4, thread t = lane % 4; a register holds 32 / bits elements
// along K.
#ifndef GMOE_RUNTIME_EMULATOR_FRAGMENT_H
#define GMOE_RUNTIME_EMULATOR_FRAGMENT_H

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Machine.h"

namespace gmoe::emulator {

enum class FragmentType : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8 };

bool fragmentType(std::string_view name, FragmentType &out);
unsigned fragmentBits(FragmentType type);
/// An element as f32; integers are exact in it.
float fragmentElement(FragmentType type, uint32_t bits);

/// A of 16 rows and `k` columns from the registers of `vector`; out[row][k].
void readFragmentA(const Warp &w, const Operand &vector, FragmentType type,
                   unsigned k, float *out);
/// B of `k` rows and 8 columns; out[k][8].
void readFragmentB(const Warp &w, const Operand &vector, FragmentType type,
                   unsigned k, float *out);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_FRAGMENT_H
