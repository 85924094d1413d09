// Lane loops: apply a scalar function to the active lanes of a warp. Registers
// of up to 32 bits live in 32-bit lanes, zero-extended.
#ifndef GMOE_RUNTIME_EMULATOR_LANES_H
#define GMOE_RUNTIME_EMULATOR_LANES_H

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Machine.h"

#include <type_traits>

namespace gmoe::emulator {

/// How a value of type T lies in a lane.
template <class T>
using LaneOf = std::conditional_t<
    sizeof(T) == 8 || (sizeof(T) == 4), T,
    std::conditional_t<std::is_signed_v<T>, uint32_t, uint32_t>>;

template <class T> inline T fromLane(LaneOf<T> v) {
  if constexpr (sizeof(T) >= 4) {
    return v;
  } else {
    return T(v);
  }
}
template <class T> inline LaneOf<T> toLane(T v) {
  if constexpr (sizeof(T) >= 4) {
    return v;
  } else {
    return LaneOf<T>(std::make_unsigned_t<T>(v));
  }
}

template <class R, class F>
inline void perLane(Warp &w, const Operand &target, uint32_t mask, F f) {
  LaneOf<R> *d = w.target<LaneOf<R>>(target);
  if (mask == 0xffffffffu) {
    for (unsigned i = 0; i < 32; ++i) {
      d[i] = toLane<R>(f(i));
    }
  } else {
    for (unsigned i = 0; i < 32; ++i) {
      if (mask >> i & 1) {
        d[i] = toLane<R>(f(i));
      }
    }
  }
}

/// Handlers: operand 0 is the destination, the others are sources.
template <class R, class A, R (*F)(A)>
void unary(Warp &w, const Instruction &i, uint32_t mask) {
  const LaneOf<A> *a = w.source<LaneOf<A>>(w.operand(i, 1));
  perLane<R>(w, w.operand(i, 0), mask,
             [=](unsigned l) { return F(fromLane<A>(a[l])); });
}
template <class R, class A, class B, R (*F)(A, B)>
void binary(Warp &w, const Instruction &i, uint32_t mask) {
  const LaneOf<A> *a = w.source<LaneOf<A>>(w.operand(i, 1));
  const LaneOf<B> *b = w.source<LaneOf<B>>(w.operand(i, 2));
  perLane<R>(w, w.operand(i, 0), mask, [=](unsigned l) {
    return F(fromLane<A>(a[l]), fromLane<B>(b[l]));
  });
}
template <class R, class A, class B, class C, R (*F)(A, B, C)>
void ternary(Warp &w, const Instruction &i, uint32_t mask) {
  const LaneOf<A> *a = w.source<LaneOf<A>>(w.operand(i, 1));
  const LaneOf<B> *b = w.source<LaneOf<B>>(w.operand(i, 2));
  const LaneOf<C> *c = w.source<LaneOf<C>>(w.operand(i, 3));
  perLane<R>(w, w.operand(i, 0), mask, [=](unsigned l) {
    return F(fromLane<A>(a[l]), fromLane<B>(b[l]), fromLane<C>(c[l]));
  });
}

/// Appends destination and sources of one type, and sets the handler.
inline bool simple(Decoder &d, Handler handler, unsigned destBytes,
                   std::initializer_list<Type> sources) {
  if (!d.count(sources.size() + 1, sources.size() + 1) ||
      !d.dest(d.ast(0), destBytes)) {
    return false;
  }
  size_t k = 1;
  for (Type type : sources) {
    if (!d.source(d.ast(k++), type)) {
      return false;
    }
  }
  d.instruction().handler = handler;
  return true;
}

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_LANES_H
