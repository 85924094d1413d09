// Tensor memory: accesses of warps by tcgen05.ld and st, of the tensor core by
// mma and cp. Operations of one issuing thread are one queue, in order; between
// threads, tcgen05.fence is needed beside the synchronization itself.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {
namespace {

constexpr uint32_t kCellLanes = 16;
constexpr uint32_t kSlice = 32;

std::string tmemName(const Cta &cta, uint32_t lane, uint32_t column) {
  return "tensor memory of CTA rank " + std::to_string(cta.rank) + ", lane " +
         std::to_string(lane) + ", column " + std::to_string(column);
}

} // namespace

template <class F>
void Hazards::tmemCells(Cta &cta, uint32_t lane, uint32_t lanes,
                        uint32_t column, uint32_t columns, F f) {
  CtaState &s = ctas_[cta.rank];
  if (s.tmem.empty()) {
    s.tmem.resize(size_t(kTmemLanes / kCellLanes) * kTmemColumns);
  }
  for (uint32_t l = lane / kCellLanes; l * kCellLanes < lane + lanes; ++l) {
    Cell *row = &s.tmem[size_t(l) * kTmemColumns];
    for (uint32_t c = column; c < column + columns && c < kTmemColumns; ++c) {
      f(row[c], l * kCellLanes, c);
    }
  }
}

Issuer Hazards::issueTensor(Warp &w, unsigned lane, bool isCommit) {
  Issuer issuer = issue(w, lane);
  Queue &q = queues_[issuer.thread];
  if (isCommit) {
    issuer.time = q.lastIssue; // it covers what came before the operations
  } else {
    q.lastIssue = issuer.time;
  }
  if (q.stream == 0) {
    q.stream = newStream(StreamInfo::TensorQueue, w.index, lane, 0);
  }
  issuer.stream = q.stream;
  issuer.position = ++q.position;
  return issuer;
}

void Hazards::readShared(const Instruction &i, uint32_t warp,
                         const Issuer &issuer, const Cta &cta, uint32_t offset,
                         uint32_t bytes) {
  if (!issuer.knowledge) {
    return;
  }
  Work work{&i, warp, &issuer};
  Record record(issuer.stream, issuer.position, indexOf(i), false, 0xf);
  readCells(work, &ctas_[cta.rank].shared[offset / 4], (bytes + 3) / 4, record,
            uint64_t(cta.rank) << 24 | offset);
}

/// One access of tensor memory by the tensor core or by a warp; `say` reports.
template <class Say>
void Hazards::tensorUse(const TensorUse &use, Cta &cta, uint32_t lane,
                        uint32_t lanes, uint32_t column, uint32_t columns,
                        Access access, Say say) {
  const ThreadKnowledge &k = use.knowledge;
  Record good;
  auto check = [&](Record r, FindingKind kind, uint32_t l, uint32_t c,
                   const char *what) {
    if (!r || r == good) {
      return;
    }
    uint32_t component = r.component(), time = r.time();
    // What is in one stream stays in order.
    if (component == use.record.component() || k.after.knows(component, time) ||
        (r.isStream() && warpOf(r) == use.warp &&
         k.strict.knows(component, time)) ||
        (!full() && (kind == FindingKind::ReadUnordered ? k.strict : k.loose)
                        .knows(component, time))) {
      good = r;
      return;
    }
    bool unfenced = k.loose.knows(component, time);
    say(unfenced ? FindingKind::TensorFence : kind,
        std::string(what) + tmemName(cta, l, c) +
            (unfenced ? ": the accesses are ordered, but without "
                        "tcgen05.fence::before_thread_sync and "
                        "tcgen05.fence::after_thread_sync around the "
                        "synchronization"
                      : ", not ordered after the other access"),
        r);
  };
  tmemCells(
      cta, lane, lanes, column, columns,
      [&](Cell &cell, uint32_t l, uint32_t c) {
        if (access != Write) {
          if (!cell.write) {
            say(FindingKind::Uninitialized,
                "read of " + tmemName(cta, l, c) + ", which nothing wrote",
                Record());
          }
          check(cell.write, FindingKind::ReadUnordered, l, c, "read of ");
        }
        if (access == Read) {
          bool again = !cell.read[0] ||
                       cell.read[0].component() == use.record.component();
          cell.read[again ? 0 : 1] = use.record;
          return;
        }
        if (access == Write) {
          check(cell.write, FindingKind::WriteUnordered, l, c, "write to ");
        }
        check(cell.read[0], FindingKind::OverwriteInUse, l, c, "write to ");
        check(cell.read[1], FindingKind::OverwriteInUse, l, c, "write to ");
        cell.write = use.record;
        cell.read[0] = cell.read[1] = Record();
      });
  if (cluster_->warps[use.warp].cta->rank != cta.rank) {
    return; // a pair allocates together
  }
  for (uint32_t s = column / kSlice; s * kSlice < column + columns && s < 16;
       ++s) {
    Record r = ctas_[cta.rank].allocation[s];
    if (r && warpOf(r) != use.warp &&
        !k.strict.knows(r.component(), r.time())) {
      say(FindingKind::TmemUse,
          "uses " + tmemName(cta, lane, column) +
              ", whose allocation is not ordered before it",
          r);
    }
  }
}

void Hazards::tensorAccess(const TensorOp &op, Cta &cta, uint32_t lane,
                           uint32_t lanes, uint32_t column, uint32_t columns,
                           Access access) {
  if (!op.issuer.knowledge) {
    return;
  }
  TensorUse use{*op.issuer.knowledge, op.warp,
                Record(op.issuer.stream, op.issuer.position,
                       indexOf(*op.instruction), false, 0xf)};
  tensorUse(use, cta, lane, lanes, column, columns, access,
            [&](FindingKind kind, const std::string &what, Record other) {
              findAsync(kind, *op.instruction, op.warp, what, other);
            });
}

void Hazards::commit(const TensorOp &op, Cta &cta, MBarrier &b,
                     uint32_t address) {
  if (!op.issuer.knowledge || b.hazard == 0) {
    return;
  }
  BarrierState &s = barriers_[b.hazard - 1];
  signalUse(*op.instruction, op.warp, op.issuer, b, address);
  if (cluster_->warps[op.warp].cta->rank != cta.rank) {
    // A later commit may arrive before it: only its phase tells.
    s.lastCommit =
        Record(s.stream, s.phases + 1, indexOf(*op.instruction), true, 0xf);
  }
  for (Knowledge *k : {&s.open.cluster, &s.open.of(cta.rank)}) {
    // The operations are done, so what was done before they began is, too.
    k->strict.join(op.issuer.knowledge->strict);
    k->loose.join(op.issuer.knowledge->loose);
    k->proxy.join(op.issuer.knowledge->proxy);
    for (Clock *clock : {&k->strict, &k->loose}) {
      clock->raiseLanes(op.warp, 1u << op.issuer.thread % 32, false,
                        op.issuer.time);
    }
    k->before.join(op.issuer.knowledge->after);
    k->strict.raiseStream(op.issuer.stream, op.issuer.position);
    k->loose.raiseStream(op.issuer.stream, op.issuer.position);
    // A commit contains the fence::before_thread_sync.
    k->before.raiseStream(op.issuer.stream, op.issuer.position);
  }
}

void Hazards::allocateTmem(Warp &w, uint32_t mask, uint32_t column,
                           uint32_t columns) {
  Record record(threadOf(w, unsigned(__builtin_ctz(mask))), state(w).now, w.pc,
                false, 0xf);
  for (uint32_t s = column / kSlice; s < (column + columns) / kSlice; ++s) {
    ctas_[w.cta->rank].allocation[s] = record;
  }
  tmemCells(*w.cta, 0, kTmemLanes, column, columns,
            [](Cell &cell, uint32_t, uint32_t) { cell = Cell(); });
}

void Hazards::freeTmem(Warp &w, uint32_t mask, uint32_t column,
                       uint32_t columns) {
  unsigned lane = unsigned(__builtin_ctz(mask));
  const ThreadKnowledge &k = *classOf(state(w), lane).knowledge;
  Record good;
  tmemCells(*w.cta, 0, kTmemLanes, column, columns,
            [&](Cell &cell, uint32_t l, uint32_t c) {
              for (Record r : {cell.write, cell.read[0], cell.read[1]}) {
                if (!r || r == good) {
                  continue;
                }
                if (k.loose.knows(r.component(), r.time()) ||
                    k.after.knows(r.component(), r.time())) {
                  good = r;
                  continue;
                }
                find(FindingKind::TmemUse, w, int(lane),
                     "frees " + tmemName(*w.cta, l, c) +
                         " while an access is not ordered before it",
                     r);
              }
            });
}

void Hazards::tmemAccess(Warp &w, uint32_t mask, uint32_t lane, uint32_t lanes,
                         uint32_t column, uint32_t columns, bool store) {
  WarpState &s = state(w);
  unsigned first = unsigned(__builtin_ctz(mask));
  const ThreadKnowledge &k = *classOf(s, first).knowledge;
  uint32_t &stream = store ? s.stores : s.loads;
  if (stream == 0) {
    stream = newStream(store ? StreamInfo::TmemStores : StreamInfo::TmemLoads,
                       w.index, 0, 0);
  }
  TensorUse use{k, w.index,
                Record(stream, store ? ++s.storePosition : ++s.loadPosition,
                       w.pc, false, 0xf)};
  tensorUse(use, *w.cta, lane, lanes, column, columns, store ? Write : Read,
            [&](FindingKind kind, const std::string &what, Record other) {
              find(kind, w, int(first), what, other);
            });
}

void Hazards::tmemWait(Warp &w, uint32_t mask, bool stores) {
  WarpState &s = state(w);
  uint32_t stream = stores ? s.stores : s.loads;
  if (stream == 0) {
    return;
  }
  uint32_t position = stores ? s.storePosition : s.loadPosition;
  each(w, mask, [&](LaneClass &c) {
    ThreadKnowledge &k = own(c);
    k.strict.raiseStream(stream, position);
    k.loose.raiseStream(stream, position);
  });
}

} // namespace gmoe::emulator
