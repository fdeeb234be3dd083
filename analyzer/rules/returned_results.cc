// Rule: results that the host receives and sends back to the device unchanged.
#include <fmt/format.h>

#include "analyzer/report/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {

void find_returned_results(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const SendFacts& sends = f.sends[plan.shape];
    const uint64_t back = sends.returned + sends.moved;
    const model::ShapeStats& s = f.trace.stats[plan.shape];
    const double ns = static_cast<double>(back) * transfer_ns(s);
    if (back == 0 || !worth(f, ns)) continue;
    Finding finding = finding_at(f, "returned-results", plan.shape, ns);
    finding.evidence = fmt::format(
        "{} of {} calls of {} sent bytes that the host had received from the device and not "
        "changed, {} each on average",
        back, s.calls, plan.fn->name, bytes_text(s.bytes.count ? s.bytes.sum / s.bytes.count : 0));
    finding.basis =
        sends.moved > sends.returned
            ? "measured: the time of these transfers; the copy on the device is not subtracted"
            : "measured: the time of these transfers; receiving the data comes on top if the host does not need it";
    finding.advice =
        sends.moved > sends.returned
            ? "Copy on the device (clEnqueueCopyBuffer), or let the next kernel use the buffer that has the data."
            : "Leave the data in its buffer: it is still there.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
