// Issue of bulk copies, tensor copies, tensormap.replace and cluster launch
// control (ISA 9.7.9.25 to 9.7.9.28, 9.7.14).
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Reduce.h"

namespace gmoe::emulator {
namespace {

/// Instruction::b of copies.
enum Flags : uint32_t {
  GenericShared = 1, // shared operands are generic addresses
  GenericBarrier = 2,
  AnyCta = 4, // destination in the cluster
  Multicast = 8,
  PairBarrier = 16,
  UsesGroup = 32,
  RowList = 64,    // gather4, scatter4
  ReduceShift = 8, // four bits: ReductionOp + 1
  KindShift = 16,
};

bool mapBytes(Warp &w, uint64_t address, unsigned lane, uint64_t &out) {
  // Generic: parameter space or global memory.
  const uint8_t *p =
      w.resolve(StateSpace::Generic, address, 64, lane, MemoryAccess::MapRead);
  if (!p) {
    return false;
  }
  if (!w.resolve(StateSpace::Generic, address + 64, 64, lane,
                 MemoryAccess::MapRead)) {
    return false;
  }
  Expected<TensorMapDesc> map = decodeTensorMap(p);
  if (!map) {
    w.fail(map.status().message(), int(lane));
    return false;
  }
  out = address;
  return true;
}

/// Operands: shared, global (map or address), barrier or none, coordinates,
/// size, multicast mask, in the order that decode pushed them.
void copy(Warp &w, const Instruction &i, uint32_t mask) {
  AsyncOp::Kind kind = AsyncOp::Kind(i.b >> KindShift & 0xf);
  bool tensor = kind == AsyncOp::TensorLoad || kind == AsyncOp::TensorStore;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    AsyncOp op;
    op.kind = kind;
    op.instruction = &i;
    op.warp = w.index;
    op.lane = l;
    unsigned k = 0;
    const Operand &shared = w.operand(i, k++);
    if (!w.sharedAddress(w.address(shared, l), i.b & GenericShared,
                         i.b & AnyCta, l, op.shared)) {
      return;
    }
    const Operand &global = w.operand(i, k++);
    op.global = w.address(global, l);
    if (kind == AsyncOp::BulkPeer) {
      uint32_t source = 0;
      if (!w.sharedAddress(op.global, false, false, l, source)) {
        return;
      }
      op.global = source;
    } else if (tensor && !mapBytes(w, op.global, l, op.global)) {
      return;
    }
    if (tensor) {
      const Operand &c = w.operand(i, k++);
      op.dimensions = c.count;
      for (uint32_t n = 0; n < c.count && n < 5; ++n) {
        op.coordinates[n] =
            int32_t(w.scalar(w.program->operands[c.first + n], l));
      }
      if (op.shared % 128) {
        w.fail("shared address " + hexadecimal(op.shared) +
                   " of a tensor copy is not aligned to 128 bytes",
               int(l));
        return;
      }
    } else {
      uint64_t bytes = w.scalar(w.operand(i, k++), l) & 0xffffffffu;
      op.bytes = uint32_t(bytes);
      if (bytes % 16 || op.shared % 16 || op.global % 16) {
        w.fail("bulk copy of " + std::to_string(bytes) + " bytes between " +
                   hexadecimal(op.global) + " and shared " +
                   hexadecimal(op.shared) +
                   ": size and addresses must be multiples of 16",
               int(l));
        return;
      }
      if (bytes > kMaximumSharedBytes) {
        w.fail("bulk copy of " + std::to_string(bytes) + " bytes, limit " +
                   std::to_string(kMaximumSharedBytes),
               int(l));
        return;
      }
    }
    op.usesGroup = i.b & UsesGroup;
    op.group = w.bulkGroup[l];
    op.pairBarrier = i.b & PairBarrier;
    op.reduction = uint8_t(i.b >> ReduceShift & 0xf);
    op.reductionType = uint8_t(i.c);
    op.rowList = i.b & RowList;
    if (!op.usesGroup) {
      if (!w.sharedAddress(w.address(w.operand(i, k++), l),
                           i.b & GenericBarrier, true, l, op.barrier)) {
        return;
      }
    }
    if (i.b & Multicast) {
      op.multicast = uint16_t(w.scalar(w.operand(i, k++), l));
      if (op.multicast == 0 || op.multicast >> w.cluster->ctas.size()) {
        w.fail("multicast mask is " + hexadecimal(op.multicast) +
                   ", the cluster has " +
                   std::to_string(w.cluster->ctas.size()) + " CTAs",
               int(l));
        return;
      }
    }
    if (Hazards *h = w.cluster->hazards) {
      op.issuer = op.usesGroup ? h->issueBulk(w, l, op.group) : h->issue(w, l);
    }
    w.cluster->enqueue(std::move(op));
  }
}

void commitGroup(Warp &w, const Instruction &, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    ++w.bulkGroup[unsigned(__builtin_ctz(m))];
  }
}

/// a: groups that may stay; b: only reads matter.
void waitGroup(Warp &w, const Instruction &i, uint32_t mask) {
  if (!bulkGroupsPending(w, mask, i.a, i.b)) {
    if (Hazards *h = w.cluster->hazards) {
      h->bulkWait(w, mask, i.a, i.b);
    }
    return;
  }
  Wait wait;
  wait.kind = WaitKind::BulkGroup;
  wait.advance = true;
  wait.phase = i.a;
  wait.byParity = i.b;
  w.block(wait);
}

void ignore(Warp &, const Instruction &, uint32_t) {}

void tryCancel(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    AsyncOp op;
    op.kind = AsyncOp::ClusterCancel;
    op.instruction = &i;
    op.warp = w.index;
    op.lane = l;
    op.bytes = 16;
    if (!w.sharedAddress(w.address(w.operand(i, 0), l), i.b & 1, false, l,
                         op.shared) ||
        !w.sharedAddress(w.address(w.operand(i, 1), l), i.b & 1, false, l,
                         op.barrier)) {
      return;
    }
    if (i.c) {
      op.multicast = uint16_t((1u << w.cluster->ctas.size()) - 1);
    }
    if (Hazards *h = w.cluster->hazards) {
      op.issuer = h->issue(w, l);
      op.issuer.fencesReads = true;
    }
    w.cluster->enqueue(std::move(op));
  }
}
void isCanceled(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *h = w.source<uint64_t>(w.operand(i, 1));
  uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l) {
    bits |= uint32_t(h[32 + l] >> 63) << l;
  }
  w.setPredicate(w.operand(i, 0), mask, bits);
}
void firstCta(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *h = w.source<uint64_t>(w.operand(i, 1));
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      w.setScalar(w.operand(i, 0), l,
                  i.a == 0   ? uint32_t(h[l])
                  : i.a == 1 ? uint32_t(h[l] >> 32)
                             : uint32_t(h[32 + l]));
    }
  }
}

/// {x, y, z, unused}
void firstCtaVector(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *h = w.source<uint64_t>(w.operand(i, 1));
  const Operand &v = w.operand(i, 0);
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      uint32_t values[4] = {uint32_t(h[l]), uint32_t(h[l] >> 32),
                            uint32_t(h[32 + l]), 0};
      for (uint32_t k = 0; k < v.count; ++k) {
        w.setScalar(w.program->operands[v.first + k], l, values[k]);
      }
    }
  }
}

/// ISA 9.7.9.26.1: the codes of .elemtype are not those of cuda.h.
constexpr TensorMapType kElementTypes[16] = {
    TensorMapType::U8,         TensorMapType::U16,
    TensorMapType::U32,        TensorMapType::S32,
    TensorMapType::U64,        TensorMapType::S64,
    TensorMapType::F16,        TensorMapType::F32,
    TensorMapType::F32Ftz,     TensorMapType::F64,
    TensorMapType::BF16,       TensorMapType::TF32,
    TensorMapType::TF32Ftz,    TensorMapType::U4Align8B,
    TensorMapType::U4Align16B, TensorMapType::U6Align16B};

/// a: field; b: ordinal; c: space.
void replace(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t at = w.address(w.operand(i, 0), l);
    uint8_t *p = w.resolve(StateSpace(i.c), at, 64, l, MemoryAccess::MapChange);
    if (!p ||
        !w.resolve(StateSpace(i.c), at + 64, 64, l, MemoryAccess::MapChange)) {
      return;
    }
    Expected<TensorMapDesc> old = decodeTensorMapFields(p);
    if (!old) {
      w.fail(old.status().message(), int(l));
      return;
    }
    TensorMapDesc d = *old;
    uint64_t v = w.scalar(w.operand(i, 1), l);
    uint32_t n = i.b;
    switch (i.a) {
    case 0:
      d.address = v;
      break;
    case 1:
      d.rank = uint32_t(v) + 1;
      break;
    case 2:
      d.box[n] = uint32_t(v);
      break;
    case 3:
      d.dims[n] = v & 0xffffffffu;
      break;
    case 4:
      d.strides[n] = v;
      break;
    case 5:
      d.elementStrides[n] = uint32_t(v);
      break;
    case 6:
      d.type = kElementTypes[v & 15];
      break;
    case 7:
      d.interleave = uint32_t(v);
      break;
    case 8:
      d.swizzle = TensorMapSwizzle(v & 3);
      break;
    case 9: // of the 128-byte swizzle
      if (d.swizzle >= TensorMapSwizzle::B128) {
        d.swizzle =
            TensorMapSwizzle(uint32_t(TensorMapSwizzle::B128) + (v & 3));
      }
      break;
    case 10:
      d.oobFill = uint32_t(v);
      break;
    }
    storeTensorMap(d, p);
    ++w.cluster->effects;
  }
}
/// One copy by the whole warp, which also releases what came before it.
void copyMap(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  unsigned l = unsigned(__builtin_ctz(mask));
  for (unsigned half = 0; half < 128; half += 64) {
    uint8_t *to =
        w.resolve(StateSpace::Global, w.address(w.operand(i, 0), l) + half, 64,
                  l, MemoryAccess::MapChange);
    uint8_t *from =
        to ? w.resolve(StateSpace::Shared, w.address(w.operand(i, 1), l) + half,
                       64, l, MemoryAccess::MapRead)
           : nullptr;
    if (!from) {
      return;
    }
    std::memcpy(to, from, 64);
  }
  if (Hazards *h = w.cluster->hazards) {
    h->releaseMaps(w, mask);
  }
  ++w.cluster->effects;
}

bool decodeTensormap(Decoder &d) {
  Instruction &i = d.instruction();
  if (d.take("cp_fenceproxy")) {
    while (
        d.takeOneOf({"global", "shared::cta", "tensormap::generic", "release",
                     "gpu", "cta", "cluster", "sys", "sync", "aligned"}) >= 0) {
    }
    i.handler = copyMap;
    return d.count(3, 3) && d.address(d.ast(0)) && d.address(d.ast(1));
  }
  if (!d.take("replace") || !d.take("tile")) {
    return false;
  }
  int field = d.takeOneOf({"global_address", "rank", "box_dim", "global_dim",
                           "global_stride", "element_stride", "elemtype",
                           "interleave_layout", "swizzle_mode",
                           "swizzle_atomicity", "fill_mode"});
  StateSpace space = d.takeSpace(StateSpace::Generic);
  bool wide = d.take("b64");
  if (field < 0 || !d.take("b1024") || (!wide && !d.take("b32"))) {
    return false;
  }
  bool ordinal = field >= 2 && field <= 5;
  if (!d.count(ordinal ? 3 : 2, ordinal ? 3 : 2) || !d.address(d.ast(0)) ||
      !d.source(d.ast(ordinal ? 2 : 1), wide ? Type::B64 : Type::B32)) {
    return false;
  }
  if (ordinal) {
    if (d.ast(1).kind != AstOperand::Integer ||
        d.ast(1).value >= (field == 4 ? 4u : 5u)) {
      return d.fail("the ordinal must be an immediate below 5");
    }
    i.b = uint32_t(d.ast(1).value);
  }
  i.a = uint32_t(field);
  i.c = uint32_t(space == StateSpace::Generic ? d.pending(0).space : space);
  i.handler = replace;
  return true;
}

bool decodeLaunchControl(Decoder &d) {
  Instruction &i = d.instruction();
  if (d.take("try_cancel")) {
    bool shared = d.take("shared::cta");
    if (!d.take("async") || !d.take("mbarrier::complete_tx::bytes") ||
        !d.take("b128")) {
      return false;
    }
    i.c = d.take("multicast::cluster::all");
    i.b = shared ? 0 : 1;
    i.handler = tryCancel;
    return d.count(2, 2) && d.address(d.ast(0)) && d.address(d.ast(1));
  }
  if (!d.take("query_cancel")) {
    return false;
  }
  if (d.take("is_canceled")) {
    i.handler = isCanceled;
    return d.take("pred") && d.take("b128") && d.count(2, 2) &&
           d.predicateDest(d.ast(0)) && d.source(d.ast(1), Type::B128);
  }
  if (d.take("get_first_ctaid")) {
    i.handler = firstCtaVector;
    return d.take("v4") && d.take("b32") && d.take("b128") && d.count(2, 2) &&
           d.ast(0).kind == AstOperand::Vector &&
           d.ast(0).children.size() == 4 &&
           d.vector(d.ast(0), Type::B32, true, false) &&
           d.source(d.ast(1), Type::B128);
  }
  int which = d.takeOneOf(
      {"get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"});
  i.a = uint32_t(which);
  i.handler = firstCta;
  return which >= 0 && d.take("b32") && d.take("b128") && d.count(2, 2) &&
         d.dest(d.ast(0), 4) && d.source(d.ast(1), Type::B128);
}

} // namespace

bool bulkGroupsPending(const Warp &w, uint32_t mask, uint64_t allowed,
                       bool reads) {
  for (const AsyncOp &op : w.cluster->async) {
    if (op.usesGroup && op.warp == w.index && (mask >> op.lane & 1) &&
        !(reads && op.sourceRead) && op.group < w.bulkGroup[op.lane] &&
        w.bulkGroup[op.lane] - op.group > allowed) {
      return true;
    }
  }
  return false;
}

bool decodeBulk(Decoder &d) {
  Instruction &i = d.instruction();
  if (d.part(0) == "tensormap") {
    return decodeTensormap(d);
  }
  if (d.part(0) == "clusterlaunchcontrol") {
    return decodeLaunchControl(d);
  }
  bool reduce = d.take("reduce");
  if (!d.take("async") || !d.take("bulk")) {
    return false;
  }
  if (d.take("commit_group")) {
    i.handler = commitGroup;
    return d.count(0, 0);
  }
  if (d.take("wait_group")) {
    i.b = d.take("read");
    if (!d.count(1, 1) || d.ast(0).kind != AstOperand::Integer) {
      return false;
    }
    i.a = uint32_t(d.ast(0).value);
    i.handler = waitGroup;
    return true;
  }
  if (d.take("prefetch")) {
    while (d.takeOneOf({"tensor", "1d", "2d", "3d", "4d", "5d", "L2", "global",
                        "tile", "L2::cache_hint"}) >= 0) {
    }
    i.handler = ignore;
    return true;
  }
  bool tensor = d.take("tensor");
  int dimensions = tensor ? d.takeOneOf({"1d", "2d", "3d", "4d", "5d"}) + 1 : 0;
  bool toShared = false, toCluster = false, fromShared = false;
  // Destination space first, source space second.
  if (d.part(2 + size_t(reduce) + (tensor ? 2 : 0) + 1) == "global") {
    d.take("global");
    fromShared = d.take("shared::cta");
    if (!fromShared) {
      return false;
    }
  } else if (d.take("shared::cluster")) {
    toCluster = toShared = true;
    if (!d.take("global") && !(!tensor && d.take("shared::cta"))) {
      return false;
    }
  } else if (d.take("shared::cta")) {
    toShared = true;
    if (!d.take("global")) {
      return false;
    }
  } else {
    return false;
  }
  uint32_t flags = 0;
  if (tensor) {
    d.take("tile");
    // One column and four rows of a matrix.
    if (d.take(toShared ? "tile::gather4" : "tile::scatter4")) {
      flags |= RowList;
    }
    if (dimensions == 0 || ((flags & RowList) && (dimensions != 2 || reduce))) {
      return false;
    }
  }
  bool barrier = d.take("mbarrier::complete_tx::bytes");
  if (d.take("bulk_group")) {
    flags |= UsesGroup;
  }
  if (barrier == bool(flags & UsesGroup) || barrier != toShared) {
    return false;
  }
  if (d.take("multicast::cluster")) {
    flags |= Multicast;
  }
  if (d.take("cta_group::2")) {
    flags |= PairBarrier;
  }
  d.take("cta_group::1");
  bool hint = d.take("L2::cache_hint");
  if (reduce) {
    int op =
        d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    bool noftz = !tensor && d.take("noftz");
    Type type = tensor ? Type::None : d.takeType();
    bool halves = type == Type::F16 || type == Type::BF16;
    if (op < 0 || (tensor && !fromShared) ||
        (!tensor && (!reductionSupported(Reduction(op), type) ||
                     noftz != (halves && op == 0)))) {
      return false;
    }
    flags |= uint32_t(op + 1) << ReduceShift;
    i.c = uint32_t(type);
  }
  flags |= toCluster ? uint32_t(AnyCta) : 0;
  // shared::cluster from shared::cta has no "global" part.
  bool fromPeer = toCluster;
  for (size_t k = 1; k < d.partCount(); ++k) {
    fromPeer &= d.part(k) != "global";
  }
  AsyncOp::Kind kind =
      tensor     ? (toShared ? AsyncOp::TensorLoad : AsyncOp::TensorStore)
      : fromPeer ? AsyncOp::BulkPeer
      : toShared ? AsyncOp::BulkLoad
                 : AsyncOp::BulkStore;
  flags |= uint32_t(kind) << KindShift;

  size_t expected = (tensor ? 2u : 3u) + size_t(barrier) +
                    size_t((flags & Multicast) != 0) + size_t(hint);
  if (!d.count(expected, expected)) {
    return false;
  }
  size_t sharedAt = toShared ? 0 : 1, globalAt = toShared ? 1 : 0;
  const AstOperand &global = d.ast(globalAt);
  if (!d.address(d.ast(sharedAt)) || !d.address(global)) {
    return false;
  }
  size_t coordinates = flags & RowList ? 5 : size_t(dimensions);
  if (tensor) {
    if (global.children.size() != 1 ||
        global.children[0].kind != AstOperand::Vector ||
        global.children[0].children.size() != coordinates) {
      return d.fail("the tensor address needs " + std::to_string(coordinates) +
                    " coordinates");
    }
    if (!d.vector(global.children[0], Type::B32, false, false)) {
      return false;
    }
  } else if (!d.source(d.ast(2), Type::U32)) {
    return false;
  }
  size_t next = tensor ? 2 : 3;
  if (barrier && !d.address(d.ast(next++))) {
    return false;
  }
  if ((flags & Multicast) && !d.source(d.ast(next++), Type::B16)) {
    return false;
  }
  i.b = flags;
  i.handler = copy;
  return true;
}

} // namespace gmoe::emulator
