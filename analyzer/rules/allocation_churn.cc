// Rule: large memory for transfers that is allocated, used and given back again and again, so that its pages are new
// each time.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/calls/node_walk.h"
#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"
#include "traces/api/alloc_fn.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Many = 10;
// Smaller blocks are kept by the C library after the first time: their pages stay (glibc: DEFAULT_MMAP_THRESHOLD_MAX).
constexpr uint64_t AlwaysMapped = 32 << 20;
constexpr uint64_t Worthwhile = 64 << 10;
// To map, clear and unmap a page takes no machine less.
constexpr double PageBytes = 4096, PageNs = 100;

bool maps_pages(model::FnId fn) {
  return fn == static_cast<model::FnId>(api::AllocFn::Mmap) || fn == static_cast<model::FnId>(api::AllocFn::Mmap64);
}

// The class of the memory that the call allocates again and again in a loop.
const Touch* allocates_again(const Findings& f, const CallPlace& place) {
  if (!place.stream.memory || place.loops.empty()) return nullptr;
  const CallPlan& plan = f.plans[place.node.shape];
  for (const Touch& t : plan.touches)
    if (t.made() && t.kind == model::ObjectKind::Segment && names_few(place.node.values[t.slot_at])) return &t;
  return nullptr;
}

// Transfers from or to memory of the class.
struct Fed {
  uint64_t transfers = 0, bytes = 0;
};
Fed fed_by(const Findings& f, model::ClassId cls) {
  Fed fed;
  for (const CallPlan& p : f.plans) {
    const Touch* host = p.host();
    if (!p.host_transfer() || !host || host->cls != cls) continue;
    fed.transfers += f.trace.stats[p.shape].calls;
    fed.bytes += f.trace.stats[p.shape].bytes.sum;
  }
  return fed;
}

// Of an allocation no more than what is transferred is known to be touched.
double saving_ns(const Findings& f, const model::ShapeStats& s, const Fed& fed, Finding& finding) {
  const double times = static_cast<double>(s.calls - 1);
  const double bytes = static_cast<double>(std::min(s.bytes.sum, fed.bytes)) / static_cast<double>(s.calls);
  const model::DeviceCosts* device = f.device_costs();
  const model::PolicyCosts* costs = device ? device->costs(model::Policy::Standard) : nullptr;
  if (costs && !costs->allocation.empty()) {
    finding.basis = "by the platform file's cost of such an allocation";
    return times * costs->allocation(bytes);
  }
  finding.basis = "at 0.1 us for each page of 4 KiB, the least that new pages cost";
  return times * bytes / PageBytes * PageNs;
}

}  // namespace

void find_allocation_churn(Findings& f) {
  std::set<model::ShapeId> seen;
  walk_calls(f.trace, [&](const CallPlace& place) {
    const Touch* made = allocates_again(f, place);
    const model::ShapeStats& s = f.trace.stats[place.node.shape];
    if (!made || s.calls < Many || s.bytes.count == 0 || !seen.insert(place.node.shape).second) return;
    const bool fresh = s.bytes.min >= (maps_pages(f.trace.shapes[place.node.shape].fn) ? Worthwhile : AlwaysMapped);
    const Fed fed = fed_by(f, made->cls);
    if (!fresh || fed.transfers == 0) return;
    Finding finding = finding_at(f, "allocation-churn", place.node.shape, 0);
    finding.calls.clear();  // memory calls are not timed
    const double ns = std::min(saving_ns(f, s, fed, finding), static_cast<double>(f.wall_ns()));
    if (!worth(f, ns)) return;
    finding.saving_s = ns / 1e9;
    finding.evidence =
        fmt::format("{} allocations of {}, one after the other, for {} transfers: the pages are new each time", s.calls,
                    bytes_text(s.bytes.sum / s.calls), fed.transfers);
    finding.advice =
        "Allocate the memory once and use it again, or run the program with `goptimize run`, which keeps such "
        "blocks.";
    f.out.push_back(std::move(finding));
  });
}

}  // namespace gt::analyzer
