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

enum class Unit : uint8_t { Number, Seconds };

struct CounterRow {
  const char *group, *key;
  Unit unit;
  Counter Counters::* counter;
  uint64_t RunReport::* value;
};
constexpr CounterRow CounterRows[] = {
#define GT_RUN_COUNTER(name, group, key, unit) {group, key, Unit::unit, &Counters::name, &RunReport::name},
#include "optimizer-rt/pool/counters.def"
};

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
#define GT_SITE_COUNTER(name) out.name += get(c.name);
#include "optimizer-rt/pool/counters.def"
  const double paid_s = seconds(get(c.paid_ns));
  out.paid_s += paid_s;
  out.saved_s += seconds(get(c.saved_ns)) - paid_s;
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
          {"pin_s", seconds(s.pin_ns)},
          {"paid_s", s.paid_s},
          {"saved_s", s.saved_s},
          {"predicted_s", s.predicted_s}};
}

void add_rows(Json& out, const RunReport& r) {
  for (const CounterRow& row : CounterRows) {
    if (*row.group == '\0') continue;
    Json& value = out[row.group][row.key];
    if (row.unit == Unit::Seconds) {
      value = seconds(r.*row.value);
    } else {
      value = r.*row.value;
    }
  }
  out["huge_pages"]["saved_s"] = r.pages_saved_s;
  out["staged"]["saved_s"] = staged_saved_s(r);  // the row has its place; what was lost is another counter
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
  for (const CounterRow& row : CounterRows) report.*row.value = get(counters.*row.counter);
  const auto moved = [](const memory::MoveCounts::Way& way) {
    return RunReport::Moved{get(way.moves), get(way.bytes)};
  };
  report.moved_here = moved(counters.moves.here);
  report.moved_by_devices = moved(counters.moves.device);
  report.moved_directly = moved(counters.moves.direct);
  report.moved_through_us = moved(counters.moves.relayed);
  report.known = moved(counters.moves.known);
  report.missed = moved(counters.moves.missed);
  report.packed = moved(counters.moves.packed);
  report.unpacked = moved(counters.moves.unpacked);
  report.node = static_cast<int>(get(counters.node)) - 1;
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
              {"dedup",
               {{"chunks", r.known.moves},
                {"bytes_not_sent", r.known.bytes - std::min(r.known.bytes, r.missed.bytes)},
                {"bytes_missed", r.missed.bytes}}},
              {"compress",
               {{"chunks_sent", r.packed.moves},
                {"bytes_not_sent", r.packed.bytes},
                {"chunks_read", r.unpacked.moves},
                {"bytes_not_read", r.unpacked.bytes}}},
              {"zero_copy", {{"transfers", r.in_place}, {"bytes", r.in_place_bytes}}}};
  }
  Json j = {{"program", r.program},
            {"profile", r.profile},
            {"decision", r.decision},
            {"injected", r.injected},
            {"outcome", outcome(r)},
            {"saved_s", saved_s(r)},
            {"sites", sites}};
  add_rows(j, r);
  j["node"] = r.node;
  j["fallbacks"] = fallbacks;
  j["remote"] = remote;
  j["moved"] = {{"here", moved(r.moved_here)},
                {"by_devices", moved(r.moved_by_devices)},
                {"directly", moved(r.moved_directly)},
                {"through_us", moved(r.moved_through_us)}};
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
