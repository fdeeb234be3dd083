// The results as JSON: docs/gmicrobench.md has its keys.
#include <nlohmann/json.hpp>

#include "microbench/suite/report.h"

namespace gt::bench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json optimizer_json(const OptimizerFacts& f) {
  return {{"decision", f.decision},
          {"sites", f.sites},
          {"staged",
           {{"transfers", f.staged_transfers},
            {"bytes", f.staged_bytes},
            {"suspensions", f.staging_suspensions},
            {"left", f.left_to_driver}}},
          {"pinned", {{"ranges", f.pinned_ranges}, {"bytes", f.pinned_bytes}}},
          {"fallbacks", f.fallbacks}};
}

Json interval_json(const std::optional<Interval>& i) {
  if (!i) return {};
  return Json::array({i->least, i->most});
}

Json run_json(const ProgramResult& r, RunPolicy policy) {
  const PolicyRuns& runs = r.runs[static_cast<size_t>(policy)];
  Json j = {{"policy", policy_name(policy)},
            {"time_s", or_null(time_s(r, policy))},
            {"spread", spread(r, policy)},
            {"times_s", runs.times_s},
            {"speedup", or_null(speed_over(r, policy, RunPolicy::Default))},
            {"speedup_interval", interval_json(speed_interval(r, policy, RunPolicy::Default))},
            {"of_hand_pinned", or_null(speed_over(r, policy, RunPolicy::HandPinned))}};
  if (runs.optimizer) j["optimizer"] = optimizer_json(*runs.optimizer);
  return j;
}

Json program_json(const Results& results, const ProgramResult& r) {
  Json runs = Json::array(), failures = Json::array();
  for (const RunPolicy p : results.policies) runs.push_back(run_json(r, p));
  for (const Failure& f : r.failures)
    failures.push_back({{"where", f.where}, {"exit_status", f.status}, {"what", f.what}});
  return {{"name", r.program->name},
          {"shape", r.program->shape},
          {"dispatch_ratio", or_null(r.dispatch_ratio)},
          {"eligible", r.eligible},
          {"runs", runs},
          {"failures", failures}};
}

Json mean_json(const std::optional<Summary>& s) {
  if (!s) return {};
  return {{"programs", s->count}, {"geometric_mean", s->geometric_mean}, {"minimum", s->least}, {"maximum", s->most}};
}

Json summary_json(const Results& results) {
  Json out = Json::array();
  for (const bool eligible : {true, false})
    for (const RunPolicy p : results.policies)
      if (p != RunPolicy::Default)
        out.push_back({{"policy", policy_name(p)},
                       {"eligible", eligible},
                       {"speedup", mean_json(summarize(results, p, RunPolicy::Default, eligible))},
                       {"of_hand_pinned", mean_json(summarize(results, p, RunPolicy::HandPinned, eligible))}});
  return out;
}

}  // namespace

std::string format_json(const Results& results) {
  Json programs = Json::array(), policies = Json::array();
  for (const ProgramResult& r : results.programs) programs.push_back(program_json(results, r));
  for (const RunPolicy p : results.policies) policies.push_back(policy_name(p));
  const Json j = {{"format", "gtrace-apps"},
                  {"version", 1},
                  {"device", results.device},
                  {"size", results.size},
                  {"repeat", results.repeat},
                  {"policies", policies},
                  {"programs", programs},
                  {"slower", slower_ones(results)},
                  {"summary", summary_json(results)}};
  // What a program says need not be UTF-8.
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gt::bench
