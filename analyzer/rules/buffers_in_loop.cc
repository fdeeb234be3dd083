// Rule: the same few buffers made and released again and again.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/calls/node_walk.h"
#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Many = 100;

// The buffer that the call makes in a loop: of a constant size, without contents, and given back before
// the next one or few iterations make another one.
const Touch* makes_again(const Findings& f, const CallPlace& place) {
  const CallPlan& plan = f.plans[place.node.shape];
  if (place.loops.empty() || !plan.creates_memory() || plan.moves != model::Direction::None) return nullptr;
  const Touch* made = plan.target();
  if (!made || !made->made() || plan.touches.empty()) return nullptr;
  const bool host = std::any_of(plan.touches.begin(), plan.touches.end(), [](const Touch& t) { return t.pointer; });
  const bool same = plan.size_at != NoValue && place.node.values[plan.size_at].kind == model::Series::Kind::Const;
  return !host && same && names_few(place.node.values[made->slot_at]) ? made : nullptr;
}

// Calls that release objects of the class, and nothing else.
std::vector<model::ShapeId> releases_of(const Findings& f, model::ClassId cls) {
  std::vector<model::ShapeId> out;
  for (const CallPlan& p : f.plans) {
    if (p.fn->attributes.releases == model::ObjectKind::Unknown || p.touches.empty()) continue;
    if (p.touches[0].cls == cls) out.push_back(p.shape);
  }
  return out;
}

}  // namespace

void find_buffers_in_loop(Findings& f) {
  std::set<model::ShapeId> seen;
  walk_calls(f.trace, [&](const CallPlace& place) {
    const Touch* made = makes_again(f, place);
    const model::ShapeId shape = place.node.shape;
    const model::ShapeStats& s = f.trace.stats[shape];
    if (!made || s.calls < Many || !seen.insert(shape).second) return;
    double ns = static_cast<double>(s.host_ns.sum);
    const std::vector<model::ShapeId> releases = releases_of(f, made->cls);
    for (const model::ShapeId r : releases) ns += static_cast<double>(f.trace.stats[r].host_ns.sum);
    if (!worth(f, ns)) return;
    Finding finding = finding_at(f, "buffers-in-loop", shape, ns);
    finding.saving_s = ns / 1e9;
    finding.calls.insert(finding.calls.end(), releases.begin(), releases.end());
    const int64_t bytes = place.node.values[f.plans[shape].size_at].value;
    finding.evidence =
        fmt::format("{} buffers of {} made one after the other and released again: {} in these calls", s.calls,
                    bytes_text(static_cast<uint64_t>(bytes)), time_text(static_cast<uint64_t>(ns)));
    finding.basis = "measured: the time of making and releasing them";
    finding.advice = "Create the buffer once, before the loop, and use it again.";
    f.out.push_back(std::move(finding));
  });
}

}  // namespace gt::analyzer
