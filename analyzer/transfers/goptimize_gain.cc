// The model, asked site by site.
#include "analyzer/transfers/goptimize_gain.h"

#include <algorithm>

#include "traces/api/alloc_fn.h"
#include "traces/model/folded/run_usage.h"

namespace gt::analyzer {
namespace {

using model::DeviceCosts;
using model::ObjectKind;
using model::Policy;

// As goptimize has them (docs/goptimize.md).
constexpr double LeastSites_s = 0.030;      // what all sites must promise, or none is served
constexpr uint64_t LeastHuge = 8 << 20;     // bytes of a block that gets huge pages
constexpr double FewBlocks = 8;             // live at a time, where the C library uses blocks again
constexpr double LargestInOneChunk = 256 << 10;

bool is_site(const TransferSource& s) {
  return s.kind == ObjectKind::Segment && s.sums.transfers > 0 && s.site.offset != 0;
}

double mean(uint64_t bytes, uint64_t count) { return static_cast<double>(bytes) / static_cast<double>(count); }

// Of the transfers one way; `to`: of a staged one.
double staging_ns(const DeviceCosts& device, const model::Curve& from, const model::Curve& to, uint64_t bytes,
                  uint64_t count) {
  if (count == 0 || from.empty() || to.empty() || mean(bytes, count) < LargestInOneChunk) return 0;
  const double size = mean(bytes, count);
  return model::gains(device, Policy::Pin, to(size), from(size)) ? static_cast<double>(count) * (from(size) - to(size))
                                                                 : 0;
}

double staging_s(const DeviceCosts& device, const std::vector<TransferSource>& sources) {
  const model::PolicyCosts* standard = device.costs(Policy::Standard);
  const bool on_host = device.type == model::DeviceType::Cpu || device.host_unified.value_or(false);
  if (!standard || !device.staged || on_host) return 0;
  double ns = 0;
  for (const TransferSource& s : sources) {
    const bool drivers_own = s.kind == ObjectKind::Mapping || s.kind == ObjectKind::Svm ||
                             s.kind == ObjectKind::Buffer || s.kind == ObjectKind::Image;
    if (drivers_own || is_site(s)) continue;
    ns += staging_ns(device, standard->h2d, device.staged->h2d, s.sums.h2d_bytes, s.sums.h2d_count);
    ns += staging_ns(device, standard->d2h, device.staged->d2h, s.sums.d2h_bytes, s.sums.d2h_count);
  }
  return ns / 1e9;
}

// The sites that a policy serves, and what that saves.
std::vector<const TransferSource*> served(const DeviceCosts& device, const std::vector<TransferSource>& sources,
                                          double& saved_s) {
  std::vector<const TransferSource*> out;
  for (const TransferSource& s : sources) {
    if (!is_site(s)) continue;
    const auto choice = model::choose_policy(device, expectation_of(s));
    if (!choice || choice->policy == Policy::Standard) continue;
    saved_s += choice->saved_s();
    out.push_back(&s);
  }
  if (saved_s >= LeastSites_s) return out;
  saved_s = 0;
  return {};
}

// Is it one of the C library's, or an operator new? Memory that realloc moves is left alone.
bool gets_huge_pages(model::FnId fn) {
  const auto is_between = [fn](api::AllocFn first, api::AllocFn last) {
    return fn >= static_cast<model::FnId>(first) && fn <= static_cast<model::FnId>(last);
  };
  return is_between(api::AllocFn::Malloc, api::AllocFn::Calloc) ||
         is_between(api::AllocFn::Memalign, api::AllocFn::NewArrayAlignedNothrow);
}

// Bytes of the large blocks of one place whose pages are made anew: those above 32 MiB each time.
double fresh_bytes(const model::ShapeStats& s) {
  double bytes = 0;
  for (size_t i = 1; i < s.bytes.histogram.size(); ++i) {
    const double from = static_cast<double>(uint64_t{1} << (i - 1)), count = s.bytes.histogram[i];
    if (from < static_cast<double>(LeastHuge) || count == 0) continue;
    const double size = std::min(1.5 * from, static_cast<double>(s.bytes.sum) / static_cast<double>(s.bytes.count));
    bytes += std::max(size, from) * (from >= model::ReturnedAbove ? count : std::min(count, FewBlocks));
  }
  return std::min(bytes, static_cast<double>(s.bytes.sum));
}

double pages_s(const model::Trace& trace, const RunParts& run, const std::vector<const TransferSource*>& served,
               CallSites& sites) {
  const auto costs = model::read_touch_costs(trace);
  if (!costs || !costs->huge_page_ns) return 0;
  double bytes = 0;
  for (model::ShapeId i = 0; i < trace.shapes.size(); ++i) {
    if (!gets_huge_pages(trace.shapes[i].fn) || trace.stats[i].bytes.max < LeastHuge) continue;
    const CallSite site = sites.find(trace, trace.shapes[i].site);
    const bool taken = std::any_of(served.begin(), served.end(), [&](const TransferSource* s) {
      return s->site.module == site.module && s->site.offset == site.offset;
    });
    if (!taken) bytes += fresh_bytes(trace.stats[i]);
  }
  const double touched = static_cast<double>((run.touch_transfer_ns + run.touch_own_ns) / costs->page_ns);
  const double pages = std::min(bytes / static_cast<double>(model::PageBytes), touched);
  constexpr double InHuge = static_cast<double>(model::HugePageBytes) / static_cast<double>(model::PageBytes);
  const double each = static_cast<double>(costs->page_ns) - static_cast<double>(*costs->huge_page_ns) / InHuge;
  return std::max(0.0, pages * each) / 1e9;
}

}  // namespace

const DeviceCosts* measured_device(const model::Trace& trace, const model::Platform* platform) {
  if (!platform) return nullptr;
  for (const model::DeviceTime& d : trace.devices)
    for (const DeviceCosts& c : platform->devices)
      if (c.name == d.device) return &c;
  return nullptr;
}

model::Expectation expectation_of(const TransferSource& s) {
  model::Expectation e;
  e.allocations = static_cast<double>(std::max<uint64_t>(s.allocations, 1));
  e.transfers = s.transfers_each();
  e.transfer_size = s.sums.transfers > 0 ? mean(s.sums.bytes(), s.sums.transfers) : 0;
  e.size = s.sizes.count > 0 ? mean(s.sizes.sum, s.sizes.count) : e.transfer_size;
  if (s.sums.bytes() > 0) e.to_device = mean(s.sums.h2d_bytes, s.sums.bytes());
  return e;
}

GoptimizeGain predict_gain(const model::Trace& trace, const DispatchRatio& ratio, const RunParts& run,
                           const std::vector<TransferSource>& sources, const model::Platform* platform,
                           CallSites& sites) {
  GoptimizeGain out;
  if (!ratio.eligible) {
    out.basis = "with this profile it leaves the program as it is";
    return out;
  }
  const DeviceCosts* device = measured_device(trace, platform);
  std::vector<const TransferSource*> of_policies;
  if (device) {
    of_policies = served(*device, sources, out.sites_s);
    out.staging_s = staging_s(*device, sources);
  }
  out.pages_s = pages_s(trace, run, of_policies, sites);
  out.saved_s = out.sites_s + out.staging_s + out.pages_s;
  if (run.known()) out.saved_s = std::min(out.saved_s, static_cast<double>(run.reachable_ns()) / 1e9);
  out.basis = device     ? "by the measured costs of this machine"
              : platform ? "of huge pages alone: the platform file has no measurements of this device"
                         : "of huge pages alone: no platform file (gmicrobench platform, then --platform FILE)";
  return out;
}

}  // namespace gt::analyzer
