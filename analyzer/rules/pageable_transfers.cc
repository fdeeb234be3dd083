// Rule: allocations whose memory is transferred often enough that pinned memory would pay.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t LeastTotal = 1 << 20;  // bytes, of all transfers of the site
constexpr uint64_t LeastMean = 64 << 10;  // below, the call costs more than the copy

// Seconds that policy `p` saves over ordinary memory at this site, by the measured curves.
double saving(const TransferSource& s, const model::PolicyCosts& standard, const model::PolicyCosts& p) {
  const auto transfers = [&](const model::PolicyCosts& c) {
    double ns = 0;
    const auto mean = [](uint64_t bytes, uint64_t n) { return static_cast<double>(bytes) / static_cast<double>(n); };
    if (s.sums.h2d_count > 0 && !c.h2d.empty())
      ns += static_cast<double>(s.sums.h2d_count) * c.h2d(mean(s.sums.h2d_bytes, s.sums.h2d_count));
    if (s.sums.d2h_count > 0 && !c.d2h.empty())
      ns += static_cast<double>(s.sums.d2h_count) * c.d2h(mean(s.sums.d2h_bytes, s.sums.d2h_count));
    return ns;
  };
  // Pools reuse blocks: a policy's allocation cost is paid once for each block alive at a time;
  // once, here.
  const double size = s.sizes.count ? static_cast<double>(s.sizes.max) : 1;
  const double once = p.allocation.empty() ? 0 : p.allocation(size);
  return (transfers(standard) - transfers(p) - once) / 1e9;
}

// The transfers of memory that this site allocated.
std::vector<model::ShapeId> calls_of(const Findings& f, const TransferSource& s) {
  std::vector<model::ShapeId> out;
  for (const CallPlan& p : f.plans) {
    const Touch* host = p.host();
    if (!host || !p.host_transfer() || host->kind != s.kind) continue;
    const CallSite site = f.sites.find(f.trace, f.trace.classes[host->cls].site);
    if (site.module == s.site.module && site.offset == s.site.offset) out.push_back(p.shape);
  }
  return out;
}

void add_saving(const Findings& f, const TransferSource& s, Finding& finding) {
  const model::DeviceCosts* device = f.device_costs();
  const model::PolicyCosts* standard = device ? device->costs(model::Policy::Standard) : nullptr;
  if (!standard) {
    finding.basis = f.platform ? "the platform file has no measurements of this device"
                               : "not computed: no platform file (gmicrobench platform, then --platform FILE)";
    return;
  }
  double best = 0;
  model::Policy policy = model::Policy::Standard;
  for (size_t i = 1; i < model::PolicyCount; ++i) {
    const auto p = static_cast<model::Policy>(i);
    const model::PolicyCosts* costs = device->costs(p);
    const double gain = costs ? saving(s, *standard, *costs) : 0;
    if (gain > best) best = gain, policy = p;
  }
  finding.saving_s = std::min(best, static_cast<double>(s.sums.time_ns) / 1e9);
  finding.basis = best > 0 ? fmt::format("by the measured costs of policy {}", model::policy_name(policy))
                           : "by the measured costs no policy is better than ordinary memory here";
}

}  // namespace

void find_pageable_transfers(Findings& f) {
  if (!f.ratio.eligible) return;
  for (const TransferSource& s : f.sources) {
    const TransferSums& t = s.sums;
    const bool hot = s.kind == model::ObjectKind::Segment && t.transfers >= 2 && t.bytes() >= LeastTotal &&
                     t.bytes() / t.transfers >= LeastMean;
    if (!hot) continue;
    Finding finding;
    finding.rule = "pageable-transfers";
    finding.by_goptimize = true;
    finding.place = s.name();
    finding.calls = calls_of(f, s);
    finding.evidence = fmt::format("{} allocated by {}: {} in {} transfers, {}", bytes_text(s.sizes.max), s.call,
                                   bytes_text(t.bytes()), t.transfers, time_text(t.time_ns));
    finding.advice =
        f.on_host ? "The device works in the host's memory: make the buffer over this memory with CL_MEM_USE_HOST_PTR, "
                    "or map the buffer and work in it, and nothing is copied."
                  : "Run the program with `goptimize run`, which gives this allocation memory that the device "
                    "can reach directly; or allocate it with CL_MEM_ALLOC_HOST_PTR and map it.";
    add_saving(f, s, finding);
    if (finding.saving_s && *finding.saving_s <= 0) continue;  // measured: nothing to gain here
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
