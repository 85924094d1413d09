// Runs the warps of one cluster: per-lane program counters kept as splits, the
// lowest first; seeded quanta; completion of asynchronous work; deadlock
// report.
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/LateLoads.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

/// Warp instructions without any effect after which a cluster counts as stuck.
constexpr uint64_t kLivelockInstructions = uint64_t(1) << 28;

uint32_t popcount(uint32_t v) { return uint32_t(__builtin_popcount(v)); }

bool lanesReady(Warp &w, Split &s) {
  uint32_t together = 0;
  for (const Split &o : w.splits) {
    if (o.wait.kind == WaitKind::Lanes && o.wait.byParity == s.wait.byParity &&
        (s.wait.byParity || o.pc == s.pc)) {
      together |= o.mask;
    }
  }
  if (s.wait.mask & w.alive & ~together) {
    return false;
  }
  if (s.wait.byParity) {
    // bar.warp.sync: every waiting split goes on after its own instruction.
    for (Split &o : w.splits) {
      if (&o != &s && o.wait.kind == WaitKind::Lanes && o.wait.byParity) {
        o.wait = Wait();
        ++o.pc;
      }
    }
    return true;
  }
  for (Split &o : w.splits) {
    if (&o != &s && o.wait.kind == WaitKind::Lanes && o.pc == s.pc) {
      s.mask |= o.mask;
      o.mask = 0;
    }
  }
  return true;
}

/// True when the split may run again; its wait is then cleared.
bool ready(Warp &w, Split &s) {
  Cluster &c = *w.cluster;
  Wait &wait = s.wait;
  bool go = false;
  w.timedOut = false;
  switch (wait.kind) {
  case WaitKind::None:
    return true;
  case WaitKind::Yield:
    go = true;
    break;
  case WaitKind::Barrier: {
    const MBarrier *b = c.barrierAt(wait.address);
    go = wait.timedOut || !b || !b->valid ||
         (wait.byParity ? (b->phase & 1) != wait.parity
                        : b->phase != wait.phase);
    break;
  }
  case WaitKind::Named:
    go = w.cta->named[wait.address].generation != wait.phase;
    if (go) {
      finishNamedBarrier(w, s);
    }
    break;
  case WaitKind::ClusterWait:
    go = c.generation > wait.phase;
    break;
  case WaitKind::Lanes:
    go = lanesReady(w, s);
    break;
  case WaitKind::BulkGroup:
    go = !bulkGroupsPending(w, s.mask, wait.phase, wait.byParity);
    break;
  case WaitKind::CopyGroup:
    go = !copyGroupsPending(w, s.mask, wait);
    break;
  case WaitKind::Registers:
    go = w.cta->freeRegisters >= wait.phase;
    break;
  case WaitKind::TmemAlloc:
    go = w.cta->tmemVersion != wait.phase;
    break;
  }
  if (go && c.hazards) {
    if (wait.kind == WaitKind::ClusterWait) {
      c.hazards->leaveCluster(w, s.mask);
    } else if (wait.kind == WaitKind::Lanes && wait.byParity) {
      c.hazards->warpSync(w, wait.mask);
    } else if (wait.kind == WaitKind::CopyGroup) {
      c.hazards->copyWait(w, s.mask, wait.phase, wait.byParity);
    } else if (wait.kind == WaitKind::BulkGroup) {
      c.hazards->bulkWait(w, s.mask, wait.phase, wait.byParity);
    }
  }
  if (go) {
    s.pc += wait.advance;
    bool timedOut = wait.timedOut;
    wait = Wait();
    wait.timedOut = timedOut;
  }
  return go;
}

void exitLanes(Warp &w, uint32_t mask) {
  Cluster &c = *w.cluster;
  if (c.hazards) {
    c.hazards->exit(w, mask);
  }
  w.alive &= ~mask;
  w.cta->liveThreads -= popcount(mask);
  c.liveThreads -= popcount(mask);
  c.arrived -= popcount(mask & w.clusterArrivedMask);
  w.clusterArrivedMask &= ~mask;
  ++c.effects;
  if (w.alive == 0) {
    flushTmem(w, true, true);
  }
  for (NamedBarrier &b : w.cta->named) {
    if (b.active) {
      namedBarrierCheck(c, *w.cta, b);
    }
  }
  clusterBarrierCheck(c);
}

/// Makes the runnable split with the lowest counter current; now and then
/// another, so that lanes spinning at a low counter starve nobody.
bool chooseSplit(Warp &w, bool anyOf) {
  w.splits.erase(std::remove_if(w.splits.begin(), w.splits.end(),
                                [](const Split &s) { return s.mask == 0; }),
                 w.splits.end());
  uint32_t best = ~0u, runnable = 0;
  for (uint32_t k = 0; k < w.splits.size(); ++k) {
    if (w.splits[k].wait.kind != WaitKind::None) {
      continue;
    }
    ++runnable;
    if (best == ~0u || w.splits[k].pc < w.splits[best].pc) {
      best = k;
    }
  }
  if (runnable > 1 && anyOf) {
    uint32_t pick = w.cluster->random.below(runnable);
    for (uint32_t k = 0; k < w.splits.size(); ++k) {
      if (w.splits[k].wait.kind == WaitKind::None && pick-- == 0) {
        best = k;
        break;
      }
    }
  }
  if (best == ~0u) {
    return false;
  }
  // Lanes at the same place run together.
  for (uint32_t k = 0; k < w.splits.size(); ++k) {
    if (k != best && w.splits[k].wait.kind == WaitKind::None &&
        w.splits[k].pc == w.splits[best].pc) {
      w.splits[best].mask |= w.splits[k].mask;
      w.splits[k].mask = 0;
    }
  }
  w.current = best;
  w.pc = w.splits[best].pc;
  w.mask = w.splits[best].mask;
  w.timedOut = w.splits[best].wait.timedOut;
  w.splits[best].wait.timedOut = false;
  return true;
}

/// Moves the lanes `mask` of the running split to `pc`.
void divert(Warp &w, uint32_t mask, uint32_t pc) {
  Split s;
  s.pc = pc;
  s.mask = mask;
  w.splits.push_back(s);
  w.mask &= ~mask;
  w.splits[w.current].mask = w.mask;
}

void runWarp(Warp &w, uint32_t quantum) {
  Cluster &c = *w.cluster;
  const Program &p = *w.program;
  const Instruction *code = p.code.data();
  bool fair = c.random.below(8) == 0;
  if (!chooseSplit(w, fair)) {
    return;
  }
  uint64_t instructions = 0, threads = 0;
  for (; quantum > 0; --quantum) {
    const Instruction &i = code[w.pc];
    uint32_t mask = w.mask;
    if (i.guarded) {
      uint32_t guard = reinterpret_cast<const uint32_t *>(
          w.bank[0])[size_t(i.guardLine) * 32];
      mask &= i.guardNegated ? ~guard : guard;
    }
    ++instructions;
    threads += popcount(mask);
    if (__builtin_expect(w.late, 0) && mask) {
      deliverIfUsed(w, i);
    }
    switch (i.flow) {
    case Flow::Normal:
      if (mask) {
        if (__builtin_expect(w.watched, 0)) {
          c.hazards->checkRegisters(w, i, mask);
        }
        i.handler(w, i, mask);
        if (__builtin_expect(!w.acquires.empty(), 0)) {
          for (const auto &[lane, address] : w.acquires) {
            c.hazards->acquireAccess(w, lane, address);
          }
          w.acquires.clear();
        }
        if (__builtin_expect(w.event, 0)) {
          w.event = false;
          if (c.failed()) {
            goto done;
          }
          // Only the active lanes wait; guarded-off lanes go on.
          uint32_t rest = w.mask & ~mask;
          Split &s = w.splits[w.current];
          s.pc = w.pc;
          s.mask = mask;
          s.wait = w.blocked;
          if (rest) {
            Split other;
            other.pc = w.pc + 1;
            other.mask = rest;
            w.splits.push_back(other);
          }
          w.timedOut = false;
          if (rest && chooseSplit(w, false)) {
            continue;
          }
          goto done;
        }
      }
      ++w.pc;
      break;
    case Flow::Branch:
      if (mask == w.mask) {
        w.pc = i.target;
      } else if (mask) {
        divert(w, mask, i.target);
        ++w.pc;
      } else {
        ++w.pc;
      }
      break;
    case Flow::BranchIndexed: {
      const Operand &o = w.operand(i, 0);
      uint32_t left = mask;
      uint32_t stay = w.mask & ~mask;
      while (left) {
        unsigned lane = unsigned(__builtin_ctz(left));
        uint64_t index = w.scalar(o, lane);
        if (index >= i.targetCount) {
          w.fail("branch index is " + std::to_string(index) +
                     ", the table has " + std::to_string(i.targetCount) +
                     " entries",
                 int(lane));
          w.event = false;
          goto done;
        }
        uint32_t same = 0;
        for (uint32_t m = left; m; m &= m - 1) {
          unsigned l = unsigned(__builtin_ctz(m));
          same |= uint32_t(w.scalar(o, l) == index) << l;
        }
        left &= ~same;
        uint32_t target = p.branchTargets[i.target + index];
        if (!left && !stay) {
          w.mask = same;
          w.splits[w.current].mask = same;
          w.pc = target;
        } else {
          divert(w, same, target);
        }
      }
      if (stay) {
        ++w.pc;
      }
      break;
    }
    case Flow::Exit:
      exitLanes(w, mask);
      w.mask &= ~mask;
      w.splits[w.current].mask = w.mask;
      ++w.pc;
      if (w.mask == 0) {
        if (!chooseSplit(w, false)) {
          goto done;
        }
        continue;
      }
      break;
    }
    if (__builtin_expect(w.splits.size() > 1, 0)) {
      w.splits[w.current].pc = w.pc;
      w.splits[w.current].mask = w.mask;
      bool behind = false;
      for (const Split &s : w.splits) {
        behind |= s.mask && s.wait.kind == WaitKind::None &&
                  (s.pc == w.pc ? s.mask != w.mask : s.pc < w.pc);
      }
      if (behind && !fair && !chooseSplit(w, false)) {
        goto done;
      }
    }
  }
  w.splits[w.current].pc = w.pc;
done:
  c.counters.instructions += instructions;
  c.counters.threadInstructions += threads;
}

void completeDue(Cluster &c) {
  for (size_t k = 0; k < c.async.size() && !c.failed();) {
    if (c.async[k].due > c.tick) {
      ++k;
      continue;
    }
    ++c.effects;
    if (completeAsync(c, c.async[k])) {
      if (k + 1 != c.async.size()) {
        c.async[k] = std::move(c.async.back());
      }
      c.async.pop_back();
    } else {
      c.async[k].due = c.tick + 1 + c.drawDelay();
      ++k;
    }
  }
  for (Cta &cta : c.ctas) {
    for (size_t k = 0; k < cta.tensorQueues.size(); ++k) {
      while (!c.failed() && !cta.tensorQueues[k].operations.empty() &&
             cta.tensorQueues[k].due <= c.tick) {
        TensorQueue &q = cta.tensorQueues[k];
        ++c.effects;
        completeTensor(c, cta, q.operations.front());
        q.operations.pop_front();
        // Most follow at once; some keep the rest waiting.
        if (c.random.below(8) == 0) {
          q.due = c.tick + 1 + c.drawDelay();
        }
      }
    }
  }
  c.nextDue = ~uint64_t(0);
  for (const AsyncOp &op : c.async) {
    c.nextDue = std::min(c.nextDue, op.due);
  }
  for (const Cta &cta : c.ctas) {
    for (const TensorQueue &q : cta.tensorQueues) {
      if (!q.operations.empty()) {
        c.nextDue = std::min(c.nextDue, q.due);
      }
    }
  }
}

} // namespace

uint64_t Cluster::drawDelay() {
  uint32_t kind = random.below(16);
  if (kind < 8) {
    return random.below(4);
  }
  if (kind < 14) {
    return random.below(48);
  }
  // Very late: after everything that can run without it.
  return 64 + random.below(kind == 14 ? 512 : 8192);
}

void Cluster::enqueue(AsyncOp op) {
  op.due = tick + 1 + drawDelay();
  nextDue = std::min(nextDue, op.due);
  async.push_back(std::move(op));
}

void Cluster::enqueueTensor(Cta &cta, uint32_t thread, TensorOp op) {
  TensorQueue *queue = nullptr;
  for (TensorQueue &q : cta.tensorQueues) {
    if (q.thread == thread) {
      queue = &q;
    }
  }
  if (!queue) {
    cta.tensorQueues.emplace_back();
    queue = &cta.tensorQueues.back();
    queue->thread = thread;
  }
  if (queue->operations.empty()) {
    queue->due = tick + 1 + drawDelay();
    nextDue = std::min(nextDue, queue->due);
  }
  queue->operations.push_back(std::move(op));
}

void runCluster(Cluster &c) {
  uint64_t lastTimeout = ~uint64_t(0);
  uint64_t effectsSeen = c.effects, effectsAt = c.counters.instructions;
  size_t start = 0;
  while (c.liveThreads > 0 && !c.failed() && !c.stop) {
    ++c.tick;
    if (c.tick >= c.nextDue) {
      completeDue(c);
      if (c.failed()) {
        return;
      }
    }
    // The next warp in turn that can run; sometimes the turn jumps.
    if (c.random.below(16) == 0) {
      start = c.random.below(uint32_t(c.warps.size()));
    }
    Warp *pick = nullptr;
    for (size_t k = 0; k < c.warps.size() && !pick; ++k) {
      size_t index = start + k;
      index -= index >= c.warps.size() ? c.warps.size() : 0;
      Warp &w = c.warps[index];
      bool any = false;
      for (Split &s : w.splits) {
        any |= s.mask && ready(w, s);
      }
      if (any) {
        pick = &w;
        start = index + 1 == c.warps.size() ? 0 : index + 1;
      }
    }
    if (pick) {
      uint32_t quantum =
          c.random.below(8) ? 32 + c.random.below(480) : 1 + c.random.below(16);
      runWarp(*pick, quantum);
      if (c.context->instructionLimit &&
          c.counters.instructions > c.context->instructionLimit) {
        c.fail(StatusCode::DeviceError,
               "kernel '" + c.context->program->name + "' ran more than " +
                   std::to_string(c.context->instructionLimit) +
                   " warp instructions");
        return;
      }
      if (c.effects != effectsSeen) {
        effectsSeen = c.effects;
        effectsAt = c.counters.instructions;
      } else if (c.counters.instructions - effectsAt > kLivelockInstructions &&
                 c.nextDue == ~uint64_t(0)) {
        reportDeadlock(c, "livelock (every warp only polls)");
      }
      continue;
    }
    if (c.nextDue != ~uint64_t(0)) {
      c.tick = std::max(c.tick, c.nextDue - 1);
      continue;
    }
    // Nothing moves. try_wait may give up after a time limit: let every waiter
    // do so once, and call it a deadlock when that changed nothing.
    bool waiters = false;
    for (Warp &w : c.warps) {
      for (Split &s : w.splits) {
        if (s.mask && s.wait.kind == WaitKind::Barrier) {
          waiters = true;
        }
      }
    }
    if (!waiters || lastTimeout == c.effects) {
      reportDeadlock(c, "deadlock");
      return;
    }
    lastTimeout = c.effects;
    for (Warp &w : c.warps) {
      for (Split &s : w.splits) {
        s.wait.timedOut = s.mask && s.wait.kind == WaitKind::Barrier;
      }
    }
  }
  // Work that is still in flight when the last thread exits completes.
  while (!c.failed() && !c.stop && c.nextDue != ~uint64_t(0)) {
    c.tick = std::max(c.tick, c.nextDue);
    completeDue(c);
  }
  // ISA 9.7.16.7: everything allocated must be given back before the kernel
  // ends.
  for (const Cta &cta : c.ctas) {
    for (uint32_t s = 0; s < cta.tmemOwner.size() && !c.failed() && !c.stop;
         ++s) {
      if (cta.tmemOwner[s]) {
        c.failFinding(FindingKind::TmemLeak, 0,
                      "kernel '" + c.context->program->name + "', CTA rank " +
                          std::to_string(cta.rank) + " of cluster " +
                          std::to_string(c.id) +
                          " exits with tensor memory column " +
                          std::to_string(s * 32) + " still allocated");
      }
    }
  }
  if (c.hazards && !c.failed() && !c.stop) {
    c.hazards->end();
  }
}

} // namespace gmoe::emulator
