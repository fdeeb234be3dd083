// The recordings of this machine that we may look at, by the spools that they have in shared memory.
#pragma once

#include <optional>
#include <vector>

#include "tracer/collect/spool_reader.h"

namespace gt::tracer {

// Those whose collector lives, or, with `orphans`, those whose collector is gone. Each is mapped for as long as its
// reader lives, and none is removed; what cannot be opened is passed over. Cost: a mapping for each spool of the
// machine.
std::vector<SpoolReader> find_recordings(bool orphans);

// Those that process `pid` belongs to; without a number all.
std::vector<SpoolReader*> chosen_recordings(std::vector<SpoolReader>& running, std::optional<uint64_t> pid);
// Asks the collector for a snapshot, and waits until it is written, or could not be (snapshot_failed). False: the
// collector has ended.
bool await_snapshot(SpoolHeader& spool);
// Invalid, with what the user can do, unless there is one.
Status exactly_one(const std::vector<SpoolReader*>& recordings);

// Does this process belong to it: gtrace, its collector, or one that can record?
bool belongs_to(int pid, SpoolReader& recording);

}  // namespace gt::tracer
