// Accesses of asynchronous copies. They are checked against what their issuer
// knew, and count as done for whoever waits for their mbarrier or bulk group.
#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {

Issuer Hazards::issue(Warp &w, unsigned lane) {
  WarpState &s = state(w);
  Issuer issuer;
  issuer.knowledge = classOf(s, lane).knowledge;
  issuer.thread = threadOf(w, lane);
  // Later accesses of the thread are not ordered before this work.
  issuer.time = s.now++;
  return issuer;
}

Issuer Hazards::issueBulk(Warp &w, unsigned lane, uint64_t group) {
  Issuer issuer = issue(w, lane);
  BulkStreams &b = bulk_[issuer.thread];
  if (b.reads == 0) {
    b.reads = newStream(StreamInfo::BulkReads, w.index, lane, 0);
    b.writes = newStream(StreamInfo::BulkWrites, w.index, lane, 0);
  }
  b.issued = uint32_t(group) + 1;
  b.instruction = w.pc;
  issuer.stream = b.reads;
  issuer.position = b.issued;
  return issuer;
}

void Hazards::bulkWait(Warp &w, uint32_t mask, uint64_t allowed, bool reads) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    auto it = bulk_.find(threadOf(w, lane));
    if (it == bulk_.end() || w.bulkGroup[lane] <= allowed) {
      continue;
    }
    uint32_t done = uint32_t(w.bulkGroup[lane] - allowed);
    const BulkStreams &b = it->second;
    each(w, 1u << lane, [&](LaneClass &c) {
      ThreadKnowledge &k = own(c);
      for (uint32_t stream : {b.reads, reads ? 0 : b.writes}) {
        if (stream) {
          k.strict.raiseStream(stream, done);
          k.loose.raiseStream(stream, done);
          k.proxy.raiseStream(stream, done);
        }
      }
    });
  }
}

void Hazards::signalUse(const Instruction &i, uint32_t warp,
                        const Issuer &issuer, const MBarrier &b,
                        uint32_t address) {
  if (b.hazard == 0 || !issuer.knowledge) {
    return;
  }
  const BarrierState &s = barriers_[b.hazard - 1];
  if (!initialized(*issuer.knowledge, issuer.thread, s)) {
    findAsync(FindingKind::BarrierLifetime, i, warp,
              "signals the mbarrier at shared address " + hexadecimal(address) +
                  ", whose initialization is not ordered before it",
              s.init);
  } else if (!s.fenced && !issuer.knowledge->proxy.knows(s.init.component(),
                                                         s.init.time())) {
    findAsync(FindingKind::ProxyFence, i, warp,
              "signals the mbarrier at shared address " + hexadecimal(address) +
                  " through the async proxy, after its initialization "
                  "without fence.mbarrier_init or fence.proxy.async",
              s.init);
  }
}

Hazards::Standing Hazards::standing(const Issuer &issuer, Record earlier,
                                    bool isWrite, bool reads) const {
  const ThreadKnowledge &k = *issuer.knowledge;
  uint32_t c = earlier.component(), t = earlier.time();
  bool ordered = c == issuer.thread ? t <= issuer.time
                 : c == issuer.stream && issuer.position
                     ? t <= issuer.position
                     : (reads ? k.strict : k.loose).knows(c, t);
  if (!ordered) {
    return Standing::Unordered;
  }
  // What asynchronous work wrote is in the async proxy already.
  bool generic = !earlier.isStream() ||
                 streams_[c - kFirstStream].kind == StreamInfo::CopyGroups;
  return (isWrite || issuer.fencesReads) && generic && !issuer.genericProxy &&
                 !k.proxy.knows(c, t)
             ? Standing::Unfenced
             : Standing::Ordered;
}

void Hazards::checkRead(const Work &work, Record write,
                        const std::string &where) {
  if (!write) {
    findAsync(FindingKind::Uninitialized, *work.instruction, work.warp,
              "read of " + where + ", which nothing wrote");
    return;
  }
  switch (standing(*work.issuer, write, true, true)) {
  case Standing::Unordered:
    findAsync(FindingKind::ReadUnordered, *work.instruction, work.warp,
              "read of " + where +
                  ", whose last write is not ordered before it",
              write);
    return;
  case Standing::Unfenced:
    findAsync(FindingKind::ProxyFence, *work.instruction, work.warp,
              "read of " + where +
                  " through the async proxy, after a generic write without "
                  "fence.proxy.async between",
              write);
    return;
  case Standing::Ordered:
    return;
  }
}

void Hazards::checkWrite(const Work &work, Record earlier, bool wasWrite,
                         const std::string &where) {
  switch (standing(*work.issuer, earlier, wasWrite, false)) {
  case Standing::Unordered:
    findAsync(wasWrite ? FindingKind::WriteUnordered
                       : FindingKind::OverwriteInUse,
              *work.instruction, work.warp,
              wasWrite ? "write to " + where +
                             ", whose last write is not ordered before it"
                       : "write to " + where +
                             ", while a read of the old value is not ordered "
                             "before it",
              earlier);
    return;
  case Standing::Unfenced:
    findAsync(FindingKind::ProxyFence, *work.instruction, work.warp,
              "write to " + where +
                  " through the async proxy, after a generic " +
                  (wasWrite ? "write" : "read") +
                  " without fence.proxy.async between",
              earlier);
    return;
  case Standing::Ordered:
    return;
  }
}

void Hazards::readCells(const Work &work, Cell *cells, size_t count,
                        Record record, uint64_t address) {
  Record checked(0, 0, 0, true, 0); // no write looks like this
  for (size_t k = 0; k < count; ++k) {
    Cell &cell = cells[k];
    if (cell.write != checked) {
      checked = cell.write;
      if (!checked ||
          standing(*work.issuer, checked, true, true) != Standing::Ordered) {
        checkRead(work, checked,
                  "shared address " + hexadecimal(address + 4 * k));
      }
    }
    if (!cell.read[0] || cell.read[0].component() == record.component()) {
      cell.read[0] = record;
    } else {
      remember(cell, record, work.issuer->knowledge->loose);
    }
  }
}

void Hazards::writeCells(const Work &work, Cell *cells, size_t count,
                         Record record, uint64_t address) {
  Record written, read[2];
  for (size_t k = 0; k < count; ++k) {
    Cell &cell = cells[k];
    if (cell.write && cell.write != written) {
      written = cell.write;
      if (standing(*work.issuer, written, true, false) != Standing::Ordered) {
        checkWrite(work, written, true,
                   "shared address " + hexadecimal(address + 4 * k));
      }
    }
    for (unsigned n = 0; n < 2; ++n) {
      if (cell.read[n] && cell.read[n] != read[n]) {
        read[n] = cell.read[n];
        if (standing(*work.issuer, read[n], false, false) !=
            Standing::Ordered) {
          checkWrite(work, read[n], false,
                     "shared address " + hexadecimal(address + 4 * k));
        }
      }
    }
    cell.write = record;
    cell.read[0] = cell.read[1] = Record();
  }
}

void Hazards::asyncWriteShared(const AsyncOp &op, Cta &cta, uint32_t offset,
                               uint64_t bytes, const MBarrier *signals) {
  if (!op.issuer.knowledge || bytes == 0) {
    return;
  }
  Work work{op.instruction, op.warp, &op.issuer};
  Record record;
  if (signals && signals->hazard) {
    BarrierState &b = barriers_[signals->hazard - 1];
    record =
        Record(b.stream, b.phases + 1, indexOf(*op.instruction), false, 0xf);
    ctas_[cta.rank].copies[b.stream] = record;
  } else {
    record = Record(op.issuer.thread, op.issuer.time, indexOf(*op.instruction),
                    false, 0xf);
  }
  writeCells(work, &ctas_[cta.rank].shared[offset / 4], (bytes + 3) / 4, record,
             uint64_t(cta.rank) << 24 | offset);
  if (op.issuer.fencesReads) {
    checkReaders(work, cta.rank << 24 | offset, bytes);
  }
}

void Hazards::checkReaders(const Work &work, uint32_t address, uint64_t bytes) {
  for (uint32_t at = address; at < address + bytes; at += 4) {
    std::vector<Record> &readers = answers_[at];
    for (Record r : readers) {
      checkWrite(work, r, false, "shared address " + hexadecimal(at));
    }
    readers.clear();
  }
}

void Hazards::asyncReadShared(const AsyncOp &op, Cta &cta, uint32_t offset,
                              uint64_t bytes, const MBarrier *signals) {
  if (!op.issuer.knowledge || bytes == 0) {
    return;
  }
  if (signals && signals->hazard) {
    // Done when the mbarrier's phase is.
    const BarrierState &b = barriers_[signals->hazard - 1];
    Work work{op.instruction, op.warp, &op.issuer};
    readCells(
        work, &ctas_[cta.rank].shared[offset / 4], (bytes + 3) / 4,
        Record(b.stream, b.phases + 1, indexOf(*op.instruction), false, 0xf),
        uint64_t(cta.rank) << 24 | offset);
    return;
  }
  readShared(*op.instruction, op.warp, op.issuer, cta, offset, uint32_t(bytes));
}

void Hazards::asyncReadGlobal(const AsyncOp &op, const Allocation &a,
                              uint64_t offset, uint64_t bytes) {
  if (!op.issuer.knowledge || !a.shadow) {
    return;
  }
  Work work{op.instruction, op.warp, &op.issuer};
  Record good; // seen to be in order
  for (uint64_t at = offset; at < offset + bytes;) {
    uint64_t end = std::min(offset + bytes,
                            (at / GlobalPage::kBytes + 1) * GlobalPage::kBytes);
    if (GlobalPage *page = a.shadow->find(at)) {
      for (uint64_t word = at / 4; word * 4 < end; ++word) {
        GlobalWrite cell = page->cells[word % (GlobalPage::kBytes / 4)].load();
        Record r = cell.write;
        if (!r || r == good) {
          continue;
        }
        bool mine = cell.cluster == cluster_->id;
        if (mine && standing(op.issuer, r, true, true) == Standing::Ordered) {
          good = r;
          continue;
        }
        std::string where = "global address " + hexadecimal(a.base + word * 4);
        if (mine) {
          checkRead(work, r, where);
        } else if (!knowsForeign(cell)) {
          findAsync(FindingKind::ReadUnordered, *op.instruction, op.warp,
                    "read of " + where + ", which cluster " +
                        std::to_string(cell.cluster) +
                        " wrote, not ordered before it");
        }
      }
    }
    at = end;
  }
}

void Hazards::asyncWriteGlobal(const AsyncOp &op, const Allocation &a,
                               uint64_t offset, uint64_t bytes) {
  a.markWritten(offset, bytes);
  if (!op.issuer.knowledge || !a.shadow || bytes == 0) {
    return;
  }
  Work work{op.instruction, op.warp, &op.issuer};
  auto it = bulk_.find(op.issuer.thread);
  uint32_t stream = it == bulk_.end() ? op.issuer.stream : it->second.writes;
  bool strong = op.reduction != 0;
  // Lanes that store the same tile in one instruction: one of them wins.
  auto together = [&](Record r) {
    return r.isStream() && r.instruction() == indexOf(*op.instruction) &&
           warpOf(r) == op.warp && r.time() == op.issuer.position;
  };
  for (uint64_t at = offset; at < offset + bytes;) {
    uint64_t end = std::min(offset + bytes,
                            (at / GlobalPage::kBytes + 1) * GlobalPage::kBytes);
    GlobalPage &page = a.shadow->page(at);
    Record last;
    for (uint64_t word = at / 4; word * 4 < end; ++word) {
      GlobalCell &slot = page.cells[word % (GlobalPage::kBytes / 4)];
      GlobalWrite cell = slot.load();
      Record r = cell.write;
      uint32_t mask = bytesIn(word, at, end - at);
      if (r && (r.bytes() & mask) && !(strong && r.strong()) && r != last &&
          !(cell.cluster == cluster_->id && together(r))) {
        last = r;
        std::string where = "global address " + hexadecimal(a.base + word * 4);
        if (cell.cluster == cluster_->id) {
          checkWrite(work, r, true, where);
        } else {
          if (!knowsForeign(cell)) {
            findAsync(FindingKind::WriteUnordered, *op.instruction, op.warp,
                      "write to " + where + ", which cluster " +
                          std::to_string(cell.cluster) +
                          " wrote, not ordered before it");
          }
        }
      }
      slot.store(Record(stream, op.issuer.position, indexOf(*op.instruction),
                        strong, mask),
                 cluster_->id);
    }
    at = end;
  }
}

} // namespace gmoe::emulator
