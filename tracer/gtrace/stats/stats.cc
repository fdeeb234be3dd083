// gtrace stats: prints the summary as tables or JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/stats/stats_sections.h"
#include "tracer/gtrace/stats/summary.h"
#include "traces/base/command_line.h"
#include "traces/model/folded/memory_detail.h"
#include "traces/model/folded/run_usage.h"
#include "traces/store/digest.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view Overhead = "overhead.", Lost = "lost.";

// A fact's value: a number when it is one.
Json fact_value(const std::string& value) {
  const bool number = !value.empty() && value.size() < 19 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  return number ? Json(std::stoull(value)) : Json(value);
}

Json facts_under(const model::Trace& trace, std::string_view prefix) {
  Json out = Json::object();
  for (const auto& [name, value] : trace.facts) {
    if (!name.starts_with(prefix) || model::is_counted_row(name) || model::is_fresh_row(name)) continue;
    out[name.substr(prefix.size())] = fact_value(value);
  }
  return out;
}

Json functions_as_json(const std::vector<FunctionSum>& functions) {
  Json out = Json::array();
  for (const FunctionSum& f : functions) {
    out.push_back({{"name", f.name},
                   {"calls", f.calls},
                   {"total_ns", f.total_ns},
                   {"failed", f.failed},
                   {"min_ns", f.min_ns},
                   {"max_ns", f.max_ns}});
  }
  return out;
}

Json sums_as_json(const Summary& s) {
  Json out = {{"functions", functions_as_json(s.functions)}, {"callbacks", functions_as_json(s.callbacks)},
              {"transfers", Json::array()}, {"kernels", Json::array()}, {"allocations", Json::array()},
              {"counted", Json::array()}, {"objects", Json::array()}};
  for (const TransferSum& t : s.transfers) {
    out["transfers"].push_back({{"direction", store::direction_name(t.direction)},
                                {"bytes", t.bytes},
                                {"count", t.count},
                                {"total_ns", t.total_ns},
                                {"size_from", t.size_from},
                                {"clock", t.device_time ? "device" : "host"}});
  }
  for (const KernelSum& k : s.kernels) {
    out["kernels"].push_back({{"name", k.name},
                              {"launches", k.launches},
                              {"total_ns", k.total_ns},
                              {"timed", k.timed},
                              {"min_ns", k.min_ns},
                              {"max_ns", k.max_ns}});
  }
  for (const AllocationSum& a : s.allocations) {
    out["allocations"].push_back({{"site", a.site},
                                  {"calls", a.calls},
                                  {"bytes", a.bytes},
                                  {"function", a.function},
                                  {"min_bytes", a.min_bytes},
                                  {"max_bytes", a.max_bytes}});
  }
  for (const CountedSum& c : s.counted) {
    out["counted"].push_back({{"site", c.site},
                              {"calls", c.calls},
                              {"bytes", c.bytes},
                              {"function", c.function},
                              {"size_from", c.makes ? Json(c.size_from) : Json(nullptr)}});
  }
  for (const ObjectSum& o : s.objects) {
    out["objects"].push_back({{"object", o.name},
                              {"kind", o.kind},
                              {"site", o.site},
                              {"h2d_bytes", o.h2d_bytes},
                              {"d2h_bytes", o.d2h_bytes},
                              {"d2d_bytes", o.d2d_bytes},
                              {"transfers", o.transfers},
                              {"launches", o.launches},
                              {"total_ns", o.total_ns}});
  }
  return out;
}

std::string as_json(const OpenedTrace& opened, const Summary& s) {
  Json out = {{"trace",
               {{"calls", s.calls},
                {"nodes", s.nodes},
                {"digest", store::trace_digest(opened.trace)},
                {"bytes", opened.file_bytes},
                {"memory_calls", s.memory_calls},
                {"counted_calls", s.counted_calls},
                {"callback_calls", s.callback_calls},
                {"calls_per_node", s.calls_per_node()},
                {"path", opened.path}}}};
  out.update(sums_as_json(s));
  out["overhead"] = facts_under(opened.trace, Overhead);
  out["lost"] = facts_under(opened.trace, Lost);
  out["summarised"] = facts_under(opened.trace, "summarised.");
  out["facts"] = facts_under(opened.trace, "");
  // Names come from the traced program: bytes that are no UTF-8 are replaced.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) out.push_back(word);
  return out;
}

// Invalid: no such section.
Result<std::vector<StatsSection>> chosen(std::vector<StatsSection> all, const std::string& by) {
  if (by.empty()) return all;
  std::vector<StatsSection> out;
  for (const std::string& name : words(by)) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const StatsSection& s) { return s.name == name; });
    if (it == all.end()) {
      return Status(Kind::Invalid,
                    fmt::format("--by knows no '{}', but {}", name, fmt::join(StatsSectionNames, ", ")));
    }
    out.push_back(*it);
  }
  return out;
}

void print_head(const OpenedTrace& opened, const Summary& s, Output& out) {
  std::string callbacks, counted;
  if (s.callback_calls) callbacks = fmt::format(" and {} callbacks", s.callback_calls);
  if (s.counted_calls) counted = fmt::format(" (and {} only counted)", s.counted_calls);
  out.write(fmt::format("{}: {} OpenCL calls and {} memory calls{}{} in {} nodes ({:.4g} calls a node), {}, "
                        "digest {}\n",
                        opened.path, s.calls, s.memory_calls, counted, callbacks, s.nodes, s.calls_per_node(),
                        human_bytes(opened.file_bytes), store::trace_digest(opened.trace)));
}

}  // namespace

int stats_command(int argc, char** argv) {
  CommandLine line("gtrace stats",
                   "Prints summary tables: host time by function, transfers, kernels, allocations, and what "
                   "recording cost.");
  const Options& settings = line.options();
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  const Summary summary = summarize(opened->trace);
  const auto sections = chosen(stats_sections(opened->trace, summary), settings.text("by"));
  if (!sections) return fail("gtrace", sections.status());
  Output out;
  if (settings.flag("json")) {
    out.write(as_json(*opened, summary));
  } else if (settings.flag("csv")) {
    for (const StatsSection& s : *sections) {
      if (&s != sections->data()) out.write("\n");
      print_section_csv(s, out);
    }
  } else {
    const bool terminal = output_is_terminal();
    const StatsPrint print{settings.integer("top").value_or(0), settings.integer("name-width").value_or(0),
                           {terminal ? terminal_width() : 0, terminal}};
    if (settings.text("by").empty()) print_head(*opened, summary, out);
    for (const StatsSection& s : *sections) print_section(s, print, out);
  }
  return out.finish();
}

}  // namespace gt::tracer
