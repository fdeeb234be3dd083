// Rule: allocations whose memory is transferred often enough that pinned memory would pay.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"
#include "analyzer/transfers/goptimize_gain.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t LeastTotal = 1 << 20;  // bytes, of all transfers of the site
constexpr uint64_t LeastMean = 64 << 10;  // below, the call costs more than the copy

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

// Of ordinary memory, all of its blocks.
double first_touch_s(const model::DeviceCosts& device, const TransferSource& s) {
  const model::Expectation e = expectation_of(s);
  return model::allocation_overhead(device, model::Policy::Standard, e.size).value_or(0) * e.allocations / 1e9;
}

void add_saving(const Findings& f, const TransferSource& s, Finding& finding) {
  const model::DeviceCosts* device = f.device_costs();
  if (!device || !device->costs(model::Policy::Standard)) {
    finding.basis = f.platform ? "the platform file has no measurements of this device"
                               : "not computed: no platform file (gmicrobench platform, then --platform FILE)";
    return;
  }
  const auto choice = model::choose_policy(*device, expectation_of(s));
  const double best = choice ? choice->saved_s() : 0;
  // What there is to save: the transfers, and making the pages of ordinary memory.
  const double there = static_cast<double>(s.sums.time_ns) / 1e9 + first_touch_s(*device, s);
  finding.saving_s = std::min(best, there);
  finding.basis = best > 0 ? fmt::format("by the measured costs of policy {}, first touch of its memory included",
                                         model::policy_name(choice->policy))
                           : "by the measured costs no policy is better than ordinary memory here";
}

}  // namespace

void find_pageable_transfers(Findings& f) {
  if (!f.ratio.eligible) return;
  for (const TransferSource& s : f.sources) {
    const TransferSums& t = s.sums;
    const bool hot = s.kind == model::ObjectKind::Segment && t.transfers >= 1 && t.bytes() >= LeastTotal &&
                     t.bytes() / t.transfers >= LeastMean;
    if (!hot) continue;
    Finding finding;
    finding.rule = "pageable-transfers";
    finding.by_goptimize = true;
    finding.place = s.name();
    finding.calls = calls_of(f, s);
    finding.evidence = fmt::format("{} allocated by {}: {} in {}, {}", bytes_text(s.sizes.max), s.call,
                                   bytes_text(t.bytes()), count_text(t.transfers, "transfer", "transfers"),
                                   time_text(t.time_ns));
    finding.advice =
        f.on_host ? "The device works in the host's memory: make the buffer over this memory with CL_MEM_USE_HOST_PTR, "
                    "or map the buffer and work in it, and nothing is copied."
                  : "Run the program with `goptimize run`, which gives this allocation memory that the device "
                    "can reach directly; or allocate it with CL_MEM_ALLOC_HOST_PTR and map it.";
    add_saving(f, s, finding);
    if (finding.saving_s && *finding.saving_s <= 0) continue;  // measured: nothing to gain here
    // One transfer alone is worth a word when it is known what that would save.
    if (t.transfers < 2 && !worth(f, finding.saving_s.value_or(0) * 1e9)) continue;
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
