// Can the program's devices be remote ones? What it uses that cannot go over a link, and what can but needs care.
#pragma once

#include <string>
#include <vector>

#include "analyzer/calls/mapped_launches.h"
#include "analyzer/code/call_site.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct RemoteFeature {
  std::string name;      // "native-kernel"
  std::string reason;    // a sentence's part that explains it
  bool blocks = false;   // it cannot go; else it can, at a price
  std::string function;  // the call
  CallSite site;
  uint64_t calls = 0;                     // that succeeded
  model::ClassId queue = model::NoIndex;  // the queue that it concerns; NoIndex: all of them
};

struct RemoteQueue {
  model::ClassId queue = model::NoIndex;
  CallSite site;  // where it is made
  bool eligible = true;
  uint64_t commands = 0;
};

struct RemoteEligibility {
  bool eligible = true;
  std::vector<std::string> reasons;  // what stands against it; empty when eligible
  std::vector<RemoteFeature> features;
  std::vector<RemoteQueue> queues;
};

// Cost: O(folded trace).
RemoteEligibility find_remote_eligibility(const model::Trace& trace, CallSites& sites, const Effects& effects = {});

}  // namespace gt::analyzer
