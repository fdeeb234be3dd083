// Checking a plan.
#include "optimizer-rt/pool/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace gt::opt {
namespace {

template <size_t N>
bool ends_inside(const char (&text)[N]) {
  return std::memchr(text, '\0', N) != nullptr;
}

bool is_cost(double ns) { return std::isfinite(ns) && ns >= 0; }

bool good(const PlanSite& s, size_t devices) {
  const uint64_t known = devices >= 32 ? ~uint64_t{0} : (uint64_t{1} << devices) - 1;
  return ends_inside(s.build_id) && ends_inside(s.module) && (s.build_id[0] || s.module[0]) &&
         s.min_bytes <= s.max_bytes && s.policy < model::PolicyCount && (s.pin_on & ~known) == 0 &&
         s.margin_ns <= MostMargin_ns && is_cost(s.reuse_ns_per_byte) && is_cost(s.lock_ns_per_byte);
}

bool good(const SizeCosts& costs) {
  return std::ranges::all_of(costs.ns, [](float ns) { return is_cost(static_cast<double>(ns)); });
}

bool good(const PlanDevice& d) {
  const auto all = [](const WayCosts& w) {
    return good(w.standard) && good(w.staged) && good(w.pinned) && good(w.opencl) && good(w.locked) && good(w.hybrid);
  };
  return ends_inside(d.name) && ends_inside(d.driver) && std::ranges::all_of(d.ways, all) && good(d.pin);
}

}  // namespace

double SizeCosts::operator()(size_t bytes) const noexcept {
  const size_t below = bytes == 0 ? 0 : static_cast<size_t>(std::bit_width(bytes)) - 1;
  if (below + 1 >= CostSizes) return static_cast<double>(ns[CostSizes - 1]);
  const double part = static_cast<double>(bytes) / static_cast<double>(size_t{1} << below) - 1;
  const double low = static_cast<double>(ns[below]), high = static_cast<double>(ns[below + 1]);
  return low + std::max(part, 0.0) * (high - low);
}

const SizeCosts& WayCosts::of(model::Policy policy) const noexcept {
  switch (policy) {
    case model::Policy::Pin:
      return pinned;
    case model::Policy::OpenCl:
      return opencl;
    case model::Policy::Locked:
      return locked;
    case model::Policy::Hybrid:
      return hybrid;
    default:
      return standard;
  }
}

TransferSaving transfer_saving(const WayCosts& costs, model::Policy policy, size_t bytes, bool stages) noexcept {
  const SizeCosts& chosen = costs.of(policy);
  if (!costs.standard.known() || !chosen.known()) return {};
  const double standard = costs.standard(bytes), here = chosen(bytes);
  const double best = stages && costs.staged.known() ? std::min(standard, costs.staged(bytes)) : standard;
  return {best - here, standard - here};
}

uint64_t plan_checksum(std::span<const std::byte> bytes) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<uint8_t>(b)) * 0x100000001b3u;
  return hash;
}

PlanView read_plan(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(PlanHeader)) return {};
  const auto* h = reinterpret_cast<const PlanHeader*>(bytes.data());
  if (std::memcmp(h->magic, PlanMagic, sizeof PlanMagic) != 0 || h->version != PlanVersion)
    return {};
  if (h->devices > MaxPlanDevices || h->sites > MaxSites || h->staging >= static_cast<uint32_t>(Staging::Count) ||
      h->reuse >= static_cast<uint32_t>(Reuse::Count) || h->shared > 1 || h->asks > 1 || h->huge_pages > 1 ||
      !is_cost(h->touch_ns_per_byte))
    return {};
  const size_t size = sizeof *h + h->devices * sizeof(PlanDevice) + h->sites * sizeof(PlanSite);
  if (bytes.size() != size || plan_checksum(bytes.subspan(sizeof *h)) != h->checksum) return {};
  PlanView view;
  view.header = h;
  view.devices = {reinterpret_cast<const PlanDevice*>(h + 1), h->devices};
  view.sites = {reinterpret_cast<const PlanSite*>(view.devices.data() + h->devices), h->sites};
  for (const PlanDevice& d : view.devices)
    if (!good(d)) return {};
  for (const PlanSite& s : view.sites)
    if (!good(s, h->devices)) return {};
  return view;
}

}  // namespace gt::opt
