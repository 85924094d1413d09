// Integer instructions beside the plain ones: carry chains, 24-bit products,
// dot products, packed 16-bit pairs, bit masks and searches (ISA 9.7.1, 9.7.2).
#include "runtime/emulator/Lanes.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

using Unsigned128 = unsigned __int128;

/// Reads the carry flag of the condition code register, and writes it back when
/// the instruction says .cc. Instruction: a: 0 add, 1 sub, 2 mad.lo, 3 mad.hi;
/// b: bit 0 takes the carry in, bit 1 sets it, bit 2 signed; c: bytes.
/// Operands: d, carry, sources.
void carryChain(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand &carry = w.operand(i, 1);
  uint32_t in = i.b & 1 ? w.predicateMask(carry) : 0;
  uint32_t out = 0;
  const unsigned bits = 8 * i.c;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t x = w.scalar(w.operand(i, 2), l);
    uint64_t y = w.scalar(w.operand(i, 3), l);
    uint64_t c = in >> l & 1;
    Unsigned128 r;
    if (i.a == 1) {
      r = Unsigned128(x) - y - c;
      out |= uint32_t(r >> 127 & 1) << l; // a borrow
    } else {
      if (i.a >= 2) {
        uint64_t z = w.scalar(w.operand(i, 4), l);
        Unsigned128 p;
        if (i.b & 4) {
          __int128 sx = bits == 32 ? int32_t(x) : int64_t(x);
          __int128 sy = bits == 32 ? int32_t(y) : int64_t(y);
          p = Unsigned128(sx * sy);
        } else {
          p = Unsigned128(x) * y;
        }
        p = i.a == 3 ? p >> bits : p;
        x = bits == 32 ? uint32_t(p) : uint64_t(p);
        y = z;
      }
      r = Unsigned128(x) + y + c;
      out |= uint32_t(r >> bits & 1) << l;
    }
    w.setScalar(w.operand(i, 0), l, uint64_t(r));
  }
  if (i.b & 2) {
    w.setPredicate(carry, mask, out);
  }
}

int64_t signExtend(uint64_t v, unsigned bits) {
  return int64_t(v << (64 - bits)) >> (64 - bits);
}
int64_t field(uint32_t v, unsigned low, unsigned bits, bool sign) {
  uint64_t f = v >> low & ((uint64_t(1) << bits) - 1);
  return sign ? signExtend(f, bits) : int64_t(f);
}

/// a: 0 mul24, 1 mad24; b: bit 0 high, bit 1 signed, bit 2 saturates.
void product24(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t x = uint32_t(w.scalar(w.operand(i, 1), l));
    uint32_t y = uint32_t(w.scalar(w.operand(i, 2), l));
    uint64_t p = uint64_t(field(x, 0, 24, i.b & 2) * field(y, 0, 24, i.b & 2));
    uint32_t r = uint32_t(i.b & 1 ? p >> 16 : p);
    if (i.a) {
      uint32_t z = uint32_t(w.scalar(w.operand(i, 3), l));
      r = i.b & 4 ? uint32_t(std::clamp<int64_t>(
                        int64_t(int32_t(r)) + int32_t(z), INT32_MIN, INT32_MAX))
                  : r + z;
    }
    w.setScalar(w.operand(i, 0), l, r);
  }
}

void madHighSaturated(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    int64_t x = int32_t(w.scalar(w.operand(i, 1), l));
    int64_t y = int32_t(w.scalar(w.operand(i, 2), l));
    int64_t z = int32_t(w.scalar(w.operand(i, 3), l));
    int64_t r = std::clamp<int64_t>((x * y >> 32) + z, INT32_MIN, INT32_MAX);
    w.setScalar(w.operand(i, 0), l, uint32_t(r));
  }
}

/// a: 4 for dp4a, 2 for dp2a; b: bit 0 A signed, bit 1 B signed, bit 2 the
/// upper bytes of B.
void dotProduct(Warp &w, const Instruction &i, uint32_t mask) {
  const unsigned width = i.a == 4 ? 8 : 16;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t x = uint32_t(w.scalar(w.operand(i, 1), l));
    uint32_t y = uint32_t(w.scalar(w.operand(i, 2), l));
    uint32_t r = uint32_t(w.scalar(w.operand(i, 3), l));
    for (unsigned k = 0; k < i.a; ++k) {
      unsigned at = 8 * (k + (i.b & 4 ? 2 : 0));
      r += uint32_t(field(x, width * k, width, i.b & 1) *
                    field(y, at, 8, i.b & 2));
    }
    w.setScalar(w.operand(i, 0), l, r);
  }
}

/// Pairs of 16 bits. a: 0 add, 1 min, 2 max; b: bit 0 signed, bit 1 relu.
void pairs(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t x = uint32_t(w.scalar(w.operand(i, 1), l));
    uint32_t y = uint32_t(w.scalar(w.operand(i, 2), l));
    uint32_t r = 0;
    for (unsigned low = 0; low < 32; low += 16) {
      int64_t a = field(x, low, 16, i.b & 1), b = field(y, low, 16, i.b & 1);
      int64_t v = i.a == 0 ? a + b : i.a == 1 ? std::min(a, b) : std::max(a, b);
      v = i.b & 2 ? std::max<int64_t>(v, 0) : v;
      r |= (uint32_t(v) & 0xffff) << low;
    }
    w.setScalar(w.operand(i, 0), l, r);
  }
}

/// a: 0 bmsk, 1 szext.u32, 2 szext.s32; b: wraps.
void maskOrExtend(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t x = uint32_t(w.scalar(w.operand(i, 1), l));
    uint32_t n = uint32_t(w.scalar(w.operand(i, 2), l));
    n = i.b ? n & 31 : std::min(n, 32u);
    uint32_t r;
    if (i.a == 0) {
      x = i.b ? x & 31 : std::min(x, 32u);
      uint64_t ones = (uint64_t(1) << n) - 1;
      r = uint32_t(ones << x);
    } else if (n == 0 || n == 32) {
      r = n ? x : 0;
    } else {
      r = uint32_t(field(x, 0, n, i.a == 2));
    }
    w.setScalar(w.operand(i, 0), l, r);
  }
}

/// The n-th set bit from a base, upwards or downwards.
void findNthSet(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t x = uint32_t(w.scalar(w.operand(i, 1), l));
    uint32_t base = uint32_t(w.scalar(w.operand(i, 2), l));
    int64_t offset = int32_t(w.scalar(w.operand(i, 3), l));
    if (base > 31) {
      w.fail("fns base is " + std::to_string(base) + ", limit 31", int(l));
      return;
    }
    uint32_t r = 0xffffffffu;
    if (offset == 0) {
      r = x >> base & 1 ? base : r;
    } else {
      int64_t step = offset > 0 ? 1 : -1;
      int64_t left = offset > 0 ? offset : -offset;
      for (int64_t at = base; at >= 0 && at < 32 && left; at += step) {
        left -= x >> at & 1;
        r = left == 0 ? uint32_t(at) : r;
      }
    }
    w.setScalar(w.operand(i, 0), l, r);
  }
}

bool has(const Decoder &d, std::string_view name) {
  for (size_t k = 1; k < d.partCount(); ++k) {
    if (d.part(k) == name) {
      return true;
    }
  }
  return false;
}

bool decodeCarry(Decoder &d, const std::string &op) {
  Instruction &i = d.instruction();
  bool multiplies = op.rfind("mad", 0) == 0;
  i.b = uint32_t(op.back() == 'c' && op.size() == 4) | uint32_t(d.take("cc"))
                                                           << 1;
  i.a = op.rfind("sub", 0) == 0 ? 1 : 0;
  if (multiplies) {
    i.a = d.take("hi") ? 3 : 2;
    if (i.a == 2 && !d.take("lo")) {
      return false;
    }
  }
  Type type = d.takeType();
  if (type != Type::U32 && type != Type::S32 && type != Type::U64 &&
      type != Type::S64) {
    return false;
  }
  i.b |= uint32_t(isSigned(type)) << 2;
  i.c = typeBytes(type);
  size_t n = multiplies ? 4 : 3;
  if (!d.count(n, n) || !d.dest(d.ast(0), i.c)) {
    return false;
  }
  Operand carry = d.carryFlag();
  carry.written = !(i.b & 1); // not read: only set
  d.push(carry);
  for (size_t k = 1; k < n; ++k) {
    if (!d.source(d.ast(k), type)) {
      return false;
    }
  }
  i.handler = carryChain;
  return true;
}

} // namespace

bool isExtendedInteger(const Decoder &d) {
  const std::string &op = d.part(0);
  return op == "addc" || op == "subc" || op == "madc" || op == "mad24" ||
         op == "mul24" || op == "dp4a" || op == "dp2a" || op == "bmsk" ||
         op == "szext" || op == "fns" || has(d, "cc") || has(d, "u16x2") ||
         has(d, "s16x2") || (op == "mad" && has(d, "sat") && has(d, "s32"));
}

bool decodeExtendedInteger(Decoder &d) {
  const std::string op = d.part(0);
  Instruction &i = d.instruction();
  if (op == "addc" || op == "subc" || op == "madc" || has(d, "cc")) {
    return (op == "add" || op == "sub" || op == "mad" || op.size() == 4) &&
           decodeCarry(d, op);
  }
  if (op == "mul24" || op == "mad24") {
    i.a = op == "mad24";
    i.b = d.take("hi");
    if (!i.b && !d.take("lo")) {
      return false;
    }
    bool sat = i.a && i.b && d.take("sat");
    Type type = d.takeType();
    if (type != Type::U32 && type != Type::S32) {
      return false;
    }
    i.b |= uint32_t(type == Type::S32) << 1 | uint32_t(sat) << 2;
    return i.a ? simple(d, product24, 4, {type, type, type})
               : simple(d, product24, 4, {type, type});
  }
  if (op == "mad") {
    return d.take("hi") && d.take("sat") && d.take("s32") &&
           simple(d, madHighSaturated, 4, {Type::S32, Type::S32, Type::S32});
  }
  if (op == "dp4a" || op == "dp2a") {
    i.a = op == "dp4a" ? 4 : 2;
    bool high = i.a == 2 && d.take("hi");
    if (i.a == 2 && !high && !d.take("lo")) {
      return false;
    }
    Type a = d.takeType(), b = d.takeType();
    if ((a != Type::U32 && a != Type::S32) ||
        (b != Type::U32 && b != Type::S32)) {
      return false;
    }
    i.b = uint32_t(a == Type::S32) | uint32_t(b == Type::S32) << 1 |
          uint32_t(high) << 2;
    return simple(d, dotProduct, 4, {a, b, Type::B32});
  }
  if (op == "bmsk" || op == "szext") {
    i.b = d.take("wrap");
    if (!i.b && !d.take("clamp")) {
      return false;
    }
    Type type = d.takeType();
    i.a = op == "bmsk" ? 0 : type == Type::S32 ? 2 : 1;
    return (op == "bmsk" ? type == Type::B32
                         : type == Type::S32 || type == Type::U32) &&
           simple(d, maskOrExtend, 4, {type, Type::U32});
  }
  if (op == "fns") {
    return d.take("b32") &&
           simple(d, findNthSet, 4, {Type::B32, Type::B32, Type::S32});
  }
  i.a = op == "add" ? 0 : op == "min" ? 1 : 2;
  i.b = uint32_t(i.a != 0 && d.take("relu")) << 1;
  bool sign = d.take("s16x2");
  if ((op != "add" && op != "min" && op != "max") ||
      (!sign && (i.b || !d.take("u16x2")))) {
    return false;
  }
  i.b |= sign;
  return simple(d, pairs, 4, {Type::B32, Type::B32});
}

} // namespace gmoe::emulator
