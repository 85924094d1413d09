// A warp's view of memory, and how it reports what went wrong.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {
namespace {

const char *spaceName(StateSpace space) {
  switch (space) {
  case StateSpace::Generic:
    return "generic";
  case StateSpace::Global:
    return "global";
  case StateSpace::Shared:
    return "shared::cta";
  case StateSpace::SharedCluster:
    return "shared::cluster";
  case StateSpace::Const:
    return "const";
  case StateSpace::Local:
    return "local";
  case StateSpace::Param:
    return "param";
  }
  return "unknown";
}

const char *nameOf(MemoryAccess access) {
  static const char *const kNames[] = {"load", "store", "atomic access",
                                       "read of a tensor map",
                                       "change of a tensor map"};
  return kNames[size_t(access)];
}

bool readsOnly(MemoryAccess access) {
  return access == MemoryAccess::Load || access == MemoryAccess::MapRead;
}

Hazards::Access hazardOf(MemoryAccess access) {
  return readsOnly(access)                ? Hazards::Read
         : access == MemoryAccess::Atomic ? Hazards::Atomic
                                          : Hazards::Write;
}

std::string triple(const Dim3 &d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " +
         std::to_string(d.z) + ")";
}

} // namespace

std::string Warp::place(int lane) const {
  std::string text = "CTA " + triple(cta->index);
  if (cluster->ctas.size() > 1) {
    text += " rank " + std::to_string(cta->rank);
  }
  text += ", warp " + std::to_string(warpInCta);
  for (const WarpRole &role : program->roles) {
    if (warpInCta >= role.firstWarp &&
        warpInCta - role.firstWarp < role.warps) {
      text += " (" + role.name + ")";
    }
  }
  if (lane >= 0) {
    text += ", thread " + std::to_string(warpInCta * 32 + uint32_t(lane));
  }
  return text;
}

void Warp::fail(const std::string &what, int lane) {
  event = true;
  cluster->fail(StatusCode::DeviceError, cluster->describe(program->code[pc]) +
                                             ", " + place(lane) + ": " + what);
}

void Warp::fail(FindingKind kind, const std::string &what, int lane) {
  event = true;
  const Instruction &i = program->code[pc];
  cluster->failFinding(kind, i.sourceLine,
                       cluster->describe(i) + ", " + place(lane) + ": " + what);
}

std::string Cluster::describe(const Instruction &i) const {
  std::string text = "kernel '" + context->program->name + "', line " +
                     std::to_string(i.sourceLine) + ", '" +
                     std::string(i.text) + "'";
  const SourceLocation &l = i.location;
  if (l.line && l.file < context->program->files.size()) {
    text += " from " + context->program->files[l.file] + ":" +
            std::to_string(l.line) + ":" + std::to_string(l.column);
  }
  return text;
}

void Cluster::failFinding(FindingKind kind, uint32_t line,
                          const std::string &what) {
  if (hazards && status.ok()) {
    hazards->add(kind, line, what);
  }
  fail(StatusCode::Hazard, what);
}

void Cluster::failAsync(const Instruction &i, uint32_t warp,
                        const std::string &what) {
  fail(StatusCode::DeviceError, describe(i) + ", issued by " +
                                    warps[warp].place(-1) +
                                    ", on completion: " + what);
}

void Cluster::failAsync(FindingKind kind, const Instruction &i, uint32_t warp,
                        const std::string &what) {
  failFinding(kind, i.sourceLine,
              describe(i) + ", issued by " + warps[warp].place(-1) +
                  ", on completion: " + what);
}

uint8_t *Warp::resolve(StateSpace space, uint64_t address, uint32_t bytes,
                       unsigned lane, MemoryAccess access) {
  auto outside = [&](const std::string &detail) -> uint8_t * {
    fail(FindingKind::OutOfBounds,
         std::string(nameOf(access)) + " of " + std::to_string(bytes) +
             " bytes at " + hexadecimal(address) + " (" + spaceName(space) +
             " space) is out of bounds: " + detail,
         int(lane));
    return nullptr;
  };
  uint64_t plain = address;
  StateSpace actual = space;
  if (space == StateSpace::Generic) {
    switch (address & kWindowMask) {
    case kSharedWindow:
      actual = StateSpace::SharedCluster;
      break;
    case kLocalWindow:
      actual = StateSpace::Local;
      break;
    case kParamWindow:
      actual = StateSpace::Param;
      break;
    default:
      actual = StateSpace::Global;
    }
    if (actual != StateSpace::Global) {
      plain = address & 0xffffffffu;
    }
  }
  if (plain % bytes && (bytes & (bytes - 1)) == 0) {
    fail(FindingKind::Misaligned,
         std::string(nameOf(access)) + " of " + std::to_string(bytes) +
             " bytes at " + hexadecimal(address) +
             " is not aligned to its size",
         int(lane));
    return nullptr;
  }
  switch (actual) {
  case StateSpace::Global:
  case StateSpace::Const: {
    const Allocation *a = cachedAllocation;
    if (!a || plain < a->base || plain - a->base > a->bytes ||
        bytes > a->bytes - (plain - a->base)) {
      a = cluster->context->memory->find(plain, bytes);
      if (!a) {
        return outside(cluster->context->memory->describeNearest(plain));
      }
      cachedAllocation = a;
    }
    if (Hazards *h = cluster->hazards) {
      h->global(*this, lane, *a, plain - a->base, bytes, hazardOf(access));
      if (access == MemoryAccess::Atomic ||
          program->code[pc].order != Order::Weak) {
        h->releaseAccess(*this, lane, plain, hazardOf(access));
      }
    }
    return a->data.get() + (plain - a->base);
  }
  case StateSpace::Shared:
  case StateSpace::SharedCluster: {
    uint32_t rank = uint32_t(plain >> 24);
    uint64_t offset = plain & 0xffffffu;
    if (plain >> 32 || rank >= cluster->ctas.size()) {
      return outside("the cluster has " + std::to_string(cluster->ctas.size()) +
                     " CTAs, and an address is (rank << 24) | offset");
    }
    if (actual == StateSpace::Shared && rank != cta->rank) {
      return outside("it belongs to CTA rank " + std::to_string(rank) +
                     ", which needs shared::cluster");
    }
    Cta &owner = cluster->ctas[rank];
    if (offset < kReservedSharedBytes || offset + bytes > owner.shared.size()) {
      return outside(
          "shared memory of the CTA is [" +
          hexadecimal(uint64_t(rank) << 24 | kReservedSharedBytes) + ", " +
          hexadecimal((uint64_t(rank) << 24) + owner.shared.size()) + ")");
    }
    if (Hazards *h = cluster->hazards) {
      h->shared(*this, lane, owner, uint32_t(offset), bytes, hazardOf(access));
      if (access == MemoryAccess::Atomic ||
          program->code[pc].order != Order::Weak) {
        h->releaseAccess(*this, lane, plain, hazardOf(access));
      }
    }
    return owner.shared.data() + offset;
  }
  case StateSpace::Local:
    if (plain + bytes > program->localBytes || plain + bytes < plain) {
      return outside("the thread has " + std::to_string(program->localBytes) +
                     " bytes");
    }
    return local.data() + size_t(lane) * program->localBytes + plain;
  case StateSpace::Param:
    if (plain + bytes > cluster->context->params.size() ||
        plain + bytes < plain) {
      return outside("the kernel has " +
                     std::to_string(cluster->context->params.size()) +
                     " bytes of parameters");
    }
    if (!readsOnly(access)) {
      fail("kernel parameters are read-only", int(lane));
      return nullptr;
    }
    return const_cast<uint8_t *>(cluster->context->params.data()) + plain;
  case StateSpace::Generic:
    break;
  }
  return outside("unknown space");
}

bool Warp::sharedAddress(uint64_t address, bool generic, bool anyCta,
                         unsigned lane, uint32_t &out) {
  uint64_t plain = address;
  if (generic) {
    if ((address & kWindowMask) != kSharedWindow) {
      // A 32-bit or plain shared address also names shared memory here: code
      // that mixes them up works on hardware only by luck.
      fail("generic address " + hexadecimal(address) +
               " is not in shared memory",
           int(lane));
      return false;
    }
    plain = address & 0xffffffffu;
  }
  uint32_t rank = uint32_t(plain >> 24);
  if (plain >> 32 || rank >= cluster->ctas.size() ||
      (plain & 0xffffffu) < kReservedSharedBytes ||
      (plain & 0xffffffu) >= cluster->ctas[rank].shared.size()) {
    fail("shared address " + hexadecimal(address) +
             " is outside the cluster's shared memory",
         int(lane));
    return false;
  }
  if (!anyCta && rank != cta->rank) {
    fail("shared address " + hexadecimal(address) + " belongs to CTA rank " +
             std::to_string(rank) + ", which needs shared::cluster",
         int(lane));
    return false;
  }
  out = uint32_t(plain);
  return true;
}

bool Warp::converged(uint32_t members, uint32_t active) {
  if ((members & alive & ~active) == 0) {
    return true;
  }
  Wait wait;
  wait.kind = WaitKind::Lanes;
  wait.mask = members;
  block(wait);
  return false;
}

} // namespace gmoe::emulator
