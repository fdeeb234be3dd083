// Making the report out of the counters.
#include "optimizer-rt/goptimize/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "optimizer-rt/goptimize/file_limit.h"

namespace gt::opt {
namespace {

using Json = nlohmann::ordered_json;

std::string site_name(const model::ProfileSite& s) {
  return s.where.empty() ? fmt::format("{}+{:#x}", s.module, s.offset) : s.where;
}

double seconds(const Counter& ns) { return static_cast<double>(get(ns)) * 1e-9; }

uint64_t made(const SiteCounters& c) { return get(c.allocations) + get(c.left); }

// What the run made of the choice: empty when there is nothing to say.
std::string verdict(const SiteCounters& c, const std::string& policy) {
  const uint64_t suspensions = get(c.suspensions), resumptions = get(c.resumptions);
  if (suspensions == 0) return "";
  const std::string reason = get(c.hits) < get(c.allocations) ? "its memory is not transferred as the profile says"
                                                              : "its transfers gain less than it costs";
  const std::string first = fmt::format("; {} until allocation {}: {}", policy, get(c.suspended_at), reason);
  if (suspensions > resumptions) return first;
  return fmt::format("{}; again from allocation {} on, when its transfers gained", first, get(c.resumed_at));
}

void add_sizes(SiteReport& out, const SiteCounters& c) {
  out.allocations += get(c.allocations);
  out.bytes += get(c.bytes);
  out.fresh += get(c.fresh);
  out.pins += get(c.pins);
  out.pinned_bytes += get(c.pinned_bytes);
  out.pin_ns += get(c.pin_ns);
  out.hits += get(c.hits);
  out.hit_bytes += get(c.hit_bytes);
  out.left += get(c.left);
  out.suspensions += get(c.suspensions);
  const double paid_s = seconds(c.paid_ns);
  out.paid_s += paid_s;
  out.saved_s += seconds(c.saved_ns) - paid_s;
}

// `seen`: sizes of the profile.
void add_site(SiteReport& out, const SiteCounters& seen, const SiteCounters& others) {
  add_sizes(out, seen);
  add_sizes(out, others);
  out.other_sizes_served = get(others.allocations);
  out.other_sizes = made(others) + get(others.refused_sizes);
  if (made(seen) == 0) out.why += "; no allocation of its sizes was made here in this run";
  out.why += verdict(seen, out.policy);
  if (made(others) > 0) out.why += fmt::format("; {} allocations were of other sizes", made(others));
  out.why += verdict(others, out.policy + " for these");
}

Json site_json(const SiteReport& s) {
  return {{"site", s.site},
          {"policy", s.policy},
          {"why", s.why},
          {"allocations", s.allocations},
          {"bytes", s.bytes},
          {"fresh_allocations", s.fresh},
          {"left_allocations", s.left},
          {"other_sizes", s.other_sizes},
          {"other_sizes_served", s.other_sizes_served},
          {"suspensions", s.suspensions},
          {"hits", s.hits},
          {"hit_bytes", s.hit_bytes},
          {"pinned_bytes", s.pinned_bytes},
          {"pin_s", static_cast<double>(s.pin_ns) * 1e-9},
          {"paid_s", s.paid_s},
          {"saved_s", s.saved_s},
          {"predicted_s", s.predicted_s}};
}

}  // namespace

std::vector<SiteReport> planned_sites(const model::Profile& profile, const Decision& decision) {
  std::vector<SiteReport> out;
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    const SiteDecision& d = decision.sites[i];
    SiteReport r;
    r.site = site_name(profile.sites[i]);
    r.policy = std::string(model::policy_name(d.policy));
    r.why = d.why;
    r.predicted_s = d.saved_s;
    out.push_back(std::move(r));
  }
  return out;
}

void leave_out(RunReport& report, const std::vector<size_t>& site_of_plan) {
  uint64_t count = 0;
  for (size_t i = 0; i < report.sites.size(); ++i) {
    SiteReport& s = report.sites[i];
    if (s.policy == "standard" || std::ranges::binary_search(site_of_plan, i)) continue;
    s.why += fmt::format("; left to the C library: a run takes {} sites, those that save most", MaxSites);
    s.policy = "standard";
    ++count;
  }
  if (count) report.fallbacks.emplace_back("too_many_sites", count);
}

void add_counters(RunReport& report, const Counters& counters,
                  const std::vector<size_t>& site_of_plan) {
  for (size_t row = 0; row < site_of_plan.size(); ++row)
    add_site(report.sites[site_of_plan[row]], counters.sites[row], counters.sites[MaxSites + row]);
  report.transfers = get(counters.transfers);
  report.transfer_bytes = get(counters.transfer_bytes);
  report.devices_met = get(counters.devices_met);
  report.devices_known = get(counters.devices_known);
  report.staged = get(counters.staged);
  report.staged_bytes = get(counters.staged_bytes);
  report.staged_ns = get(counters.staged_ns);
  report.staged_saved_s = seconds(counters.staged_saved_ns) - seconds(counters.staged_lost_ns);
  report.staged_measured = get(counters.staged_measured);
  report.staged_measured_ns = get(counters.staged_measured_ns);
  report.staged_driver_ns = get(counters.staged_driver_ns);
  report.staged_left = get(counters.staged_left);
  report.staged_suspensions = get(counters.staged_suspensions);
  report.copies_alone = get(counters.copies_alone);
  report.drivers_own = get(counters.drivers_own);
  report.drivers_own_bytes = get(counters.drivers_own_bytes);
  report.reused_blocks = get(counters.reused_blocks);
  report.reused_bytes = get(counters.reused_bytes);
  report.reused = get(counters.reused);
  report.reuse_pin_ns = get(counters.reuse_pin_ns);
  report.reused_saved_s = seconds(counters.reused_saved_ns);
  report.returned_excess = get(counters.returned_excess);
  report.returned_short = get(counters.returned_short);
  report.returned_idle = get(counters.returned_idle);
  report.remote_devices = get(counters.remote_devices);
  report.remote_contexts = get(counters.remote_contexts);
  const auto moved = [](const memory::MoveCounts::Way& way) {
    return RunReport::Moved{get(way.moves), get(way.bytes)};
  };
  report.moved_here = moved(counters.moves.here);
  report.moved_by_devices = moved(counters.moves.device);
  report.moved_directly = moved(counters.moves.direct);
  report.moved_through_us = moved(counters.moves.relayed);
  report.in_place = get(counters.in_place);
  report.in_place_bytes = get(counters.in_place_bytes);
  report.node = static_cast<int>(get(counters.node)) - 1;
  report.pinned_ranges = get(counters.pinned_ranges);
  report.pinned_bytes = get(counters.pinned_bytes);
  report.pin_ns = get(counters.pin_ns);
  for (size_t i = 0; i < static_cast<size_t>(Fallback::Count); ++i)
    if (const uint64_t n = get(counters.fallbacks[i]))
      report.fallbacks.emplace_back(FallbackNames[i], n);
}

std::string report_json(const RunReport& r) {
  Json sites = Json::array();
  for (const SiteReport& s : r.sites) sites.push_back(site_json(s));
  Json fallbacks = Json::object();
  for (const auto& [reason, count] : r.fallbacks) fallbacks[reason] = count;
  Json remote = Json::object();
  const auto moved = [](const RunReport::Moved& m) { return Json{{"moves", m.moves}, {"bytes", m.bytes}}; };
  if (!r.remote_urls.empty()) {
    remote = {{"urls", r.remote_urls},
              {"devices", r.remote_devices},
              {"contexts", r.remote_contexts},
              {"zero_copy", {{"transfers", r.in_place}, {"bytes", r.in_place_bytes}}}};
  }
  const Json j = {{"program", r.program},
                  {"profile", r.profile},
                  {"decision", r.decision},
                  {"injected", r.injected},
                  {"outcome", outcome(r)},
                  {"saved_s", saved_s(r)},
                  {"sites", sites},
                  {"transfers", {{"count", r.transfers}, {"bytes", r.transfer_bytes}}},
                  {"staged",
                   {{"transfers", r.staged},
                    {"bytes", r.staged_bytes},
                    {"s", static_cast<double>(r.staged_ns) * 1e-9},
                    {"saved_s", r.staged_saved_s},
                    {"measured", r.staged_measured},
                    {"measured_s", static_cast<double>(r.staged_measured_ns) * 1e-9},
                    {"driver_s", static_cast<double>(r.staged_driver_ns) * 1e-9},
                    {"left", r.staged_left},
                    {"suspensions", r.staged_suspensions},
                    {"copies_alone", r.copies_alone}}},
                  {"drivers_own", {{"transfers", r.drivers_own}, {"bytes", r.drivers_own_bytes}}},
                  {"reused",
                   {{"blocks", r.reused_blocks},
                    {"bytes", r.reused_bytes},
                    {"transfers", r.reused},
                    {"s", static_cast<double>(r.reuse_pin_ns) * 1e-9},
                    {"saved_s", r.reused_saved_s}}},
                  {"pinned",
                   {{"ranges", r.pinned_ranges},
                    {"bytes", r.pinned_bytes},
                    {"s", static_cast<double>(r.pin_ns) * 1e-9}}},
                  {"returned",
                   {{"above_cache_bytes", r.returned_excess},
                    {"short_memory_bytes", r.returned_short},
                    {"idle_bytes", r.returned_idle}}},
                  {"node", r.node},
                  {"fallbacks", fallbacks},
                  {"remote", remote},
                  {"moved",
                   {{"here", moved(r.moved_here)},
                    {"by_devices", moved(r.moved_by_devices)},
                    {"directly", moved(r.moved_directly)},
                    {"through_us", moved(r.moved_through_us)}}}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_report(const RunReport& report, const std::string& path) {
  const FileLimitIsAnError limit;
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << report_json(report);
  out.close();
  if (!out) return system_error("cannot write the report " + path, errno ? errno : EIO);
  return {};
}

}  // namespace gt::opt
