#include "analyzer/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/verify/replays.h"

namespace gt::analyzer {

namespace {

constexpr size_t Turns = 6;  // the median lies between the smallest and the largest of so many with 97 %

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// Of the findings of these rules: each rule once, and what they save together at most.
double take_rules(const Analysis& a, std::initializer_list<const char*> wanted, std::vector<std::string>& rules) {
  double saving = 0;
  for (const Finding& f : a.found.findings) {
    if (std::find(wanted.begin(), wanted.end(), f.rule) == wanted.end()) continue;
    saving += f.saving_s.value_or(0);
    if (std::find(rules.begin(), rules.end(), f.rule) == rules.end()) rules.push_back(f.rule);
  }
  return saving;
}

// The policy of most sites, by the costs; where nothing is known of these, pinned memory.
std::string policy_of(const model::Profile& profile) {
  std::map<std::string, size_t> counts;
  for (const model::ProfileSite& s : profile.sites) {
    if (!s.predicted_policy.empty() && s.predicted_policy != "standard") ++counts[s.predicted_policy];
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& x, const auto& y) { return x.second < y.second; });
  return most == counts.end() ? "pin" : most->first;
}

void measure(const Result<ReplayTimes>& times, Verified& v) {
  if (!times) {
    v.note = times.status().text();
    return;
  }
  v.turns = std::min(times->as_recorded_s.size(), times->otherwise_s.size());
  if (v.turns == 0) return;
  std::vector<double> saved;
  for (size_t i = 0; i < v.turns; ++i) saved.push_back(times->as_recorded_s[i] - times->otherwise_s[i]);
  v.as_recorded_s = median(times->as_recorded_s);
  v.otherwise_s = median(times->otherwise_s);
  v.saved_s = median(saved);
  v.least_s = *std::min_element(saved.begin(), saved.end());
  v.most_s = *std::max_element(saved.begin(), saved.end());
  v.note = times->contents ? "replayed with the program's data" : "replayed with zeros: the trace has no contents";
  if (times->differs) v.note += "; results differ from the recorded ones";
}

}  // namespace

std::vector<Verified> verify_findings(const Analysis& a, const model::Profile& profile, const std::string& trace) {
  std::vector<Verified> out;
  Verified memory;
  take_rules(a, {"pageable-transfers", "first-touch", "allocation-churn"}, memory.rules);
  if (!memory.rules.empty()) {
    const std::string policy = policy_of(profile);
    memory.choice = "policy " + policy;
    if (a.gain.sites_s > 0) memory.predicted_s = a.gain.sites_s;
    measure(time_policy(trace, policy, Turns), memory);
    out.push_back(memory);
  }
  if (a.gain.staging_s > 0) {
    Verified staging{.choice = "policy staged", .rules = {}, .predicted_s = a.gain.staging_s, .note = {}};
    measure(time_policy(trace, "staged", Turns), staging);
    out.push_back(staging);
  }
  Verified overlap;
  const double predicted = take_rules(a, {"missed-overlap"}, overlap.rules);
  if (!overlap.rules.empty()) overlap.predicted_s = predicted;
  overlap.choice = "overlap";
  uint64_t moved = 0;
  measure(time_overlap(trace, moved), overlap);
  if (overlap.turns > 0) overlap.note += fmt::format("; {} transfers that blocked went on", moved);
  if (overlap.turns == 0 || moved > 0 || !overlap.rules.empty()) out.push_back(overlap);
  return out;
}

}  // namespace gt::analyzer
