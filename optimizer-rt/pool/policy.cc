// The cost model.
#include "optimizer-rt/pool/policy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "optimizer-rt/pool/plan.h"

namespace gt::opt {
namespace {

using model::DeviceCosts;
using model::Expectation;
using model::Policy;
using model::PolicyChoice;

std::string percent_text(const PolicyChoice& c, const std::string& device) {
  char text[160];
  std::snprintf(text, sizeof text, "%.0f %% of standard's cost on %.80s",
                100 * c.cost_s / c.standard_s, device.c_str());
  return text;
}

// Half of the promised gain, and the pins of as many blocks as are usually live at a time.
uint64_t margin_ns(const DeviceCosts& device, Policy policy, const Expectation& e, double saved_s) {
  constexpr double LiveBlocks = 8;
  const bool pins = policy == Policy::Pin || policy == Policy::Hybrid;
  const double pins_ns = pins && device.pin ? std::min(e.allocations, LiveBlocks) * (*device.pin)(e.size) : 0;
  const double ns = static_cast<double>(LeastMargin_ns) + saved_s / 2 * 1e9 + pins_ns;
  return static_cast<uint64_t>(std::min(ns, static_cast<double>(MostMargin_ns)));
}

SiteTerms terms_of(const DeviceCosts& device, const PolicyChoice& choice, const Expectation& e) {
  SiteTerms out;
  out.margin_ns = margin_ns(device, choice.policy, e, choice.saved_s());
  const auto standard = allocation_overhead(device, Policy::Standard, e.size);
  const auto own = allocation_overhead(device, choice.policy, e.size);
  const double bytes = std::max(e.size, 1.0);
  if (standard && e.size > model::ReturnedAbove) out.reuse_ns_per_byte = *standard / bytes;
  const bool locks = choice.policy == Policy::Locked || choice.policy == Policy::Hybrid;
  if (standard && own && locks) out.lock_ns_per_byte = std::max(0.0, *own - *standard) / bytes;
  return out;
}

SiteDecision best_over_devices(const model::Platform& platform, const Expectation& e) {
  SiteDecision out;
  for (const DeviceCosts& device : platform.devices) {
    const auto c = choose_policy(device, e);
    if (!c || c->policy == Policy::Standard || c->saved_s() <= out.saved_s) continue;
    out = {c->policy, 0, c->saved_s(), percent_text(*c, device.name), terms_of(device, *c, e)};
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

// An input of another size than the traced one's, but of the same kind: 256 times as many bytes are 16 times as many in
// each of two dimensions. Below LeastOther the call is all that a transfer costs.
constexpr double TimesLarger = 256, TimesSmaller = 16, LeastOther = 4096;

// The sizes beside the profile's for which `gains(bytes)`, at both ends of a power of two (PlanSite::other_sizes).
template <class Gains>
uint64_t other_sizes(const model::ProfileSite& site, Gains gains) {
  const auto smallest = static_cast<double>(site.min_bytes), largest = static_cast<double>(site.max_bytes);
  uint64_t out = 0;
  for (uint32_t b = 0; b + 1 < CostSizes; ++b) {
    const double low = std::exp2(b), high = 2 * low;
    const bool near = low >= std::max(LeastOther, smallest / TimesSmaller) && low <= largest * TimesLarger;
    const bool seen = low >= smallest && high - 1 <= largest;
    if (near && !seen && gains(low) && gains(high)) out |= uint64_t{1} << b;
  }
  return out;
}

// The same transfers, of as large a part of blocks of another size.
Expectation scaled(Expectation e, double bytes) {
  e.transfer_size *= bytes / std::max(e.size, 1.0);
  e.size = bytes;
  return e;
}

// The policy must gain wherever the site is pinned: what the plan says of a site's devices goes for all its sizes.
uint64_t sizes_that_gain(const model::Platform& platform, const SiteDecision& d, const model::ProfileSite& site,
                         const Expectation& e) {
  if (d.pin_on == 0) return 0;
  return other_sizes(site, [&](double bytes) {
    return (devices_that_gain(platform, d.policy, scaled(e, bytes)) & d.pin_on) == d.pin_on;
  });
}

uint32_t all_devices(const model::Platform& platform) {
  const size_t n = std::min<size_t>(platform.devices.size(), 32);
  return n == 32 ? ~uint32_t{0} : (uint32_t{1} << n) - 1;
}

// What somebody demands is done, gain or not, for the profile's sizes; the prediction may be a loss.
SiteDecision demanded(const model::Platform& platform, Policy policy, const Expectation& e,
                      const char* why) {
  SiteDecision out{policy, all_devices(platform), 0, why, {}};
  for (const DeviceCosts& device : platform.devices) {
    const auto standard = predicted_s(device, Policy::Standard, e);
    const auto cost = predicted_s(device, policy, e);
    if (standard && cost) out.saved_s = std::max(out.saved_s, *standard - *cost);
  }
  return out;
}

}  // namespace

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
      d.terms.other_sizes = sizes_that_gain(platform, d, site, e);
    }
    wanted = wanted || (d.policy != Policy::Standard && (forced || own));
    if (d.policy != Policy::Standard) out.saved_s += d.saved_s;
    out.sites.push_back(std::move(d));
  }
  out.worth_it = wanted || out.saved_s >= LeastTotal_s;
  return out;
}

void serve_executors(Decision& decision, const model::Profile& profile) {
  constexpr double Copy_s = 0.02e-9;  // of a byte
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    SiteDecision& d = decision.sites[i];
    const Expectation e = expectation_of(profile.sites[i]);
    if (d.policy != Policy::Standard || profile.sites[i].policy != "auto" || e.transfers <= 0) continue;
    const double saved_s = e.allocations * e.transfers * e.transfer_size * Copy_s;
    d = {Policy::Pin, 0, saved_s, "devices behind shared memory use it in place", {}};
    d.terms.margin_ns = LeastMargin_ns + static_cast<uint64_t>(std::min(saved_s, 1.0) / 2 * 1e9);
    d.terms.other_sizes = other_sizes(profile.sites[i], [](double) { return true; });
    decision.saved_s += saved_s;
    decision.worth_it = true;
  }
}

Decision leave_all(const Decision& decision) {
  Decision out;
  for (const SiteDecision& d : decision.sites) {
    const bool gained = d.policy != Policy::Standard;
    out.sites.push_back({Policy::Standard, 0, 0, gained ? "all sites together would save too little" : d.why, {}});
  }
  return out;
}

}  // namespace gt::opt
