// Tensor memory seen from threads: alloc, dealloc, ld, st and their waits (ISA
// 9.7.16.7, 9.7.16.8). A load reads when it delivers (LateLoads.cpp), a store
// writes at tcgen05.wait::st.
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/LateLoads.h"
#include "runtime/emulator/Tcgen05.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

constexpr uint32_t kSliceColumns = 32;
constexpr uint32_t kSlices = kTmemColumns / kSliceColumns;

/// The CTAs that an allocation concerns.
uint32_t firstOfGroup(const Warp &w, bool pair) {
  return pair ? w.cta->rank & ~1u : w.cta->rank;
}

/// a: generic; b: pair. Operands: address, columns.
void allocate(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  unsigned l = unsigned(__builtin_ctz(mask));
  uint64_t columns = w.scalar(w.operand(i, 1), l);
  if (columns < 32 || columns > 512 || (columns & (columns - 1))) {
    w.fail("allocation of " + std::to_string(columns) +
           " columns, must be a power of two from 32 to 512");
    return;
  }
  if (w.cta->allocationRelinquished) {
    w.fail("the CTA gave up its permit to allocate tensor memory");
    return;
  }
  uint32_t first = firstOfGroup(w, i.b), n = i.b ? 2 : 1;
  if (first + n > w.cluster->ctas.size()) {
    w.fail("cta_group::2 needs a cluster with an even number of CTAs");
    return;
  }
  uint32_t slices = uint32_t(columns) / kSliceColumns;
  uint32_t at = kSlices;
  // Each CTA of a pair runs the instruction and allocates in its own memory;
  // both find the same place when they allocate in the same order.
  for (uint32_t s = 0; s + slices <= kSlices && at == kSlices; s += slices) {
    bool free = true;
    for (uint32_t k = s; k < s + slices; ++k) {
      free &= w.cta->tmemOwner[k] == 0;
    }
    at = free ? s : at;
  }
  if (at == kSlices) {
    Wait wait;
    wait.kind = WaitKind::TmemAlloc;
    wait.phase = w.cta->tmemVersion;
    w.block(wait);
    return;
  }
  uint32_t shared = 0;
  if (!w.sharedAddress(w.address(w.operand(i, 0), l), i.a, false, l, shared)) {
    return;
  }
  uint8_t *p = w.cluster->sharedPointer(shared, 4);
  if (!p || shared % 4) {
    w.fail("shared address " + hexadecimal(shared) + " cannot hold 4 bytes");
    return;
  }
  std::fill_n(w.cta->tmemOwner.begin() + at, slices, uint8_t(at + 1));
  uint32_t address = at * kSliceColumns;
  std::memcpy(p, &address, 4);
  if (Hazards *h = w.cluster->hazards) {
    h->allocateTmem(w, mask, address, uint32_t(columns));
    h->shared(w, l, *w.cta, shared & 0xffffffu, 4, Hazards::Write);
  }
  ++w.cluster->effects;
}

void deallocate(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  unsigned l = unsigned(__builtin_ctz(mask));
  uint64_t address = w.scalar(w.operand(i, 0), l);
  uint64_t columns = w.scalar(w.operand(i, 1), l);
  uint32_t at = uint32_t(address) / kSliceColumns;
  uint32_t slices = uint32_t(columns) / kSliceColumns;
  bool ok = address % kSliceColumns == 0 && columns % kSliceColumns == 0 &&
            slices > 0 && address < kTmemColumns && at + slices <= kSlices;
  for (uint32_t k = at; ok && k < at + slices; ++k) {
    ok = w.cta->tmemOwner[k] == at + 1;
  }
  if (ok && at + slices < kSlices) {
    ok = w.cta->tmemOwner[at + slices] != at + 1;
  }
  if (!ok) {
    w.fail(FindingKind::TmemFree, "deallocation of " + std::to_string(columns) +
                                      " columns at " + hexadecimal(address) +
                                      " does not match an allocation");
    return;
  }
  if (Hazards *h = w.cluster->hazards) {
    h->freeTmem(w, mask, uint32_t(address), uint32_t(columns));
  }
  std::fill_n(w.cta->tmemOwner.begin() + at, slices, uint8_t(0));
  ++w.cta->tmemVersion;
  ++w.cluster->effects;
}

void relinquish(Warp &w, const Instruction &, uint32_t mask) {
  if (w.converged(0xffffffffu, mask)) {
    w.cta->allocationRelinquished = true;
  }
}

enum Shape : uint32_t { S32x32b, S16x128b, S16x256b, S16x32bx2, S16x64b };

/// Where register r of thread t lies, relative to the address. With packed
/// 16-bit columns it takes this column and the next.
void place(uint32_t shape, uint32_t t, uint32_t r, uint32_t split, bool packed,
           uint32_t &lane, uint32_t &column) {
  switch (shape) {
  case S16x64b:
    lane = t / 4 + (t & 1) * 8;
    column = r * 2 + (t >> 1 & 1);
    break;
  case S16x128b:
    lane = t / 4 + (r & 1) * 8;
    column = r / 2 * 4 + t % 4;
    break;
  case S16x256b:
    lane = t / 4 + (r >> 1 & 1) * 8;
    column = r / 4 * 8 + t % 4 * 2 + (r & 1);
    break;
  case S16x32bx2:
    lane = t % 16;
    column = r;
    break;
  default:
    lane = t;
    column = r;
  }
  column = packed ? 2 * column : column;
  column += shape == S16x32bx2 && t >= 16 ? split : 0;
}

/// Instruction: a shape, b pack/unpack 16-bit, c split offset, d columns.
bool checkAccess(Warp &w, const Instruction &i, uint32_t mask, uint32_t &out) {
  if (!w.converged(0xffffffffu, mask)) {
    return false;
  }
  unsigned k = i.operandCount - 2u;
  const Operand &a = w.operand(i, 0).kind == Operand::Address
                         ? w.operand(i, 0)
                         : w.operand(i, k + 1);
  uint32_t address = uint32_t(w.address(a, unsigned(__builtin_ctz(mask))));
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    if (uint32_t(w.address(a, l)) != address) {
      w.fail("tensor memory addresses of the warp's threads differ", int(l));
      return false;
    }
  }
  uint32_t lane = address >> 16, column = address & 0xffff;
  uint32_t quarter = w.warpInCta % 4;
  uint32_t step = i.a == S32x32b ? 32 : 16;
  if (lane / 32 != quarter || lane % step) {
    w.fail("lane " + std::to_string(lane) + " of tensor memory address " +
           hexadecimal(address) + " is not open to warp " +
           std::to_string(w.warpInCta) + ": its lanes begin at " +
           std::to_string(quarter * 32));
    return false;
  }
  if (column + i.d > kTmemColumns) {
    w.fail("columns " + std::to_string(column) + " to " +
           std::to_string(column + i.d - 1) + " of tensor memory, limit 511");
    return false;
  }
  for (uint32_t s = column / kSliceColumns; s * kSliceColumns < column + i.d;
       ++s) {
    if (w.cta->tmemOwner[s] == 0) {
      w.fail(FindingKind::TmemUse,
             "column " + std::to_string(std::max(s * kSliceColumns, column)) +
                 " of tensor memory is not allocated");
      return false;
    }
  }
  out = address;
  return true;
}

const Operand &vectorOf(const Warp &w, const Instruction &i) {
  return w.operand(i, 0).kind == Operand::Vector
             ? w.operand(i, 0)
             : w.operand(i, i.operandCount - 1u);
}

/// Tells the hazard checker which cells the access touches.
void watch(Warp &w, const Instruction &i, uint32_t mask, uint32_t address,
           bool store) {
  Hazards *h = w.cluster->hazards;
  if (!h) {
    return;
  }
  uint32_t lanes = i.a == S32x32b ? 32 : 16, column = address & 0xffff;
  if (i.a != S16x32bx2) {
    h->tmemAccess(w, mask, address >> 16, lanes, column, i.d, store);
    return;
  }
  // Two runs of columns, `c` apart.
  uint32_t run = vectorOf(w, i).count * (i.b ? 2 : 1);
  h->tmemAccess(w, mask, address >> 16, lanes, column, run, store);
  h->tmemAccess(w, mask, address >> 16, lanes, column + i.c, run, store);
}

void finishLoad(Warp &w, const PendingTmem &p) {
  const Instruction &i = *p.instruction;
  const Operand &v = vectorOf(w, i);
  uint32_t lane0 = p.address >> 16, column0 = p.address & 0xffff;
  const uint32_t *tmem = w.cta->tmem.data();
  for (uint32_t r = 0; r < v.count; ++r) {
    uint32_t *d = w.target<uint32_t>(w.program->operands[v.first + r]);
    for (uint32_t l = 0; l < 32; ++l) {
      if (!(p.mask >> l & 1)) {
        continue;
      }
      uint32_t lane, column;
      place(i.a, l, r, i.c, i.b, lane, column);
      const uint32_t *from =
          tmem + size_t(lane0 + lane) * kTmemColumns + column0 + column;
      d[l] = i.b ? (from[0] & 0xffff) | from[1] << 16 : from[0];
    }
  }
}

void load(Warp &w, const Instruction &i, uint32_t mask) {
  PendingTmem p;
  if (!checkAccess(w, i, mask, p.address)) {
    return;
  }
  p.instruction = &i;
  p.mask = mask;
  watch(w, i, mask, p.address, false);
  const Operand &v = vectorOf(w, i);
  beginLateLoad(w, v);
  w.pendingTmem.push_back(std::move(p));
}

void finishStore(Warp &w, const PendingTmem &p) {
  const Instruction &i = *p.instruction;
  const Operand &v = vectorOf(w, i);
  uint32_t lane0 = p.address >> 16, column0 = p.address & 0xffff;
  uint32_t *tmem = w.cta->tmem.data();
  for (uint32_t r = 0; r < v.count; ++r) {
    for (uint32_t l = 0; l < 32; ++l) {
      if (!(p.mask >> l & 1)) {
        continue;
      }
      uint32_t value = p.values[size_t(r) * 32 + l];
      uint32_t lane, column;
      place(i.a, l, r, i.c, i.b, lane, column);
      uint32_t *to =
          tmem + size_t(lane0 + lane) * kTmemColumns + column0 + column;
      if (i.b) {
        to[0] = value & 0xffff;
        to[1] = value >> 16;
      } else {
        to[0] = value;
      }
    }
  }
}

void store(Warp &w, const Instruction &i, uint32_t mask) {
  PendingTmem p;
  if (!checkAccess(w, i, mask, p.address)) {
    return;
  }
  p.instruction = &i;
  p.mask = mask;
  p.store = true;
  watch(w, i, mask, p.address, true);
  const Operand &v = vectorOf(w, i);
  p.values.resize(size_t(v.count) * 32);
  for (uint32_t r = 0; r < v.count; ++r) {
    std::memcpy(&p.values[size_t(r) * 32],
                w.source<uint32_t>(w.program->operands[v.first + r]), 128);
  }
  ++w.cluster->effects;
  w.pendingTmem.push_back(std::move(p));
}

/// a: 1 loads, 0 stores.
void waitDone(Warp &w, const Instruction &i, uint32_t mask) {
  if (w.converged(0xffffffffu, mask)) {
    flushTmem(w, !i.a, i.a);
    if (Hazards *h = w.cluster->hazards) {
      h->tmemWait(w, mask, !i.a);
    }
  }
}

} // namespace

void flushTmem(Warp &w, bool stores, bool loads) {
  size_t kept = 0;
  for (size_t k = 0; k < w.pendingTmem.size(); ++k) {
    PendingTmem &p = w.pendingTmem[k];
    // Stores of a warp come before its later loads.
    if (p.store && (stores || loads)) {
      finishStore(w, p);
    } else if (!p.store && loads) {
      finishLoad(w, p);
    } else {
      if (kept != k) {
        w.pendingTmem[kept] = std::move(p);
      }
      ++kept;
    }
  }
  w.pendingTmem.resize(kept);
  if (loads && w.late) {
    w.late = false;
    std::fill(w.lateLines.begin(), w.lateLines.end(), uint8_t(0));
  }
}

bool decodeTmem(Decoder &d, bool pair) {
  Instruction &i = d.instruction();
  if (d.take("alloc")) {
    bool shared = d.take("shared::cta");
    i.b = pair;
    i.handler = allocate;
    if (!d.take("sync") || !d.take("aligned") || !d.take("b32") ||
        !d.count(2, 2) || !d.address(d.ast(0)) ||
        !d.source(d.ast(1), Type::B32)) {
      return false;
    }
    i.a = !shared && d.pending(0).space == StateSpace::Generic;
    return true;
  }
  if (d.take("dealloc")) {
    i.b = pair;
    i.handler = deallocate;
    return d.take("sync") && d.take("aligned") && d.take("b32") &&
           d.count(2, 2) && d.source(d.ast(0), Type::B32) &&
           d.source(d.ast(1), Type::B32);
  }
  if (d.take("relinquish_alloc_permit")) {
    i.handler = relinquish;
    return d.take("sync") && d.take("aligned") && d.count(0, 0);
  }
  if (d.take("wait::ld") || d.take("wait::st")) {
    i.a = d.part(1) == "wait::ld";
    i.handler = waitDone;
    return d.take("sync") && d.take("aligned") && d.count(0, 0);
  }
  bool isLoad = d.take("ld");
  if (!isLoad && !d.take("st")) {
    return false;
  }
  int shape =
      d.takeOneOf({"32x32b", "16x128b", "16x256b", "16x32bx2", "16x64b"});
  int repeat =
      d.takeOneOf({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  if (!d.take("sync") || !d.take("aligned") || shape < 0 || repeat < 0 ||
      !d.take("b32")) {
    return false;
  }
  i.b = d.take(isLoad ? "pack::16b" : "unpack::16b");
  i.a = uint32_t(shape);
  uint32_t times = 1u << repeat;
  uint32_t registers = times * (shape == S16x128b   ? 2u
                                : shape == S16x256b ? 4u
                                                    : 1u);
  uint32_t columns = times * (shape == S16x128b   ? 4u
                              : shape == S16x256b ? 8u
                              : shape == S16x64b  ? 2u
                                                  : 1u);
  if (registers > 128) {
    return false;
  }
  bool split = shape == S16x32bx2;
  columns *= i.b ? 2 : 1;
  size_t operands = split ? 3 : 2;
  if (!d.count(operands, operands)) {
    return false;
  }
  if (split) {
    const AstOperand &o = d.ast(isLoad ? 2 : 1);
    if (o.kind != AstOperand::Integer || o.value > 512) {
      return d.fail("the split offset must be an immediate up to 512");
    }
    i.c = uint32_t(o.value);
    columns += i.c;
  }
  i.d = columns;
  const AstOperand &v = d.ast(isLoad ? 0 : operands - 1);
  const AstOperand &a = d.ast(isLoad ? 1 : 0);
  AstOperand single;
  single.kind = AstOperand::Vector;
  single.children.push_back(v);
  const AstOperand &vector = v.kind == AstOperand::Vector ? v : single;
  if (vector.children.size() != registers) {
    return d.fail("the vector has " + std::to_string(vector.children.size()) +
                  " registers, the shape takes " + std::to_string(registers));
  }
  i.handler = isLoad ? load : store;
  return isLoad ? d.vector(vector, Type::B32, true, false) && d.address(a)
                : d.address(a) && d.vector(vector, Type::B32, false, false);
}

} // namespace gmoe::emulator
