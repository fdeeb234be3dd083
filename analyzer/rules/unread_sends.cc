// Rule: data that is sent and overwritten or thrown away before anything can have read it.
#include <fmt/format.h>

#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {

void find_unread_sends(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    auto needless = needless_transfers(f, "unread-sends", plan, f.sends[plan.shape].unread);
    if (!needless) continue;
    Finding& finding = needless->finding;
    finding.evidence = fmt::format(
        "the bytes of {} were overwritten, or their buffer ended, before any command read them; {} each on average",
        needless->calls, needless->mean_bytes);
    finding.basis = "measured: the time of these transfers";
    finding.advice = "Do not send what no kernel reads; a buffer that kernels only write needs no contents.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
