// gtrace diff: prints what two traces have not in common. Exit status 0: the same structure; 1: not. With --fail-above:
// 0: nothing takes longer than it may; 6: something does.
#include "tracer/gtrace/compare/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/base/table.h"
#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/compare/regressions.h"
#include "tracer/gtrace/stats/summary.h"
#include "traces/base/command_line.h"
#include "traces/model/folded/memory_detail.h"
#include "traces/store/digest.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using Json = nlohmann::ordered_json;
constexpr int ExitDifferent = 1;  // as diff(1)
constexpr int ExitSlower = 6;     // --fail-above: distinct from every other status

// Joins two lists of sums by name.
class Joined {
 public:
  void add(const std::string& name, bool in_b, uint64_t count, uint64_t value) {
    TimeChange& c = changes_[name];
    c.name = name;
    (in_b ? c.b_count : c.a_count) += count;
    (in_b ? c.b_value : c.a_value) += value;
  }
  std::vector<TimeChange> take() {
    std::vector<TimeChange> out;
    for (auto& [name, change] : changes_) out.push_back(std::move(change));
    const auto size = [](const TimeChange& c) {
      return c.a_value > c.b_value ? c.a_value - c.b_value : c.b_value - c.a_value;
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const TimeChange& x, const TimeChange& y) { return size(x) > size(y); });
    return out;
  }

 private:
  std::map<std::string, TimeChange> changes_;
};

struct Sides {
  OpenedTrace a, b;
  std::vector<Difference> structure;
  std::optional<TimeChanges> times;
  std::optional<double> limit = {};  // --fail-above
  std::vector<Regression> regressions = {};
};

std::string ratio_text(const TimeChange& c) {
  return c.a_value && c.b_value ? fmt::format("{:.2f}x", c.ratio()) : std::string();
}

class Printer {
 public:
  Printer(const Sides& sides, size_t top, const TextStyle& style, Output& out)
      : sides_(sides), top_(top), style_(style), out_(out) {}

  void print() {
    side("A", sides_.a);
    side("B", sides_.b);
    lists();
    structure();
    if (sides_.limit) regressions();
    if (!sides_.times) return;
    changes("Host time by function", "Calls", sides_.times->functions, human_ns);
    changes("Kernels by device time", "Launches", sides_.times->kernels, human_ns);
    changes("Transfers", "Count", sides_.times->transfers, human_ns);
    changes("Allocated bytes by site", "Calls", sides_.times->allocations, human_bytes);
  }

 private:
  size_t shown(size_t rows) const { return top_ == 0 ? rows : std::min(top_, rows); }
  void more(size_t rows) {
    if (rows > shown(rows)) out_.write(fmt::format("... {} more (--top 0 shows all)\n", rows - shown(rows)));
  }

  void side(const char* name, const OpenedTrace& t) {
    out_.write(fmt::format("{} {}: {} OpenCL calls, {} memory calls, {}, digest {}\n", name, t.path,
                           t.trace.fact("calls"), t.trace.fact("memory_calls"),
                           human_bytes(t.file_bytes), store::trace_digest(t.trace)));
  }

  // Whether both sides could have the same memory calls at all.
  void lists() {
    const auto from = [](const OpenedTrace& t) {
      const auto detail = model::read_memory_detail(t.trace);
      return detail ? detail->from : 0;
    };
    const uint64_t a = from(sides_.a), b = from(sides_.b);
    const auto text = [](uint64_t bytes) {
      return bytes == 0 ? "all blocks" : "blocks of " + human_bytes(bytes) + " or more";
    };
    if (a == b && a == 0) return;
    out_.write(a == b ? fmt::format("both list the memory calls of {} only\n", text(a))
                      : fmt::format("A lists the memory calls of {}, B those of {}\n",
                                    text(a), text(b)));
  }

  void structure() {
    const auto& all = sides_.structure;
    out_.write(all.empty() ? "\nthe same calls, loops and arguments\n"
                           : fmt::format("\n{} differences in structure\n", all.size()));
    Table t({{"call", false, 0}, {"difference", false, 0}, {"what", false, 20}, {"A", false, 12}, {"B", false, 12}});
    for (size_t i = 0; i < shown(all.size()); ++i) {
      const Difference& d = all[i];
      const std::string number = d.number.empty() ? "" : (d.memory ? " m" : " #") + d.number;
      const std::string what = d.argument.empty() ? d.what : d.argument + " of " + d.what;
      t.row({fmt::format("T{}{}", d.thread, number), difference_name(d.kind), what, d.a, d.b});
    }
    if (!t.empty()) t.print(out_, style_);
    more(all.size());
  }

  void regressions() {
    const auto& all = sides_.regressions;
    out_.write(all.empty() ? fmt::format("\nnothing takes more than {:.4g} % longer\n", *sides_.limit * 100)
                           : fmt::format("\nMore than {:.4g} % longer\n", *sides_.limit * 100));
    Table t({{"Of", false, 12}, {"Name", false, 16}, {"A", true}, {"B", true}, {"Longer", true}});
    for (const Regression& r : all)
      t.row({r.list, r.name, human_ns(r.a_ns), human_ns(r.b_ns), fmt::format("{:.1f} %", r.growth() * 100)});
    if (!t.empty()) t.print(out_, style_);
  }

  template <class Text>
  void changes(const char* title, const char* count, const std::vector<TimeChange>& all, const Text& text) {
    if (all.empty()) return;
    Table t({{"Name", false, 16}, {std::string(count) + " A", true}, {"B", true}, {"A", true}, {"B", true},
             {"B/A", true}});
    for (size_t i = 0; i < shown(all.size()); ++i) {
      const TimeChange& c = all[i];
      t.row({c.name, std::to_string(c.a_count), std::to_string(c.b_count), text(c.a_value), text(c.b_value),
             ratio_text(c)});
    }
    out_.write(fmt::format("\n{}\n", title));
    t.print(out_, style_);
    more(all.size());
  }

  const Sides& sides_;
  size_t top_;
  TextStyle style_;
  Output& out_;
};

Json as_json(const std::vector<TimeChange>& changes, const char* unit) {
  Json out = Json::array();
  for (const TimeChange& c : changes) {
    Json row = {{"name", c.name}, {"a_count", c.a_count}, {"b_count", c.b_count}};
    row[std::string("a_") + unit] = c.a_value;
    row[std::string("b_") + unit] = c.b_value;
    row["ratio"] = c.a_value ? Json(c.ratio()) : Json();
    out.push_back(std::move(row));
  }
  return out;
}

Json as_json(const Difference& d) {
  return {{"difference", difference_name(d.kind)}, {"thread", d.thread}, {"stream", d.memory ? "memory" : "opencl"},
          {"n", d.number.empty() ? Json() : Json(std::stoull(d.number))}, {"what", d.what},
          {"argument", d.argument}, {"a", d.a}, {"b", d.b}};
}

std::string as_json(const Sides& s) {
  const auto side = [](const OpenedTrace& t) {
    return Json{{"path", t.path}, {"digest", store::trace_digest(t.trace)}, {"bytes", t.file_bytes}};
  };
  Json out = {{"same", s.structure.empty()}, {"a", side(s.a)}, {"b", side(s.b)}, {"differences", Json::array()}};
  for (const Difference& d : s.structure) out["differences"].push_back(as_json(d));
  if (s.times) {
    out["functions"] = as_json(s.times->functions, "ns");
    out["kernels"] = as_json(s.times->kernels, "ns");
    out["transfers"] = as_json(s.times->transfers, "ns");
    out["allocations"] = as_json(s.times->allocations, "bytes");
  }
  if (s.limit) {
    out["fail_above"] = *s.limit;
    out["slower"] = Json::array();
    for (const Regression& r : s.regressions)
      out["slower"].push_back(
          {{"list", r.list}, {"name", r.name}, {"a_ns", r.a_ns}, {"b_ns", r.b_ns}, {"growth", r.growth()}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Invalid: --fail-above is no percentage, or there are no times to judge by.
Result<std::optional<double>> limit_of(const Options& settings) {
  const std::string& text = settings.text("fail-above");
  if (text.empty()) return std::optional<double>();
  const std::optional<double> limit = parse_percentage(text);
  if (!limit) return Status(Kind::Invalid, "--fail-above " + text + " is no percentage: 5% or 0.5%, say");
  if (settings.text("times") != "on") return Status(Kind::Invalid, "--fail-above compares times: not with --times off");
  return limit;
}

}  // namespace

TimeChanges compare_times(const model::Trace& a, const model::Trace& b) {
  Joined functions, kernels, transfers, allocations;
  for (const bool in_b : {false, true}) {
    const Summary s = summarize(in_b ? b : a);
    for (const FunctionSum& f : s.functions) {
      if (f.timed) functions.add(f.name, in_b, f.calls, f.total_ns);
    }
    for (const FunctionSum& f : s.callbacks) functions.add(f.name, in_b, f.calls, f.total_ns);
    for (const KernelSum& k : s.kernels) kernels.add(k.name, in_b, k.launches, k.total_ns);
    for (const TransferSum& t : s.transfers) {
      const std::string name = fmt::format("{} {}+", store::direction_name(t.direction), human_bytes(t.size_from));
      transfers.add(name, in_b, t.count, t.total_ns);
    }
    for (const AllocationSum& x : s.allocations) allocations.add(x.function + " @ " + x.site, in_b, x.calls, x.bytes);
  }
  return {functions.take(), kernels.take(), transfers.take(), allocations.take()};
}

int diff_command(int argc, char** argv) {
  CommandLine line("gtrace diff",
                   "Compares two traces: calls, loops and arguments, and times. Exit status 0: the same structure, "
                   "1: not. With --fail-above: 0, or 6 where something takes longer.");
  const Options& settings = line.options();
  std::string file_a, file_b;
  line.argument("A", file_a, "A trace", CommandLine::Need::Required);
  line.argument("B", file_b, "The trace to compare it with", CommandLine::Need::Required);
  if (const auto status = line.parse(argc, argv)) return *status;
  const auto limit = limit_of(settings);
  if (!limit) return fail("gtrace", limit.status());
  Result<OpenedTrace> a = open_trace(file_a);
  if (!a) return fail("gtrace", a.status());
  Result<OpenedTrace> b = open_trace(file_b);
  if (!b) return fail("gtrace", b.status());
  Sides sides{std::move(*a), std::move(*b), {}, {}};
  sides.structure = compare_structure(sides.a.trace, sides.b.trace);
  if (settings.text("times") == "on") sides.times = compare_times(sides.a.trace, sides.b.trace);
  sides.limit = *limit;
  if (sides.limit) sides.regressions = find_regressions(*sides.times, *sides.limit);
  Output out;
  if (settings.flag("json")) {
    out.write(as_json(sides));
  } else {
    const bool terminal = output_is_terminal();
    const TextStyle style{terminal ? terminal_width() : 0, terminal};
    Printer(sides, settings.integer("top").value_or(0), style, out).print();
  }
  const int end = out.finish();
  if (end != ExitOk) return end;
  if (sides.limit) return sides.regressions.empty() ? ExitOk : ExitSlower;
  return sides.structure.empty() ? ExitOk : ExitDifferent;
}

}  // namespace gt::tracer
