// Rule: results that are received into memory which nobody has touched: its pages are made during the transfer.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t LeastCalls = 3;
constexpr uint64_t Large = 1 << 20;    // bytes of each transfer
constexpr double MostNsPerByte = 0.5;  // 2 us a page: what takes longer has other reasons

// Does anything send from this memory? Then the host has written it before.
bool is_sent(const Findings& f, model::ClassId cls) {
  return std::any_of(f.plans.begin(), f.plans.end(), [&](const CallPlan& p) {
    const Touch* host = p.host();
    return p.moves == model::Direction::HostToDevice && host && host->cls == cls;
  });
}

// The driver's own first time is over: another shape has received a large piece before, in the order of the shapes'
// births.
bool received_before(const Findings& f, const CallPlan& plan) {
  return std::any_of(f.plans.begin(), f.plans.end(), [&](const CallPlan& p) {
    const bool thread = f.trace.shapes[p.shape].thread == f.trace.shapes[plan.shape].thread;
    return thread && p.shape < plan.shape && p.moves == model::Direction::DeviceToHost && p.command &&
           f.trace.stats[p.shape].bytes.max >= Large;
  });
}

// Something has written to the buffer: else it may be its own pages that are made, where the device uses the host's.
bool written_before(const Findings& f, const CallPlan& plan) {
  const Touch* from = plan.target();
  if (!from) return false;
  return std::any_of(f.plans.begin(), f.plans.end(), [&](const CallPlan& p) {
    return p.command && p.shape < plan.shape && std::any_of(p.touches.begin(), p.touches.end(), [&](const Touch& t) {
      return t.cls == from->cls && (t.effect == model::Effect::UseDef || t.effect == model::Effect::Def);
    });
  });
}

double extra_ns(const model::ShapeStats& s) {
  if (s.device_ns.count < LeastCalls || s.timed != s.device_ns.count) return 0;  // the first one must be a measured one
  const double first = static_cast<double>(s.first_device_ns);
  const double later = (static_cast<double>(s.device_ns.sum) - first) / static_cast<double>(s.device_ns.count - 1);
  return first > 2 * later ? first - later : 0;
}

}  // namespace

void find_first_touch(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const Touch* host = plan.host();
    const model::ShapeStats& s = f.trace.stats[plan.shape];
    if (plan.moves != model::Direction::DeviceToHost || !plan.command || plan.maps() || !host) continue;
    if (host->kind != model::ObjectKind::Segment || s.bytes.count == 0 || s.bytes.min < Large) continue;
    const double ns = std::min(extra_ns(s), static_cast<double>(s.bytes.min) * MostNsPerByte);
    if (!worth(f, ns) || is_sent(f, host->cls) || !received_before(f, plan) || !written_before(f, plan)) continue;
    Finding finding = finding_at(f, "first-touch", plan.shape, ns);
    finding.by_goptimize = true;
    finding.evidence = fmt::format(
        "the first {} of {} took {}, later ones {} on average: it goes to memory that was never "
        "sent, whose pages are made during the transfer",
        plan.fn->name, bytes_text(s.bytes.min), time_text(s.first_device_ns),
        time_text((s.device_ns.sum - s.first_device_ns) / (s.device_ns.count - 1)));
    finding.basis =
        "measured: the first transfer less a later one; the pages must still be made, but beside the device's work";
    finding.advice =
        "Touch the memory (write to each page) while the device computes; or take it from memory that was used before";
    finding.advice += f.on_host ? "." : ", or from `goptimize run`, whose pools are ready at the start.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
