// The state of the checker when a cluster begins and ends, and what findings
// say.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {

void Hazards::begin(Cluster &cluster) {
  cluster_ = &cluster;
  streams_.clear();
  barriers_.clear();
  queues_.clear();
  bulk_.clear();
  copies_.clear();
  answers_.clear();
  wgmma_.clear();
  flags_.clear();
  named_.clear();
  clusterOpen_ = clusterDone_ = Knowledge();
  maps_.clear();
  acquires_.clear();
  mapReleases_.clear();
  clusters_.clear();
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

uint32_t Hazards::newStream(StreamInfo::Kind kind, uint32_t warp, uint32_t lane,
                            uint32_t address) {
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
  if (r.component() - kFirstStream >= streams_.size()) {
    return text;
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

void Hazards::find(FindingKind kind, Warp &w, int lane, const std::string &what,
                   Record other) {
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

uint32_t Hazards::warpOf(Record r) const {
  return r.isStream() ? streams_[r.component() - kFirstStream].warp
                      : r.component() / 32;
}

void Hazards::end() {
  if (!mapReleases_.empty()) {
    launch_.addMapReleases(cluster_->id, mapReleases_);
  }
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
      exitFinding(
          "a bulk copy out of shared memory is not waited for "
          "(cp.async.bulk.wait_group.read) before its CTA exits",
          Record(streams.reads, groups, streams.instruction, false, 0xf));
    }
  }
}

/// Threads of other CTAs must be done with a CTA's shared memory when it exits.
void Hazards::remoteAccesses(const Cta &cta) {
  if (cluster_->ctas.size() == 1) {
    return;
  }
  const CtaState &s = ctas_[cta.rank];
  Record good;
  auto check = [&](Record r, const std::string &where) {
    if (!r || r == good || s.exits.knows(r.component(), r.time())) {
      good = r;
      return;
    }
    exitFinding("an access of another CTA to " + where + " of CTA rank " +
                    std::to_string(cta.rank) +
                    " is not ordered before the exit of its threads",
                r);
  };
  for (size_t word = 0; word < s.shared.size(); ++word) {
    const Cell &cell = s.shared[word];
    for (Record r : {cell.write, cell.read[0], cell.read[1]}) {
      if (r && r != good && !r.isStream() &&
          cluster_->warps[warpOf(r)].cta->rank != cta.rank) {
        check(r, "shared offset " + hexadecimal(word * 4));
      }
    }
  }
  for (const BarrierState &b : barriers_) {
    if (streams_[b.stream - kFirstStream].warp == cta.rank) {
      for (Record r : {b.lastRemote, b.lastCommit}) {
        check(r, "the mbarrier at shared address " +
                     hexadecimal(streams_[b.stream - kFirstStream].address));
      }
    }
  }
}

void Hazards::exitFinding(const std::string &what, Record other) {
  if (fresh(FindingKind::ExitWhilePending, 0, other)) {
    report(FindingKind::ExitWhilePending, 0,
           "kernel '" + cluster_->context->program->name +
               "', at its end: " + what,
           other);
  }
}

} // namespace gmoe::emulator
