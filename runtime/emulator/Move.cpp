// mov with packing and unpacking, address conversion, mapa (ISA 9.7.9).
#include "runtime/emulator/Lanes.h"

#include <chrono>

namespace gmoe::emulator {
namespace {

template <class T> void move(Warp &w, const Instruction &i, uint32_t mask) {
  const T *a = w.source<T>(w.operand(i, 1));
  T *d = w.target<T>(w.operand(i, 0));
  if (mask == 0xffffffffu) {
    std::memmove(d, a, sizeof(T) * 32);
    return;
  }
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      d[l] = a[l];
    }
  }
}
void move128(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *a = w.source<uint64_t>(w.operand(i, 1));
  uint64_t *d = w.target<uint64_t>(w.operand(i, 0));
  for (unsigned l = 0; l < 64; ++l) {
    if (mask >> (l & 31) & 1) {
      d[l] = a[l];
    }
  }
}
void movePredicate(Warp &w, const Instruction &i, uint32_t mask) {
  w.setPredicate(w.operand(i, 0), mask, w.predicateMask(w.operand(i, 1)));
}
void moveAddress(Warp &w, const Instruction &i, uint32_t mask) {
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      w.setScalar(w.operand(i, 0), l, w.address(w.operand(i, 1), l));
    }
  }
}
void moveClock(Warp &w, const Instruction &i, uint32_t mask) {
  uint64_t now =
      i.a == 0
          ? w.cluster->tick * 64
          : uint64_t(
                std::chrono::steady_clock::now().time_since_epoch().count());
  if (i.b) {
    now >>= 32;
  }
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      w.setScalar(w.operand(i, 0), l, now);
    }
  }
}

/// Reads `bytes` bytes of a register lane into `out`, and back.
void readLane(Warp &w, const Operand &o, unsigned lane, uint8_t *out,
              unsigned bytes) {
  if (bytes == 16) {
    const uint64_t *v = w.source<uint64_t>(o);
    std::memcpy(out, &v[lane], 8);
    std::memcpy(out + 8, &v[32 + lane], 8);
  } else {
    uint64_t v = w.scalar(o, lane);
    std::memcpy(out, &v, bytes);
  }
}
void writeLane(Warp &w, const Operand &o, unsigned lane, const uint8_t *in,
               unsigned bytes) {
  if (bytes == 16) {
    uint64_t *v = w.target<uint64_t>(o);
    std::memcpy(&v[lane], in, 8);
    std::memcpy(&v[32 + lane], in + 8, 8);
  } else {
    uint64_t v = 0;
    std::memcpy(&v, in, bytes);
    w.setScalar(o, lane, v);
  }
}

/// a: total bytes; b: bytes of one element; c: 1 packs, 2 unpacks.
void moveVector(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand &whole = w.operand(i, i.c == 1 ? 0 : 1);
  const Operand &parts = w.operand(i, i.c == 1 ? 1 : 0);
  for (unsigned l = 0; l < 32; ++l) {
    if (!(mask >> l & 1)) {
      continue;
    }
    uint8_t buffer[16] = {};
    if (i.c == 2) {
      readLane(w, whole, l, buffer, i.a);
    }
    for (uint32_t k = 0; k < parts.count; ++k) {
      const Operand &p = w.program->operands[parts.first + k];
      if (i.c == 1) {
        readLane(w, p, l, buffer + k * i.b, i.b);
      } else {
        writeLane(w, p, l, buffer + k * i.b, i.b);
      }
    }
    if (i.c == 1) {
      writeLane(w, whole, l, buffer, i.a);
    }
  }
}

uint64_t windowOf(uint32_t space) {
  switch (StateSpace(space)) {
  case StateSpace::Shared:
  case StateSpace::SharedCluster:
    return kSharedWindow;
  case StateSpace::Local:
    return kLocalWindow;
  case StateSpace::Param:
    return kParamWindow;
  default:
    return 0;
  }
}

/// a: the space; b: 1 to the space, 0 to generic.
void convertAddress(Warp &w, const Instruction &i, uint32_t mask) {
  uint64_t window = windowOf(i.a);
  for (unsigned l = 0; l < 32; ++l) {
    if (!(mask >> l & 1)) {
      continue;
    }
    const Operand &o = w.operand(i, 1);
    uint64_t v = o.kind == Operand::Address ? w.address(o, l) : w.scalar(o, l);
    v = i.b ? v - window : v + window;
    w.setScalar(w.operand(i, 0), l, v);
  }
}

/// a: 0 shared::cluster, 1 generic.
void mapAddress(Warp &w, const Instruction &i, uint32_t mask) {
  for (unsigned l = 0; l < 32; ++l) {
    if (!(mask >> l & 1)) {
      continue;
    }
    const Operand &o = w.operand(i, 1);
    uint64_t v = o.kind == Operand::Address ? w.address(o, l) : w.scalar(o, l);
    uint64_t rank = w.scalar(w.operand(i, 2), l);
    if (rank >= w.cluster->ctas.size()) {
      w.fail("CTA rank is " + std::to_string(rank) + ", the cluster has " +
                 std::to_string(w.cluster->ctas.size()),
             int(l));
      return;
    }
    w.setScalar(w.operand(i, 0), l, (v & ~uint64_t(0xff000000u)) | rank << 24);
  }
}
void ctaRank(Warp &w, const Instruction &i, uint32_t mask) {
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      const Operand &o = w.operand(i, 1);
      uint64_t v =
          o.kind == Operand::Address ? w.address(o, l) : w.scalar(o, l);
      w.setScalar(w.operand(i, 0), l, v >> 24 & 0xff);
    }
  }
}
void isSpace(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l) {
    uint64_t v = w.scalar(w.operand(i, 1), l);
    uint64_t window = v & kWindowMask;
    bool in = false;
    switch (StateSpace(i.a)) {
    case StateSpace::Shared:
      in = window == kSharedWindow && (v >> 24 & 0xff) == w.cta->rank;
      break;
    case StateSpace::SharedCluster:
      in = window == kSharedWindow;
      break;
    case StateSpace::Local:
      in = window == kLocalWindow;
      break;
    case StateSpace::Param:
      in = window == kParamWindow;
      break;
    default:
      in = window != kSharedWindow && window != kLocalWindow &&
           window != kParamWindow;
    }
    bits |= uint32_t(in) << l;
  }
  w.setPredicate(w.operand(i, 0), mask, bits);
}

bool addressOrSource(Decoder &d, size_t k, Type type) {
  const AstOperand &o = d.ast(k);
  if (!d.isAddressSymbol(o)) {
    return d.source(o, type);
  }
  AstOperand address = o;
  address.kind = AstOperand::Address;
  return d.address(address);
}

bool decodeMov(Decoder &d) {
  Instruction &i = d.instruction();
  Type type = d.takeType();
  if (!d.count(2, 2) || type == Type::None) {
    return false;
  }
  if (type == Type::Pred) {
    i.handler = movePredicate;
    return d.predicateDest(d.ast(0)) && d.predicateSource(d.ast(1));
  }
  unsigned bytes = typeBytes(type);
  const AstOperand &to = d.ast(0), &from = d.ast(1);
  if (to.kind == AstOperand::Vector || from.kind == AstOperand::Vector) {
    bool packs = from.kind == AstOperand::Vector;
    const AstOperand &parts = packs ? from : to;
    size_t n = parts.children.size();
    if (n < 2 || bytes % n || (packs && to.kind == AstOperand::Vector)) {
      return false;
    }
    unsigned element = unsigned(bytes / n);
    Type elementType = element == 1   ? Type::B8
                       : element == 2 ? Type::B16
                       : element == 4 ? Type::B32
                                      : Type::B64;
    i.a = bytes;
    i.b = element;
    i.c = packs ? 1 : 2;
    i.handler = moveVector;
    return packs
               ? d.dest(to, bytes) && d.vector(from, elementType, false, false)
               : d.vector(to, elementType, true, false) && d.source(from, type);
  }
  if (from.kind == AstOperand::Name) {
    static const struct {
      const char *name;
      uint32_t clock, high;
    } kClocks[] = {{"%clock", 0, 0},          {"%clock64", 0, 0},
                   {"%clock_hi", 0, 1},       {"%globaltimer", 1, 0},
                   {"%globaltimer_lo", 1, 0}, {"%globaltimer_hi", 1, 1}};
    for (const auto &c : kClocks) {
      if (from.name == c.name) {
        i.a = c.clock;
        i.b = c.high;
        i.handler = moveClock;
        return d.dest(to, bytes);
      }
    }
    if (d.isAddressSymbol(from)) {
      AstOperand address = from;
      address.kind = AstOperand::Address;
      i.handler = moveAddress;
      return (bytes == 4 || bytes == 8) && d.dest(to, bytes) &&
             d.address(address);
    }
  }
  if (bytes == 16) {
    i.handler = move128;
    return d.dest(to, 16) && d.source(from, type);
  }
  // 64-bit reads of 32-bit special registers zero-extend.
  if (bytes == 8 && from.kind == AstOperand::Name && from.name == "%gridid") {
    i.handler = moveAddress;
    Operand o = d.constant(1, 8);
    return d.dest(to, 8) && (d.push(o), true);
  }
  if (bytes == 2 && from.kind == AstOperand::Name && from.name[0] == '%' &&
      from.name.find('.') != std::string::npos) {
    i.handler = move<uint32_t>;
    return d.dest(to, 2) && d.source(from, Type::B16, true);
  }
  i.handler = bytes == 8 ? move<uint64_t> : move<uint32_t>;
  return d.dest(to, bytes) && d.source(from, type);
}

} // namespace

bool decodeMove(Decoder &d) {
  const std::string op = d.part(0);
  Instruction &i = d.instruction();
  if (op == "mov") {
    return decodeMov(d);
  }
  if (op == "cvta") {
    i.b = d.take("to");
    i.a = uint32_t(d.takeSpace(StateSpace::Generic));
    Type type = d.takeType();
    i.handler = convertAddress;
    return (type == Type::U64 || type == Type::U32) &&
           StateSpace(i.a) != StateSpace::Generic && d.count(2, 2) &&
           d.dest(d.ast(0), typeBytes(type)) && addressOrSource(d, 1, type);
  }
  if (op == "isspacep") {
    i.a = uint32_t(d.takeSpace(StateSpace::Generic));
    i.handler = isSpace;
    return d.count(2, 2) && d.predicateDest(d.ast(0)) &&
           d.source(d.ast(1), Type::U64);
  }
  StateSpace space = d.takeSpace(StateSpace::Generic);
  if (space != StateSpace::Generic && space != StateSpace::SharedCluster) {
    return false;
  }
  Type type = d.takeType();
  if (type != Type::U32 && type != Type::U64) {
    return false;
  }
  if (op == "mapa") {
    i.handler = mapAddress;
    return d.count(3, 3) && d.dest(d.ast(0), typeBytes(type)) &&
           addressOrSource(d, 1, type) && d.source(d.ast(2), Type::U32);
  }
  i.handler = ctaRank; // getctarank
  return d.count(2, 2) && d.dest(d.ast(0), 4) && addressOrSource(d, 1, type);
}

} // namespace gmoe::emulator
