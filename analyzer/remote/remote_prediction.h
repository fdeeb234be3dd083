// How long would the program run with its devices at the other end of a link?
//
// The trace is replayed twice on a machine of costs (link_replay.h): once locally, once with the link in between. What
// the local replay cannot explain (the program's own time where it was not recorded, its start and end) is taken to be
// the same in both:
//   predicted = measured run time + (remote replay - local replay)
// Waiting calls of the trace took longer than what they waited for: the difference, per call, is added to each wait of
// both replays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/remote/link_replay.h"
#include "traces/model/fold/event.h"
#include "traces/model/platform/platform.h"

namespace gt::analyzer {

struct Link {
  model::LinkCosts costs;
  bool assumed = false;  // not measured: from the command line
};

// What one queue's commands add up to: not when they run, but how much there is.
struct QueueOnLink {
  model::ClassId queue = model::NoIndex;
  uint64_t commands = 0, waits = 0;  // waits: calls that need an answer from it
  double device_s = 0, transfer_s = 0, reply_s = 0;
  Term dominates() const;
};

struct LinkPrediction {
  Link link;
  double seconds = 0;
  double slowdown = 1;  // against the measured run
  Terms parts_s{};      // of the remote replay: how its time comes about, along the chain that decides
  Term dominates = Term::Host;
  double replies = 0;  // calls that wait for a round trip
  double put_bytes = 0, get_bytes = 0;
  bool approximate = false;
  std::vector<QueueOnLink> queues;
};

struct RemotePrediction {
  double measured_s = 0;       // the traced run
  double replayed_s = 0;       // the local replay
  bool gaps_recorded = false;  // the program's own time between calls is known (--timeline)
  std::vector<LinkPrediction> links;
  std::vector<std::string> doubts;  // sentences
};

const char* term_name(Term term);  // "latency", "bandwidth", "device", "host"

// Cost: two walks over the folded trace (one more for each further link), and a bounded part of the timeline.
RemotePrediction predict_remote(const model::Trace& trace, const std::vector<Link>& links, uint64_t wall_ns);

}  // namespace gt::analyzer
