// The fixed header in front of a bundle's FlatBuffer payload.
#ifndef GMOE_RUNTIME_ABI_HEADER_H
#define GMOE_RUNTIME_ABI_HEADER_H

#include <cstddef>
#include <cstdint>

namespace gmoe::abi {

/// Raised whenever an older reader would misread a newer payload. 2: fills. 3:
/// tensor maps for addresses that kernels put in, addresses that are read,
/// arguments with strides.
inline constexpr uint32_t kFormatVersion = 3;
inline constexpr char kMagic[8] = {'G', 'M', 'O', 'E', 'B', 'N', 'D', 'L'};

/// Little-endian, 32 bytes, directly followed by `payloadBytes` of payload.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved; // 0
  uint64_t payloadBytes;
  uint64_t checksum; // FNV-1a 64; since version 3 of the version as well
};
static_assert(sizeof(Header) == 32);

/// FNV-1a, 64 bits: finds altered bytes, no protection against an adversary
/// (the FlatBuffers verifier and the program's own checks are that).
inline uint64_t checksum(uint32_t version, const uint8_t *data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325ull;
  if (version >= 3) {
    hash = (hash ^ version) * 0x100000001b3ull;
  }
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ data[i]) * 0x100000001b3ull;
  }
  return hash;
}

} // namespace gmoe::abi

#endif // GMOE_RUNTIME_ABI_HEADER_H
