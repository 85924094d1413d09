// Completion of asynchronous copies: tiles with swizzle, out-of-bounds fill and
// clipping (ISA 5.5, 9.7.9.25, 9.7.9.27).
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Reduce.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

/// Bytes from one row of the box to the next in shared memory. A swizzle's rows
/// are as long as its span, however little of them the box fills (the CUDA
/// programming guide: memory for the full swizzle width).
uint32_t pitchOf(TensorMapSwizzle mode, uint32_t innerBytes) {
  switch (mode) {
  case TensorMapSwizzle::None:
    return innerBytes;
  case TensorMapSwizzle::B32:
    return 32;
  case TensorMapSwizzle::B64:
    return 64;
  default:
    return 128;
  }
}

/// The XOR applies to the bits of the absolute shared address.
uint32_t swizzled(TensorMapSwizzle mode, uint32_t a) {
  switch (mode) {
  case TensorMapSwizzle::B32:
    return a ^ ((a >> 3) & 0x10);
  case TensorMapSwizzle::B64:
    return a ^ ((a >> 3) & 0x30);
  case TensorMapSwizzle::B128:
    return a ^ ((a >> 3) & 0x70);
  case TensorMapSwizzle::B128Atom32B:
    return a ^ ((a >> 2) & 0x60);
  case TensorMapSwizzle::B128Atom64B:
    return a ^ ((a >> 1) & 0x40);
  default:
    return a;
  }
}

struct Tile {
  TensorMapDesc map;
  uint32_t bits = 0;       // of an element in global memory
  uint32_t innerBytes = 0; // of a row of the box in shared memory
  uint32_t rows = 0;
  std::array<uint32_t, 5> extent{}; // of the box in shared memory, elements
  uint32_t bytes() const { return innerBytes * rows; }
  uint32_t pitch() const { return pitchOf(map.swizzle, innerBytes); }
};

bool readTile(Cluster &c, AsyncOp &op, Tile &tile) {
  const uint8_t *p = nullptr;
  if ((op.global & kWindowMask) == kParamWindow) {
    uint64_t offset = op.global & 0xffffffffu;
    if (offset + 128 <= c.context->params.size()) {
      p = c.context->params.data() + offset;
    }
  } else {
    const Allocation *a = c.context->memory->find(op.global, 128);
    p = a ? a->data.get() + (op.global - a->base) : nullptr;
    if (a && c.hazards) {
      c.hazards->mapRead(op, *a,
                         op.usesGroup ? nullptr : c.barrierAt(op.barrier));
    }
  }
  if (!p) {
    c.failAsync(*op.instruction, op.warp, "the tensor map is out of bounds");
    return false;
  }
  Expected<TensorMapDesc> map = decodeTensorMap(p);
  if (!map) {
    c.failAsync(*op.instruction, op.warp, map.status().message());
    return false;
  }
  tile.map = *map;
  const TensorMapDesc &m = tile.map;
  uint32_t rank = op.rowList ? 2 : op.dimensions;
  if (m.rank != rank) {
    c.failAsync(*op.instruction, op.warp,
                "the tensor map has rank " + std::to_string(m.rank) +
                    ", the instruction " + std::to_string(rank));
    return false;
  }
  if (op.rowList && m.box[1] != 1) {
    c.failAsync(*op.instruction, op.warp,
                "gather4 and scatter4 need a box of one row, not " +
                    std::to_string(m.box[1]));
    return false;
  }
  tile.bits = tensorMapElementBits(m.type);
  if (int64_t(op.coordinates[0]) * tile.bits % 128 != 0) {
    // Not in the ISA, but Hopper and Blackwell call it an illegal instruction.
    c.failAsync(*op.instruction, op.warp,
                "the innermost coordinate " +
                    std::to_string(op.coordinates[0]) + " is " +
                    std::to_string(int64_t(op.coordinates[0]) * tile.bits / 8) +
                    " bytes into the row, not a multiple of 16");
    return false;
  }
  bool padded = m.type == TensorMapType::U4Align16B ||
                m.type == TensorMapType::U6Align16B;
  tile.innerBytes = m.box[0] * (padded ? 8 : tile.bits) / 8;
  tile.extent[0] = m.box[0]; // without interleave its stride is ignored
  uint64_t rows = op.rowList ? 4 : 1;
  for (uint32_t k = 1; k < m.rank; ++k) {
    tile.extent[k] = (m.box[k] + m.elementStrides[k] - 1) / m.elementStrides[k];
    rows *= tile.extent[k];
  }
  if (rows * tile.pitch() > kMaximumSharedBytes) {
    c.failAsync(*op.instruction, op.warp,
                "the box has " + std::to_string(rows * tile.pitch()) +
                    " bytes, more than shared memory holds");
    return false;
  }
  tile.rows = uint32_t(rows);
  return true;
}

/// Calls f(row, globalRowAddress or 0, first element, end element) per row of
/// the box; elements are box positions whose coordinate is inside the tensor.
template <class F> bool forRows(const AsyncOp &op, const Tile &tile, F f) {
  const TensorMapDesc &m = tile.map;
  int64_t begin = std::max<int64_t>(0, -int64_t(op.coordinates[0]));
  int64_t end =
      std::min<int64_t>(m.box[0], int64_t(m.dims[0]) - op.coordinates[0]);
  for (uint32_t row = 0; row < tile.rows; ++row) {
    uint32_t rest = row;
    bool inside = begin < end;
    uint64_t address = m.address;
    for (uint32_t k = 1; k < m.rank; ++k) {
      int64_t x = int64_t(op.coordinates[k]) +
                  rest % tile.extent[k] * m.elementStrides[k];
      rest /= tile.extent[k];
      if (op.rowList) {
        x = op.coordinates[1 + row];
      }
      inside &= x >= 0 && x < int64_t(m.dims[k]);
      address += uint64_t(x) * m.strides[k - 1];
    }
    if (!f(row, address, inside ? begin : 0, inside ? end : 0)) {
      return false;
    }
  }
  return true;
}

const uint8_t *readGlobal(Cluster &c, const AsyncOp &op, uint64_t at,
                          uint64_t bytes) {
  const Allocation *a = c.context->memory->find(at, bytes);
  if (a && c.hazards) {
    c.hazards->asyncReadGlobal(op, *a, at - a->base, bytes);
  }
  return a ? a->data.get() + (at - a->base) : nullptr;
}

uint8_t *writeGlobal(Cluster &c, const AsyncOp &op, uint64_t at,
                     uint64_t bytes) {
  const Allocation *a = c.context->memory->find(at, bytes);
  if (a && c.hazards) {
    c.hazards->asyncWriteGlobal(op, *a, at - a->base, bytes);
  }
  return a ? a->data.get() + (at - a->base) : nullptr;
}

/// What loads make of elements of the tf32 types. The ISA does not say how they
/// round; Hopper does so to nearest even, keeps subnormals with FTZ too, and
/// has one NaN.
uint32_t roundToTf32(uint32_t v) {
  if ((v & 0x7f800000u) == 0x7f800000u) {
    return (v & 0x007fffffu) ? 0x7fffe000u : v;
  }
  return (v + 0xfff + (v >> 13 & 1)) & 0xffffe000u;
}

/// Copies the box into `out` in row order, unswizzled, zero-filled outside.
bool gatherTile(Cluster &c, AsyncOp &op, const Tile &tile,
                std::vector<uint8_t> &out) {
  const TensorMapDesc &m = tile.map;
  out.assign(tile.bytes(), 0);
  if (m.oobFill == 1) {
    // NaN fill: all bits set is a NaN of every floating type.
    std::fill(out.begin(), out.end(), uint8_t(0xff));
  }
  return forRows(
      op, tile,
      [&](uint32_t row, uint64_t address, int64_t begin, int64_t end) {
        if (begin >= end) {
          return true;
        }
        uint8_t *to = out.data() + size_t(row) * tile.innerBytes;
        int64_t first = op.coordinates[0] + begin;
        uint64_t firstBit = uint64_t(first) * tile.bits;
        uint64_t bitCount = uint64_t(end - begin) * tile.bits;
        uint64_t at = address + firstBit / 8;
        uint64_t bytes = (firstBit % 8 + bitCount + 7) / 8;
        const uint8_t *from = readGlobal(c, op, at, bytes);
        if (!from) {
          c.failAsync(FindingKind::OutOfBounds, *op.instruction, op.warp,
                      "tensor read of " + std::to_string(bytes) + " bytes at " +
                          hexadecimal(at) + " is out of bounds: " +
                          c.context->memory->describeNearest(at));
          return false;
        }
        if (m.type == TensorMapType::U4Align16B) {
          // 16 elements in 8 bytes, then 8 bytes of padding.
          for (int64_t e = begin; e < end; ++e) {
            int64_t g = e - begin;
            uint8_t v = uint8_t(from[g / 2] >> (g % 2 * 4) & 0xf);
            uint8_t &slot = to[e / 16 * 16 + e % 16 / 2];
            slot = uint8_t(e % 2 ? (slot & 0x0f) | v << 4 : (slot & 0xf0) | v);
          }
        } else if (m.type == TensorMapType::U6Align16B) {
          for (int64_t e = begin; e < end; ++e) {
            for (unsigned b = 0; b < 6; ++b) {
              uint64_t g = uint64_t(e - begin) * 6 + b;
              uint32_t s = uint32_t(e % 16) * 6 + b;
              if (from[g / 8] >> (g % 8) & 1) {
                to[e / 16 * 16 + s / 8] |= uint8_t(1u << (s % 8));
              }
            }
          }
        } else if (tile.bits == 4 && ((firstBit | uint64_t(begin)) & 7) &&
                   (begin & 1 || firstBit % 8)) {
          for (int64_t e = begin; e < end; ++e) {
            uint64_t g = firstBit % 8 / 4 + uint64_t(e - begin);
            uint8_t v = uint8_t(from[g / 2] >> (g % 2 * 4) & 0xf);
            uint8_t &slot = to[e / 2];
            slot = uint8_t(e % 2 ? (slot & 0x0f) | v << 4 : (slot & 0xf0) | v);
          }
        } else {
          std::memcpy(to + uint64_t(begin) * tile.bits / 8, from, bytes);
        }
        if (m.type == TensorMapType::TF32 || m.type == TensorMapType::TF32Ftz) {
          for (int64_t e = begin; e < end; ++e) {
            uint32_t word;
            std::memcpy(&word, to + e * 4, 4);
            word = roundToTf32(word);
            std::memcpy(to + e * 4, &word, 4);
          }
        }
        return true;
      });
}

bool signal(Cluster &c, AsyncOp &op, uint32_t barrier, uint32_t bytes) {
  MBarrier *b = c.barrierAt(barrier);
  std::string error;
  if (!b || !b->valid) {
    error = "no mbarrier is initialized there";
  } else {
    if (c.hazards) {
      c.hazards->signalUse(*op.instruction, op.warp, op.issuer, *b, barrier);
    }
    error = barrierComplete(c, *b, bytes);
  }
  if (!error.empty()) {
    c.failAsync(b && b->valid ? FindingKind::TransactionBytes
                              : FindingKind::BarrierLifetime,
                *op.instruction, op.warp,
                "complete_tx on the mbarrier at shared address " +
                    hexadecimal(barrier) + ": " + error);
    return false;
  }
  return true;
}

/// Writes plain bytes, or reduces them into memory.
void store(const AsyncOp &op, uint8_t *to, const std::vector<uint8_t> &data) {
  if (op.reduction == 0) {
    std::memcpy(to, data.data(), data.size());
    return;
  }
  Type type = Type(op.reductionType);
  for (size_t b = 0; b < data.size(); b += typeBytes(type)) {
    reduceElement(Reduction(op.reduction - 1), type, to + b, data.data() + b);
  }
}

/// Delivers `data` to the destination CTAs and signals `transaction` bytes on
/// their barriers.
bool deliver(Cluster &c, AsyncOp &op, const std::vector<uint8_t> &data,
             uint32_t innerBytes, TensorMapSwizzle swizzle,
             uint32_t transaction) {
  uint32_t targets = op.multicast ? op.multicast : 1u << (op.shared >> 24);
  for (uint32_t m = targets; m; m &= m - 1) {
    uint32_t rank = uint32_t(__builtin_ctz(m));
    uint32_t base =
        op.multicast ? (op.shared & 0xffffffu) | rank << 24 : op.shared;
    // Swizzles stay within 1024-byte blocks, but tiles need not end there.
    uint32_t pitch = pitchOf(swizzle, innerBytes);
    bool narrow = innerBytes < pitch;
    uint64_t span = narrow ? data.size() / innerBytes * pitch : data.size();
    uint8_t *to = c.sharedPointer(base, span);
    if (!to) {
      c.failAsync(FindingKind::OutOfBounds, *op.instruction, op.warp,
                  "write of " + std::to_string(span) +
                      " bytes at shared address " + hexadecimal(base) +
                      " is out of bounds");
      return false;
    }
    uint8_t *window = c.ctas[rank].shared.data();
    uint32_t offset = base & 0xffffffu;
    if (swizzle == TensorMapSwizzle::None || innerBytes == 0) {
      store(op, to, data);
    } else {
      uint32_t rows = uint32_t(data.size()) / innerBytes;
      for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t x = 0; x < innerBytes; x += 16) {
          uint32_t at = swizzled(swizzle, offset + row * pitch + x);
          if (at + 16 > c.ctas[rank].shared.size()) {
            c.failAsync(*op.instruction, op.warp,
                        "swizzled write is out of bounds");
            return false;
          }
          std::memcpy(window + at, data.data() + row * innerBytes + x, 16);
        }
      }
    }
    uint32_t barrier = op.barrier;
    if (op.multicast) {
      uint32_t signalRank = rank;
      // In a pair the barrier's own CTA parity decides whose barrier it is.
      if (op.pairBarrier) {
        signalRank = (rank & ~1u) | (op.barrier >> 24 & 1);
      }
      barrier = (op.barrier & 0xffffffu) | signalRank << 24;
    }
    if (c.hazards && !narrow) {
      c.hazards->asyncWriteShared(op, c.ctas[rank], offset, data.size(),
                                  c.barrierAt(barrier));
    }
    for (uint64_t x = 0; c.hazards && narrow && x < data.size(); x += 16) {
      uint64_t at = x / innerBytes * pitch + x % innerBytes;
      c.hazards->asyncWriteShared(op, c.ctas[rank],
                                  swizzled(swizzle, offset + uint32_t(at)), 16,
                                  c.barrierAt(barrier));
    }
    if (!signal(c, op, barrier, transaction)) {
      return false;
    }
  }
  return true;
}

bool storeTile(Cluster &c, AsyncOp &op) {
  Tile tile;
  if (!readTile(c, op, tile)) {
    return true;
  }
  for (uint32_t k = 0; k < tile.map.rank && !op.rowList; ++k) {
    if (op.coordinates[k] < 0) {
      // The CUDA programming guide allows this to loads only; on Hopper a store
      // is an illegal instruction.
      c.failAsync(*op.instruction, op.warp,
                  "coordinate " + std::to_string(k) + " of a store is " +
                      std::to_string(op.coordinates[k]) +
                      ": it must not be negative");
      return true;
    }
  }
  if (!op.sourceRead) {
    op.staged.resize(tile.bytes());
    Cta *cta = c.ctaOf(op.shared);
    uint32_t offset = op.shared & 0xffffffu;
    bool narrow = tile.innerBytes < tile.pitch();
    for (uint32_t x = 0; x < tile.bytes(); x += 16) {
      uint32_t at = swizzled(tile.map.swizzle,
                             offset + x / tile.innerBytes * tile.pitch() +
                                 x % tile.innerBytes);
      if (at + 16 > cta->shared.size()) {
        c.failAsync(*op.instruction, op.warp,
                    "read of " + std::to_string(tile.bytes()) +
                        " bytes at shared address " + hexadecimal(op.shared) +
                        " is out of bounds");
        return true;
      }
      std::memcpy(op.staged.data() + x, cta->shared.data() + at, 16);
      if (c.hazards && narrow) {
        c.hazards->asyncReadShared(op, *cta, at, 16);
      }
    }
    if (c.hazards && !narrow) {
      c.hazards->asyncReadShared(op, *cta, offset, tile.bytes());
    }
    op.map = tile.map;
    op.sourceRead = true;
    return false;
  }
  Type type = reductionType(tile.map.type);
  bool packed = tile.map.type == TensorMapType::U4Align8B;
  if ((tile.bits < 8 && !packed) || op.staged.size() != tile.bytes()) {
    c.failAsync(*op.instruction, op.warp,
                "elements padded to 16 bytes can only be loaded");
    return true;
  }
  if (op.reduction &&
      (packed || !reductionSupported(Reduction(op.reduction - 1), type))) {
    c.failAsync(*op.instruction, op.warp,
                "this reduction does not exist for the map's element type");
    return true;
  }
  c.counters.tmaBytes += tile.bytes();
  uint32_t element = packed ? 1 : tile.bits / 8;
  forRows(op, tile,
          [&](uint32_t row, uint64_t address, int64_t begin, int64_t end) {
            if (begin >= end) {
              return true;
            }
            uint64_t first = uint64_t(op.coordinates[0] + begin);
            uint64_t at = address + first * element;
            if (packed) { // two elements a byte
              if ((first | uint64_t(begin) | uint64_t(end)) & 1) {
                c.failAsync(*op.instruction, op.warp,
                            "coordinates of packed elements must be even");
                return false;
              }
              at = address + first / 2;
              begin /= 2;
              end /= 2;
            }
            uint64_t bytes = uint64_t(end - begin) * element;
            // The ISA does not say to the byte what is left out of a row.
            // Hopper leaves out whole 16-byte pieces: the last one also writes
            // into the padding behind the row, as far as there is memory.
            uint64_t rest = (uint64_t(0) - (at - address + bytes)) & 15;
            rest = std::min(rest, tile.innerBytes -
                                      (uint64_t(begin) * element + bytes));
            if (rest && c.context->memory->find(at, bytes + rest)) {
              bytes += rest;
            }
            uint8_t *to = writeGlobal(c, op, at, bytes);
            if (!to) {
              c.failAsync(FindingKind::OutOfBounds, *op.instruction, op.warp,
                          "tensor write of " + std::to_string(bytes) +
                              " bytes at " + hexadecimal(at) +
                              " is out of bounds: " +
                              c.context->memory->describeNearest(at));
              return false;
            }
            const uint8_t *from = op.staged.data() +
                                  size_t(row) * tile.innerBytes +
                                  size_t(begin) * element;
            if (op.reduction == 0) {
              std::memcpy(to, from, bytes);
              return true;
            }
            for (uint64_t b = 0; b < bytes; b += element) {
              reduceElement(Reduction(op.reduction - 1), type, to + b, from + b,
                            tile.map.type == TensorMapType::F32Ftz);
            }
            return true;
          });
  return true;
}

void bulk(Cluster &c, AsyncOp &op) {
  std::vector<uint8_t> data(op.bytes);
  const uint8_t *from = op.kind == AsyncOp::BulkPeer
                            ? c.sharedPointer(uint32_t(op.global), op.bytes)
                            : readGlobal(c, op, op.global, op.bytes);
  if (from && c.hazards && op.kind == AsyncOp::BulkPeer) {
    c.hazards->asyncReadShared(op, *c.ctaOf(uint32_t(op.global)),
                               uint32_t(op.global) & 0xffffffu, op.bytes,
                               c.barrierAt(op.barrier));
  }
  if (!from && op.bytes) {
    c.failAsync(
        *op.instruction, op.warp,
        "bulk read of " + std::to_string(op.bytes) + " bytes at " +
            hexadecimal(op.global) + " is out of bounds" +
            (op.kind == AsyncOp::BulkPeer
                 ? std::string()
                 : ": " + c.context->memory->describeNearest(op.global)));
    return;
  }
  if (op.bytes) {
    std::memcpy(data.data(), from, op.bytes);
  }
  c.counters.tmaBytes += op.bytes;
  deliver(c, op, data, 0, TensorMapSwizzle::None, op.bytes);
}

/// The 16 bytes of a response: CTA index x, y, z, and bit 127 when a cluster
/// was canceled. A request may fail although clusters are pending (a kernel of
/// higher priority wants the SM), so that some do.
std::vector<uint8_t> cancelPendingCluster(Cluster &c) {
  const LaunchContext &x = *c.context;
  uint32_t response[4] = {};
  uint64_t total = uint64_t(x.clusters.x) * x.clusters.y * x.clusters.z;
  uint64_t id = c.random.below(16) ? x.nextCluster->load() : total;
  while (id < total && !x.nextCluster->compare_exchange_weak(id, id + 1)) {
  }
  if (id < total) {
    response[0] = uint32_t(id % x.clusters.x) * x.cluster.x;
    response[1] = uint32_t(id / x.clusters.x % x.clusters.y) * x.cluster.y;
    response[2] = uint32_t(id / x.clusters.x / x.clusters.y) * x.cluster.z;
    response[3] = 0x80000000u;
  }
  std::vector<uint8_t> data(16);
  std::memcpy(data.data(), response, 16);
  return data;
}

} // namespace

bool completeAsync(Cluster &c, AsyncOp &op) {
  switch (op.kind) {
  case AsyncOp::TensorLoad: {
    Tile tile;
    std::vector<uint8_t> data;
    if (readTile(c, op, tile) && gatherTile(c, op, tile, data)) {
      c.counters.tmaBytes += data.size();
      // Padding between packed elements is not copied, and not counted.
      uint32_t transaction =
          uint32_t(uint64_t(tile.map.box[0]) * tile.rows * tile.bits / 8);
      deliver(c, op, data, tile.innerBytes, tile.map.swizzle, transaction);
    }
    return true;
  }
  case AsyncOp::TensorStore:
    return storeTile(c, op);
  case AsyncOp::BulkLoad:
  case AsyncOp::BulkPeer:
    bulk(c, op);
    return true;
  case AsyncOp::BulkStore: {
    if (!op.sourceRead) {
      const uint8_t *from = c.sharedPointer(op.shared, op.bytes);
      if (!from) {
        c.failAsync(*op.instruction, op.warp,
                    "bulk read of " + std::to_string(op.bytes) +
                        " bytes at shared address " + hexadecimal(op.shared) +
                        " is out of bounds");
        return true;
      }
      if (c.hazards) {
        c.hazards->asyncReadShared(op, *c.ctaOf(op.shared),
                                   op.shared & 0xffffffu, op.bytes);
      }
      op.staged.assign(from, from + op.bytes);
      op.sourceRead = true;
      return false;
    }
    uint8_t *to = writeGlobal(c, op, op.global, op.bytes);
    if (!to) {
      c.failAsync(*op.instruction, op.warp,
                  "bulk write of " + std::to_string(op.bytes) + " bytes at " +
                      hexadecimal(op.global) + " is out of bounds: " +
                      c.context->memory->describeNearest(op.global));
      return true;
    }
    store(op, to, op.staged);
    c.counters.tmaBytes += op.bytes;
    return true;
  }
  case AsyncOp::ThreadCopy:
  case AsyncOp::ThreadArrive:
    return completeThreadOp(c, op);
  case AsyncOp::RegisterStore:
    deliver(c, op, op.staged, 0, TensorMapSwizzle::None, op.bytes);
    return true;
  case AsyncOp::ClusterCancel: {
    std::vector<uint8_t> data = cancelPendingCluster(c);
    deliver(c, op, data, 0, TensorMapSwizzle::None, op.bytes);
    return true;
  }
  }
  return true;
}

} // namespace gmoe::emulator
