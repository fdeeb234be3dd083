// The cost model.
#include "optimizer-rt/pool/policy.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace gt::opt {
namespace {

using model::DeviceCosts;
using model::Policy;
using model::PolicyCosts;

constexpr double ReturnedAbove = 32 << 20;  // bytes: glibc's largest dynamic mmap threshold
constexpr double FewBlocks = 8;             // live at a time where blocks are reused
// Asked in this order; a later one must be clearly better: pinning costs nothing until the first
// transfer, and needs neither a limit on locked memory nor a context.
constexpr Policy Candidates[] = {Policy::Pin, Policy::OpenCl, Policy::Hybrid, Policy::Locked};
constexpr double ClearlyBetter = 0.9;

struct Choice {
  Policy policy = Policy::Standard;
  double cost_s = 0, standard_s = 0;
  double saved_s() const { return standard_s - cost_s; }
};

double noise_of(const DeviceCosts& device, Policy p) {
  const PolicyCosts* c = device.costs(p);
  return c ? c->noise : 0;
}

bool gains(const DeviceCosts& device, Policy policy, double cost, double standard) {
  const double noise = std::min(0.5, noise_of(device, policy) + noise_of(device, Policy::Standard));
  return cost < standard * (1 - std::max(LeastGain, noise));
}

Choice choose(const DeviceCosts& device, const Expectation& e) {
  const auto standard = predicted_s(device, Policy::Standard, e);
  if (!standard) return {};
  Choice best{Policy::Standard, *standard, *standard};
  for (const Policy p : Candidates) {
    const auto cost = predicted_s(device, p, e);
    if (!cost || !gains(device, p, *cost, *standard)) continue;
    if (best.policy == Policy::Standard || *cost < best.cost_s * ClearlyBetter)
      best = {p, *cost, *standard};
  }
  return best;
}

std::string percent_text(const Choice& c, const std::string& device) {
  char text[160];
  std::snprintf(text, sizeof text, "%.0f %% of standard's cost on %.80s",
                100 * c.cost_s / c.standard_s, device.c_str());
  return text;
}

SiteDecision best_over_devices(const model::Platform& platform, const Expectation& e) {
  SiteDecision out;
  for (const DeviceCosts& device : platform.devices) {
    const Choice c = choose(device, e);
    if (c.policy == Policy::Standard || c.saved_s() <= out.saved_s) continue;
    out = {c.policy, 0, c.saved_s(), percent_text(c, device.name)};
  }
  if (out.policy == Policy::Standard) out.why = "no policy beats the standard one here";
  return out;
}

// The devices on which this policy is better than the standard one.
uint32_t devices_that_gain(const model::Platform& platform, Policy policy, const Expectation& e) {
  uint32_t mask = 0;
  for (size_t i = 0; i < platform.devices.size() && i < 32; ++i) {
    const DeviceCosts& device = platform.devices[i];
    const auto standard = predicted_s(device, Policy::Standard, e);
    const auto cost = predicted_s(device, policy, e);
    if (standard && cost && gains(device, policy, *cost, *standard)) mask |= uint32_t{1} << i;
  }
  return mask;
}

uint32_t all_devices(const model::Platform& platform) {
  const size_t n = std::min<size_t>(platform.devices.size(), 32);
  return n == 32 ? ~uint32_t{0} : (uint32_t{1} << n) - 1;
}

// What somebody demands is done, gain or not; the prediction may be a loss.
SiteDecision demanded(const model::Platform& platform, Policy policy, const Expectation& e,
                      const char* why) {
  SiteDecision out{policy, all_devices(platform), 0, why};
  for (const DeviceCosts& device : platform.devices) {
    const auto standard = predicted_s(device, Policy::Standard, e);
    const auto cost = predicted_s(device, policy, e);
    if (standard && cost) out.saved_s = std::max(out.saved_s, *standard - *cost);
  }
  return out;
}

}  // namespace

Expectation expectation_of(const model::ProfileSite& site) {
  Expectation e;
  e.allocations = static_cast<double>(std::max<uint64_t>(site.allocations, 1));
  e.transfers = site.transfers_each;
  const double moved = static_cast<double>(site.h2d_bytes) + static_cast<double>(site.d2h_bytes);
  const double count = e.allocations * e.transfers;
  e.transfer_size = count > 0 ? moved / count : 0;
  // A profile without typical and largest sizes: blocks as large as what is transferred.
  const double smallest = static_cast<double>(site.min_bytes);
  if (site.typical_bytes > 0)
    e.size = static_cast<double>(site.typical_bytes);
  else if (site.max_bytes == std::numeric_limits<uint64_t>::max())
    e.size = std::max(smallest, e.transfer_size);
  else
    e.size = (smallest + static_cast<double>(site.max_bytes)) / 2;
  if (moved > 0) e.to_device = static_cast<double>(site.h2d_bytes) / moved;
  return e;
}

std::optional<double> predicted_s(const DeviceCosts& device, Policy policy, const Expectation& e) {
  const PolicyCosts* c = device.costs(policy);
  if (!c || c->allocation.empty() || c->h2d.empty() || c->d2h.empty()) return std::nullopt;
  if (c->max_bytes && e.size > static_cast<double>(c->max_bytes)) return std::nullopt;
  const bool returned = policy == Policy::Standard && e.size > ReturnedAbove;
  const double fresh = returned ? e.allocations : std::min(e.allocations, FewBlocks);
  const double each =
      e.to_device * c->h2d(e.transfer_size) + (1 - e.to_device) * c->d2h(e.transfer_size);
  return (fresh * c->allocation(e.size) + e.allocations * e.transfers * each) * 1e-9;
}

Decision decide(const model::Platform& platform, const model::Profile& profile,
                std::optional<Policy> forced) {
  Decision out;
  bool wanted = false;
  for (const model::ProfileSite& site : profile.sites) {
    const Expectation e = expectation_of(site);
    const auto own = model::parse_policy(site.policy);
    SiteDecision d;
    if (forced) {
      d = demanded(platform, *forced, e, "forced");
    } else if (own) {
      d = demanded(platform, *own, e, "the profile says so");
    } else if (site.policy != "auto") {
      d.why = site.policy + " needs no allocation policy";
    } else if (e.transfers <= 0) {
      d.why = "the profile expects no transfer";
    } else {
      d = best_over_devices(platform, e);
      d.pin_on = devices_that_gain(platform, d.policy, e);
    }
    wanted = wanted || (d.policy != Policy::Standard && (forced || own));
    if (d.policy != Policy::Standard) out.saved_s += d.saved_s;
    out.sites.push_back(std::move(d));
  }
  out.worth_it = wanted || out.saved_s >= LeastTotal_s;
  return out;
}

}  // namespace gt::opt
