// How knowledge travels: fences, barriers, mbarriers, flags.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {

Knowledge &ReleaseState::of(uint32_t rank) {
  for (auto &[r, knowledge] : local) {
    if (r == rank) {
      return knowledge;
    }
  }
  local.emplace_back(rank, Knowledge());
  return local.back().second;
}

Hazards::LaneClass &Hazards::classOf(WarpState &s, unsigned lane) {
  for (LaneClass &c : s.classes) {
    if (c.mask >> lane & 1) {
      return c;
    }
  }
  return s.classes.front();
}

ThreadKnowledge &Hazards::own(LaneClass &c) {
  if (c.knowledge.use_count() > 1) {
    c.knowledge = std::make_shared<ThreadKnowledge>(*c.knowledge);
  }
  return *c.knowledge;
}

void Hazards::release(const Knowledge &from, Knowledge &to, uint32_t warp,
                      uint32_t mask, bool whole, uint32_t now) {
  to.join(from);
  to.strict.raiseLanes(warp, mask, whole, now);
  to.loose.raiseLanes(warp, mask, whole, now);
}

void Hazards::releaseTo(Warp &w, uint32_t mask, ReleaseState &to, Order order,
                        MemoryScope scope) {
  WarpState &s = state(w);
  bool wide = scope != MemoryScope::Cta || cluster_->ctas.size() == 1;
  Knowledge &local = to.of(w.cta->rank);
  each(w, mask, [&](LaneClass &c) {
    bool whole = c.mask == s.whole;
    if (order == Order::Relaxed || order == Order::Weak ||
        order == Order::Acquire) {
      // Nothing but what a fence before it covers, and the tensor fences,
      // which order execution.
      if (c.knowledge->hasFenced) {
        local.join(c.knowledge->fenced);
        if (wide) {
          to.cluster.join(c.knowledge->fenced);
        } else {
          to.cluster.loose.join(c.knowledge->fenced.loose);
        }
      }
      local.before.join(c.knowledge->before);
      if (wide) {
        to.cluster.before.join(c.knowledge->before);
      }
      return;
    }
    release(*c.knowledge, local, w.index, c.mask, whole, s.now);
    if (wide) {
      release(*c.knowledge, to.cluster, w.index, c.mask, whole, s.now);
    } else {
      to.cluster.loose.join(c.knowledge->loose);
      to.cluster.loose.raiseLanes(w.index, c.mask, whole, s.now);
      to.cluster.proxy.join(c.knowledge->proxy);
    }
  });
  ++s.now;
}

void Hazards::acquireFrom(Warp &w, uint32_t mask, const ReleaseState &from,
                          Order order, MemoryScope scope) {
  bool wide = scope != MemoryScope::Cta || cluster_->ctas.size() == 1;
  each(w, mask, [&](LaneClass &c) {
    ThreadKnowledge &k = own(c);
    bool relaxed = order == Order::Relaxed || order == Order::Weak;
    Knowledge &to = relaxed ? k.seen : static_cast<Knowledge &>(k);
    k.hasSeen |= relaxed;
    for (const auto &[rank, knowledge] : from.local) {
      if (rank == w.cta->rank) {
        to.join(knowledge);
        k.before.join(knowledge.before);
      }
    }
    if (wide) {
      to.join(from.cluster);
      k.before.join(from.cluster.before);
    } else {
      to.loose.join(from.cluster.loose);
      to.proxy.join(from.cluster.proxy);
    }
  });
}

void Hazards::fence(Warp &w, uint32_t mask, MemoryScope) {
  WarpState &s = state(w);
  each(w, mask, [&](LaneClass &c) {
    ThreadKnowledge &k = own(c);
    if (k.hasSeen) {
      k.join(k.seen);
      k.seen = Knowledge();
      k.hasSeen = false;
    }
    release(k, k.fenced, w.index, c.mask, c.mask == s.whole, s.now);
    k.hasFenced = true;
  });
  ++s.now;
}

void Hazards::putBehind(Warp &w, uint32_t mask, Clock Knowledge::*clock) {
  WarpState &s = state(w);
  each(w, mask, [&](LaneClass &c) {
    ThreadKnowledge &k = own(c);
    (k.*clock).join(k.strict);
    (k.*clock).raiseLanes(w.index, c.mask, c.mask == s.whole, s.now);
  });
  ++s.now;
}

void Hazards::proxyFence(Warp &w, uint32_t mask) {
  putBehind(w, mask, &Knowledge::proxy);
}

void Hazards::beforeThreadSync(Warp &w, uint32_t mask) {
  putBehind(w, mask, &Knowledge::before);
}

void Hazards::afterThreadSync(Warp &w, uint32_t mask) {
  each(w, mask, [&](LaneClass &c) {
    ThreadKnowledge &k = own(c);
    k.after.join(k.before);
  });
}

void Hazards::warpSync(Warp &w, uint32_t members) {
  WarpState &s = state(w);
  uint32_t mask = members & s.whole;
  if (s.classes.size() == 1 && (s.classes[0].mask & ~mask) == 0) {
    own(s.classes[0]).strict.raiseLanes(w.index, mask, mask == s.whole, s.now);
    own(s.classes[0]).loose.raiseLanes(w.index, mask, mask == s.whole, s.now);
    ++s.now;
    return;
  }
  auto joined = std::make_shared<ThreadKnowledge>();
  bool first = true;
  each(w, mask, [&](LaneClass &c) {
    if (first) {
      *joined = *c.knowledge;
      first = false;
    } else {
      joined->join(*c.knowledge);
      joined->after.join(c.knowledge->after);
      joined->seen.join(c.knowledge->seen);
      joined->hasSeen |= c.knowledge->hasSeen;
      joined->fenced.join(c.knowledge->fenced);
      joined->hasFenced |= c.knowledge->hasFenced;
    }
    c.mask = 0;
  });
  joined->strict.raiseLanes(w.index, mask, mask == s.whole, s.now);
  joined->loose.raiseLanes(w.index, mask, mask == s.whole, s.now);
  ++s.now;
  s.classes.erase(
      std::remove_if(s.classes.begin(), s.classes.end(),
                     [](const LaneClass &c) { return c.mask == 0; }),
      s.classes.end());
  s.classes.push_back({mask, std::move(joined)});
}

void Hazards::arriveNamed(Warp &w, uint32_t mask, NamedBarrier &b) {
  WarpState &s = state(w);
  Knowledge &open = named_[&b].first;
  each(w, mask, [&](LaneClass &c) {
    release(*c.knowledge, open, w.index, c.mask, c.mask == s.whole, s.now);
  });
  ++s.now;
}

void Hazards::completeNamed(NamedBarrier &b) {
  auto &[open, done] = named_[&b];
  done.join(open);
  open = Knowledge();
}

void Hazards::leaveNamed(Warp &w, uint32_t mask, NamedBarrier &b) {
  const Knowledge &done = named_[&b].second;
  each(w, mask, [&](LaneClass &c) { own(c).join(done); });
}

void Hazards::arriveCluster(Warp &w, uint32_t mask, bool relaxed) {
  WarpState &s = state(w);
  each(w, mask, [&](LaneClass &c) {
    if (!relaxed) {
      release(*c.knowledge, clusterOpen_, w.index, c.mask, c.mask == s.whole,
              s.now);
    } else {
      clusterOpen_.before.join(c.knowledge->before);
      if (c.knowledge->hasFenced) {
        clusterOpen_.join(c.knowledge->fenced);
      }
    }
  });
  ++s.now;
}

void Hazards::completeCluster() {
  clusterDone_.join(clusterOpen_);
  clusterOpen_ = Knowledge();
}

void Hazards::leaveCluster(Warp &w, uint32_t mask) {
  each(w, mask, [&](LaneClass &c) { own(c).join(clusterDone_); });
}

void Hazards::initBarrier(Warp &w, unsigned lane, uint32_t address,
                          MBarrier &b) {
  if (b.hazard == 0) {
    barriers_.emplace_back();
    barriers_.back().stream =
        newStream(StreamInfo::BarrierPhases, address >> 24, 0, address);
    b.hazard = uint32_t(barriers_.size());
  }
  BarrierState &s = barriers_[b.hazard - 1];
  s.fenced = false;
  s.base = s.phases;
  s.init = Record(threadOf(w, lane), state(w).now,
                  indexOf(w.program->code[w.pc]), false, 0xf);
}

void Hazards::initFence(Warp &w, uint32_t mask) {
  fence(w, mask, MemoryScope::Cluster);
  for (BarrierState &s : barriers_) {
    const Record &r = s.init;
    if (r.component() / 32 == w.index && (mask >> r.component() % 32 & 1)) {
      s.fenced = true;
    }
  }
}

bool Hazards::initialized(const ThreadKnowledge &k, uint32_t thread,
                          const BarrierState &s) const {
  return s.init.component() == thread ||
         k.strict.knows(s.init.component(), s.init.time());
}

void Hazards::arrive(Warp &w, uint32_t mask, uint32_t address, MBarrier &b,
                     Order order, MemoryScope scope) {
  if (b.hazard == 0) {
    return;
  }
  BarrierState &s = barriers_[b.hazard - 1];
  unsigned lane = unsigned(__builtin_ctz(mask));
  if (!initialized(*classOf(state(w), lane).knowledge, threadOf(w, lane), s)) {
    find(FindingKind::BarrierLifetime, w, int(lane),
         "arrival on the mbarrier at shared address " + hexadecimal(address) +
             ", whose initialization is not ordered before it",
         s.init);
  }
  if (w.cta->rank != address >> 24) {
    s.lastRemote = Record(threadOf(w, lane), state(w).now, w.pc, true, 0xf);
  }
  releaseTo(w, mask, s.open, order, scope);
}

void Hazards::completePhase(MBarrier &b) {
  if (b.hazard) {
    BarrierState &s = barriers_[b.hazard - 1];
    ++s.phases;
    s.done = s.open;
  }
}

void Hazards::wait(Warp &w, uint32_t mask, uint32_t address, MBarrier &b,
                   Order order, MemoryScope scope, bool byParity) {
  if (b.hazard == 0) {
    return;
  }
  BarrierState &s = barriers_[b.hazard - 1];
  unsigned lane = unsigned(__builtin_ctz(mask));
  const ThreadKnowledge &k = *classOf(state(w), lane).knowledge;
  if (!initialized(k, threadOf(w, lane), s)) {
    find(FindingKind::BarrierLifetime, w, int(lane),
         "wait on the mbarrier at shared address " + hexadecimal(address) +
             ", whose initialization is not ordered before it",
         s.init);
  }
  uint32_t known = std::max(k.loose.get(s.stream), s.base);
  if (byParity && s.phases >= known + 2) {
    find(FindingKind::SkippedPhase, w, int(lane),
         "the wait on the mbarrier at shared address " + hexadecimal(address) +
             " passes with phase " + std::to_string(s.phases - 1) +
             " complete, but this thread was not ordered after phase " +
             std::to_string(s.phases - 2) +
             ": the parity cannot tell the two apart");
  }
  if (order != Order::Relaxed && known >= s.phases &&
      k.strict.get(s.stream) >= s.phases) {
    return;
  }
  if (s.phases) {
    acquireFrom(w, mask, s.done, order, scope);
    each(w, mask, [&](LaneClass &c) {
      ThreadKnowledge &k = own(c);
      Knowledge &to =
          order == Order::Relaxed ? k.seen : static_cast<Knowledge &>(k);
      to.strict.raiseStream(s.stream, s.phases);
      k.loose.raiseStream(s.stream, s.phases);
    });
  }
}

void Hazards::exit(Warp &w, uint32_t mask) {
  WarpState &s = state(w);
  Clock &exits = ctas_[w.cta->rank].exits;
  each(w, mask, [&](LaneClass &c) {
    exits.join(c.knowledge->loose);
    exits.raiseLanes(w.index, c.mask, c.mask == s.whole, s.now);
  });
  ++s.now;
}

// Flags in memory: release and acquire by ordinary strong accesses. Clusters
// run at the same time, so a release must be known before its value is.
static MemoryScope scopeOf(const Instruction &i) {
  return i.scope == MemoryScope::None ? MemoryScope::Gpu : i.scope;
}

static bool isSharedAddress(uint64_t address) {
  return address < (uint64_t(1) << 32);
}

ClusterClock joined(const ClusterClock &a, const ClusterClock &b) {
  if (!a || !b || a == b) {
    return a ? a : b;
  }
  if (a->covers(*b)) {
    return a;
  }
  if (b->covers(*a)) {
    return b;
  }
  auto both = std::make_shared<Clock>(*a);
  both->join(*b);
  return both;
}

void Hazards::releaseAccess(Warp &w, unsigned lane, uint64_t address,
                            Access access) {
  const Instruction &i = w.program->code[w.pc];
  if (i.order == Order::Weak && access != Atomic) {
    return;
  }
  if (access != Write) {
    w.acquires.push_back({lane, address});
  }
  bool releases = i.order == Order::Release || i.order == Order::AcqRel ||
                  i.order == Order::Sc ||
                  classOf(state(w), lane).knowledge->hasFenced;
  if (access == Read || !releases) {
    return;
  }
  uint32_t mask = 1u << lane;
  if (isSharedAddress(address)) {
    releaseTo(w, mask, flags_[address], i.order, scopeOf(i));
    return;
  }
  std::lock_guard<std::mutex> lock(launch_.mutex);
  auto &flag = launch_.flags[address];
  LaunchHazards::Release &release = flag.byCluster[cluster_->id];
  releaseTo(w, mask, release.own, i.order, scopeOf(i));
  release.strict = std::make_shared<Clock>(release.own.cluster.strict);
  // What this cluster knew of others goes along.
  for (const auto &[cluster, known] : clusters_) {
    ClusterClock &other = flag.byCluster[cluster].strict;
    other = joined(other, known);
  }
}

void Hazards::acquireAccess(Warp &w, unsigned lane, uint64_t address) {
  const Instruction &i = w.program->code[w.pc];
  Order how = i.order == Order::AcqRel || i.order == Order::Sc ||
                      i.order == Order::Acquire
                  ? Order::Acquire
                  : Order::Relaxed;
  uint32_t mask = 1u << lane;
  if (isSharedAddress(address)) {
    auto it = flags_.find(address);
    if (it != flags_.end()) {
      acquireFrom(w, mask, it->second, how, scopeOf(i));
    }
    return;
  }
  std::lock_guard<std::mutex> lock(launch_.mutex);
  auto it = launch_.flags.find(address);
  if (it == launch_.flags.end()) {
    return;
  }
  for (const auto &[cluster, flag] : it->second.byCluster) {
    if (cluster == cluster_->id) {
      acquireFrom(w, mask, flag.own, how, scopeOf(i));
    } else if (flag.strict) {
      ClusterClock &known = clusters_[cluster];
      known = joined(known, flag.strict);
    }
  }
}

} // namespace gmoe::emulator
