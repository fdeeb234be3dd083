// The profile of one analysis.
#include "analyzer/profile/make_profile.h"

#include <algorithm>

#include "analyzer/profile/staging_advice.h"
#include "traces/model/profile/policy_costs.h"
#include "traces/model/profile/profile_sites.h"

namespace gt::analyzer {
namespace {

// The program will run on other inputs than the traced one, so the range of sizes is wider than what was seen, by a
// factor; pages are the least that can be pinned. Allocations that can have fed a transfer are at least as large as
// the smallest transfer.
constexpr uint64_t OtherInputs = 16;
constexpr uint64_t Page = 4096;

uint64_t times(uint64_t bytes, uint64_t factor) { return bytes > UINT64_MAX / factor ? UINT64_MAX : bytes * factor; }

std::vector<model::SizeCount> size_counts(const model::Stats& sizes) {
  std::vector<model::SizeCount> out;
  for (size_t i = 0; i < sizes.histogram.size(); ++i) {
    if (sizes.histogram[i] > 0) out.push_back({i == 0 ? 0 : uint64_t{1} << (i - 1), sizes.histogram[i]});
  }
  return out;
}

// What a trace says is a build-id may be anything; the profile holds hexadecimal ones only.
std::string sound_build_id(const std::string& id) {
  return id.size() <= 128 && id.find_first_not_of("0123456789abcdef") == std::string::npos ? id : std::string();
}

model::ProfileSite profile_site(const TransferSource& s) {
  model::ProfileSite p;
  p.build_id = sound_build_id(s.site.build_id);
  p.module = s.site.module_name();
  p.offset = s.site.offset;
  for (const CallSite& c : s.site.around) {
    if (!can_be_named(c)) break;  // a chain is as long as it can be told
    p.around.push_back({sound_build_id(c.build_id), c.module_name(), c.offset});
  }
  p.where = s.site.places();
  p.call = s.call;
  const uint64_t smallest = std::max(s.sizes.min, s.sums.sizes.min);
  p.min_bytes = std::min(smallest, std::max(Page, smallest / OtherInputs));
  p.max_bytes = times(std::max(s.sizes.max, smallest), OtherInputs);
  p.typical_bytes = s.sizes.count > 0 ? s.sizes.sum / s.sizes.count : smallest;
  p.sizes = size_counts(s.sizes);
  p.allocations = s.allocations;
  p.seen_in = 1;
  p.transfers_each = s.transfers_each();
  p.h2d_bytes = s.sums.h2d_bytes;
  p.d2h_bytes = s.sums.d2h_bytes;
  p.transfer_ns = s.sums.time_ns;
  return p;
}

// One place may call two functions (through a pointer): the optimizer knows the place only.
void add_site(std::vector<model::ProfileSite>& sites, const model::ProfileSite& s) {
  const auto old = std::find_if(sites.begin(), sites.end(), [&](const auto& o) { return model::same_chain(o, s); });
  if (old == sites.end()) {
    sites.push_back(s);
  } else {
    model::unite(*old, s);
  }
}

void predict(model::ProfileSite& site, const model::DeviceCosts& device) {
  const auto choice = model::choose_policy(device, model::expectation_of(site));
  if (!choice) return;
  site.predicted_policy = model::policy_name(choice->policy);
  site.predicted_s = choice->cost_s;
  site.standard_s = choice->standard_s;
}

// All sites together save no more than goptimize can reach of the run.
void cap_predictions(std::vector<model::ProfileSite>& sites, const RunParts& run) {
  double saved = 0;
  for (const model::ProfileSite& s : sites) saved += s.standard_s - s.predicted_s;
  const double most = static_cast<double>(run.reachable_ns()) / 1e9;
  if (!run.known() || saved <= most) return;
  for (model::ProfileSite& s : sites) s.predicted_s = s.standard_s - (s.standard_s - s.predicted_s) * most / saved;
}

model::ProfileRoute program_route(const RemoteEligibility& remote) {
  model::ProfileRoute r;
  r.remote = remote.eligible;
  if (!remote.eligible) r.reasons = remote.reasons;
  return r;
}

// Of the queues made at one place, what stands against any of them.
model::ProfileRoute queue_route(const RemoteQueue& queue, const RemoteEligibility& remote) {
  model::ProfileRoute r;
  r.queue = {sound_build_id(queue.site.build_id), queue.site.module_name(), queue.site.offset};
  r.where = queue.site.place();
  r.remote = queue.eligible;
  for (const RemoteFeature& f : remote.features) {
    const bool concerns = f.blocks && (f.queue == model::NoIndex || f.queue == queue.queue);
    if (concerns && std::find(r.reasons.begin(), r.reasons.end(), f.reason) == r.reasons.end())
      r.reasons.push_back(f.reason);
  }
  if (r.remote) r.reasons.clear();
  return r;
}

// One for each place that makes queues, where the queues are not all like the program.
void add_queue_routes(std::vector<model::ProfileRoute>& routes, const RemoteEligibility& remote) {
  const auto differs = [&](const RemoteQueue& q) { return q.eligible != remote.eligible; };
  if (std::none_of(remote.queues.begin(), remote.queues.end(), differs)) return;
  for (const RemoteQueue& queue : remote.queues) {
    if (!can_be_named(queue.site)) continue;
    const model::ProfileRoute route = queue_route(queue, remote);
    const auto same = std::find_if(routes.begin(), routes.end(), [&](const auto& r) { return r.queue == route.queue; });
    if (same == routes.end()) {
      routes.push_back(route);
    } else if (!route.remote) {
      *same = route;
    }
  }
}

}  // namespace

const model::DeviceCosts* costs_of_device(const Analysis& a, const model::Platform* platform) {
  if (!platform) return nullptr;
  for (const DeviceRatio& d : a.ratio.devices)
    for (const model::DeviceCosts& c : platform->devices)
      if (c.name == d.device) return &c;
  return nullptr;
}

model::Profile make_profile(const Analysis& a, const model::Platform* platform) {
  model::Profile p;
  p.program = a.program;
  p.build_id = sound_build_id(a.build_id);
  p.trace_digest = a.digest;
  p.dispatch_ratio = a.ratio.program.value();
  p.eligible = a.ratio.eligible;
  p.routes.push_back(program_route(a.remote));
  add_queue_routes(p.routes, a.remote);
  for (const TransferSource& s : a.sources) {
    if (s.kind == model::ObjectKind::Segment && s.sums.transfers > 0 && can_be_named(s.site))
      add_site(p.sites, profile_site(s));
  }
  const model::DeviceCosts* device = costs_of_device(a, platform);
  p.staging = staging_advice(a.sources, device);
  if (!device) return p;
  p.platform = {model::fingerprint(platform->machine), platform->machine.cpu, device->name, device->driver};
  for (model::ProfileSite& s : p.sites) predict(s, *device);
  cap_predictions(p.sites, a.run);
  return p;
}

}  // namespace gt::analyzer
