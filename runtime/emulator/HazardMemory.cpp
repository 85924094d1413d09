// Accesses of threads to shared and global memory, and what findings say.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {
void Hazards::begin(Cluster &cluster) {
  cluster_ = &cluster;
  streams_.clear();
  barriers_.clear();
  queues_.clear();
  bulk_.clear();
  copies_.clear();
  wgmma_.clear();
  flags_.clear();
  named_.clear();
  clusterOpen_ = clusterDone_ = Knowledge();
  maps_.clear();
  clusters_.clear();
  clusterTime_ = 1;
  warps_.assign(cluster.warps.size(), WarpState());
  for (const Warp &w : cluster.warps) {
    WarpState &s = warps_[w.index];
    s.whole = w.alive;
    s.classes.push_back({w.alive, std::make_shared<ThreadKnowledge>()});
  }
  ctas_.resize(cluster.ctas.size());
  for (size_t k = 0; k < ctas_.size(); ++k) {
    ctas_[k].shared.assign(cluster.ctas[k].shared.size() / 4 + 1, Cell());
    ctas_[k].tmem.clear();
    ctas_[k].allocation.fill(Record());
    ctas_[k].exits.clear();
    ctas_[k].copies.clear();
  }
}

uint32_t Hazards::newStream(StreamInfo::Kind kind, uint32_t warp,
                            uint32_t lane, uint32_t address) {
  // Past the limit all further streams share one: less is found, nothing wrong.
  if (streams_.size() + 1 < kMaximumStreams) {
    streams_.push_back({kind, warp, lane, address});
  }
  return kFirstStream + uint32_t(streams_.size()) - 1;
}

uint32_t Hazards::indexOf(const Instruction &i) const {
  return uint32_t(&i - cluster_->context->program->code.data());
}

std::string Hazards::describe(Record r) const {
  if (!r) {
    return std::string();
  }
  const Program &p = *cluster_->context->program;
  std::string text;
  if (r.instruction() < p.code.size()) {
    const Instruction &i = p.code[r.instruction()];
    text = "line " + std::to_string(i.sourceLine) + ", '" +
           std::string(i.text) + "'";
    if (i.location.line && i.location.line != 0 &&
        i.location.file < p.files.size()) {
      text += " from " + p.files[i.location.file] + ":" +
              std::to_string(i.location.line) + ":" +
              std::to_string(i.location.column);
    }
  }
  if (!r.isStream()) {
    const Warp &w = cluster_->warps[r.component() / 32];
    return text + " of " + w.place(int(r.component() % 32));
  }
  const StreamInfo &s = streams_[r.component() - kFirstStream];
  switch (s.kind) {
  case StreamInfo::BarrierPhases:
    return text + ", completed by phase " + std::to_string(r.time() - 1) +
           " of the mbarrier at shared address " + hexadecimal(s.address);
  case StreamInfo::BulkReads:
  case StreamInfo::BulkWrites:
    return text + " of " + cluster_->warps[s.warp].place(int(s.lane)) +
           ", bulk group " + std::to_string(r.time() - 1);
  case StreamInfo::TensorQueue:
    return text + " of " + cluster_->warps[s.warp].place(int(s.lane)) +
           ", tensor operation " + std::to_string(r.time());
  default:
    return text + " of " + cluster_->warps[s.warp].place(-1);
  }
}

bool Hazards::fresh(FindingKind kind, uint32_t instruction, Record other) {
  return reported_
      .insert(uint64_t(kind) << 56 | uint64_t(instruction) << 24 |
              other.instruction())
      .second;
}

void Hazards::report(FindingKind kind, uint32_t line, const std::string &text,
                     Record other) {
  Finding f;
  f.kind = kind;
  f.kernel = cluster_->context->program->name;
  f.line = line;
  f.text = text;
  if (other) {
    const Program &p = *cluster_->context->program;
    if (other.instruction() < p.code.size()) {
      f.otherLine = p.code[other.instruction()].sourceLine;
    }
    f.text += "; the other party: " + describe(other);
  }
  if (launch_.report(std::move(f))) {
    cluster_->stop = true;
  }
}

FindingKind Hazards::refine(FindingKind kind, const Instruction &i,
                            Record other) const {
  const Program &p = *cluster_->context->program;
  auto cancels = [](const Instruction &x) {
    return x.text.find("clusterlaunchcontrol.try_cancel") !=
           std::string_view::npos;
  };
  bool race = kind == FindingKind::ReadUnordered ||
              kind == FindingKind::WriteUnordered ||
              kind == FindingKind::OverwriteInUse;
  return race && (cancels(i) || (other && other.instruction() < p.code.size() &&
                                 cancels(p.code[other.instruction()])))
             ? FindingKind::LaunchControl
             : kind;
}

void Hazards::find(FindingKind kind, Warp &w, int lane,
                   const std::string &what, Record other) {
  const Instruction &i = w.program->code[w.pc];
  kind = refine(kind, i, other);
  if (fresh(kind, w.pc, other)) {
    report(kind, i.sourceLine,
           cluster_->describe(i) + ", " + w.place(lane) + ": " + what, other);
  }
}

void Hazards::findAsync(FindingKind kind, const Instruction &i, uint32_t warp,
                        const std::string &what, Record other) {
  kind = refine(kind, i, other);
  if (fresh(kind, indexOf(i), other)) {
    report(kind, i.sourceLine,
           cluster_->describe(i) + ", issued by " +
               cluster_->warps[warp].place(-1) + ": " + what,
           other);
  }
}

void Hazards::remember(Cell &cell, Record r, const Clock &known) {
  auto replaces = [&](Record old) {
    return !old || old.component() == r.component() ||
           known.knows(old.component(), old.time());
  };
  if (replaces(cell.read[0])) {
    cell.read[0] = r;
  } else {
    cell.read[1] = r;
  }
}

void Hazards::shared(Warp &w, unsigned lane, Cta &cta, uint32_t offset,
                     uint32_t bytes, Access access) {
  WarpState &s = state(w);
  const ThreadKnowledge &k = *classOf(s, lane).knowledge;
  const Instruction &i = w.program->code[w.pc];
  bool strong = access == Atomic || i.order != Order::Weak;
  uint32_t self = threadOf(w, lane);
  auto where = [&](uint64_t word) {
    return "shared address " +
           hexadecimal(uint64_t(cta.rank) << 24 | word * 4);
  };
  auto ordered = [&](Record r, const Clock &known, uint32_t mask) {
    return r.component() == self || !(r.bytes() & mask) ||
           (strong && r.strong()) || known.knows(r.component(), r.time());
  };
  // Lanes that store the same place in one instruction: one of them wins.
  auto together = [&](Record r) {
    return r.instruction() == indexOf(i) && r.time() == s.now &&
           r.component() / 32 == w.index;
  };
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    Cell &cell = ctas_[cta.rank].shared[word];
    uint32_t mask = bytesIn(word, offset, bytes);
    Record mine(self, s.now, indexOf(i), strong, mask);
    if (access != Write) {
      if (!cell.write) {
        find(FindingKind::Uninitialized, w, int(lane),
             "read of " + where(word) + ", which nothing wrote");
      } else if (!ordered(cell.write, k.strict, mask)) {
        find(FindingKind::ReadUnordered, w, int(lane),
             "read of " + where(word) +
                 ", whose last write is not ordered before it",
             cell.write);
      }
    }
    if (access == Read) {
      remember(cell, mine, k.loose);
      continue;
    }
    const MBarrier *barrier = cta.barrierAt(word * 4 & ~7u);
    if (barrier && barrier->valid) {
      find(FindingKind::BarrierLifetime, w, int(lane),
           "write to " + where(word) + ", which holds a live mbarrier",
           barrier->hazard ? barriers_[barrier->hazard - 1].init : Record());
    }
    if (access == Write && cell.write && !together(cell.write) &&
        !ordered(cell.write, k.strict, mask)) {
      find(FindingKind::WriteUnordered, w, int(lane),
           "write to " + where(word) +
               ", whose last write is not ordered before it",
           cell.write);
    }
    for (Record r : cell.read) {
      if (r && !ordered(r, k.loose, mask)) {
        find(FindingKind::OverwriteInUse, w, int(lane),
             "write to " + where(word) +
                 ", while a read of the old value is not ordered before it",
             r);
      }
    }
    cell.write = mine;
    cell.read[0] = cell.read[1] = Record();
  }
}

void Hazards::global(Warp &w, unsigned lane, const Allocation &a,
                     uint64_t offset, uint32_t bytes, Access access) {
  if (access != Read) {
    a.markWritten(offset, bytes);
  } else if (full() && !a.allWritten(offset, bytes)) {
    find(FindingKind::Uninitialized, w, int(lane),
         "read of " + std::to_string(bytes) + " bytes at global address " +
             hexadecimal(a.base + offset) + ", which nothing wrote");
  }
  GlobalShadow *shadow = a.shadow.get();
  if (!shadow || (access == Read && !shadow->find(offset))) {
    return;
  }
  WarpState &s = state(w);
  const ThreadKnowledge &k = *classOf(s, lane).knowledge;
  const Instruction &i = w.program->code[w.pc];
  bool strong = access == Atomic || i.order != Order::Weak;
  uint32_t self = threadOf(w, lane);
  GlobalPage &page = shadow->page(offset);
  PageLock lock(page);
  for (uint64_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    GlobalCell &cell = page.cells[word % (GlobalPage::kBytes / 4)];
    uint32_t mask = bytesIn(word, offset, bytes);
    Record r = cell.write;
    bool mineToo = cell.cluster == cluster_->id;
    bool ordered = !r || !(r.bytes() & mask) || (strong && r.strong());
    if (!ordered && mineToo) {
      ordered = r.component() == self ||
                k.strict.knows(r.component(), r.time()) ||
                (access == Write && r.instruction() == indexOf(i) &&
                 r.time() == s.now && r.component() / 32 == w.index);
    } else if (!ordered) {
      auto it = clusters_.find(cell.cluster);
      ordered = it != clusters_.end() && it->second >= cell.clusterTime;
    }
    if (!ordered) {
      find(access == Read ? FindingKind::ReadUnordered
                          : FindingKind::WriteUnordered,
           w, int(lane),
           std::string(access == Read ? "read" : "write") +
               " at global address " + hexadecimal(a.base + word * 4) +
               ", whose last write" +
               (mineToo ? std::string()
                        : " (by cluster " + std::to_string(cell.cluster) +
                              ")") +
               " is not ordered before it",
           mineToo ? r : Record());
    }
    if (access != Read) {
      cell.write = Record(self, s.now, indexOf(i), strong, mask);
      cell.cluster = uint32_t(cluster_->id);
      cell.clusterTime = clusterTime_;
    }
  }
  if (access != Read && !maps_.empty()) {
    auto it = maps_.find((a.base + offset) & ~uint64_t(127));
    if (it != maps_.end()) {
      for (Record r : it->second.reads) {
        if (r && !k.loose.knows(r.component(), r.time())) {
          find(FindingKind::TensorMapInUse, w, int(lane),
               "write to the tensor map at " + hexadecimal(it->first) +
                   " while a copy that reads it is not ordered before",
               r);
        }
      }
    }
  }
}

void Hazards::end() {
  for (const Cta &cta : cluster_->ctas) {
    for (const MBarrier &b : cta.barriers) {
      if (b.valid && b.hazard && b.transactions != 0) {
        const BarrierState &s = barriers_[b.hazard - 1];
        report(FindingKind::TransactionBytes, 0,
               "kernel '" + cluster_->context->program->name +
                   "', at its end: the mbarrier at shared address " +
                   hexadecimal(streams_[s.stream - kFirstStream].address) +
                   (b.transactions > 0
                        ? " still expects " + std::to_string(b.transactions)
                        : " got " + std::to_string(-b.transactions)) +
                   (b.transactions > 0 ? " bytes" : " bytes too many"),
               s.init);
      }
    }
  }
  for (size_t rank = 0; rank < ctas_.size(); ++rank) {
    for (const auto &[stream, last] : ctas_[rank].copies) {
      if (!ctas_[rank].exits.knows(stream, last.time())) {
        exitFinding("an asynchronous copy into CTA rank " +
                        std::to_string(rank) +
                        " is not ordered before the exit of its threads",
                    last);
      }
    }
  }
  for (Cta &cta : cluster_->ctas) {
    remoteAccesses(cta);
  }
  for (const auto &[thread, streams] : bulk_) {
    const Warp &w = cluster_->warps[thread / 32];
    uint32_t groups = streams.issued;
    if (!ctas_[w.cta->rank].exits.knows(streams.reads, groups)) {
      exitFinding("a bulk copy out of shared memory is not waited for "
                  "(cp.async.bulk.wait_group.read) before its CTA exits",
                  Record(streams.reads, groups, streams.instruction, false,
                         0xf));
    }
  }
}

uint32_t Hazards::warpOf(Record r) const {
  return r.isStream() ? streams_[r.component() - kFirstStream].warp
                      : r.component() / 32;
}

/// Threads of other CTAs must be done with a CTA's shared memory when it exits.
void Hazards::remoteAccesses(const Cta &cta) {
  if (cluster_->ctas.size() == 1) {
    return;
  }
  const CtaState &s = ctas_[cta.rank];
  Record good;
  auto check = [&](Record r, const std::string &where) {
    if (!r || r == good || s.exits.knows(r.component(), r.time()) ||
        cluster_->warps[warpOf(r)].cta->rank == cta.rank) {
      good = r;
      return;
    }
    exitFinding("an access of another CTA to " + where +
                    " of CTA rank " + std::to_string(cta.rank) +
                    " is not ordered before the exit of its threads",
                r);
  };
  for (size_t word = 0; word < s.shared.size(); ++word) {
    const Cell &cell = s.shared[word];
    for (Record r : {cell.write, cell.read[0], cell.read[1]}) {
      if (r && r != good && !r.isStream()) {
        check(r, "shared offset " + hexadecimal(word * 4));
      }
    }
  }
  for (const BarrierState &b : barriers_) {
    if (streams_[b.stream - kFirstStream].warp == cta.rank) {
      check(b.lastRemote,
            "the mbarrier at shared address " +
                hexadecimal(streams_[b.stream - kFirstStream].address));
    }
  }
}

void Hazards::exitFinding(const std::string &what, Record other) {
  if (fresh(FindingKind::ExitWhilePending, 0, other)) {
    report(FindingKind::ExitWhilePending, 0,
           "kernel '" + cluster_->context->program->name + "', at its end: " +
               what,
           other);
  }
}

} // namespace gmoe::emulator
