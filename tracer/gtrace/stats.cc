// gtrace stats: prints the summary as tables or JSON.
#include "tracer/gtrace/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/open.h"
#include "tracer/gtrace/units.h"
#include "traces/base/settings_cli.h"
#include "traces/store/digest.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view Overhead = "overhead.", Lost = "lost.";

class Tables {
 public:
  Tables(const OpenedTrace& opened, const Summary& s, size_t top, const TextStyle& style,
         Output& out)
      : opened_(opened), s_(s), top_(top), style_(style), out_(out) {}

  void print() {
    out_.write(fmt::format("{}: {} OpenCL calls and {} memory calls in {} nodes, {}, digest {}\n",
                           opened_.path, s_.calls, s_.memory_calls, s_.nodes,
                           human_bytes(opened_.file_bytes), store::trace_digest(opened_.trace)));
    functions();
    transfers();
    kernels();
    allocations();
    devices();
    facts();
  }

 private:
  void titled(const char* title, const Table& table, size_t rows) {
    if (table.empty()) return;
    out_.write(fmt::format("\n{}\n", title));
    table.print(out_, style_);
    if (rows > shown(rows))
      out_.write(fmt::format("... {} more (--top 0 shows all)\n", rows - shown(rows)));
  }
  size_t shown(size_t rows) const { return top_ == 0 ? rows : std::min(top_, rows); }

  void functions() {
    uint64_t whole = 0;
    for (const FunctionSum& f : s_.functions) whole += f.total_ns;
    Table t({{"Name", false, 16},
             {"Time", true},
             {"Time%", true},
             {"Calls", true},
             {"Avg", true},
             {"Min", true},
             {"Max", true},
             {"Failed", true}});
    for (size_t i = 0; i < shown(s_.functions.size()); ++i) {
      const FunctionSum& f = s_.functions[i];
      const bool timed = f.timed > 0;
      t.row({f.name, timed ? human_ns(f.total_ns) : "",
             timed ? human_percent(double(f.total_ns), double(whole)) : "", std::to_string(f.calls),
             timed ? human_ns(f.total_ns / f.timed) : "", timed ? human_ns(f.min_ns) : "",
             timed ? human_ns(f.max_ns) : "", f.failed ? std::to_string(f.failed) : ""});
    }
    titled("Host time by function", t, s_.functions.size());
  }

  void transfers() {
    Table t({{"Direction", false},
             {"Size", true},
             {"Count", true},
             {"Bytes", true},
             {"Time", true},
             {"Bandwidth", true},
             {"Clock", false}});
    for (const TransferSum& x : s_.transfers) {
      t.row({direction_text(x.direction), x.size_from ? human_bytes(x.size_from) + "+" : "0 B",
             std::to_string(x.count), human_bytes(x.bytes), human_ns(x.total_ns),
             human_rate(x.bytes, x.total_ns), x.device_time ? "device" : "host"});
    }
    titled("Transfers by direction and size", t, 0);
  }
  static std::string direction_text(model::Direction d) {
    if (d == model::Direction::HostToDevice) return "host to device";
    return d == model::Direction::DeviceToHost ? "device to host" : "device to device";
  }

  void kernels() {
    uint64_t whole = 0;
    for (const KernelSum& k : s_.kernels) whole += k.total_ns;
    Table t({{"Name", false, 16},
             {"Time", true},
             {"Time%", true},
             {"Launches", true},
             {"Avg", true},
             {"Min", true},
             {"Max", true}});
    for (size_t i = 0; i < shown(s_.kernels.size()); ++i) {
      const KernelSum& k = s_.kernels[i];
      const bool timed = k.timed > 0;
      t.row({k.name, timed ? human_ns(k.total_ns) : "not timed",
             timed ? human_percent(double(k.total_ns), double(whole)) : "",
             std::to_string(k.launches), timed ? human_ns(k.total_ns / k.timed) : "",
             timed ? human_ns(k.min_ns) : "", timed ? human_ns(k.max_ns) : ""});
    }
    titled("Kernels by device time", t, s_.kernels.size());
  }

  void allocations() {
    Table t({{"Site", false, 16},
             {"Function", false},
             {"Calls", true},
             {"Bytes", true},
             {"Smallest", true},
             {"Largest", true}});
    for (size_t i = 0; i < shown(s_.allocations.size()); ++i) {
      const AllocationSum& a = s_.allocations[i];
      t.row({a.site, a.function, std::to_string(a.calls), human_bytes(a.bytes),
             human_bytes(a.min_bytes), human_bytes(a.max_bytes)});
    }
    titled("Allocations by site", t, s_.allocations.size());
  }

  void devices() {
    Table t({{"Device", false, 16},
             {"Kernels", true},
             {"Transfers", true},
             {"H2D", true},
             {"D2H", true},
             {"Both", true},
             {"Untimed", true}});
    for (const model::DeviceTime& d : opened_.trace.devices) {
      t.row({d.device, human_ns(d.kernel_ns), human_ns(d.transfer_ns), human_ns(d.h2d_ns),
             human_ns(d.d2h_ns), human_ns(d.overlap_ns),
             std::to_string(d.untimed_kernels + d.untimed_transfers)});
    }
    titled("Device busy time", t, 0);
  }

  void facts() {
    Table t({{"Name", false}, {"Value", false, 20}});
    for (const auto& [name, value] : opened_.trace.facts) {
      const bool ns = name.starts_with(Overhead) || name.ends_with("_ns");
      const bool number = !value.empty() && value.size() < 20 &&
                          value.find_first_not_of("0123456789") == std::string::npos;
      t.row({name, ns && number ? human_ns(std::stoull(value)) : value});
    }
    titled("Recording", t, 0);
  }

  const OpenedTrace& opened_;
  const Summary& s_;
  size_t top_;
  TextStyle style_;
  Output& out_;
};

// A fact's value: a number when it is one.
Json fact_value(const std::string& value) {
  const bool number = !value.empty() && value.size() < 19 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  return number ? Json(std::stoull(value)) : Json(value);
}

Json facts_under(const model::Trace& trace, std::string_view prefix) {
  Json out = Json::object();
  for (const auto& [name, value] : trace.facts) {
    if (name.starts_with(prefix)) out[name.substr(prefix.size())] = fact_value(value);
  }
  return out;
}

Json sums_as_json(const Summary& s) {
  Json out = {{"functions", Json::array()},
              {"transfers", Json::array()},
              {"kernels", Json::array()},
              {"allocations", Json::array()}};
  for (const FunctionSum& f : s.functions) {
    out["functions"].push_back({{"name", f.name},
                                {"calls", f.calls},
                                {"total_ns", f.total_ns},
                                {"failed", f.failed},
                                {"min_ns", f.min_ns},
                                {"max_ns", f.max_ns}});
  }
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
  return out;
}

std::string as_json(const OpenedTrace& opened, const Summary& s) {
  Json out = {{"trace",
               {{"calls", s.calls},
                {"nodes", s.nodes},
                {"digest", store::trace_digest(opened.trace)},
                {"bytes", opened.file_bytes},
                {"memory_calls", s.memory_calls},
                {"path", opened.path}}}};
  out.update(sums_as_json(s));
  out["overhead"] = facts_under(opened.trace, Overhead);
  out["lost"] = facts_under(opened.trace, Lost);
  out["facts"] = facts_under(opened.trace, "");
  // Names come from the traced program: bytes that are no UTF-8 are replaced.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int stats_command(int argc, char** argv) {
  CLI::App app(
      "Prints summary tables: host time by function, transfers, kernels, allocations, and what "
      "recording cost.",
      "gtrace stats");
  Options settings(app, "gtrace stats");
  std::string file;
  app.add_option("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  const Summary summary = summarize(opened->trace);
  Output out;
  if (settings.flag("json")) {
    out.write(as_json(*opened, summary));
  } else {
    const bool terminal = output_is_terminal();
    Tables(*opened, summary, settings.integer("top").value_or(0),
           {terminal ? terminal_width() : 0, terminal}, out)
        .print();
  }
  return out.finish();
}

}  // namespace gt::tracer
