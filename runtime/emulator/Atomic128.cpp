// atom.exch.b128 and atom.cas.b128 (ISA 9.7.13.5).
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"

#include <mutex>

namespace gmoe::emulator {
namespace {

/// Clusters run in several host threads; 16 bytes have no host atomic
/// everywhere.
std::mutex &updates() {
  static std::mutex mutex;
  return mutex;
}

struct Wide {
  uint64_t low = 0, high = 0;
};
Wide read(const Warp &w, const Operand &o, unsigned lane) {
  const uint64_t *v = w.source<uint64_t>(o);
  return {v[lane], v[32 + lane]};
}

/// a: space; b: compares. Operands: d, address, [compared], value.
void atomic(Warp &w, const Instruction &i, uint32_t mask) {
  ++w.cluster->effects;
  std::unique_lock<std::mutex> order;
  if (Hazards *h = w.cluster->hazards) {
    order = h->orderAtomic();
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint8_t *p = w.resolve(StateSpace(i.a), w.address(w.operand(i, 1), l), 16,
                           l, MemoryAccess::Atomic);
    if (!p) {
      return;
    }
    Wide value = read(w, w.operand(i, i.b ? 3 : 2), l), old;
    std::lock_guard<std::mutex> lock(updates());
    std::memcpy(&old, p, 16);
    bool writes = true;
    if (i.b) {
      Wide expected = read(w, w.operand(i, 2), l);
      writes = expected.low == old.low && expected.high == old.high;
    }
    if (writes) {
      std::memcpy(p, &value, 16);
    }
    uint64_t *d = w.target<uint64_t>(w.operand(i, 0));
    d[l] = old.low;
    d[32 + l] = old.high;
  }
}

} // namespace

bool decodeAtomic128(Decoder &d) {
  Instruction &i = d.instruction();
  d.takeMemoryQualifiers();
  StateSpace space = d.takeSpace(StateSpace::Generic);
  int op = d.takeOneOf({"exch", "cas"});
  size_t values = op == 1 ? 2 : 1;
  if (op < 0 || !d.take("b128") || !d.count(2 + values, 3 + values) ||
      !d.dest(d.ast(0), 16) || !d.address(d.ast(1)) ||
      !d.source(d.ast(2), Type::B128) ||
      (op == 1 && !d.source(d.ast(3), Type::B128))) {
    return false;
  }
  i.a = uint32_t(space == StateSpace::Generic ? d.pending(1).space : space);
  i.b = uint32_t(op);
  i.handler = atomic;
  return true;
}

} // namespace gmoe::emulator
