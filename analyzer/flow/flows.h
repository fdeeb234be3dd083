// Finds the data flow of a program (flow_graph.h) in its folded trace.
#pragma once

#include <vector>

#include "analyzer/calls/kernel_facts.h"
#include "analyzer/code/call_site.h"
#include "analyzer/flow/flow_graph.h"
#include "analyzer/transfers/transfer_sources.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

// REQUIRES: a checked trace; sources and kernels of it. Cost: O(folded trace).
Flows find_flows(const model::Trace& trace, CallSites& sites, const TransferSources& sources,
                 const std::vector<KernelFacts>& kernels);

}  // namespace gt::analyzer
