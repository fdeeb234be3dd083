// Comparisons of traces as JSON. What one trace says is what ganalyze --json says of it alone.
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/compare/comparison_report.h"
#include "analyzer/report/json_report.h"
#include "analyzer/report/site_json.h"

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null.
Json number(double v) { return std::isfinite(v) ? Json(v) : Json(); }
Json ratio(const Ratio& r) { return r.defined() ? number(r.value()) : Json(); }

std::string text_of(const Json& j) { return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json sums(const TransferSource& s) {
  return {{"count", s.allocations},   {"transfers", s.sums.transfers}, {"bytes", s.sums.bytes()},
          {"h2d", s.sums.h2d_bytes},  {"d2h", s.sums.d2h_bytes},       {"time_ns", s.sums.time_ns},
          {"min_bytes", s.sizes.min}, {"max_bytes", s.sizes.max}};
}

Json kernel(const KernelFacts& k) { return {{"launches", k.launches}, {"time_ns", k.time_ns}}; }

Json difference(const Difference& d) {
  return {
      {"about", d.about}, {"name", d.name}, {"aspect", d.aspect}, {"values", d.values}, {"structural", d.structural}};
}

Json differences(const std::vector<Difference>& all) {
  Json out = Json::array();
  for (const Difference& d : all) out.push_back(difference(d));
  return out;
}

Json finding(const Finding& f) {
  return {{"rule", f.rule},     {"place", f.place},       {"saving_s", f.saving_s ? number(*f.saving_s) : Json()},
          {"advice", f.advice}, {"evidence", f.evidence}, {"basis", f.basis}};
}

template <class T>
const T& first_of(const Row<T>& row) {
  for (const T* v : row.in)
    if (v) return *v;
  return *row.in[0];  // not reached: a row is of something
}

Json united_source(const Row<TransferSource>& row) {
  TransferSource all;
  Json seen = Json::array();
  for (size_t i = 0; i < row.in.size(); ++i) {
    if (!row.in[i]) continue;
    const TransferSource& s = *row.in[i];
    seen.push_back(i);
    all.allocations += s.allocations;
    all.sizes.merge(s.sizes);
    all.sums.transfers += s.sums.transfers;
    all.sums.h2d_bytes += s.sums.h2d_bytes;
    all.sums.d2h_bytes += s.sums.d2h_bytes;
    all.sums.time_ns += s.sums.time_ns;
  }
  const TransferSource& first = first_of(row);
  Json out = {{"site", site_json(first.site)}, {"kind", model::object_kind_name(first.kind)}, {"call", first.call}};
  out.update(sums(all));
  out["seen_in"] = seen;
  return out;
}

Json united_kernel(const Row<KernelFacts>& row) {
  KernelFacts all;
  for (const KernelFacts* k : row.in) {
    if (!k) continue;
    all.launches += k->launches;
    all.time_ns += k->time_ns;
  }
  Json out = {{"name", row.name}};
  out.update(kernel(all));
  Json args = Json::array();
  const KernelFacts& first = first_of(row);
  for (size_t i = 0; i < first.args.size(); ++i) {
    args.push_back({{"index", i},
                    {"name", first.args[i].name},
                    {"address_space", kernels::address_space_name(first.args[i].space)},
                    {"access", kernels::access_name(first.args[i].access)}});
  }
  out["args"] = args;
  return out;
}

// Of a finding that several inputs have, the one that saves most.
Json united_finding(const Row<Finding>& row) {
  const Finding* best = nullptr;
  Json seen = Json::array();
  for (size_t i = 0; i < row.in.size(); ++i) {
    if (!row.in[i]) continue;
    seen.push_back(i);
    if (!best || row.in[i]->saving_s.value_or(0) > best->saving_s.value_or(0)) best = row.in[i];
  }
  Json out = finding(*best);
  out["seen_in"] = seen;
  return out;
}

template <class T, class F>
Json list(const std::vector<Row<T>>& rows, const F& to_json) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back(to_json(row));
  return out;
}

// A row with what each of two traces says; null where one lacks it.
template <class T, class F>
Json two_sides(const Row<T>& row, const F& to_json) {
  return {{"name", row.name},
          {"a", row.in[0] ? to_json(*row.in[0]) : Json()},
          {"b", row.in[1] ? to_json(*row.in[1]) : Json()}};
}

Json side(const Input& i) {
  const Analysis& a = i.analysis;
  return {{"trace", i.file},
          {"program", a.program},
          {"build_id", a.build_id},
          {"digest", a.digest},
          {"wall_ns", a.wall_ns},
          {"opencl_calls", a.opencl_calls},
          {"dispatch_ratio", ratio(a.ratio.program)},
          {"eligible", a.ratio.eligible},
          {"remote", {{"eligible", a.remote.eligible}, {"reasons", a.remote.reasons}}}};
}

}  // namespace

std::string format_several_json(const Several& s) {
  Json inputs = Json::array();
  for (const Input& i : s.inputs) inputs.push_back(Json::parse(format_json(i.analysis, i.file, s.path)));
  Json allocations = Json::array(), others = Json::array();
  for (const auto& row : s.comparison.sources)
    (first_of(row).allocated() ? allocations : others).push_back(united_source(row));
  const model::ProfileRoute* route = s.profile.routes.empty() ? nullptr : &s.profile.routes[0];
  const Json out = {
      {"program", s.profile.program},
      {"build_id", s.profile.build_id},
      {"profile", s.path},
      {"dispatch_ratio", number(s.profile.dispatch_ratio)},
      {"eligible", s.profile.eligible},
      {"allocations", allocations},
      {"other_sources", others},
      {"kernels", list(s.comparison.kernels, united_kernel)},
      {"findings", list(s.comparison.findings, united_finding)},
      {"remote",
       {{"eligible", !route || route->remote}, {"reasons", route ? route->reasons : std::vector<std::string>()}}},
      {"differences", differences(s.differences)},
      {"inputs", inputs}};
  return text_of(out);
}

std::string format_diff_json(const Pair& p) {
  Json appeared = Json::array(), went = Json::array();
  size_t stayed = 0;
  for (const auto& row : p.comparison.findings) {
    if (row.in[0] && row.in[1]) {
      ++stayed;
    } else {
      (row.in[1] ? appeared : went).push_back(finding(first_of(row)));
    }
  }
  const Json out = {{"same", same_structure(p.differences)},
                    {"a", side(p.a)},
                    {"b", side(p.b)},
                    {"differences", differences(p.differences)},
                    {"sources", list(p.comparison.sources, [](const auto& r) { return two_sides(r, sums); })},
                    {"kernels", list(p.comparison.kernels, [](const auto& r) { return two_sides(r, kernel); })},
                    {"findings", {{"appeared", appeared}, {"went", went}, {"stayed", stayed}}}};
  return text_of(out);
}

}  // namespace gt::analyzer
