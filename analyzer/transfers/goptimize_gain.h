// What `goptimize run` is predicted to save of a run like the traced one.
//
//   allocation sites   what the cost model (policy_costs.h) expects: a block of ordinary memory pays for the first
//                      touch of its pages and for slow transfers, one of the policy's for huge pages or pins once
//   staging            transfers of memory that no site can be named for, through pinned chunks
//   huge pages         large blocks of the C library that no policy serves: their first touch
// All together never more than what goptimize can reach of the run (run_parts.h).
// Thread safety: values. Cost: O(shapes * sources).
#pragma once

#include <string>
#include <vector>

#include "analyzer/calls/run_parts.h"
#include "analyzer/transfers/dispatch_ratio.h"
#include "analyzer/transfers/transfer_sources.h"
#include "traces/model/profile/policy_costs.h"

namespace gt::analyzer {

struct GoptimizeGain {
  double sites_s = 0, staging_s = 0, pages_s = 0;
  double saved_s = 0;  // the sum, as far as the run has so much to save
  std::string basis;   // what it rests on, or lacks
};

// `platform` may be null: then only huge pages are predicted. REQUIRES: a checked trace.
GoptimizeGain predict_gain(const model::Trace& trace, const DispatchRatio& ratio, const RunParts& run,
                           const std::vector<TransferSource>& sources, const model::Platform* platform,
                           CallSites& sites);

// The costs of the first device of the trace that was measured; null: none was.
const model::DeviceCosts* measured_device(const model::Trace& trace, const model::Platform* platform);

// What the cost model is asked about a source: all of its allocations and transfers.
model::Expectation expectation_of(const TransferSource& source);

}  // namespace gt::analyzer
