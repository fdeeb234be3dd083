// Rule: data that is sent again although the device has it, or would have it if its buffer had been kept.
#include <fmt/format.h>

#include "analyzer/report/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {

void find_repeated_sends(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const SendFacts& sends = f.sends[plan.shape];
    const uint64_t again = sends.held + sends.kept;
    const model::ShapeStats& s = f.trace.stats[plan.shape];
    const double ns = static_cast<double>(again) * transfer_ns(s);
    if (again == 0 || !worth(f, ns)) continue;
    Finding finding = finding_at(f, "repeated-sends", plan.shape, ns);
    finding.evidence =
        fmt::format("{} of {} calls of {} sent bytes that the buffer {} at that place, {} each on average", again,
                    s.calls, plan.fn->name, sends.held >= sends.kept ? "already had" : "had before it was made anew",
                    bytes_text(s.bytes.count ? s.bytes.sum / s.bytes.count : 0));
    finding.basis = "measured: the time of these transfers";
    finding.advice = sends.held >= sends.kept
                         ? "Send the data once, and again only when the host has changed it."
                         : "Keep the buffer with its contents instead of making and filling it anew.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
