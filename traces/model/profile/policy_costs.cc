// The cost model.
#include "traces/model/profile/policy_costs.h"

#include <algorithm>
#include <limits>

namespace gt::model {
namespace {

constexpr double FewBlocks = 8;             // live at a time where blocks are reused
// Asked in this order; a later one must be clearly better: pinning costs nothing until the first transfer, and needs
// neither a limit on locked memory nor a context.
constexpr Policy Candidates[] = {Policy::Pin, Policy::OpenCl, Policy::Hybrid, Policy::Locked};
constexpr double ClearlyBetter = 0.9;

double noise_of(const DeviceCosts& device, Policy p) {
  const PolicyCosts* c = device.costs(p);
  return c ? c->noise : 0;
}

// Nothing when the device lacks the policy, or refuses it at this size.
const PolicyCosts* costs_at(const DeviceCosts& device, Policy policy, double size) {
  const PolicyCosts* c = device.costs(policy);
  return c && c->max_bytes && size > static_cast<double>(c->max_bytes) ? nullptr : c;
}

}  // namespace

bool gains(const DeviceCosts& device, Policy policy, double cost, double standard) {
  const double noise = std::min(0.5, noise_of(device, policy) + noise_of(device, Policy::Standard));
  return cost < standard * (1 - std::max(LeastGain, noise));
}

std::optional<PolicyChoice> choose_policy(const DeviceCosts& device, const Expectation& e) {
  const auto standard = predicted_s(device, Policy::Standard, e);
  if (!standard) return std::nullopt;
  PolicyChoice best{Policy::Standard, *standard, *standard};
  for (const Policy p : Candidates) {
    const auto cost = predicted_s(device, p, e);
    if (!cost || !gains(device, p, *cost, *standard)) continue;
    if (best.policy == Policy::Standard || *cost < best.cost_s * ClearlyBetter) best = {p, *cost, *standard};
  }
  return best;
}

Expectation expectation_of(const ProfileSite& site) {
  Expectation e;
  e.allocations = static_cast<double>(std::max<uint64_t>(site.allocations, 1));
  e.transfers = site.transfers_each;
  const double moved = static_cast<double>(site.h2d_bytes) + static_cast<double>(site.d2h_bytes);
  const double count = e.allocations * e.transfers;
  e.transfer_size = count > 0 ? moved / count : 0;
  // A profile without typical and largest sizes: blocks as large as what is transferred.
  const double smallest = static_cast<double>(site.min_bytes);
  if (site.typical_bytes > 0) {
    e.size = static_cast<double>(site.typical_bytes);
  } else if (site.max_bytes == std::numeric_limits<uint64_t>::max()) {
    e.size = std::max(smallest, e.transfer_size);
  } else {
    e.size = (smallest + static_cast<double>(site.max_bytes)) / 2;
  }
  if (moved > 0) e.to_device = static_cast<double>(site.h2d_bytes) / moved;
  return e;
}

std::optional<double> allocation_overhead(const DeviceCosts& device, Policy policy, double size) {
  const PolicyCosts* c = costs_at(device, policy, size);
  return c && !c->allocation.empty() ? std::optional(c->allocation(size)) : std::nullopt;
}

std::optional<double> communication_overhead(const DeviceCosts& device, Policy policy, double size, double to_device) {
  const PolicyCosts* c = device.costs(policy);
  if (!c || c->h2d.empty() || c->d2h.empty()) return std::nullopt;
  return to_device * c->h2d(size) + (1 - to_device) * c->d2h(size);
}

bool trusted(const DeviceCosts& device, Policy policy, double size) {
  const PolicyCosts* c = costs_at(device, policy, size);
  const auto sure = [size](const Curve& curve) { return !curve.empty() && curve.trusted(size); };
  return c && sure(c->allocation) && sure(c->h2d) && sure(c->d2h);
}

std::optional<double> predicted_s(const DeviceCosts& device, Policy policy, const Expectation& e) {
  const auto allocation = allocation_overhead(device, policy, e.size);
  const auto each = communication_overhead(device, policy, e.transfer_size, e.to_device);
  if (!allocation || !each) return std::nullopt;
  const bool returned = policy == Policy::Standard && e.size > ReturnedAbove;
  const double fresh = returned ? e.allocations : std::min(e.allocations, FewBlocks);
  return (fresh * *allocation + e.allocations * e.transfers * *each) * 1e-9;
}

}  // namespace gt::model
