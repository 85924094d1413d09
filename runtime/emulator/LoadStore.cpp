// ld, st and prefetch in every space and width (ISA 9.7.9.8 to 9.7.9.15).
#include "runtime/emulator/Lanes.h"

namespace gmoe::emulator {
namespace {

/// a: space, b: bytes of an element, c: elements, d: bit 0 sign-extends.
uint64_t extend(uint64_t v, unsigned bytes, bool sign) {
  if (!sign || bytes >= 8) {
    return v;
  }
  unsigned shift = 64 - 8 * bytes;
  return uint64_t(int64_t(v << shift) >> shift);
}

template <class T> uint64_t readAs(const uint8_t *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

uint64_t readElement(const uint8_t *p, unsigned bytes) {
  switch (bytes) {
  case 1:
    return *p;
  case 2:
    return readAs<uint16_t>(p);
  case 4:
    return readAs<uint32_t>(p);
  default:
    return readAs<uint64_t>(p);
  }
}

void load(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand &value = w.operand(i, 0), &address = w.operand(i, 1);
  const unsigned bytes = i.b, n = i.c;
  const uint32_t total = bytes * n;
  const Operand *elements = n == 1 ? &value : &w.program->operands[value.first];
  if (n == 1 && bytes == 4 && value.bytes == 4 && i.d == 0) {
    uint32_t *d = w.target<uint32_t>(value);
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      const uint8_t *p = w.resolve(StateSpace(i.a), w.address(address, l), 4, l,
                                   MemoryAccess::Load);
      if (!p) {
        return;
      }
      std::memcpy(&d[l], p, 4);
    }
    return;
  }
  // Two passes: a destination may be the address register.
  const uint8_t *pointers[32];
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    pointers[l] = w.resolve(StateSpace(i.a), w.address(address, l), total, l,
                            MemoryAccess::Load);
    if (!pointers[l]) {
      return;
    }
  }
  for (unsigned k = 0; k < n; ++k) {
    const Operand &e = elements[k];
    if (bytes == 16) {
      uint64_t *d = w.target<uint64_t>(e);
      for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = unsigned(__builtin_ctz(m));
        std::memcpy(&d[l], pointers[l] + 16 * k, 8);
        std::memcpy(&d[32 + l], pointers[l] + 16 * k + 8, 8);
      }
      continue;
    }
    if (bytes == 4 && e.bytes == 4) {
      uint32_t *d = w.target<uint32_t>(e);
      for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = unsigned(__builtin_ctz(m));
        std::memcpy(&d[l], pointers[l] + 4 * k, 4);
      }
      continue;
    }
    uint64_t narrow =
        e.bytes >= 4 ? ~uint64_t(0) : (uint64_t(1) << (8 * e.bytes)) - 1;
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      uint64_t v = readElement(pointers[l] + bytes * k, bytes);
      w.setScalar(e, l, extend(v, bytes, i.d & 1) & narrow);
    }
  }
}

void store(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand &address = w.operand(i, 0), &value = w.operand(i, 1);
  const unsigned bytes = i.b, n = i.c;
  const uint32_t total = bytes * n;
  const Operand *elements = n == 1 ? &value : &w.program->operands[value.first];
  ++w.cluster->effects;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t at = w.address(address, l);
    if (StateSpace(i.a) == StateSpace::Param ||
        (StateSpace(i.a) == StateSpace::Generic &&
         (at & kWindowMask) == kParamWindow)) {
      w.fail("kernel parameters are read-only", int(l));
      return;
    }
    uint8_t *p = w.resolve(StateSpace(i.a), at, total, l, MemoryAccess::Store);
    if (!p) {
      return;
    }
    for (unsigned k = 0; k < n; ++k) {
      const Operand &e = elements[k];
      if (bytes == 16) {
        const uint64_t *v = w.source<uint64_t>(e);
        std::memcpy(p + 16 * k, &v[l], 8);
        std::memcpy(p + 16 * k + 8, &v[32 + l], 8);
      } else if (bytes == 4) {
        uint32_t v = uint32_t(w.scalar(e, l));
        std::memcpy(p + 4 * k, &v, 4);
      } else {
        uint64_t v = w.scalar(e, l);
        std::memcpy(p + bytes * k, &v, bytes);
      }
    }
  }
}

void ignore(Warp &, const Instruction &, uint32_t) {}

} // namespace

bool decodeMemory(Decoder &d) {
  const std::string op = d.part(0);
  Instruction &i = d.instruction();
  if (op == "prefetch" || op == "prefetchu" || op == "applypriority" ||
      op == "discard") {
    d.takeMemoryQualifiers();
    d.take("tensormap");
    d.takeSpace(StateSpace::Generic);
    d.take("L1");
    d.take("L2");
    i.handler = ignore;
    return d.count(1, 2) && d.address(d.ast(0));
  }
  bool isLoad = op != "st";
  d.takeMemoryQualifiers();
  StateSpace space = d.takeSpace(StateSpace::Generic);
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  unsigned n = vector < 0 ? 1 : 2u << vector;
  Type type = d.takeType();
  unsigned bytes = typeBytes(type);
  if (bytes == 0 || type == Type::Pred || bytes * n > 32) {
    return false;
  }
  // A cache policy may follow.
  if (!d.count(2, 3)) {
    return false;
  }
  size_t valueAt = isLoad ? 0 : 1, addressAt = isLoad ? 1 : 0;
  auto value = [&] {
    const AstOperand &o = d.ast(valueAt);
    bool loose = bytes < 16;
    if (n > 1 || o.kind == AstOperand::Vector) {
      if (o.kind == AstOperand::Vector && o.children.size() != n) {
        return d.fail("vector has " + std::to_string(o.children.size()) +
                      " elements, the instruction moves " + std::to_string(n));
      }
      if (!d.vector(o, type, isLoad, loose)) {
        return false;
      }
      if (n == 1) {
        return d.fail("a vector needs .v2, .v4 or .v8");
      }
      return true;
    }
    return isLoad ? d.dest(o, bytes, loose) : d.source(o, type, loose);
  };
  if (isLoad ? !(value() && d.address(d.ast(addressAt)))
             : !(d.address(d.ast(addressAt)) && value())) {
    return false;
  }
  const Operand &address = d.pending(isLoad ? 1 : 0);
  // A parameter of an expanded call lives in local memory.
  if (space == StateSpace::Param && address.space == StateSpace::Local) {
    space = StateSpace::Local;
  }
  if (space == StateSpace::Generic) {
    space = address.space;
  }
  i.a = uint32_t(space);
  i.b = bytes;
  i.c = n;
  i.d = isSigned(type);
  i.handler = isLoad ? load : store;
  return true;
}

} // namespace gmoe::emulator
