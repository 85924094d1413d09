// membar and fence (ISA 9.7.13.3, 9.7.13.4). Memory here is sequentially
// consistent, so fences matter to the hazard checker only.
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"

namespace gmoe::emulator {
namespace {

void none(Warp &, const Instruction &, uint32_t) {}

void threadFence(Warp &w, const Instruction &i, uint32_t mask) {
  if (Hazards *h = w.cluster->hazards) {
    h->fence(w, mask, i.scope);
  }
}
void initFence(Warp &w, const Instruction &, uint32_t mask) {
  if (Hazards *h = w.cluster->hazards) {
    h->initFence(w, mask);
  }
}
void proxyFence(Warp &w, const Instruction &, uint32_t mask) {
  if (Hazards *h = w.cluster->hazards) {
    h->proxyFence(w, mask);
  }
}
void tensorMapRelease(Warp &w, const Instruction &, uint32_t mask) {
  if (Hazards *h = w.cluster->hazards) {
    h->releaseMaps(w, mask);
  }
}
void tensorMapAcquire(Warp &w, const Instruction &i, uint32_t mask) {
  Hazards *h = w.cluster->hazards;
  for (uint32_t m = h ? mask : 0; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    h->acquireMap(w, lane, w.address(w.operand(i, 0), lane));
  }
}

} // namespace

bool decodeFence(Decoder &d) {
  Instruction &i = d.instruction();
  bool proxy = d.take("proxy");
  bool generic = d.take("alias");
  bool async = false;
  while (d.takeOneOf({"async", "async::generic", "async.global",
                      "async.shared"}) >= 0) {
    async = true;
  }
  bool map = d.take("tensormap::generic");
  bool init = d.take("mbarrier_init");
  d.takeMemoryQualifiers();
  while (d.takeOneOf({"gl", "global", "shared::cta", "shared::cluster",
                      "sync_restrict::shared::cta",
                      "sync_restrict::shared::cluster"}) >= 0) {
  }
  d.takeMemoryQualifiers();
  if (!proxy) {
    i.handler = init ? initFence : threadFence;
  } else if (async) {
    i.handler = proxyFence;
  } else if (map) {
    if (i.order == Order::Acquire) {
      i.handler = tensorMapAcquire;
      return d.count(2, 2) && d.address(d.ast(0)) &&
             d.ast(1).kind == AstOperand::Integer &&
             (d.ast(1).value == 128 || d.fail("the size must be 128"));
    }
    i.handler = tensorMapRelease;
  } else {
    i.handler = none;
    return generic && d.count(0, 0);
  }
  return d.count(0, 2) &&
         (d.size() == 0 || (d.address(d.ast(0)) && d.size() == 2));
}

} // namespace gmoe::emulator
