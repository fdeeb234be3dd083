// Rule: buffers that are bound to arguments of kernels, none of which uses them, and that nothing else looks at.
#include <fmt/format.h>

#include <map>
#include <set>

#include "analyzer/base/units.h"
#include "analyzer/rules/bound_buffers.h"
#include "analyzer/rules/finding.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Worthwhile = 1 << 20;  // bytes of one buffer: a smaller one only fills a place in a kernel's list

// Only sent to, beside being bound.
bool only_filled(const CallPlan& plan) {
  return plan.moves == model::Direction::HostToDevice && !plan.maps() && !plan.unmaps();
}

// Classes that anything but a launch reads or writes on the device.
std::set<model::ClassId> used_otherwise(const Findings& f) {
  std::set<model::ClassId> out;
  for (const CallPlan& plan : f.plans) {
    if (plan.launch() || !plan.command || only_filled(plan)) continue;
    for (const Touch& t : plan.touches)
      if (t.data()) out.insert(t.cls);
  }
  return out;
}

}  // namespace

void find_unused_buffers(Findings& f) {
  const BoundBuffers bound(f);
  const std::set<model::ClassId> others = used_otherwise(f);
  std::map<model::ClassId, const Binding*> unused;
  for (const Binding& b : bound.list()) unused.try_emplace(b.buffer, &b);
  for (const Binding& b : bound.list())
    if (b.access != kernels::Access::None) unused.erase(b.buffer);
  for (const auto& [buffer, binding] : unused) {
    const Birth* birth = bound.birth(buffer);
    if (!birth || birth->bytes < Worthwhile || others.contains(buffer) || bound.unclear(buffer)) continue;
    Finding finding;
    finding.rule = "unused-buffers";
    finding.place = f.sites.find(f.trace, f.trace.classes[buffer].site).place();
    finding.evidence = fmt::format("a buffer of {} made here is bound to argument {} of kernel {} only, which does not "
                                   "use it",
                                   bytes_text(birth->bytes), binding->argument().name, binding->kernel->name);
    finding.basis = "not computed: what it costs is memory of the device, and what is sent to it";
    finding.advice = "Leave the argument out of the kernel, or bind NULL or a small buffer to it.";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
