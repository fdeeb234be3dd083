// Rule: waits that order nothing, because nothing was on its way, or only what the queue orders by itself.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {
namespace {
constexpr uint64_t Many = 10;
}

void find_idle_waits(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const WaitFacts& w = f.waits[plan.shape];
    const uint64_t needless = w.idle + w.early;
    const model::ShapeStats& s = f.trace.stats[plan.shape];
    if (needless < Many || !w.timed || s.host_ns.count < 2) continue;
    // The device still has to do its work, whether the host waits for it or not; and what a driver does before the
    // first launch (it may compile) would be waited for elsewhere.
    const double others = static_cast<double>(s.host_ns.sum - std::min(s.host_ns.sum, s.first_host_ns));
    const double waited = others / static_cast<double>(s.host_ns.count - 1) * static_cast<double>(needless - 1);
    const double ns = std::max(0.0, waited - w.awaited_ns);
    if (!worth(f, ns)) continue;
    Finding finding = finding_at(f, "idle-waits", plan.shape, ns);
    finding.evidence =
        fmt::format("{} of {} calls of {} ordered nothing: {}", needless, s.calls, plan.fn->name,
                    w.early >= w.idle ? "only work of the device was on its way, in one queue that keeps "
                                        "its order, and the program went on to enqueue more"
                                      : "no command was on its way");
    finding.basis = w.early >= w.idle
                        ? "measured: the time in these calls, less the device's time for what they waited for"
                        : "measured: the time in these calls";
    finding.advice =
        "Leave the wait out; wait where the host needs a result (a blocking read waits by itself). Only a "
        "program that measures time needs it.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
