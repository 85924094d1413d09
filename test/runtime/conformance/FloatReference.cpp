#include "test/runtime/conformance/FloatReference.h"

namespace gmoe::conformance {
namespace {

uint64_t minMax(const Format &f, bool isMax, const Modifiers &m, uint64_t a,
                uint64_t b) {
  uint64_t sign = (a ^ b) & f.signBit();
  if (m.xorsign) {
    a &= ~f.signBit();
    b &= ~f.signBit();
  }
  Exact x = decode(f, a), y = decode(f, b);
  uint64_t r;
  if ((x.nan && y.nan) || (m.nan && (x.nan || y.nan))) {
    return f.signBit() - 1;
  }
  if (x.nan || y.nan) {
    r = x.nan ? b : a;
  } else if (x.zero() && y.zero()) { // -0 is less than +0
    r = isMax == x.negative ? b : a;
  } else {
    r = (compare(x, y) > 0) == isMax ? a : b;
  }
  return m.xorsign ? (r & ~f.signBit()) | sign : r;
}

} // namespace

uint64_t arithmetic(const Format &f, const std::string &op, const Modifiers &m,
                    uint64_t a, uint64_t b, uint64_t c) {
  if (m.ftz) {
    a = flush(f, a);
    b = flush(f, b);
    c = flush(f, c);
  }
  Exact x = decode(f, a), y = decode(f, b), z = decode(f, c);
  uint64_t r;
  if (op == "abs" || op == "neg") {
    // The NaN is not specified; halves go through Hopper's adder, which makes
    // it the canonical one.
    return f.width() == 16 && x.nan ? f.signBit() - 1
           : op == "abs"            ? a & ~f.signBit()
                                    : a ^ f.signBit();
  }
  if (op == "copysign") {
    return (b & ~f.signBit()) | (a & f.signBit());
  }
  if (op == "min" || op == "max") {
    r = minMax(f, op == "max", m, a, b);
  } else {
    Exact e;
    if (op == "add" || op == "sub") {
      y.negative ^= op == "sub";
      e = add(x, y, m.round);
    } else if (op == "mul") {
      e = multiply(x, y);
    } else if (op == "fma") {
      e = add(multiply(x, y), z, m.round);
    } else if (op == "div") {
      e = divide(x, y);
    } else if (op == "rcp") {
      Exact one;
      one.m = 1;
      e = divide(one, x);
    } else {
      e = squareRoot(x);
    }
    r = m.ftz ? encodeFlushed(f, e, m.round) : encode(f, e, m.round);
  }
  bool nan = isNaN(f, r);
  if (m.ftz) {
    r = flush(f, r);
  }
  if (m.sat) { // to [0, 1]; NaN becomes +0
    uint64_t one = uint64_t(f.bias()) << f.mantissaBits;
    r = nan || (r & f.signBit()) ? 0 : r > one ? one : r;
  }
  if (m.relu && !nan && (r & f.signBit())) {
    r = 0;
  }
  return r;
}

Columns floatTuples(const Format &f, unsigned operands) {
  std::vector<uint64_t> edges =
      floatEdges(unsigned(f.exponentBits), unsigned(f.mantissaBits));
  Draw draw(uint64_t(f.width()) * 100 + operands);
  uint64_t all = f.signBit() * 2 - 1;
  auto moderate = [&] {
    uint64_t spread = uint64_t(f.mantissaBits) + 2;
    uint64_t half = uint64_t(f.bias()) / 2;
    spread = spread < half ? spread : half;
    uint64_t exponent = uint64_t(f.bias()) - spread + draw() % (2 * spread);
    return (draw() & (f.signBit() | (f.smallestNormal() - 1))) |
           exponent << f.mantissaBits;
  };
  Columns c;
  if (operands == 1) {
    c = cross({edges}, 200, unsigned(f.width()));
  } else if (operands == 2) {
    c = cross({edges, edges}, 200, unsigned(f.width()));
  } else {
    std::vector<uint64_t> some;
    for (size_t k = 0; k < edges.size(); k += 3) {
      some.push_back(edges[k]);
    }
    c = cross({some, some, some}, 200, unsigned(f.width()));
  }
  // (1 + u)(1 - u) of the smallest normal number, and what is next to it: below
  // it before rounding, not after it (encodeFlushed).
  uint64_t one = uint64_t(f.bias()) << f.mantissaBits,
           least = f.smallestNormal();
  for (uint64_t a : {least, least + 1, least + 2, 2 * least - 1}) {
    for (uint64_t b : {one - 4, one - 3, one - 2, one - 1, one + 1, one + 2}) {
      for (uint64_t sign : {uint64_t(0), f.signBit()}) {
        c[0].push_back(a | sign);
        for (unsigned j = 1; j < operands; ++j) {
          c[j].push_back(j == 1 ? b : sign);
        }
      }
    }
  }
  for (unsigned k = 0; k < 1000; ++k) {
    for (unsigned j = 0; j < operands; ++j) {
      c[j].push_back(moderate());
    }
    if (operands == 3 && k % 2) {
      // The product nearly cancels: the addend is its rounded negative.
      uint64_t p =
          encode(f, multiply(decode(f, c[0].back()), decode(f, c[1].back())),
                 Round::Nearest);
      c[2].back() = ((p ^ f.signBit()) + (k % 4 == 1 ? 1 : 0)) & all;
    }
  }
  return c;
}

Columns packPairs(const Columns &halves) {
  Columns packed(halves.size());
  size_t n = halves[0].size();
  for (size_t j = 0; j < halves.size(); ++j) {
    for (size_t k = 0; k < n; ++k) {
      packed[j].push_back(halves[j][k] | halves[j][(k + n / 2) % n] << 16);
    }
  }
  return packed;
}

} // namespace gmoe::conformance
