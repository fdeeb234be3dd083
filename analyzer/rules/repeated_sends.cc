// Rule: data that is sent again although the device has it, or would have it if its buffer had been kept.
#include <fmt/format.h>

#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {

void find_repeated_sends(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const SendFacts& sends = f.sends[plan.shape];
    auto needless = needless_transfers(f, "repeated-sends", plan, sends.held + sends.kept);
    if (!needless) continue;
    Finding& finding = needless->finding;
    const bool held = sends.held >= sends.kept;
    finding.evidence =
        fmt::format("{} sent bytes that the buffer {} at that place, {} each on average", needless->calls,
                    held ? "already had" : "had before it was made anew", needless->mean_bytes);
    finding.basis = "measured: the time of these transfers";
    finding.advice = held ? "Send the data once, and again only when the host has changed it."
                          : "Keep the buffer with its contents instead of making and filling it anew.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
