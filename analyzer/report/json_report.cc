// Values to JSON. Text that is not UTF-8 is replaced, never refused.
#include "analyzer/report/json_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/report/flow_json.h"
#include "analyzer/report/ratio_json.h"
#include "analyzer/report/remote_json.h"
#include "analyzer/report/run_json.h"
#include "analyzer/report/transfer_json.h"
#include "analyzer/report/verified_report.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null.
Json number(double v) { return std::isfinite(v) ? Json(v) : Json(); }

Json kernel(const KernelFacts& k) {
  Json args = Json::array(), defines = Json::array();
  for (size_t i = 0; i < k.args.size(); ++i) {
    const kernels::Arg& a = k.args[i];
    args.push_back({{"index", i},
                    {"name", a.name},
                    {"type", a.type},
                    {"address_space", kernels::address_space_name(a.space)},
                    {"access", kernels::access_name(a.access)}});
    if (a.escapes) args.back()["escapes"] = true;
    for (const kernels::Member& m : a.members)
      args.back()["members"].push_back({{"offset", m.offset}, {"access", kernels::access_name(m.access)}});
    if (kernels::writes(a.access) && kernels::is_memory_object(a.space)) defines.push_back(i);
  }
  return {{"name", k.name},       {"launches", k.launches},
          {"time_ns", k.time_ns}, {"shares_launches", k.shared != KernelFacts::Shared::No},
          {"args", args},         {"defines", defines},
          {"exact", k.exact},     {"note", k.note}};
}

Json finding(const Finding& f) {
  return {{"rule", f.rule},
          {"place", f.place},
          {"saving_s", f.saving_s ? number(*f.saving_s) : Json()},
          {"advice", f.advice},
          {"evidence", f.evidence},
          {"basis", f.basis}};
}

template <class T, class F>
Json list(const std::vector<T>& values, F to_json) {
  Json out = Json::array();
  for (const T& v : values) out.push_back(to_json(v));
  return out;
}

}  // namespace

Json report_json(const Analysis& a, const std::string& trace, const std::string& profile) {
  Json out = {
      {"trace", trace},
      {"program", a.program},
      {"build_id", a.build_id},
      {"profile", profile},
      {"wall_ns", a.wall_ns},
      {"opencl_calls", a.opencl_calls},
      {"run", run_json(a.run)},
      {"goptimize", gain_json(a.gain)},
      {"kernels", list(a.kernels, kernel)},
      {"findings", list(a.found.findings, finding)},
      {"saving_together_s", a.found.total_s},
      {"findings_hint", a.found.hint},
      {"remote", remote_json(a.remote, a.prediction)},
      {"functions", functions_json(a.functions)},
      {"flows", flows_json(a.flows)},
      {"lost", a.losses}};
  if (a.verified) out["verified"] = verified_json(*a.verified);
  add_ratio_json(out, a.ratio);
  add_transfer_json(out, a);
  return out;
}

std::string format_json(const Analysis& a, const std::string& trace, const std::string& profile) {
  return report_json(a, trace, profile).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gt::analyzer
