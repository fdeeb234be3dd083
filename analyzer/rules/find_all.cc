// Runs the rules over what they all look at.
#include "analyzer/rules/find_all.h"

#include <algorithm>

#include "analyzer/calls/fact_number.h"
#include "analyzer/calls/host_devices.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {
namespace {

// Calls are missing: what follows from their order cannot be relied on.
bool has_gaps(const model::Trace& trace) {
  constexpr const char* Facts[] = {"pauses", "lost.undecodable_records", "lost.calls_inside_signal_handlers",
                                   "lost.threads_without_ring", "lost.damaged_rings"};
  return std::any_of(std::begin(Facts), std::end(Facts), [&](const char* f) { return fact_number(trace, f) > 0; });
}

std::string hint(const Findings& f) {
  const bool contents =
      std::any_of(f.plans.begin(), f.plans.end(), [](const CallPlan& p) { return p.content_at != NoValue; });
  double sent_ns = 0;
  for (const CallPlan& p : f.plans)
    if (p.moves == model::Direction::HostToDevice) sent_ns += time_of(f.trace.stats[p.shape]);
  if (contents || !worth(f, sent_ns)) return {};
  return "Whether the same data was sent twice, or results sent back unchanged, is not known: a trace of "
         "`gtrace run --capture hash` would tell.";
}

void drop_empty(std::vector<Finding>& findings) {
  std::erase_if(findings, [](const Finding& f) { return f.saving_s && *f.saving_s <= 0; });
}

}  // namespace

FoundAll find_all(const model::Trace& trace, const DispatchRatio& ratio, const RunParts& run,
                  const std::vector<TransferSource>& sources, const std::vector<KernelFacts>& kernels,
                  const Effects& effects, const model::Platform* platform, CallSites& sites) {
  FoundAll found;
  const CallPlans plans(trace, effects);
  const bool gaps = has_gaps(trace);
  const auto sends = gaps ? std::vector<SendFacts>(plans.size()) : follow_sends(trace, plans);
  const auto waits = gaps ? std::vector<WaitFacts>(plans.size()) : follow_waits(trace, plans);
  const auto maps = gaps ? std::vector<MapFacts>(plans.size()) : follow_maps(trace, plans);
  const bool on_host = devices_share_host_memory(trace);
  Findings f{trace, ratio, sources, platform, sites, kernels, on_host, plans, sends, waits, maps, found.findings};
  for (const Rule rule : Rules) rule(f);
  cap_savings(found.findings, run);
  drop_empty(found.findings);
  std::stable_sort(found.findings.begin(), found.findings.end(),
                   [](const Finding& x, const Finding& y) { return x.saving_s.value_or(0) > y.saving_s.value_or(0); });
  found.total_s = total_saving_s(trace, found.findings, f.wall_ns());
  found.hint = hint(f);
  return found;
}

}  // namespace gt::analyzer
