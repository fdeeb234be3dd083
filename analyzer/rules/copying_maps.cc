// Rule: map calls that copy what need not be copied: contents that nobody has written, and buffers that live on the
// device and are mapped again and again.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Many = 10;
// A mapping that copies takes time in proportion to its bytes; one that does not takes a call's time. Faster than this
// nothing copies, and shorter than this it cannot be told.
constexpr double FastestBytesPerNs = 30, LeastCopyNs = 50'000;

// Does it copy? By the device's clock, on which waiting for earlier commands does not count.
bool copies(const model::ShapeStats& s) {
  if (s.device_ns.count == 0 || s.bytes.count == 0) return false;
  const double ns = static_cast<double>(s.device_ns.sum) / static_cast<double>(s.device_ns.count);
  const double bytes = static_cast<double>(s.bytes.sum) / static_cast<double>(s.bytes.count);
  return ns >= LeastCopyNs && bytes / ns <= FastestBytesPerNs;
}

void undefined(Findings& f, const CallPlan& plan, const MapFacts& maps) {
  const model::ShapeStats& s = f.trace.stats[plan.shape];
  const double ns = static_cast<double>(maps.undefined) * transfer_ns(s);
  if (maps.undefined == 0 || !copies(s) || !worth(f, ns)) return;
  Finding finding = finding_at(f, "copying-maps", plan.shape, ns);
  finding.evidence = fmt::format("{} of {} calls of {} copied {} from a buffer that nothing had written to",
                                 maps.undefined, s.calls, plan.fn->name, bytes_text(s.bytes.sum / s.bytes.count));
  finding.basis = "measured: the time of these mappings";
  finding.advice = "Map with CL_MAP_WRITE_INVALIDATE_REGION where the old contents do not matter.";
  f.out.push_back(std::move(finding));
}

void unchanged(Findings& f, const CallPlan& plan, const MapFacts& maps) {
  const model::ShapeStats& s = f.trace.stats[plan.shape];
  const double ns = static_cast<double>(maps.unchanged) * transfer_ns(s);
  if (maps.unchanged == 0 || !copies(s) || !worth(f, ns)) return;
  Finding finding = finding_at(f, "copying-maps", plan.shape, ns);
  finding.evidence = fmt::format("{} of {} calls of {} copied back {} that the host had not changed", maps.unchanged,
                                 s.calls, plan.fn->name, bytes_text(s.bytes.sum / s.bytes.count));
  finding.basis = "measured: the time of these calls";
  finding.advice = "Map with CL_MAP_READ alone what is only read.";
  f.out.push_back(std::move(finding));
}

void on_device(Findings& f, const CallPlan& plan, const MapFacts& maps) {
  const model::ShapeStats& s = f.trace.stats[plan.shape];
  if (maps.on_device < Many || maps.on_device < s.calls - s.failed || !copies(s) || !worth(f, time_of(s))) return;
  Finding finding = finding_at(f, "copying-maps", plan.shape, 0);
  finding.saving_s.reset();
  finding.evidence =
      fmt::format("{} calls of {} copied {} each, {} in all: the buffers were made without host memory", s.calls,
                  plan.fn->name, bytes_text(s.bytes.sum / s.bytes.count), time_text(s.device_ns.sum));
  finding.basis = "not computed: kernels may read memory of the host more slowly";
  finding.advice =
      "Where the host touches the buffer as often as the device does, make it with CL_MEM_ALLOC_HOST_PTR: "
      "mapping it then copies nothing.";
  f.out.push_back(std::move(finding));
}

}  // namespace

void find_copying_maps(Findings& f) {
  for (const CallPlan& plan : f.plans) {
    const MapFacts& maps = f.maps[plan.shape];
    if (plan.unmaps()) unchanged(f, plan, maps);
    if (!plan.maps() || plan.moves != model::Direction::DeviceToHost) continue;
    const size_t before = f.out.size();
    undefined(f, plan, maps);
    if (f.out.size() == before && !f.on_host) on_device(f, plan, maps);
  }
}

}  // namespace gt::analyzer
