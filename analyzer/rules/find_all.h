// Runs every rule (finding.h) over a trace.
#pragma once

#include <string>
#include <vector>

#include "analyzer/calls/run_parts.h"
#include "analyzer/rules/finding.h"

namespace gt::analyzer {

// All that the rules found, largest saving first.
struct FoundAll {
  std::vector<Finding> findings;
  double total_s = 0;  // what they save together at most: they may concern the same calls
  std::string hint;    // what could not be looked for in this trace, and how it could be; empty when all could
};
FoundAll find_all(const model::Trace& trace, const DispatchRatio& ratio, const RunParts& run,
                  const std::vector<TransferSource>& sources, const std::vector<KernelFacts>& kernels,
                  const Effects& effects, const model::Platform* platform, CallSites& sites);

}  // namespace gt::analyzer
