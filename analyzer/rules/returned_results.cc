// Rule: results that the host receives and sends back to the device unchanged.
#include <fmt/format.h>

#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {

void find_returned_results(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const SendFacts& sends = f.sends[plan.shape];
    auto needless = needless_transfers(f, "returned-results", plan, sends.returned + sends.moved);
    if (!needless) continue;
    Finding& finding = needless->finding;
    const bool moved = sends.moved > sends.returned;
    finding.evidence = fmt::format(
        "{} sent bytes that the host had received from the device and not changed, {} each on average", needless->calls,
        needless->mean_bytes);
    finding.basis =
        moved ? "measured: the time of these transfers; the copy on the device is not subtracted"
              : "measured: the time of these transfers; receiving the data comes on top if the host does not need it";
    finding.advice =
        moved ? "Copy on the device (clEnqueueCopyBuffer), or let the next kernel use the buffer that has the data."
              : "Leave the data in its buffer: it is still there.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
