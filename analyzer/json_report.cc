// Values to JSON. Text that is not UTF-8 is replaced, never refused.
#include "analyzer/json_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "traces/model/event.h"

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null.
Json number(double v) { return std::isfinite(v) ? Json(v) : Json(); }

Json ratio(const Ratio& r) {
  return {{"ratio", r.defined() ? number(r.value()) : Json()},
          {"kernel_ns", r.kernel_ns},
          {"transfer_ns", r.transfer_ns},
          {"h2d_ns", r.h2d_ns},
          {"d2h_ns", r.d2h_ns},
          {"overlap_ns", r.overlap_ns},
          {"kernels", r.kernels},
          {"transfers", r.transfers},
          {"estimated_kernels", r.estimated_kernels},
          {"estimated_transfers", r.estimated_transfers},
          {"untimed_kernels", r.untimed_kernels},
          {"untimed_transfers", r.untimed_transfers}};
}

const char* call_text(CallKind kind) {
  constexpr const char* Names[] = {"unknown", "none", "direct", "library", "indirect"};
  return Names[static_cast<size_t>(kind)];
}

Json site(const CallSite& s, bool innermost = true) {
  Json frames = Json::array();
  for (const Frame& f : s.frames)
    frames.push_back({{"function", f.function}, {"file", f.file}, {"line", f.line}});
  const Frame own = s.frames.empty() ? Frame() : s.frames[0];
  Json out = {{"module", s.module},       {"build_id", s.build_id},    {"offset", s.offset},
              {"function", own.function}, {"file", own.file},          {"line", own.line},
              {"inlined", frames},        {"call", call_text(s.call)}, {"target", s.target},
              {"problem", s.problem}};
  if (!innermost) return out;
  Json around = Json::array();
  for (const CallSite& c : s.around) around.push_back(site(c, false));
  out["around"] = around;
  return out;
}

Json source(const TransferSource& s) {
  return {{"site", site(s.site)},
          {"kind", model::object_kind_name(s.kind)},
          {"call", s.call},
          {"count", s.allocations},
          {"bytes", s.sums.bytes()},
          {"h2d", s.sums.h2d_bytes},
          {"d2h", s.sums.d2h_bytes},
          {"time_ns", s.sums.time_ns},
          {"transfers", s.sums.transfers},
          {"h2d_transfers", s.sums.h2d_count},
          {"d2h_transfers", s.sums.d2h_count},
          {"untimed", s.sums.untimed},
          {"transfers_each", number(s.transfers_each())},
          {"min_bytes", s.sizes.min},
          {"max_bytes", s.sizes.max}};
}

Json kernel(const KernelFacts& k) {
  Json args = Json::array(), defines = Json::array();
  for (size_t i = 0; i < k.args.size(); ++i) {
    const kernels::Arg& a = k.args[i];
    args.push_back({{"index", i},
                    {"name", a.name},
                    {"type", a.type},
                    {"address_space", kernels::address_space_name(a.space)},
                    {"access", kernels::access_name(a.access)}});
    if (kernels::writes(a.access) && kernels::is_memory_object(a.space)) defines.push_back(i);
  }
  return {{"name", k.name},   {"launches", k.launches}, {"time_ns", k.time_ns}, {"args", args},
          {"defines", defines}, {"exact", k.exact},       {"note", k.note}};
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

std::string format_json(const Analysis& a, const std::string& trace, const std::string& profile) {
  Json devices = Json::array();
  for (const DeviceRatio& d : a.ratio.devices) {
    Json one = ratio(d.ratio);
    one["device"] = d.device;
    devices.push_back(std::move(one));
  }
  std::vector<TransferSource> allocations, others;
  for (const TransferSource& s : a.sources) {
    const bool allocated = !s.call.empty();
    (allocated ? allocations : others).push_back(s);
  }
  Json out = {
      {"trace", trace},
      {"program", a.program},
      {"build_id", a.build_id},
      {"profile", profile},
      {"wall_ns", a.wall_ns},
      {"opencl_calls", a.opencl_calls},
      {"dispatch_ratio", a.ratio.program.defined() ? number(a.ratio.program.value()) : Json()},
      {"min_ratio", a.ratio.min_ratio},
      {"eligible", a.ratio.eligible},
      {"explanation", a.ratio.sentence},
      {"time", ratio(a.ratio.program)},
      {"devices", devices},
      {"allocations", list(allocations, source)},
      {"other_sources", list(others, source)},
      {"kernels", list(a.kernels, kernel)},
      {"findings", list(a.findings, finding)},
      {"remote", {{"eligible", a.remote.eligible}, {"reasons", a.remote.reasons}}},
      {"lost", a.losses}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gt::analyzer
