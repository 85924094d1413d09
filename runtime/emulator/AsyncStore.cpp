// st.async and red.async: registers to another CTA's shared memory, completing
// on an mbarrier there (ISA 9.7.9.12, 9.7.13.7).
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Reduce.h"

namespace gmoe::emulator {
namespace {

/// Operands: address, value or vector, barrier; a: bytes of an element, b:
/// elements, c: Reduction + 1 in bits 0-3 and the type above.
void store(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand &value = w.operand(i, 1);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    AsyncOp op;
    op.kind = AsyncOp::RegisterStore;
    op.instruction = &i;
    op.warp = w.index;
    op.lane = l;
    op.reduction = uint8_t(i.c & 0xf);
    op.reductionType = uint8_t(i.c >> 4);
    op.bytes = i.a * i.b;
    if (!w.sharedAddress(w.address(w.operand(i, 0), l), false, true, l,
                         op.shared) ||
        !w.sharedAddress(w.address(w.operand(i, 2), l), false, true, l,
                         op.barrier)) {
      return;
    }
    if (op.shared >> 24 != op.barrier >> 24 || op.shared % op.bytes) {
      w.fail("shared address " + hexadecimal(op.shared) +
                 " must be aligned to " + std::to_string(op.bytes) +
                 " bytes and lie in the CTA of the mbarrier " +
                 hexadecimal(op.barrier),
             int(l));
      return;
    }
    op.staged.resize(op.bytes);
    for (uint32_t e = 0; e < i.b; ++e) {
      const Operand &v =
          i.b == 1 ? value : w.program->operands[value.first + e];
      uint64_t bits = w.scalar(v, l);
      std::memcpy(op.staged.data() + e * i.a, &bits, i.a);
    }
    // Reductions may meet in one place: the checker need not order them.
    if (Hazards *h = op.reduction ? nullptr : w.cluster->hazards) {
      op.issuer = h->issue(w, l);
      op.issuer.genericProxy = true;
    }
    w.cluster->enqueue(std::move(op));
  }
}

} // namespace

bool isAsyncStore(const Decoder &d) {
  return (d.part(0) == "st" || d.part(0) == "red") && d.part(1) == "async";
}

bool decodeAsyncStore(Decoder &d) {
  Instruction &i = d.instruction();
  bool reduces = d.part(0) == "red";
  d.take("async");
  d.takeMemoryQualifiers();
  if (!d.take("shared::cluster") || !d.take("mbarrier::complete_tx::bytes")) {
    return false;
  }
  if (reduces) {
    int op =
        d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    if (op < 0) {
      return false;
    }
    i.c = uint32_t(op + 1);
  }
  int vector = reduces ? -1 : d.takeOneOf({"v2", "v4"});
  Type type = d.takeType();
  i.a = typeBytes(type);
  i.b = vector < 0 ? 1 : 2u << vector;
  if ((i.a != 4 && i.a != 8) || i.a * i.b > 16 ||
      (reduces && !reductionSupported(Reduction(i.c - 1), type))) {
    return false;
  }
  i.c |= uint32_t(type) << 4;
  i.handler = store;
  return d.count(3, 3) && d.address(d.ast(0)) &&
         (i.b > 1 ? d.vector(d.ast(1), type, false, false)
                  : d.source(d.ast(1), type)) &&
         d.address(d.ast(2));
}

} // namespace gmoe::emulator
