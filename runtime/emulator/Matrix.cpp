// ldmatrix and stmatrix of 8x8 tiles of 16-bit elements (ISA 9.7.14.5.15).
#include "runtime/emulator/Lanes.h"

#include <utility>

namespace gmoe::emulator {
namespace {

/// a: space, b: tiles (1, 2, 4), c: transposed, d: 1 loads. Thread 8 j + r
/// gives the address of row r of tile j; thread t holds elements 2 (t % 4) and
/// the next of row t / 4.
void matrix(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  const Operand &address = w.operand(i, i.d ? 1 : 0);
  const Operand &value = w.operand(i, i.d ? 0 : 1);
  uint8_t *rows[32] = {};
  for (unsigned l = 0; l < 8 * i.b; ++l) {
    rows[l] = w.resolve(StateSpace(i.a), w.address(address, l), 16, l,
                        i.d ? MemoryAccess::Load : MemoryAccess::Store);
    if (!rows[l]) {
      return;
    }
  }
  w.cluster->effects += !i.d;
  for (unsigned j = 0; j < i.b; ++j) {
    const Operand &element = w.program->operands[value.first + j];
    const uint32_t *from = w.source<uint32_t>(element);
    uint32_t *to = i.d ? w.target<uint32_t>(element) : nullptr;
    for (unsigned t = 0; t < 32; ++t) {
      for (unsigned h = 0; h < 2; ++h) {
        unsigned row = t / 4, column = t % 4 * 2 + h;
        if (i.c) {
          std::swap(row, column);
        }
        uint8_t *at = rows[8 * j + row] + 2 * column;
        if (i.d) {
          uint16_t bits;
          std::memcpy(&bits, at, 2);
          to[t] = h ? (to[t] & 0xffff) | uint32_t(bits) << 16 : bits;
        } else {
          uint16_t bits = uint16_t(from[t] >> (16 * h));
          std::memcpy(at, &bits, 2);
        }
      }
    }
  }
}

/// movmatrix: the transpose of a tile held in registers.
void transpose(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  uint16_t tile[8][8];
  const uint32_t *from = w.source<uint32_t>(w.operand(i, 1));
  for (unsigned t = 0; t < 32; ++t) {
    tile[t / 4][t % 4 * 2] = uint16_t(from[t]);
    tile[t / 4][t % 4 * 2 + 1] = uint16_t(from[t] >> 16);
  }
  uint32_t *to = w.target<uint32_t>(w.operand(i, 0));
  for (unsigned t = 0; t < 32; ++t) {
    to[t] = tile[t % 4 * 2][t / 4] | uint32_t(tile[t % 4 * 2 + 1][t / 4]) << 16;
  }
}

} // namespace

bool decodeMatrix(Decoder &d) {
  Instruction &i = d.instruction();
  if (d.part(0) == "movmatrix") {
    return d.take("sync") && d.take("aligned") && d.take("m8n8") &&
           d.take("trans") && d.take("b16") &&
           simple(d, transpose, 4, {Type::B32});
  }
  i.d = d.part(0) == "ldmatrix";
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8")) {
    return false;
  }
  int tiles = d.takeOneOf({"x1", "x2", "x4"});
  i.c = d.take("trans");
  StateSpace space = d.takeSpace(StateSpace::Generic);
  if (tiles < 0 || !d.take("b16") || !d.count(2, 2)) {
    return false;
  }
  i.b = 1u << tiles;
  const AstOperand &v = d.ast(i.d ? 0 : 1), &a = d.ast(i.d ? 1 : 0);
  if (v.kind != AstOperand::Vector || v.children.size() != i.b) {
    return d.fail("the vector must have " + std::to_string(i.b) + " registers");
  }
  if (!(i.d ? d.vector(v, Type::B32, true, false) && d.address(a)
            : d.address(a) && d.vector(v, Type::B32, false, false))) {
    return false;
  }
  i.a = uint32_t(space == StateSpace::Generic ? d.pending(i.d ? 1 : 0).space
                                              : space);
  i.handler = matrix;
  return true;
}

} // namespace gmoe::emulator
