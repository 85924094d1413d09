// Cluster launch control: a running cluster takes over the work of one that has
// not begun (ISA 9.7.13.16). The response is opaque to PTX: here the three
// coordinates of the first CTA, and bit 127: canceled.
#include "runtime/emulator/Lanes.h"

namespace gmoe::emulator {
namespace {

void tryCancel(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    AsyncOp op;
    op.kind = AsyncOp::ClusterCancel;
    op.instruction = &i;
    op.warp = w.index;
    op.lane = l;
    op.bytes = 16;
    if (!w.sharedAddress(w.address(w.operand(i, 0), l), i.b & 1, false, l,
                         op.shared) ||
        !w.sharedAddress(w.address(w.operand(i, 1), l), i.b & 1, false, l,
                         op.barrier)) {
      return;
    }
    if (i.c) {
      op.multicast = uint16_t((1u << w.cluster->ctas.size()) - 1);
    }
    w.cluster->enqueue(std::move(op));
  }
}
void isCanceled(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *h = w.source<uint64_t>(w.operand(i, 1));
  uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l) {
    bits |= uint32_t(h[32 + l] >> 63) << l;
  }
  w.setPredicate(w.operand(i, 0), mask, bits);
}
void firstCta(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *h = w.source<uint64_t>(w.operand(i, 1));
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      w.setScalar(w.operand(i, 0), l,
                  i.a == 0   ? uint32_t(h[l])
                  : i.a == 1 ? uint32_t(h[l] >> 32)
                             : uint32_t(h[32 + l]));
    }
  }
}
/// {x, y, z, unused}.
void firstCtaVector(Warp &w, const Instruction &i, uint32_t mask) {
  const uint64_t *h = w.source<uint64_t>(w.operand(i, 1));
  const Operand &v = w.operand(i, 0);
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) {
      const uint64_t words[] = {h[l] & 0xffffffffu, h[l] >> 32,
                                h[32 + l] & 0xffffffffu, 0};
      for (uint32_t k = 0; k < 4; ++k) {
        w.setScalar(w.program->operands[v.first + k], l, words[k]);
      }
    }
  }
}

} // namespace

std::vector<uint8_t> cancelCluster(Cluster &c) {
  std::vector<uint8_t> data(16, 0);
  const LaunchContext &x = *c.context;
  // The hardware may refuse at any time; with a seed this one does, too.
  if (!x.nextCluster || (x.seed && c.random.below(4) == 0)) {
    return data;
  }
  uint64_t id = (*x.nextCluster)++;
  if (id >= x.clusterCount) {
    return data;
  }
  const uint32_t first[3] = {
      uint32_t(id % x.clusters.x) * x.cluster.x,
      uint32_t(id / x.clusters.x % x.clusters.y) * x.cluster.y,
      uint32_t(id / x.clusters.x / x.clusters.y) * x.cluster.z};
  std::memcpy(data.data(), first, sizeof first);
  data[15] = 0x80;
  return data;
}

bool decodeLaunchControl(Decoder &d) {
  Instruction &i = d.instruction();
  if (d.take("try_cancel")) {
    bool shared = d.take("shared::cta");
    if (!d.take("async") || !d.take("mbarrier::complete_tx::bytes") ||
        !d.take("b128")) {
      return false;
    }
    i.c = d.take("multicast::cluster::all");
    i.b = shared ? 0 : 1;
    i.handler = tryCancel;
    return d.count(2, 2) && d.address(d.ast(0)) && d.address(d.ast(1));
  }
  if (!d.take("query_cancel")) {
    return false;
  }
  if (d.take("is_canceled")) {
    i.handler = isCanceled;
    return d.take("pred") && d.take("b128") && d.count(2, 2) &&
           d.predicateDest(d.ast(0)) && d.source(d.ast(1), Type::B128);
  }
  if (d.take("get_first_ctaid")) {
    i.handler = firstCtaVector;
    return d.take("v4") && d.take("b32") && d.take("b128") && d.count(2, 2) &&
           d.ast(0).kind == AstOperand::Vector &&
           d.ast(0).children.size() == 4 &&
           d.vector(d.ast(0), Type::B32, true, false) &&
           d.source(d.ast(1), Type::B128);
  }
  int which = d.takeOneOf(
      {"get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"});
  i.a = uint32_t(which);
  i.handler = firstCta;
  return which >= 0 && d.take("b32") && d.take("b128") && d.count(2, 2) &&
         d.dest(d.ast(0), 4) && d.source(d.ast(1), Type::B128);
}

} // namespace gmoe::emulator
