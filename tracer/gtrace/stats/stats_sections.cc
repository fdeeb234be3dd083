// Sections from sums.
#include "tracer/gtrace/stats/stats_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tracer/gtrace/export/export_formats.h"
#include "tracer/gtrace/base/units.h"
#include "traces/model/folded/memory_detail.h"
#include "traces/model/folded/run_usage.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using Cells = std::vector<StatsCell>;

StatsCell text(std::string s) { return {s, s}; }
StatsCell count(uint64_t n) { return {n ? std::to_string(n) : "", std::to_string(n)}; }
StatsCell bytes(uint64_t n) { return {human_bytes(n), std::to_string(n)}; }
StatsCell time(uint64_t ns, bool known = true) {
  return known ? StatsCell{human_ns(ns), std::to_string(ns)} : StatsCell{"", ""};
}
StatsCell percent(uint64_t part, uint64_t whole) { return {human_percent(double(part), double(whole)), ""}; }
StatsCell none() { return {"", ""}; }

StatsSection function_section(const char* name, const char* title, const std::vector<FunctionSum>& sums) {
  StatsSection s{name, title,
                 {{"Name", "name", false, 16}, {"Time", "total_ns"}, {"Time%", ""}, {"Calls", "calls"},
                  {"Avg", "avg_ns"}, {"Min", "min_ns"}, {"Max", "max_ns"}, {"Failed", "failed"}},
                 {}, {}, false};
  FunctionSum all;
  for (const FunctionSum& f : sums) {
    all.total_ns += f.total_ns;
    all.calls += f.calls;
    all.timed += f.timed;
    all.failed += f.failed;
  }
  const auto row = [&](const std::string& label, const FunctionSum& f, bool extremes) {
    const bool timed = f.timed > 0;
    return Cells{text(label), time(f.total_ns, timed), timed ? percent(f.total_ns, all.total_ns) : none(),
                 count(f.calls), time(timed ? f.total_ns / f.timed : 0, timed), time(f.min_ns, timed && extremes),
                 time(f.max_ns, timed && extremes), count(f.failed)};
  };
  for (const FunctionSum& f : sums) s.rows.push_back(row(f.name, f, true));
  s.total = row("Total", all, false);
  return s;
}

std::string direction_text(model::Direction d) {
  if (d == model::Direction::HostToDevice) return "host to device";
  return d == model::Direction::DeviceToHost ? "device to host" : "device to device";
}

StatsSection transfer_section(const std::vector<TransferSum>& sums) {
  StatsSection s{"transfer", "Transfers by direction and size",
                 {{"Direction", "direction", false}, {"Size", "size_from"}, {"Count", "count"}, {"Bytes", "bytes"},
                  {"Time", "total_ns"}, {"Avg", "avg_ns"}, {"Bandwidth", "bytes_per_s"}, {"Clock", "clock", false}},
                 {}, {}, true};
  TransferSum all;
  const auto row = [&](StatsCell direction, StatsCell size, const TransferSum& t, const char* clock) {
    const double rate = t.total_ns ? static_cast<double>(t.bytes) * 1e9 / static_cast<double>(t.total_ns) : 0;
    return Cells{std::move(direction), std::move(size), count(t.count), bytes(t.bytes), time(t.total_ns),
                 time(t.count ? t.total_ns / t.count : 0, t.count > 0),
                 {human_rate(t.bytes, t.total_ns), fmt::format("{:.0f}", rate)}, text(clock)};
  };
  for (const TransferSum& t : sums) {
    const StatsCell size{t.size_from ? human_bytes(t.size_from) + "+" : "0 B", std::to_string(t.size_from)};
    s.rows.push_back(row({direction_text(t.direction), store::direction_name(t.direction)}, size, t,
                         t.device_time ? "device" : "host"));
    all.count += t.count;
    all.bytes += t.bytes;
    all.total_ns += t.total_ns;
  }
  s.total = row(text("Total"), none(), all, "");
  return s;
}

StatsSection kernel_section(const std::vector<KernelSum>& sums) {
  StatsSection s{"kernel", "Kernels by device time",
                 {{"Name", "name", false, 16}, {"Time", "total_ns"}, {"Time%", ""}, {"Launches", "launches"},
                  {"Avg", "avg_ns"}, {"Min", "min_ns"}, {"Max", "max_ns"}},
                 {}, {}, false};
  KernelSum all;
  for (const KernelSum& k : sums) {
    all.launches += k.launches;
    all.total_ns += k.total_ns;
    all.timed += k.timed;
  }
  const auto row = [&](const std::string& label, const KernelSum& k, bool extremes) {
    const bool timed = k.timed > 0;
    return Cells{text(label), timed ? time(k.total_ns) : StatsCell{"not timed", ""},
                 timed ? percent(k.total_ns, all.total_ns) : none(), count(k.launches),
                 time(timed ? k.total_ns / k.timed : 0, timed), time(k.min_ns, timed && extremes),
                 time(k.max_ns, timed && extremes)};
  };
  for (const KernelSum& k : sums) s.rows.push_back(row(k.name, k, true));
  s.total = row("Total", all, false);
  return s;
}

StatsSection allocation_section(const std::vector<AllocationSum>& sums) {
  StatsSection s{"allocation", "Allocations by site",
                 {{"Site", "site", false, 16}, {"Function", "function", false}, {"Calls", "calls"}, {"Bytes", "bytes"},
                  {"Avg", "avg_bytes"}, {"Smallest", "min_bytes"}, {"Largest", "max_bytes"}},
                 {}, {}, false};
  uint64_t calls = 0, total = 0;
  for (const AllocationSum& a : sums) {
    s.rows.push_back({text(a.site), text(a.function), count(a.calls), bytes(a.bytes),
                      bytes(a.calls ? a.bytes / a.calls : 0), bytes(a.min_bytes), bytes(a.max_bytes)});
    calls += a.calls;
    total += a.bytes;
  }
  s.total = {text("Total"), none(), count(calls), bytes(total), bytes(calls ? total / calls : 0), none(), none()};
  return s;
}

StatsSection counted_section(const Summary& sum) {
  StatsSection s{"counted", "Memory calls of blocks below " + human_bytes(sum.counted_from) + ", counted only",
                 {{"Site", "site", false, 16}, {"Function", "function", false}, {"Size", "size_from"},
                  {"Calls", "calls"}, {"Bytes", "bytes"}},
                 {}, {}, false};
  uint64_t bytes_in_all = 0;
  for (const CountedSum& c : sum.counted) {
    const StatsCell size{c.size_from ? human_bytes(c.size_from) + "+" : "0 B", std::to_string(c.size_from)};
    s.rows.push_back({text(c.site), text(c.function), c.makes ? size : none(), count(c.calls),
                      c.bytes ? bytes(c.bytes) : StatsCell{"", "0"}});
    bytes_in_all += c.bytes;
  }
  s.total = {text("Total"), none(), none(), count(sum.counted_calls), bytes(bytes_in_all)};
  return s;
}

// No total: a transfer counts for both its ends.
StatsSection object_section(const std::vector<ObjectSum>& sums) {
  StatsSection s{"object", "Bytes moved by object",
                 {{"Object", "object", false, 12}, {"Kind", "kind", false}, {"To device", "h2d_bytes"},
                  {"From device", "d2h_bytes"}, {"On device", "d2d_bytes"}, {"Transfers", "transfers"},
                  {"Time", "total_ns"}, {"Launches", "launches"}, {"Made at", "site", false, 12}},
                 {}, {}, false};
  const auto moved = [](uint64_t n) { return StatsCell{n ? human_bytes(n) : "", std::to_string(n)}; };
  for (const ObjectSum& o : sums) {
    s.rows.push_back({text(o.name), text(o.kind), moved(o.h2d_bytes), moved(o.d2h_bytes), moved(o.d2d_bytes),
                      count(o.transfers), time(o.total_ns, o.total_ns > 0), count(o.launches), text(o.site)});
  }
  return s;
}

StatsSection device_section(const std::vector<model::DeviceTime>& devices) {
  StatsSection s{"device", "Device busy time",
                 {{"Device", "device", false, 16}, {"Kernels", "kernel_ns"}, {"Transfers", "transfer_ns"},
                  {"H2D", "h2d_ns"}, {"D2H", "d2h_ns"}, {"Both", "overlap_ns"}, {"Timed", "timed"},
                  {"Estimated", "estimated"}, {"Untimed", "untimed"}},
                 {}, {}, true};
  for (const model::DeviceTime& d : devices) {
    s.rows.push_back({text(d.device), time(d.kernel_ns), time(d.transfer_ns), time(d.h2d_ns), time(d.d2h_ns),
                      time(d.overlap_ns), count(d.kernels + d.transfers),
                      count(d.estimated_kernels + d.estimated_transfers),
                      count(d.untimed_kernels + d.untimed_transfers)});
  }
  return s;
}

StatsSection recording_section(const model::Trace& trace) {
  StatsSection s{"recording", "Recording",
                 {{"Name", "name", false}, {"Value", "value", false, 20}, {"Of wall", ""}}, {}, {}, true};
  const auto number_of = [](std::string_view value) -> std::optional<uint64_t> {
    const bool number = !value.empty() && value.size() < 19 && value.find_first_not_of("0123456789") == value.npos;
    return number ? std::optional(std::stoull(std::string(value))) : std::nullopt;
  };
  const uint64_t wall = number_of(trace.fact("wall_ns")).value_or(0);
  for (const auto& [name, value] : trace.facts) {
    if (model::is_counted_row(name) || model::is_fresh_row(name)) continue;  // the former are a section of their own
    const bool cost = name.starts_with("overhead."), ns = cost || name.ends_with("_ns");
    const auto number = number_of(value);
    s.rows.push_back({text(name), {ns && number ? human_ns(*number) : value, value},
                      cost && number ? percent(*number, wall) : none()});
  }
  return s;
}

}  // namespace

std::vector<StatsSection> stats_sections(const model::Trace& trace, const Summary& s) {
  return {function_section("function", "Host time by function", s.functions),
          function_section("callback", "Callbacks of the program", s.callbacks),
          transfer_section(s.transfers),
          kernel_section(s.kernels),
          allocation_section(s.allocations),
          counted_section(s),
          object_section(s.objects),
          device_section(trace.devices),
          recording_section(trace)};
}

void print_section(const StatsSection& section, const StatsPrint& options, Output& out) {
  if (section.rows.empty()) return;
  std::vector<Table::Column> columns;
  for (const StatsColumn& c : section.columns) columns.push_back({c.title, c.right, c.least});
  Table table(std::move(columns));
  const auto cells = [](const Cells& row) {
    std::vector<std::string> texts;
    for (const StatsCell& c : row) texts.push_back(c.text);
    return texts;
  };
  const bool cut_names = options.name_width > 0 && section.columns[0].least > 0;
  const bool cut = options.top > 0 && !section.whole && section.rows.size() > options.top;
  const size_t shown = cut ? options.top : section.rows.size();
  for (size_t i = 0; i < shown; ++i) {
    std::vector<std::string> row = cells(section.rows[i]);
    if (cut_names) row[0] = fit(row[0], options.name_width);
    table.row(std::move(row));
  }
  if (!section.total.empty()) table.faint_row(cells(section.total));
  out.write(fmt::format("\n{}\n", section.title));
  table.print(out, options.style);
  if (cut) out.write(fmt::format("... {} more (--top 0 shows all)\n", section.rows.size() - shown));
}

void print_section_csv(const StatsSection& section, Output& out) {
  const auto line = [&](const auto& value_of) {
    std::string row;
    for (size_t i = 0; i < section.columns.size(); ++i) {
      if (section.columns[i].key.empty()) continue;
      row += (row.empty() ? "" : ",") + csv_cell(value_of(i));
    }
    out.write(row + "\n");
  };
  line([&](size_t i) { return section.columns[i].key; });
  for (const Cells& r : section.rows) line([&](size_t i) { return r[i].exact; });
}

}  // namespace gt::tracer
