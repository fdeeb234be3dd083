// Everything that is known of one trace, as a value: the reports and the profile (make_profile.h) are made from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/calls/function_sums.h"
#include "analyzer/calls/kernel_facts.h"
#include "analyzer/calls/run_parts.h"
#include "analyzer/flow/flows.h"
#include "analyzer/remote/remote_eligibility.h"
#include "analyzer/remote/remote_prediction.h"
#include "analyzer/rules/find_all.h"
#include "analyzer/transfers/dispatch_ratio.h"
#include "analyzer/transfers/goptimize_gain.h"
#include "analyzer/transfers/transfer_calls.h"
#include "analyzer/transfers/transfer_sources.h"
#include "analyzer/transfers/verified.h"
#include "traces/base/progress.h"
#include "traces/model/fold/event.h"
#include "traces/model/platform/platform.h"

namespace gt::analyzer {

struct Analysis {
  std::string program;  // path of the first process's executable; empty when not known
  std::string build_id;
  std::string digest;
  uint64_t wall_ns = 0;
  uint64_t opencl_calls = 0;
  DispatchRatio ratio;
  RunParts run;
  std::vector<TransferSource> sources;
  std::vector<TransferCall> transfers;
  std::vector<KernelFacts> kernels;
  FoundAll found;
  GoptimizeGain gain;
  RemoteEligibility remote;
  std::vector<FunctionSums> functions;
  Flows flows;
  RemotePrediction prediction;
  std::optional<std::vector<Verified>> verified;  // ganalyze --verify; nothing: it was not asked for
  std::vector<std::string> losses;  // what the trace lacks, one sentence each

  // As reports call it: with a number where several programs have a kernel of this name. REQUIRES: one of `kernels`.
  std::string kernel_name(const KernelFacts& kernel) const;
  std::string program_name() const;  // without directories; "program" when not known
};

// `platform` may be null. REQUIRES: a checked trace (read_trace gives one). Cost: O(folded trace),
// and a child process for each kernel source.
// The run is predicted for `links` and for those of the platform.
Analysis analyze(const model::Trace& trace, double min_ratio, const model::Platform* platform,
                 const std::vector<model::LinkCosts>& links = {}, Progress* progress = nullptr);
constexpr uint64_t AnalysisSteps = 6;  // that `progress` is told of

}  // namespace gt::analyzer
