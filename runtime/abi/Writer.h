// Turns a bundle's contents (BundleT, the schema's plain structs) into the
// bytes of a .gmoe file. Header only: the compiler and the tools write with it.
#ifndef GMOE_RUNTIME_ABI_WRITER_H
#define GMOE_RUNTIME_ABI_WRITER_H

#include "runtime/abi/Header.h"
#include "runtime/abi/bundle_generated.h"

#include <cstring>
#include <string>

namespace gmoe::abi {

/// Header and payload of a finished FlatBuffer.
inline std::string addHeader(const uint8_t *payload, size_t size,
                             uint32_t version = kFormatVersion) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = version;
  header.payloadBytes = size;
  header.checksum = checksum(version, payload, size);
  std::string bytes(sizeof(header) + size, '\0');
  std::memcpy(&bytes[0], &header, sizeof(header));
  std::memcpy(&bytes[sizeof(header)], payload, size);
  return bytes;
}

/// The same contents always give the same bytes. Required fields (names,
/// images, ...) must be set: an empty string or vector counts as set.
inline std::string writeBundle(const BundleT &bundle) {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(false);
  FinishBundleBuffer(builder, Bundle::Pack(builder, &bundle));
  return addHeader(builder.GetBufferPointer(), builder.GetSize());
}

} // namespace gmoe::abi

#endif // GMOE_RUNTIME_ABI_WRITER_H
