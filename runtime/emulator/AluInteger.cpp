// Integer arithmetic, logic, shifts and bit fields (ISA 9.7.1, 9.7.8).
#include "runtime/emulator/Lanes.h"

#include <algorithm>
#include <limits>

namespace gmoe::emulator {
namespace {

template <class T> using U = std::make_unsigned_t<T>;

template <class T> T add(T a, T b) { return T(U<T>(a) + U<T>(b)); }
template <class T> T sub(T a, T b) { return T(U<T>(a) - U<T>(b)); }
template <class T> T mulLo(T a, T b) {
  // Widened: uint16_t promotes to int, whose product could overflow.
  return T(uint64_t(U<T>(a)) * uint64_t(U<T>(b)));
}
template <class T> T mulHi(T a, T b) {
  using W = std::conditional_t<
      sizeof(T) == 8,
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  return T((W(a) * W(b)) >> (8 * sizeof(T)));
}
template <class T, class W> W mulWide(T a, T b) { return W(W(a) * W(b)); }
template <class T> T madLo(T a, T b, T c) { return add(mulLo(a, b), c); }
template <class T> T madHi(T a, T b, T c) { return add(mulHi(a, b), c); }
template <class T, class W> W madWide(T a, T b, W c) {
  return add<W>(mulWide<T, W>(a, b), c);
}
template <class T> T divide(T a, T b) {
  if (b == 0) {
    return T(~U<T>(0)); // unspecified by the ISA
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) {
      return T(U<T>(0) - U<T>(a));
    }
  }
  return T(a / b);
}
template <class T> T remainder(T a, T b) {
  if (b == 0) {
    return a;
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) {
      return 0;
    }
  }
  return T(a % b);
}
template <class T> T minimum(T a, T b) { return std::min(a, b); }
template <class T> T maximum(T a, T b) { return std::max(a, b); }
template <class T> T minRelu(T a, T b) {
  return std::max(std::min(a, b), T(0));
}
template <class T> T maxRelu(T a, T b) {
  return std::max(std::max(a, b), T(0));
}
template <class T> T absolute(T a) { return a < 0 ? T(U<T>(0) - U<T>(a)) : a; }
template <class T> T negate(T a) { return T(U<T>(0) - U<T>(a)); }
int32_t addSat(int32_t a, int32_t b) {
  int64_t r = int64_t(a) + b;
  return int32_t(std::clamp<int64_t>(r, INT32_MIN, INT32_MAX));
}
int32_t subSat(int32_t a, int32_t b) {
  int64_t r = int64_t(a) - b;
  return int32_t(std::clamp<int64_t>(r, INT32_MIN, INT32_MAX));
}
template <class T> T sad(T a, T b, T c) {
  return T(U<T>(c) + (a > b ? U<T>(a) - U<T>(b) : U<T>(b) - U<T>(a)));
}
template <class T> T bitAnd(T a, T b) { return a & b; }
template <class T> T bitOr(T a, T b) { return a | b; }
template <class T> T bitXor(T a, T b) { return a ^ b; }
template <class T> T bitNot(T a) { return T(~a); }
template <class T> T logicalNot(T a) { return a == 0; }
template <class T> T shiftLeft(T a, uint32_t b) {
  return b >= 8 * sizeof(T) ? T(0) : T(a << b);
}
template <class T> T shiftRight(T a, uint32_t b) {
  if (b >= 8 * sizeof(T)) {
    return a < 0 ? T(-1) : T(0);
  }
  return T(a >> b);
}
template <class T> uint32_t popc(T a) {
  return uint32_t(__builtin_popcountll(a));
}
template <class T> uint32_t clz(T a) {
  return a == 0 ? 8 * sizeof(T)
                : uint32_t(__builtin_clzll(a)) - (64 - 8 * sizeof(T));
}
template <class T> uint32_t bfind(T a) {
  U<T> v = U<T>(a < 0 ? ~a : a);
  return v == 0 ? ~0u : 63u - uint32_t(__builtin_clzll(v));
}
template <class T> uint32_t bfindShift(T a) {
  uint32_t at = bfind(a);
  return at == ~0u ? at : uint32_t(8 * sizeof(T)) - 1 - at;
}
template <class T> T brev(T a) {
  T r = 0;
  for (unsigned k = 0; k < 8 * sizeof(T); ++k) {
    r = T(r << 1 | (a >> k & 1));
  }
  return r;
}
/// The ISA restricts positions and lengths to 0..255, and leaves larger ones
/// open (9.7.1.24, 9.7.1.25). On Hopper the 32-bit forms take the lowest byte;
/// the 64-bit forms, which are sequences of instructions, take all of it.
template <class T> uint32_t fieldNumber(uint32_t v) {
  return sizeof(T) == 4 ? v & 0xff : std::min(v, 0xffffu);
}
template <class T> T bfe(T a, uint32_t position, uint32_t length) {
  const unsigned top = 8 * sizeof(T) - 1;
  position = fieldNumber<T>(position);
  length = fieldNumber<T>(length);
  U<T> sign = 0;
  if (std::is_signed_v<T> && length != 0) {
    sign = U<T>(a) >> std::min(position + length - 1, top) & 1;
  }
  U<T> r = 0;
  for (unsigned k = 0; k <= top; ++k) {
    U<T> bit = k < length && position + k <= top ? U<T>(a) >> (position + k) & 1
                                                 : sign;
    r |= bit << k;
  }
  return T(r);
}
template <class T> void bfi(Warp &w, const Instruction &i, uint32_t mask) {
  const T *a = w.source<T>(w.operand(i, 1)), *b = w.source<T>(w.operand(i, 2));
  const uint32_t *c = w.source<uint32_t>(w.operand(i, 3));
  const uint32_t *n = w.source<uint32_t>(w.operand(i, 4));
  perLane<T>(w, w.operand(i, 0), mask, [=](unsigned l) {
    uint32_t position = fieldNumber<T>(c[l]), length = fieldNumber<T>(n[l]);
    T r = b[l];
    for (unsigned k = 0; k < length && position + k < 8 * sizeof(T); ++k) {
      T bit = a[l] >> k & 1;
      r = T((r & ~(T(1) << (position + k))) | bit << (position + k));
    }
    return r;
  });
}
template <bool Left, bool Wrap>
uint32_t funnel(uint32_t lo, uint32_t hi, uint32_t n) {
  n = Wrap ? n & 31 : std::min(n, 32u);
  uint64_t both = uint64_t(hi) << 32 | lo;
  return Left ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
}
void lop3(Warp &w, const Instruction &i, uint32_t mask) {
  const uint32_t *a = w.source<uint32_t>(w.operand(i, 1));
  const uint32_t *b = w.source<uint32_t>(w.operand(i, 2));
  const uint32_t *c = w.source<uint32_t>(w.operand(i, 3));
  uint32_t table = i.a;
  perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned l) {
    uint32_t r = 0, x = a[l], y = b[l], z = c[l];
    for (unsigned k = 0; k < 8; ++k) {
      if (table >> k & 1) {
        r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
      }
    }
    return r;
  });
}
void prmt(Warp &w, const Instruction &i, uint32_t mask) {
  const uint32_t *a = w.source<uint32_t>(w.operand(i, 1));
  const uint32_t *b = w.source<uint32_t>(w.operand(i, 2));
  const uint32_t *c = w.source<uint32_t>(w.operand(i, 3));
  uint32_t mode = i.a;
  perLane<uint32_t>(w, w.operand(i, 0), mask, [=](unsigned l) {
    uint64_t both = uint64_t(b[l]) << 32 | a[l];
    uint32_t r = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t s = c[l] >> (4 * k) & 0xf;
      uint32_t n = c[l] & 3;
      switch (mode) {
      case 1: // f4e
        s = n + k;
        break;
      case 2: // b4e
        s = (8 + n - k) & 7;
        break;
      case 3: // rc8
        s = n;
        break;
      case 4: // ecl
        s = std::max(n, k);
        break;
      case 5: // ecr
        s = std::min(n, k);
        break;
      case 6: // rc16
        s = (n & 1) * 2 + (k & 1);
        break;
      }
      uint32_t byte = uint32_t(both >> (8 * (s & 7))) & 0xff;
      if (mode == 0 && (s & 8)) {
        byte = byte & 0x80 ? 0xff : 0;
      }
      r |= byte << (8 * k);
    }
    return r;
  });
}

void predicateLogic(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t a = w.predicateMask(w.operand(i, 1));
  uint32_t b = i.a < 3 ? w.predicateMask(w.operand(i, 2)) : 0;
  uint32_t r = i.a == 0 ? a & b : i.a == 1 ? a | b : i.a == 2 ? a ^ b : ~a;
  w.setPredicate(w.operand(i, 0), mask, r);
}

Handler binaryOf(std::string_view op, Type type) {
#define B(FN)                                                                  \
  [&]() -> Handler {                                                           \
    switch (type) {                                                            \
    case Type::U16:                                                            \
      return binary<uint16_t, uint16_t, uint16_t, FN<uint16_t>>;               \
    case Type::S16:                                                            \
      return binary<int16_t, int16_t, int16_t, FN<int16_t>>;                   \
    case Type::U32:                                                            \
      return binary<uint32_t, uint32_t, uint32_t, FN<uint32_t>>;               \
    case Type::S32:                                                            \
      return binary<int32_t, int32_t, int32_t, FN<int32_t>>;                   \
    case Type::U64:                                                            \
      return binary<uint64_t, uint64_t, uint64_t, FN<uint64_t>>;               \
    case Type::S64:                                                            \
      return binary<int64_t, int64_t, int64_t, FN<int64_t>>;                   \
    default:                                                                   \
      return nullptr;                                                          \
    }                                                                          \
  }()
  if (op == "add") {
    return B(add);
  }
  if (op == "sub") {
    return B(sub);
  }
  if (op == "mul.lo") {
    return B(mulLo);
  }
  if (op == "mul.hi") {
    return B(mulHi);
  }
  if (op == "div") {
    return B(divide);
  }
  if (op == "rem") {
    return B(remainder);
  }
  if (op == "min") {
    return B(minimum);
  }
  if (op == "max") {
    return B(maximum);
  }
#undef B
  return nullptr;
}

Handler ternaryOf(bool high, bool isSad, Type type) {
#define T3(FN)                                                                 \
  [&]() -> Handler {                                                           \
    switch (type) {                                                            \
    case Type::U16:                                                            \
      return ternary<uint16_t, uint16_t, uint16_t, uint16_t, FN<uint16_t>>;    \
    case Type::S16:                                                            \
      return ternary<int16_t, int16_t, int16_t, int16_t, FN<int16_t>>;         \
    case Type::U32:                                                            \
      return ternary<uint32_t, uint32_t, uint32_t, uint32_t, FN<uint32_t>>;    \
    case Type::S32:                                                            \
      return ternary<int32_t, int32_t, int32_t, int32_t, FN<int32_t>>;         \
    case Type::U64:                                                            \
      return ternary<uint64_t, uint64_t, uint64_t, uint64_t, FN<uint64_t>>;    \
    case Type::S64:                                                            \
      return ternary<int64_t, int64_t, int64_t, int64_t, FN<int64_t>>;         \
    default:                                                                   \
      return nullptr;                                                          \
    }                                                                          \
  }()
  if (isSad) {
    return T3(sad);
  }
  return high ? T3(madHi) : T3(madLo);
#undef T3
}

Handler wideOf(bool mad, Type type) {
  switch (type) {
  case Type::U16:
    return mad ? ternary<uint32_t, uint16_t, uint16_t, uint32_t,
                         madWide<uint16_t, uint32_t>>
               : binary<uint32_t, uint16_t, uint16_t,
                        mulWide<uint16_t, uint32_t>>;
  case Type::S16:
    return mad ? ternary<int32_t, int16_t, int16_t, int32_t,
                         madWide<int16_t, int32_t>>
               : binary<int32_t, int16_t, int16_t, mulWide<int16_t, int32_t>>;
  case Type::U32:
    return mad ? ternary<uint64_t, uint32_t, uint32_t, uint64_t,
                         madWide<uint32_t, uint64_t>>
               : binary<uint64_t, uint32_t, uint32_t,
                        mulWide<uint32_t, uint64_t>>;
  case Type::S32:
    return mad ? ternary<int64_t, int32_t, int32_t, int64_t,
                         madWide<int32_t, int64_t>>
               : binary<int64_t, int32_t, int32_t, mulWide<int32_t, int64_t>>;
  default:
    return nullptr;
  }
}

bool decodeLogic(Decoder &d, const std::string &op) {
  Type type = d.takeType();
  if (type == Type::Pred) {
    bool isNot = op == "not";
    if (!d.count(isNot ? 2 : 3, isNot ? 2 : 3) || !d.predicateDest(d.ast(0)) ||
        !d.predicateSource(d.ast(1)) ||
        (!isNot && !d.predicateSource(d.ast(2)))) {
      return false;
    }
    d.instruction().a = op == "and" ? 0 : op == "or" ? 1 : op == "xor" ? 2 : 3;
    d.instruction().handler = predicateLogic;
    return true;
  }
  unsigned bytes = typeBytes(type);
#define BIN(FN)                                                                \
  (bytes == 2   ? Handler(binary<uint16_t, uint16_t, uint16_t, FN<uint16_t>>)  \
   : bytes == 4 ? Handler(binary<uint32_t, uint32_t, uint32_t, FN<uint32_t>>)  \
   : bytes == 8 ? Handler(binary<uint64_t, uint64_t, uint64_t, FN<uint64_t>>)  \
                : nullptr)
#define UN(FN)                                                                 \
  (bytes == 2   ? Handler(unary<uint16_t, uint16_t, FN<uint16_t>>)             \
   : bytes == 4 ? Handler(unary<uint32_t, uint32_t, FN<uint32_t>>)             \
   : bytes == 8 ? Handler(unary<uint64_t, uint64_t, FN<uint64_t>>)             \
                : nullptr)
  if (op == "not" || op == "cnot") {
    Handler h = op == "not" ? UN(bitNot) : UN(logicalNot);
    return h && simple(d, h, bytes, {type});
  }
  Handler h = op == "and" ? BIN(bitAnd) : op == "or" ? BIN(bitOr) : BIN(bitXor);
  return h && simple(d, h, bytes, {type, type});
#undef BIN
#undef UN
}

bool decodeShift(Decoder &d, bool left) {
  Type type = d.takeType();
  Handler h = nullptr;
  switch (type) {
#define SHIFT(TY, CT)                                                          \
  case TY:                                                                     \
    h = left ? binary<CT, CT, uint32_t, shiftLeft<CT>>                         \
             : binary<CT, CT, uint32_t, shiftRight<CT>>;                       \
    break;
    SHIFT(Type::B16, uint16_t)
    SHIFT(Type::U16, uint16_t)
    SHIFT(Type::B32, uint32_t)
    SHIFT(Type::U32, uint32_t)
    SHIFT(Type::B64, uint64_t)
    SHIFT(Type::U64, uint64_t)
#undef SHIFT
  case Type::S16:
    h = left ? nullptr
             : binary<int16_t, int16_t, uint32_t, shiftRight<int16_t>>;
    break;
  case Type::S32:
    h = left ? nullptr
             : binary<int32_t, int32_t, uint32_t, shiftRight<int32_t>>;
    break;
  case Type::S64:
    h = left ? nullptr
             : binary<int64_t, int64_t, uint32_t, shiftRight<int64_t>>;
    break;
  default:
    return false;
  }
  return h && simple(d, h, typeBytes(type), {type, Type::U32});
}

bool decodeBits(Decoder &d, const std::string &op) {
  bool shiftAmount = op == "bfind" && d.take("shiftamt");
  Type type = d.takeType();
  bool wide = typeBytes(type) == 8;
  if (typeBytes(type) < 4 || isFloat(type)) {
    return false;
  }
  if (op == "popc") {
    return simple(d,
                  wide ? Handler(unary<uint32_t, uint64_t, popc<uint64_t>>)
                       : Handler(unary<uint32_t, uint32_t, popc<uint32_t>>),
                  4, {type});
  }
  if (op == "clz") {
    return simple(d,
                  wide ? Handler(unary<uint32_t, uint64_t, clz<uint64_t>>)
                       : Handler(unary<uint32_t, uint32_t, clz<uint32_t>>),
                  4, {type});
  }
  if (op == "brev") {
    return simple(d,
                  wide ? Handler(unary<uint64_t, uint64_t, brev<uint64_t>>)
                       : Handler(unary<uint32_t, uint32_t, brev<uint32_t>>),
                  typeBytes(type), {type});
  }
  if (op == "bfind") {
    Handler h = nullptr;
#define BF(CT)                                                                 \
  (shiftAmount ? Handler(unary<uint32_t, CT, bfindShift<CT>>)                  \
               : Handler(unary<uint32_t, CT, bfind<CT>>))
    h = type == Type::U32   ? BF(uint32_t)
        : type == Type::S32 ? BF(int32_t)
        : type == Type::U64 ? BF(uint64_t)
                            : BF(int64_t);
#undef BF
    return simple(d, h, 4, {type});
  }
  if (op == "bfe") {
#define BFE(CT) Handler(ternary<CT, CT, uint32_t, uint32_t, bfe<CT>>)
    Handler h = type == Type::U32   ? BFE(uint32_t)
                : type == Type::S32 ? BFE(int32_t)
                : type == Type::U64 ? BFE(uint64_t)
                                    : BFE(int64_t);
#undef BFE
    return simple(d, h, typeBytes(type), {type, Type::U32, Type::U32});
  }
  return simple(d, wide ? Handler(bfi<uint64_t>) : Handler(bfi<uint32_t>),
                typeBytes(type), {type, type, Type::U32, Type::U32});
}

bool immediate(Decoder &d, size_t k, uint32_t &out) {
  if (k >= d.size() || d.ast(k).kind != AstOperand::Integer) {
    return d.fail("operand " + std::to_string(k + 1) + " must be an immediate");
  }
  out = uint32_t(d.ast(k).value);
  return true;
}

} // namespace

bool decodeInteger(Decoder &d) {
  const std::string op = d.part(0);
  if (op == "and" || op == "or" || op == "xor" || op == "not" || op == "cnot") {
    return decodeLogic(d, op);
  }
  if (op == "shl" || op == "shr") {
    return decodeShift(d, op == "shl");
  }
  if (op == "popc" || op == "clz" || op == "brev" || op == "bfind" ||
      op == "bfe" || op == "bfi") {
    return decodeBits(d, op);
  }
  if (op == "shf") {
    bool left = d.take("l");
    if (!left && !d.take("r")) {
      return false;
    }
    bool wrap = d.take("wrap");
    if (!wrap && !d.take("clamp")) {
      return false;
    }
    Handler h = left ? (wrap ? ternary<uint32_t, uint32_t, uint32_t, uint32_t,
                                       funnel<true, true>>
                             : ternary<uint32_t, uint32_t, uint32_t, uint32_t,
                                       funnel<true, false>>)
                     : (wrap ? ternary<uint32_t, uint32_t, uint32_t, uint32_t,
                                       funnel<false, true>>
                             : ternary<uint32_t, uint32_t, uint32_t, uint32_t,
                                       funnel<false, false>>);
    return d.take("b32") && simple(d, h, 4, {Type::B32, Type::B32, Type::U32});
  }
  if (op == "lop3") {
    return d.take("b32") && d.count(5, 5) &&
           immediate(d, 4, d.instruction().a) && d.dest(d.ast(0), 4) &&
           d.source(d.ast(1), Type::B32) && d.source(d.ast(2), Type::B32) &&
           d.source(d.ast(3), Type::B32) &&
           (d.instruction().handler = lop3, true);
  }
  if (op == "prmt") {
    if (!d.take("b32")) {
      return false;
    }
    d.instruction().a =
        uint32_t(d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
    return simple(d, prmt, 4, {Type::B32, Type::B32, Type::B32});
  }
  if (op == "sad") {
    Type type = d.takeType();
    Handler h = ternaryOf(false, true, type);
    return h && simple(d, h, typeBytes(type), {type, type, type});
  }
  bool wide = false, high = false;
  if (op == "mul" || op == "mad") {
    wide = d.take("wide");
    high = !wide && d.take("hi");
    if (!wide && !high && !d.take("lo")) {
      return false;
    }
  }
  bool saturate = (op == "add" || op == "sub") && d.take("sat");
  bool relu = (op == "min" || op == "max") && d.take("relu");
  Type type = d.takeType();
  if (saturate || relu) {
    if (type != Type::S32) {
      return false;
    }
    Handler h =
        saturate ? (op == "add" ? binary<int32_t, int32_t, int32_t, addSat>
                                : binary<int32_t, int32_t, int32_t, subSat>)
                 : (op == "min"
                        ? binary<int32_t, int32_t, int32_t, minRelu<int32_t>>
                        : binary<int32_t, int32_t, int32_t, maxRelu<int32_t>>);
    return simple(d, h, 4, {type, type});
  }
  if (wide) {
    Handler h = wideOf(op == "mad", type);
    Type wideType = typeBytes(type) == 2 ? Type::U32 : Type::U64;
    if (!h) {
      return false;
    }
    return op == "mad"
               ? simple(d, h, typeBytes(wideType), {type, type, wideType})
               : simple(d, h, typeBytes(wideType), {type, type});
  }
  if (op == "mad") {
    Handler h = ternaryOf(high, false, type);
    return h && simple(d, h, typeBytes(type), {type, type, type});
  }
  if (op == "abs" || op == "neg") {
    Handler h = nullptr;
    bool isAbs = op == "abs";
    if (type == Type::S16) {
      h = isAbs ? unary<int16_t, int16_t, absolute<int16_t>>
                : unary<int16_t, int16_t, negate<int16_t>>;
    } else if (type == Type::S32) {
      h = isAbs ? unary<int32_t, int32_t, absolute<int32_t>>
                : unary<int32_t, int32_t, negate<int32_t>>;
    } else if (type == Type::S64) {
      h = isAbs ? unary<int64_t, int64_t, absolute<int64_t>>
                : unary<int64_t, int64_t, negate<int64_t>>;
    }
    return h && simple(d, h, typeBytes(type), {type});
  }
  std::string key = op;
  if (op == "mul") {
    key = high ? "mul.hi" : "mul.lo";
  }
  Handler h = binaryOf(key, type);
  return h && simple(d, h, typeBytes(type), {type, type});
}

} // namespace gmoe::emulator
