#include "tracer/gtrace/replay/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tracer/gtrace/base/units.h"

namespace gt::tracer {

using Json = nlohmann::ordered_json;

namespace {

struct FunctionTime {
  uint64_t calls = 0, replayed_ns = 0, recorded_calls = 0, recorded_ns = 0;
};

// By function, the dearest first. Recorded times are of all calls; a part of a trace has its share of them.
std::vector<std::pair<std::string, FunctionTime>> function_times(const ReplayWorld& world) {
  std::map<std::string, FunctionTime> by_name;
  for (model::ShapeId s = 0; s < world.trace.shapes.size(); ++s) {
    const ShapeTime& t = world.outcome.times()[s];
    if (t.calls == 0) continue;
    FunctionTime& f = by_name[api::function_name(world.trace.shapes[s].fn)];
    f.calls += t.calls;
    f.replayed_ns += t.host_ns;
    const model::Stats& host = world.trace.stats[s].host_ns;
    if (host.count == 0) continue;
    f.recorded_calls += t.calls;
    f.recorded_ns += static_cast<uint64_t>(static_cast<double>(host.sum) / static_cast<double>(host.count) *
                                           static_cast<double>(t.calls));
  }
  std::vector<std::pair<std::string, FunctionTime>> out(by_name.begin(), by_name.end());
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.second.replayed_ns > b.second.replayed_ns; });
  return out;
}

std::vector<uint64_t> with_this(std::vector<uint64_t> before, const RunTimes& times) {
  before.push_back(times.wall_ns);
  return before;
}

uint64_t median(std::vector<uint64_t> ns) {
  std::sort(ns.begin(), ns.end());
  return ns[ns.size() / 2];
}

std::string device_names(const ReplayWorld& world) {
  std::string text;
  std::vector<cl_device_id> seen;
  for (const ReplayDevice& d : world.devices.by_slot()) {
    if (std::find(seen.begin(), seen.end(), d.device) != seen.end()) continue;
    seen.push_back(d.device);
    text += (text.empty() ? "" : ", ") + d.name;
  }
  return text;
}

std::string difference_line(const ReplayWorld& world, const ContentDifference& d) {
  const std::string call = api::function_name(world.trace.shapes[d.shape].fn);
  return fmt::format("T{} #{} {}: {} of {} {}s differ, the first at byte {}: expected {}, got {}", d.thread, d.call,
                     d.object.empty() ? call : call + ", " + d.object, d.differing, d.elements, d.type, d.offset,
                     d.expected, d.got);
}

void append_counts(std::string& out, const char* what, const Outcome::Counts& counts) {
  for (const auto& [text, n] : counts)
    out += fmt::format("{}: {}{}\n", what, text, n > 1 ? fmt::format(" ({} times)", n) : "");
}

std::string as_text(const ReplayWorld& world, const RunTimes& times, const ReportOptions& options) {
  const Outcome& o = world.outcome;
  std::string out = fmt::format("{} OpenCL calls on {} in {}", o.calls(), device_names(world), human_ns(times.wall_ns));
  if (times.recorded_ns > 0) out += fmt::format(" (recorded: {})", human_ns(times.recorded_ns));
  out += "\n";
  if (!options.blocking_ns.empty()) {
    out += fmt::format("{} transfers that blocked went on: {}; {} without that (medians of {})\n", o.gone_on(),
                       human_ns(median(with_this(options.going_on_ns, times))), human_ns(median(options.blocking_ns)),
                       options.blocking_ns.size());
  }
  if (!world.devices.same()) out += fmt::format("recorded on {}\n", world.devices.recorded());
  if (options.timing) {
    out += fmt::format("{:<36} {:>10} {:>12} {:>12}\n", "function", "calls", "replayed", "recorded");
    for (const auto& [name, t] : function_times(world)) {
      out += fmt::format("{:<36} {:>10} {:>12} {:>12}\n", name, t.calls, human_ns(t.replayed_ns),
                         t.recorded_calls ? human_ns(t.recorded_ns) : "");
    }
  }
  append_counts(out, "not made", o.left_out());
  append_counts(out, "bridged", o.bridged());
  append_counts(out, "ended otherwise", o.ended_otherwise());
  if (!world.contents) {
    out += "no contents were recorded (gtrace run --capture full): what was sent was zeros, nothing was compared\n";
    return out;
  }
  if (const uint64_t n = o.undefined_results())
    out += fmt::format("not compared: {} results of memory that nothing had written\n", n);
  for (const ContentDifference& d : o.differences()) out += difference_line(world, d) + "\n";
  if (o.compared() == 0) return out + "no result was compared: none was recorded\n";
  return out + fmt::format("{} of {} results differ ({} compared)\n", o.differing(), o.compared(),
                           human_bytes(o.compared_bytes()));
}

Json counts_json(const Outcome::Counts& counts) {
  Json j = Json::object();
  for (const auto& [text, n] : counts) j[text] = n;
  return j;
}

Json as_json(const ReplayWorld& world, const RunTimes& times, const ReportOptions& options) {
  const Outcome& o = world.outcome;
  Json j = {{"format", "gtrace-replay"},
            {"version", 1},
            {"calls", o.calls()},
            {"wall_ns", times.wall_ns},
            {"recorded_ns", times.recorded_ns},
            {"devices", Json::array()},
            {"recorded_on", world.devices.recorded()},
            {"contents", world.contents != nullptr}};
  if (!options.blocking_ns.empty()) {
    j["overlap"] = {{"transfers", o.gone_on()},
                    {"wall_ns", with_this(options.going_on_ns, times)},
                    {"blocking_wall_ns", options.blocking_ns}};
  }
  for (const ReplayDevice& d : world.devices.by_slot()) j["devices"].push_back(d.name);
  j["not_made"] = counts_json(o.left_out());
  j["bridged"] = counts_json(o.bridged());
  j["ended_otherwise"] = counts_json(o.ended_otherwise());
  j["compared"] = {{"results", o.compared()}, {"bytes", o.compared_bytes()}, {"differing", o.differing()},
                   {"undefined", o.undefined_results()}};
  j["differences"] = Json::array();
  for (const ContentDifference& d : o.differences()) {
    j["differences"].push_back({{"thread", d.thread},
                                {"call", d.call},
                                {"function", api::function_name(world.trace.shapes[d.shape].fn)},
                                {"object", d.object},
                                {"offset", d.offset},
                                {"differing", d.differing},
                                {"elements", d.elements},
                                {"type", d.type},
                                {"expected", d.expected},
                                {"got", d.got}});
  }
  j["functions"] = Json::array();
  for (const auto& [name, t] : function_times(world))
    j["functions"].push_back(
        {{"name", name}, {"calls", t.calls}, {"replayed_ns", t.replayed_ns}, {"recorded_ns", t.recorded_ns}});
  return j;
}

}  // namespace

std::string replay_report(const ReplayWorld& world, const RunTimes& times, const ReportOptions& options) {
  return options.json ? as_json(world, times, options).dump(2) + "\n" : as_text(world, times, options);
}

}  // namespace gt::tracer
