// The emulator's encoding of a tiled tensor map in the opaque 128 bytes.
#ifndef GMOE_RUNTIME_EMULATOR_TENSORMAP_H
#define GMOE_RUNTIME_EMULATOR_TENSORMAP_H

#include "runtime/core/Status.h"
#include "runtime/core/Types.h"

namespace gmoe::emulator {

/// Checks every rule of cuTensorMapEncodeTiled; the message has actual and
/// limit.
Status validateTensorMap(const TensorMapDesc &desc);
Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc);
/// Refuses bytes that encodeTensorMap did not write.
Expected<TensorMapDesc> decodeTensorMap(const uint8_t *bytes);
/// Without the rules: a map may break them between two tensormap.replace.
Expected<TensorMapDesc> decodeTensorMapFields(const uint8_t *bytes);
/// Writes a changed description back, as tensormap.replace does.
void storeTensorMap(const TensorMapDesc &desc, uint8_t *bytes);

/// Bits of one element; U4Align16B and U6Align16B are bits in global memory.
uint32_t tensorMapElementBits(TensorMapType type);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_TENSORMAP_H
