#include "runtime/emulator/TensorMap.h"

#include <cstring>
#include <string>

namespace gmoe::emulator {
namespace {

constexpr uint32_t kMagic = 0x4d4f4547; // "GEOM"
constexpr uint32_t kVersion = 1;

struct Encoded {
  uint32_t magic, version;
  /// Left alone: CUTLASS clears bit 21 here, a workaround for some drivers.
  uint64_t reserved;
  uint64_t address;
  uint64_t strides[4];
  uint32_t dims[5]; // minus one: a dimension may be 2^32
  uint16_t box[5];
  uint8_t elementStrides[5];
  uint8_t type, rank, interleave, swizzle, l2Promotion, oobFill;
  uint32_t strideHigh;
};
static_assert(sizeof(Encoded) <= 128, "a tensor map has 128 bytes");

Status refuse(const std::string &what) {
  return invalidArgument("tensor map: " + what);
}

} // namespace

uint32_t tensorMapElementBits(TensorMapType type) {
  switch (type) {
  case TensorMapType::U8:
    return 8;
  case TensorMapType::U16:
  case TensorMapType::F16:
  case TensorMapType::BF16:
    return 16;
  case TensorMapType::U32:
  case TensorMapType::S32:
  case TensorMapType::F32:
  case TensorMapType::F32Ftz:
  case TensorMapType::TF32:
  case TensorMapType::TF32Ftz:
    return 32;
  case TensorMapType::U64:
  case TensorMapType::S64:
  case TensorMapType::F64:
    return 64;
  case TensorMapType::U4Align8B:
  case TensorMapType::U4Align16B:
    return 4;
  case TensorMapType::U6Align16B:
    return 6;
  }
  return 0;
}

Status validateTensorMap(const TensorMapDesc &d) {
  auto text = [](uint64_t v) { return std::to_string(v); };
  uint32_t bits = tensorMapElementBits(d.type);
  if (bits == 0) {
    return refuse("element type " + text(uint32_t(d.type)) + " is not known");
  }
  if (d.rank < 1 || d.rank > 5) {
    return refuse("rank is " + text(d.rank) + ", must be 1 to 5");
  }
  if (uint32_t(d.swizzle) > 6) {
    return refuse("swizzle is " + text(uint32_t(d.swizzle)) + ", limit 6");
  }
  if (d.interleave > 2 || d.l2Promotion > 3 || d.oobFill > 1) {
    return refuse(
        "interleave, L2 promotion or out-of-bounds fill is not known");
  }
  if (d.interleave != 0) {
    return refuse("interleave is " + text(d.interleave) +
                  ", the emulator supports 0 (none)");
  }
  bool padded = d.type == TensorMapType::U4Align16B ||
                d.type == TensorMapType::U6Align16B;
  uint64_t align = padded ? 32 : 16;
  if (d.address % align) {
    return refuse("global address is not a multiple of " + text(align) +
                  " bytes");
  }
  for (uint32_t i = 0; i < d.rank; ++i) {
    if (d.dims[i] == 0 || d.dims[i] > (uint64_t(1) << 32)) {
      return refuse("dimension " + text(i) + " is " + text(d.dims[i]) +
                    ", must be 1 to 2^32");
    }
    if (d.box[i] == 0 || d.box[i] > 256) {
      return refuse("box dimension " + text(i) + " is " + text(d.box[i]) +
                    ", must be 1 to 256");
    }
    if (d.elementStrides[i] == 0 || d.elementStrides[i] > 8) {
      return refuse("element stride " + text(i) + " is " +
                    text(d.elementStrides[i]) + ", must be 1 to 8");
    }
  }
  for (uint32_t i = 0; i + 1 < d.rank; ++i) {
    if (d.strides[i] % align || d.strides[i] >= (uint64_t(1) << 40)) {
      return refuse("stride of dimension " + text(i + 1) + " is " +
                    text(d.strides[i]) + " bytes, must be a multiple of " +
                    text(align) + " below 2^40");
    }
  }
  if (padded) {
    if (d.dims[0] % 128 || d.box[0] != 128) {
      return refuse("a 16-byte aligned packed type needs dimension 0 (" +
                    text(d.dims[0]) + ") to be a multiple of 128 and box 0 (" +
                    text(d.box[0]) + ") to be 128");
    }
    if (d.swizzle != TensorMapSwizzle::None &&
        d.swizzle != TensorMapSwizzle::B128) {
      return refuse("a 16-byte aligned packed type needs swizzle none or 128B");
    }
  } else if (d.type == TensorMapType::U4Align8B && d.dims[0] % 2) {
    return refuse("dimension 0 is " + text(d.dims[0]) +
                  ", must be even for packed 4-bit elements");
  }
  // Padded types take one byte an element in shared memory.
  uint64_t inner = uint64_t(d.box[0]) * (padded ? 8 : bits) / 8;
  if (uint64_t(d.box[0]) * (padded ? 8 : bits) % 128) {
    return refuse("inner box is " + text(inner) +
                  " bytes, must be a multiple of 16");
  }
  uint64_t span = d.swizzle == TensorMapSwizzle::None  ? inner
                  : d.swizzle == TensorMapSwizzle::B32 ? 32
                  : d.swizzle == TensorMapSwizzle::B64 ? 64
                                                       : 128;
  if (inner > span) {
    return refuse("inner box is " + text(inner) + " bytes, the swizzle spans " +
                  text(span));
  }
  return Status();
}

void storeTensorMap(const TensorMapDesc &d, uint8_t *bytes) {
  Encoded e;
  std::memset(&e, 0, sizeof e);
  e.magic = kMagic;
  e.version = kVersion;
  e.address = d.address;
  for (unsigned i = 0; i < 5; ++i) {
    e.dims[i] = uint32_t(d.dims[i] - 1);
    e.box[i] = uint16_t(d.box[i]);
    e.elementStrides[i] = uint8_t(d.elementStrides[i]);
  }
  for (unsigned i = 0; i < 4; ++i) {
    e.strides[i] = d.strides[i];
  }
  e.type = uint8_t(d.type);
  e.rank = uint8_t(d.rank);
  e.interleave = uint8_t(d.interleave);
  e.swizzle = uint8_t(d.swizzle);
  e.l2Promotion = uint8_t(d.l2Promotion);
  e.oobFill = uint8_t(d.oobFill);
  std::memset(bytes, 0, 128);
  std::memcpy(bytes, &e, sizeof e);
}

Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) {
  Status status = validateTensorMap(desc);
  if (!status) {
    return status;
  }
  TensorMap map;
  storeTensorMap(desc, map.bytes.data());
  return map;
}

Expected<TensorMapDesc> decodeTensorMapFields(const uint8_t *bytes) {
  Encoded e;
  std::memcpy(&e, bytes, sizeof e);
  if (e.magic != kMagic || e.version != kVersion) {
    return refuse("these bytes are not a tensor map of the emulator");
  }
  TensorMapDesc d;
  d.address = e.address;
  for (unsigned i = 0; i < 5; ++i) {
    d.dims[i] = uint64_t(e.dims[i]) + 1;
    d.box[i] = e.box[i];
    d.elementStrides[i] = e.elementStrides[i];
  }
  for (unsigned i = 0; i < 4; ++i) {
    d.strides[i] = e.strides[i];
  }
  d.type = TensorMapType(e.type);
  d.rank = e.rank;
  d.interleave = e.interleave;
  d.swizzle = TensorMapSwizzle(e.swizzle);
  d.l2Promotion = e.l2Promotion;
  d.oobFill = e.oobFill;
  return d;
}

Expected<TensorMapDesc> decodeTensorMap(const uint8_t *bytes) {
  Expected<TensorMapDesc> d = decodeTensorMapFields(bytes);
  Status status = d ? validateTensorMap(*d) : d.status();
  return status ? d : Expected<TensorMapDesc>(status);
}

} // namespace gmoe::emulator
