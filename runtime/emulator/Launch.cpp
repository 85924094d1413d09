// Sets a cluster up for one launch: shared and tensor memory, special
// registers.
#include "runtime/emulator/Hazards.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

void fillSpecials(Warp &w, const LaunchContext &x, const Dim3 &clusterIndex) {
  const Dim3 &b = x.block;
  const Cta &cta = *w.cta;
  Dim3 in{cta.index.x % x.cluster.x, cta.index.y % x.cluster.y,
          cta.index.z % x.cluster.z};
  for (const auto &[which, line] : w.program->specials) {
    for (uint32_t l = 0; l < 32; ++l) {
      uint32_t t = w.warpInCta * 32 + l;
      uint32_t v = 0;
      switch (which) {
      case SpecialRegister::TidX:
        v = t % b.x;
        break;
      case SpecialRegister::TidY:
        v = t / b.x % b.y;
        break;
      case SpecialRegister::TidZ:
        v = t / b.x / b.y;
        break;
      case SpecialRegister::NtidX:
        v = b.x;
        break;
      case SpecialRegister::NtidY:
        v = b.y;
        break;
      case SpecialRegister::NtidZ:
        v = b.z;
        break;
      case SpecialRegister::CtaidX:
        v = cta.index.x;
        break;
      case SpecialRegister::CtaidY:
        v = cta.index.y;
        break;
      case SpecialRegister::CtaidZ:
        v = cta.index.z;
        break;
      case SpecialRegister::NctaidX:
        v = x.grid.x;
        break;
      case SpecialRegister::NctaidY:
        v = x.grid.y;
        break;
      case SpecialRegister::NctaidZ:
        v = x.grid.z;
        break;
      case SpecialRegister::LaneId:
        v = l;
        break;
      case SpecialRegister::WarpId:
        v = w.warpInCta;
        break;
      case SpecialRegister::NwarpId:
        v = cta.warpCount;
        break;
      case SpecialRegister::ClusteridX:
        v = clusterIndex.x;
        break;
      case SpecialRegister::ClusteridY:
        v = clusterIndex.y;
        break;
      case SpecialRegister::ClusteridZ:
        v = clusterIndex.z;
        break;
      case SpecialRegister::NclusteridX:
        v = x.clusters.x;
        break;
      case SpecialRegister::NclusteridY:
        v = x.clusters.y;
        break;
      case SpecialRegister::NclusteridZ:
        v = x.clusters.z;
        break;
      case SpecialRegister::ClusterCtaidX:
        v = in.x;
        break;
      case SpecialRegister::ClusterCtaidY:
        v = in.y;
        break;
      case SpecialRegister::ClusterCtaidZ:
        v = in.z;
        break;
      case SpecialRegister::ClusterNctaidX:
        v = x.cluster.x;
        break;
      case SpecialRegister::ClusterNctaidY:
        v = x.cluster.y;
        break;
      case SpecialRegister::ClusterNctaidZ:
        v = x.cluster.z;
        break;
      case SpecialRegister::ClusterCtarank:
        v = cta.rank;
        break;
      case SpecialRegister::ClusterNctarank:
        v = x.clusterSize;
        break;
      case SpecialRegister::IsExplicitCluster:
        v = x.clusterSize > 1 || w.program->explicitCluster ? ~0u : 0;
        break;
      case SpecialRegister::SmId:
        v = uint32_t((w.cluster->id * x.clusterSize + cta.rank) % x.smCount);
        break;
      case SpecialRegister::NsmId:
        v = x.smCount;
        break;
      case SpecialRegister::GridId:
        v = 1;
        break;
      case SpecialRegister::LanemaskEq:
        v = 1u << l;
        break;
      case SpecialRegister::LanemaskLe:
        v = (2u << l) - 1;
        break;
      case SpecialRegister::LanemaskLt:
        v = (1u << l) - 1;
        break;
      case SpecialRegister::LanemaskGe:
        v = ~((1u << l) - 1);
        break;
      case SpecialRegister::LanemaskGt:
        v = ~((2u << l) - 1);
        break;
      case SpecialRegister::DynamicSmemSize:
        v = x.launch->dynamicSharedBytes;
        break;
      case SpecialRegister::TotalSmemSize:
      case SpecialRegister::AggrSmemSize:
        v = x.sharedBytes - kReservedSharedBytes;
        break;
      case SpecialRegister::SharedBase:
        v = cta.rank << 24;
        break;
      case SpecialRegister::Count:
        break;
      }
      w.registers[line].lanes[l] = v;
    }
  }
}

} // namespace

void initializeCluster(Cluster &c, const LaunchContext &x, uint64_t id) {
  const Program &p = *x.program;
  c.context = &x;
  c.id = id;
  c.index = {uint32_t(id % x.clusters.x),
             uint32_t(id / x.clusters.x % x.clusters.y),
             uint32_t(id / x.clusters.x / x.clusters.y)};
  c.async.clear();
  c.tick = 0;
  c.nextDue = ~uint64_t(0);
  c.effects = 0;
  c.arrived = 0;
  c.generation = 0;
  c.threadCopies = 0;
  c.random.state = x.seed * 0x9e3779b97f4a7c15ull + id * 0xd1342543de82ef95ull;
  c.status = Status();
  uint32_t threads = x.block.x * x.block.y * x.block.z;
  uint32_t warps = (threads + 31) / 32;
  c.ctas.resize(x.clusterSize);
  c.warps.resize(size_t(x.clusterSize) * warps);
  c.liveThreads = threads * x.clusterSize;
  for (uint32_t rank = 0; rank < x.clusterSize; ++rank) {
    Cta &cta = c.ctas[rank];
    cta.rank = rank;
    cta.index = {c.index.x * x.cluster.x + rank % x.cluster.x,
                 c.index.y * x.cluster.y + rank / x.cluster.x % x.cluster.y,
                 c.index.z * x.cluster.z + rank / x.cluster.x / x.cluster.y};
    // Poison: uninitialized bytes read as NaN in every narrow format.
    cta.shared.assign(x.sharedBytes, 0xff);
    cta.barrierIndex.assign(x.sharedBytes / 8 + 1, 0);
    cta.barriers.clear();
    cta.named.fill(NamedBarrier());
    cta.tmem.assign(size_t(kTmemLanes) * kTmemColumns, 0xffffffffu);
    cta.tmemOwner.fill(0);
    cta.allocationRelinquished = false;
    cta.tmemVersion = 0;
    cta.tensorQueues.clear();
    cta.threads = cta.liveThreads = threads;
    cta.freeRegisters = 0;
    cta.firstWarp = rank * warps;
    cta.warpCount = warps;
    for (uint32_t k = 0; k < warps; ++k) {
      Warp &w = c.warps[cta.firstWarp + k];
      w = Warp();
      w.cluster = &c;
      w.cta = &cta;
      w.program = &p;
      w.index = cta.firstWarp + k;
      w.warpInCta = k;
      w.registersHeld = initialRegisters(p, warps);
      RegisterLine poison;
      std::fill(std::begin(poison.lanes), std::end(poison.lanes), 0x7fbadbadu);
      w.registers.assign(p.registerLines, poison);
      w.local.assign(size_t(p.localBytes) * 32, 0xff);
      w.bank[0] = reinterpret_cast<uint8_t *>(w.registers.data());
      w.bank[1] = const_cast<uint8_t *>(
          reinterpret_cast<const uint8_t *>(p.constants.data()));
      uint32_t lanes = std::min(32u, threads - k * 32);
      w.alive = lanes == 32 ? ~0u : (1u << lanes) - 1;
      Split s;
      s.mask = w.alive;
      w.splits.push_back(s);
      fillSpecials(w, x, c.index);
      if (c.hazards) {
        w.watched = c.hazards->full();
        w.defined.assign(p.registerLines, w.watched ? 0 : ~0u);
        for (const auto &special : p.specials) {
          w.defined[special.second] = ~0u;
        }
      }
    }
  }
  c.stop = false;
  if (c.hazards) {
    c.hazards->begin(c);
  }
}

} // namespace gmoe::emulator
