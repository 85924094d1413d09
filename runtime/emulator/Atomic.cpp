// atom and red, scalar and vector (ISA 9.7.13.5, 9.7.13.6). Clusters run in
// several host threads, so every update is a host atomic.
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/numerics/Codecs.h"

#include <algorithm>
#include <cmath>

namespace gmoe::emulator {
namespace {

enum Op : uint32_t {
  Add,
  Min,
  Max,
  And,
  Or,
  Xor,
  Exch,
  Cas,
  Inc,
  Dec,
  AddFlushed, // f32 in global memory
};

float addFloat(float a, float b) { return a + b; }

uint32_t halfOp(Op op, bool bf16, uint32_t a, uint32_t b) {
  auto decode = [&](uint32_t v) {
    return bf16 ? numerics::decodeBF16(uint16_t(v))
                : numerics::decodeF16(uint16_t(v));
  };
  float x = decode(a), y = decode(b);
  float r = op == Add   ? x + y
            : op == Min ? (x != x   ? y
                           : y != y ? x
                                    : std::min(x, y))
                        : (x != x   ? y
                           : y != y ? x
                                    : std::max(x, y));
  return bf16 ? numerics::encodeBF16(r) : numerics::encodeF16(r);
}

uint64_t apply(Op op, Type type, uint64_t a, uint64_t b, uint64_t c) {
  switch (op) {
  case Exch:
    return b;
  case Cas:
    return a == b ? c : a;
  case And:
    return a & b;
  case Or:
    return a | b;
  case Xor:
    return a ^ b;
  case Inc:
    return a >= b ? 0 : a + 1;
  case Dec:
    return a == 0 || a > b ? b : a - 1;
  case AddFlushed: {
    auto flush = [](uint64_t v) {
      return uint32_t(v & 0x7f800000u ? v : v & 0x80000000u);
    };
    return flush(numerics::bitsOf(
        addFloat(numerics::floatOf(flush(a)), numerics::floatOf(flush(b)))));
  }
  default:
    break;
  }
  switch (type) {
  case Type::F32:
    return numerics::bitsOf(addFloat(numerics::floatOf(uint32_t(a)),
                                     numerics::floatOf(uint32_t(b))));
  case Type::F64: {
    double x, y;
    std::memcpy(&x, &a, 8);
    std::memcpy(&y, &b, 8);
    x += y;
    std::memcpy(&a, &x, 8);
    return a;
  }
  case Type::F16:
  case Type::BF16:
    return halfOp(op, type == Type::BF16, uint32_t(a), uint32_t(b));
  case Type::F16x2:
  case Type::BF16x2: {
    bool bf16 = type == Type::BF16x2;
    return halfOp(op, bf16, uint32_t(a & 0xffff), uint32_t(b & 0xffff)) |
           halfOp(op, bf16, uint32_t(a >> 16), uint32_t(b >> 16)) << 16;
  }
  case Type::S32:
    if (op != Add) {
      int32_t x = int32_t(a), y = int32_t(b);
      return uint32_t(op == Min ? std::min(x, y) : std::max(x, y));
    }
    break;
  case Type::S64:
    if (op != Add) {
      int64_t x = int64_t(a), y = int64_t(b);
      return uint64_t(op == Min ? std::min(x, y) : std::max(x, y));
    }
    break;
  default:
    if (op != Add) {
      return op == Min ? std::min(a, b) : std::max(a, b);
    }
  }
  return a + b;
}

template <class T>
uint64_t update(uint8_t *p, Op op, Type type, uint64_t b, uint64_t c) {
  T *at = reinterpret_cast<T *>(p); // aligned: resolve() checked
  T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, T(apply(op, type, old, b, c)),
                                      true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return old;
}

/// a: space; b: operation; c: type; d: vector elements, bit 8: atom.
void atomic(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned k = i.d >> 8 & 1;
  const Operand &address = w.operand(i, k);
  const Operand &value = w.operand(i, k + 1);
  const Operand *other =
      i.operandCount > k + 2 ? &w.operand(i, k + 2) : nullptr;
  unsigned n = i.d & 0xff, bytes = typeBytes(Type(i.c));
  ++w.cluster->effects;
  std::unique_lock<std::mutex> order;
  if (Hazards *h = w.cluster->hazards) {
    order = h->orderAtomic();
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint8_t *p = w.resolve(StateSpace(i.a), w.address(address, l), bytes * n, l,
                           MemoryAccess::Atomic);
    if (!p) {
      return;
    }
    // ISA: atom.add.f32 flushes subnormals in global, not in shared memory.
    uint64_t window = w.address(address, l) & kWindowMask;
    bool global = StateSpace(i.a) == StateSpace::Global ||
                  (StateSpace(i.a) == StateSpace::Generic &&
                   window != kSharedWindow && window != kLocalWindow);
    Op op =
        i.b == Add && Type(i.c) == Type::F32 && global ? AddFlushed : Op(i.b);
    for (unsigned e = 0; e < n; ++e) {
      const Operand &v = n == 1 ? value : w.program->operands[value.first + e];
      uint64_t b = w.scalar(v, l), c = other ? w.scalar(*other, l) : 0;
      uint8_t *at = p + e * bytes;
      uint64_t old = bytes == 2   ? update<uint16_t>(at, op, Type(i.c), b, c)
                     : bytes == 4 ? update<uint32_t>(at, op, Type(i.c), b, c)
                                  : update<uint64_t>(at, op, Type(i.c), b, c);
      if (k) {
        const Operand &d = w.operand(i, 0);
        w.setScalar(n == 1 ? d : w.program->operands[d.first + e], l, old);
      }
    }
  }
}

} // namespace

bool decodeAtomic(Decoder &d) {
  Instruction &i = d.instruction();
  bool isAtom = d.part(0) == "atom";
  d.takeMemoryQualifiers();
  if (d.take("async")) {
    return false;
  }
  StateSpace space = d.takeSpace(StateSpace::Generic);
  int op = d.takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  d.take("noftz");
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  unsigned n = vector < 0 ? 1 : 2u << vector;
  Type type = d.takeType();
  unsigned bytes = typeBytes(type);
  if (op < 0 || (bytes != 2 && bytes != 4 && bytes != 8) || bytes * n > 32 ||
      (bytes == 2 && op != Cas && op != Exch && !isFloat(type)) ||
      ((op == Min || op == Max) && (type == Type::F32 || type == Type::F64))) {
    return false;
  }
  i.b = uint32_t(op);
  i.c = uint32_t(type);
  i.d = n | uint32_t(isAtom) << 8;
  i.handler = atomic;
  size_t k = isAtom;
  size_t values = op == Cas ? 2 : 1;
  if (!d.count(k + 1 + values, k + 2 + values)) {
    return false;
  }
  if (isAtom && !(n > 1 ? d.vector(d.ast(0), type, true, false)
                        : d.dest(d.ast(0), bytes))) {
    return false;
  }
  if (!d.address(d.ast(k)) ||
      !(n > 1 ? d.vector(d.ast(k + 1), type, false, false)
              : d.source(d.ast(k + 1), type)) ||
      (op == Cas && !d.source(d.ast(k + 2), type))) {
    return false;
  }
  if (space == StateSpace::Generic) {
    space = d.pending(k).space;
  }
  i.a = uint32_t(space);
  return true;
}

} // namespace gmoe::emulator
