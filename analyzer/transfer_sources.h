// Where the data of host-device transfers comes from and goes to: allocation sites, and memory that
// no allocation made.
//
// A transfer's shape names the class of its host memory, and that class names the creating call: so
// the table is a sum over shapes. Cost: O(shapes), whatever the length of the run.
#pragma once

#include <string>
#include <vector>

#include "analyzer/call_site.h"
#include "traces/model/event.h"

namespace gt::analyzer {

struct TransferSums {
  uint64_t transfers = 0;
  uint64_t h2d_bytes = 0, d2h_bytes = 0, h2d_count = 0, d2h_count = 0;
  uint64_t time_ns = 0;    // on the device clock where timed; else of the host call
  uint64_t untimed = 0;    // transfers of which only the host time is known
  uint64_t min_bytes = 0;  // smallest transfer
  uint64_t max_bytes = 0;
  uint64_t bytes() const { return h2d_bytes + d2h_bytes; }
};

struct TransferSource {
  model::ObjectKind kind =
      model::ObjectKind::Unknown;  // Segment: an allocation site; else what memory it is
  CallSite site;                   // Segment, Svm and String; of Static and File only the path
  std::string call;                // "malloc", ...; empty unless Segment, Svm or String
  uint64_t allocations = 0;  // calls of that site, whether their memory was transferred or not
  model::Stats sizes;        // of those allocations
  TransferSums sums;
  std::string name() const;  // "main (app.cc:12)", "stack", "static data of app", ...
  double transfers_each() const;
};

// Largest time first. REQUIRES: a checked trace.
std::vector<TransferSource> find_transfer_sources(const model::Trace& trace, CallSites& sites);

}  // namespace gt::analyzer
