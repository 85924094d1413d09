#include "runtime/emulator/Reduce.h"
#include "runtime/numerics/Codecs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gmoe::emulator {
namespace {

template <class T> T integer(Reduction op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Reduction::Add:
    return T(U(a) + U(b));
  case Reduction::Min:
    return std::min(a, b);
  case Reduction::Max:
    return std::max(a, b);
  case Reduction::Inc:
    return a >= b ? T(0) : T(a + 1);
  case Reduction::Dec:
    return a == 0 || a > b ? b : T(a - 1);
  case Reduction::And:
    return a & b;
  case Reduction::Or:
    return a | b;
  case Reduction::Xor:
    return a ^ b;
  }
  return a;
}

/// -0 is less than +0, and a NaN loses against a number.
float select(bool isMax, float a, float b) {
  if (a != a || b != b) {
    return a != a ? b : a;
  }
  if (a == b) {
    return std::signbit(a) == isMax ? b : a;
  }
  return (a < b) == isMax ? b : a;
}

uint16_t half(Reduction op, bool bf16, uint16_t x, uint16_t y) {
  float a = bf16 ? numerics::decodeBF16(x) : numerics::decodeF16(x);
  float b = bf16 ? numerics::decodeBF16(y) : numerics::decodeF16(y);
  float r = op == Reduction::Add ? a + b : select(op == Reduction::Max, a, b);
  return bf16 ? numerics::encodeBF16(r) : numerics::encodeF16(r);
}

template <class T, class F> void update(uint8_t *p, F f) {
  T *at = reinterpret_cast<T *>(p);
  T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, f(old), true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
}
template <class T> T read(const uint8_t *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

} // namespace

Type reductionType(TensorMapType type) {
  switch (type) {
  case TensorMapType::U32:
    return Type::U32;
  case TensorMapType::S32:
    return Type::S32;
  case TensorMapType::U64:
    return Type::U64;
  case TensorMapType::S64:
    return Type::S64;
  case TensorMapType::F16:
    return Type::F16;
  case TensorMapType::BF16:
    return Type::BF16;
  case TensorMapType::F32:
  case TensorMapType::F32Ftz:
    return Type::F32;
  case TensorMapType::F64:
    return Type::F64;
  default:
    return Type::None;
  }
}

bool reductionSupported(Reduction op, Type type) {
  switch (type) {
  case Type::U32:
    return true;
  case Type::S32:
  case Type::U64:
  case Type::S64:
    return op != Reduction::Inc && op != Reduction::Dec;
  case Type::B32:
  case Type::B64:
    return op >= Reduction::And;
  case Type::F16:
  case Type::BF16:
    return op <= Reduction::Max;
  case Type::F32:
  case Type::F64:
    return op == Reduction::Add;
  default:
    return false;
  }
}

void reduceElement(Reduction op, Type type, uint8_t *to, const uint8_t *from,
                   bool ftz) {
  switch (type) {
  case Type::S32: {
    int32_t v = read<int32_t>(from);
    update<int32_t>(to, [=](int32_t a) { return integer(op, a, v); });
    break;
  }
  case Type::S64: {
    int64_t v = read<int64_t>(from);
    update<int64_t>(to, [=](int64_t a) { return integer(op, a, v); });
    break;
  }
  case Type::U64:
  case Type::B64: {
    uint64_t v = read<uint64_t>(from);
    update<uint64_t>(to, [=](uint64_t a) { return integer(op, a, v); });
    break;
  }
  case Type::F16:
  case Type::BF16: {
    uint16_t v = read<uint16_t>(from);
    update<uint16_t>(
        to, [=](uint16_t a) { return half(op, type == Type::BF16, a, v); });
    break;
  }
  case Type::F32: {
    // Unlike red.add.f32 in global memory, bulk copies keep subnormals, save
    // for tensor maps of the type F32Ftz.
    auto flush = [ftz](uint32_t v) {
      return !ftz || (v & 0x7f800000u) ? v : v & 0x80000000u;
    };
    float v = numerics::floatOf(flush(read<uint32_t>(from)));
    update<uint32_t>(to, [=](uint32_t a) {
      return flush(numerics::bitsOf(numerics::floatOf(flush(a)) + v));
    });
    break;
  }
  case Type::F64: {
    double v = read<double>(from);
    update<uint64_t>(to, [=](uint64_t a) {
      double x;
      std::memcpy(&x, &a, 8);
      x += v;
      std::memcpy(&a, &x, 8);
      return a;
    });
    break;
  }
  default: {
    uint32_t v = read<uint32_t>(from);
    update<uint32_t>(to, [=](uint32_t a) { return integer(op, a, v); });
  }
  }
}

} // namespace gmoe::emulator
