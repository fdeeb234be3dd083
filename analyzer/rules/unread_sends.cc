// Rule: data that is sent and overwritten or thrown away before anything can have read it.
#include <fmt/format.h>

#include "analyzer/report/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {

void find_unread_sends(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const uint64_t unread = f.sends[plan.shape].unread;
    const model::ShapeStats& s = f.trace.stats[plan.shape];
    const double ns = static_cast<double>(unread) * transfer_ns(s);
    if (unread == 0 || !worth(f, ns)) continue;
    Finding finding = finding_at(f, "unread-sends", plan.shape, ns);
    finding.evidence = fmt::format(
        "the bytes of {} of {} calls of {} were overwritten, or their buffer ended, before any command read "
        "them; {} each on average",
        unread, s.calls, plan.fn->name, bytes_text(s.bytes.count ? s.bytes.sum / s.bytes.count : 0));
    finding.basis = "measured: the time of these transfers";
    finding.advice = "Do not send what no kernel reads; a buffer that kernels only write needs no contents.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
