// One HTML page: a chart of the speedups, and the table with its ranges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "microbench/suite/report.h"

namespace gt::bench {
namespace {

// Bars in the order of RunPolicy without the default, which is the line at 1.
constexpr const char* Style = R"(<style>
:root { --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --dim: #5b6776; --line: #dde2e8;
  --goptimize: #1f5fd0; --goptimize-noprofile: #2aa6a0; --hand-pinned: #b9c2cd; --one: #9a3412; --bad: #9a3412; }
@media (prefers-color-scheme: dark) { :root { color-scheme: dark; --page: #11161d; --card: #19202a; --ink: #e4e9f0;
  --dim: #98a5b5; --line: #2c3642; --goptimize: #5b93f5; --goptimize-noprofile: #2fb8a6; --hand-pinned: #56626f;
  --one: #f5a878; --bad: #f5a878; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 20px 24px; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 16px; margin: 0 0 8px; }
p { margin: 2px 0 14px; color: var(--dim); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px 20px;
  margin: 0 0 16px; overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: 3px 12px; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } th { color: var(--dim); font-weight: 500; }
th[colspan] { text-align: center; color: var(--ink); }
tr.mean td { font-weight: 600; } tr.title td { color: var(--dim); padding-top: 14px; }
.dim { color: var(--dim); } .bad { color: var(--bad); }
svg { display: block; width: 100%; min-width: 760px; } svg text { fill: var(--ink); font-size: 11px; }
svg .dim { fill: var(--dim); } .grid { stroke: var(--line); } .one { stroke: var(--one); stroke-dasharray: 5 4; }
.range { stroke: var(--ink); } .apart { stroke: var(--dim); stroke-dasharray: 2 3; }
.bar-1, .key-1 { fill: var(--goptimize); } .bar-2, .key-2 { fill: var(--goptimize-noprofile); }
.bar-3, .key-3 { fill: var(--hand-pinned); }
</style>
)";

constexpr double Left = 44, Top = 34, Height = 260, Bottom = 66, Right = 12, BarWidth = 16, LeastGroup = 68;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

size_t index_of(RunPolicy p) { return static_cast<size_t>(p); }

std::vector<RunPolicy> compared(const Results& results) {
  std::vector<RunPolicy> out;
  for (const RunPolicy p : results.policies)
    if (p != RunPolicy::Default) out.push_back(p);
  return out;
}

// Eligible programs first, as in the table.
std::vector<const ProgramResult*> in_order(const Results& results) {
  std::vector<const ProgramResult*> out;
  for (const ProgramResult& r : results.programs) out.push_back(&r);
  std::ranges::stable_partition(out, [](const ProgramResult* r) { return r->eligible; });
  return out;
}

// Bars over a speedup axis from 0 to a little more than the highest.
class Chart {
 public:
  explicit Chart(const Results& results) : policies_(compared(results)), programs_(in_order(results)) {
    for (const ProgramResult* r : programs_)
      for (const RunPolicy p : policies_) most_ = std::max(most_, speed_over(*r, p, RunPolicy::Default).value_or(0));
    step_ = most_ > 12 ? 4 : most_ > 6 ? 2 : most_ > 3 ? 1 : 0.5;
    most_ = std::ceil(most_ * 1.04 / step_) * step_;
    const auto groups = static_cast<double>(std::max<size_t>(1, programs_.size()));
    width_ = std::max(800.0, Left + groups * LeastGroup + Right);
    group_width_ = (width_ - Left - Right) / groups;
  }

  std::string svg() const {
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Speedup over default, each program\">\n",
        width_, Top + Height + Bottom);
    out += legend() + grid();
    for (size_t i = 0; i < programs_.size(); ++i) out += bars(i);
    out += apart();
    out += fmt::format("<line class=\"one\" x1=\"{0}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", Left,
                       width_ - Right, y(1));
    return out + "</svg>\n";
  }

 private:
  double y(double speedup) const { return Top + Height * (1 - speedup / most_); }

  std::string legend() const {
    std::string out;
    double x = Left;
    for (const RunPolicy p : policies_) {
      out += fmt::format(
          "<rect class=\"key-{}\" x=\"{:.0f}\" y=\"6\" width=\"12\" height=\"12\" rx=\"2\"/>"
          "<text x=\"{:.0f}\" y=\"16\">{}</text>\n",
          index_of(p), x, x + 18, policy_title(p));
      x += 40 + 7.2 * static_cast<double>(policy_title(p).size());
    }
    return out + fmt::format("<text class=\"dim\" x=\"{:.0f}\" y=\"16\" text-anchor=\"end\">"
                             "speedup over default; higher is better</text>\n",
                             width_ - Right);
  }

  std::string grid() const {
    std::string out;
    for (double v = 0; v <= most_ + 1e-9; v += step_)
      out += fmt::format(
          "<line class=\"grid\" x1=\"{0}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
          "<text class=\"dim\" x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}x</text>\n",
          Left, width_ - Right, y(v), Left - 7, y(v) + 4, v);
    return out;
  }

  // Where the eligible programs end.
  std::string apart() const {
    const auto eligible = static_cast<size_t>(std::ranges::count_if(programs_, &ProgramResult::eligible));
    if (eligible == 0 || eligible == programs_.size()) return {};
    return fmt::format("<line class=\"apart\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                       Left + static_cast<double>(eligible) * group_width_, Top, Top + Height + 40);
  }

  // From the slowest to the fastest run, over the default's median.
  std::string range(const ProgramResult& r, RunPolicy p, double x) const {
    const std::vector<double>& times = r.runs[index_of(p)].times_s;
    const double base = *time_s(r, RunPolicy::Default);
    return fmt::format("<line class=\"range\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", x,
                       std::max(Top, y(base / std::ranges::min(times))), y(base / std::ranges::max(times)));
  }

  std::string bars(size_t i) const {
    const ProgramResult& r = *programs_[i];
    const double middle = Left + (static_cast<double>(i) + 0.5) * group_width_;
    double x = middle - BarWidth * static_cast<double>(policies_.size()) / 2;
    std::string out;
    for (const RunPolicy p : policies_) {
      if (const auto speed = speed_over(r, p, RunPolicy::Default)) {
        out += fmt::format(
            "<rect class=\"bar-{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\">"
            "<title>{}, {}: {:.2f}x ({:.4f} s)</title></rect>\n",
            index_of(p), x, y(*speed), BarWidth - 2, Top + Height - y(*speed), r.program->name, policy_title(p), *speed,
            *time_s(r, p));
        out += range(r, p, x + (BarWidth - 2) / 2);
      }
      x += BarWidth;
    }
    const double foot = Top + Height;
    out += fmt::format("<text x=\"{0:.1f}\" y=\"{1:.0f}\" text-anchor=\"middle\">{2}</text>\n", middle, foot + 18,
                       r.program->name);
    if (r.dispatch_ratio)
      out += fmt::format("<text class=\"dim\" x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n", middle,
                         foot + 35, *r.dispatch_ratio >= 10 ? fmt::format("{:.0f}", *r.dispatch_ratio)
                                                            : fmt::format("{:.2f}", *r.dispatch_ratio));
    if (i == 0)
      out += fmt::format("<text class=\"dim\" x=\"{}\" y=\"{:.0f}\">second line: dispatch ratio, the device time of "
                         "transfers over that of kernels; from 0.1 on a program is eligible</text>\n",
                         Left, foot + 58);
    return out;
  }

  std::vector<RunPolicy> policies_;
  std::vector<const ProgramResult*> programs_;
  double most_ = 1, step_ = 1, group_width_ = 0, width_ = 0;
};

std::string cell(const std::string& text, const std::string& hint = {}) {
  return hint.empty() ? "<td>" + text + "</td>" : fmt::format("<td title=\"{}\">{}</td>", escaped(hint), text);
}
std::string number_cell(std::optional<double> v, const char* unit) {
  return v ? cell(fmt::format("{:.2f}{}", *v, unit)) : cell("–");
}

std::string range_text(const std::vector<double>& times) {
  return fmt::format("{:.4f} to {:.4f} s", std::ranges::min(times), std::ranges::max(times));
}

std::string what_was_done(const PolicyRuns& runs) {
  if (!runs.optimizer) return {};
  const OptimizerFacts& f = *runs.optimizer;
  constexpr double MiB = 1 << 20;
  std::string out = fmt::format("; {}; pinned {:.1f} MiB in {} ranges, staged {:.1f} MiB in {} transfers", f.decision,
                                static_cast<double>(f.pinned_bytes) / MiB, f.pinned_ranges,
                                static_cast<double>(f.staged_bytes) / MiB, f.staged_transfers);
  for (const auto& [reason, count] : f.fallbacks) out += fmt::format("; {} {}", reason, count);
  return out;
}

std::string table_row(const Results& results, const ProgramResult& r) {
  const BenchProgram& program = *r.program;
  std::string out = "<tr>" + cell(std::string(program.name), fmt::format("{}: {}", program.shape, program.style)) +
                    number_cell(r.dispatch_ratio, "");
  for (const RunPolicy p : results.policies) {
    const PolicyRuns& runs = r.runs[index_of(p)];
    const auto time = time_s(r, p);
    out += time ? cell(fmt::format("{:.4f} <span class=dim>±{:.0f}%</span>", *time, spread(r, p) * 100),
                       range_text(runs.times_s) + what_was_done(runs))
                : cell("–");
    if (p == RunPolicy::Default) continue;
    out += number_cell(speed_over(r, p, RunPolicy::Default), "x");
    if (p != RunPolicy::HandPinned) out += number_cell(speed_over(r, p, RunPolicy::HandPinned), "");
  }
  return out + "</tr>\n";
}

std::string mean_row(const Results& results, const char* name, double Summary::* which, bool eligible) {
  std::string out = fmt::format("<tr class=mean><td>{}</td><td></td>", name);
  for (const RunPolicy p : results.policies) {
    out += cell("");
    if (p == RunPolicy::Default) continue;
    const auto part = [&](RunPolicy base, const char* unit) {
      const auto s = summarize(results, p, base, eligible);
      return number_cell(s ? std::optional((*s).*which) : std::nullopt, unit);
    };
    out += part(RunPolicy::Default, "x");
    if (p != RunPolicy::HandPinned) out += part(RunPolicy::HandPinned, "");
  }
  return out + "</tr>\n";
}

std::string table(const Results& results) {
  std::string above = "<tr><th></th><th>dispatch</th>", below = "<tr><th>program</th><th>ratio</th>";
  for (const RunPolicy p : results.policies) {
    const int columns = p == RunPolicy::Default ? 1 : p == RunPolicy::HandPinned ? 2 : 3;
    above += fmt::format("<th colspan={}>{}</th>", columns, policy_title(p));
    below += "<th>time, s</th>";
    if (p != RunPolicy::Default) below += "<th>speedup</th>";
    if (columns == 3) below += "<th>of hand-pinned</th>";
  }
  std::string out = "<table>\n" + above + "</tr>\n" + below + "</tr>\n";
  for (const bool eligible : {true, false}) {
    std::string rows;
    for (const ProgramResult& r : results.programs)
      if (r.eligible == eligible) rows += table_row(results, r);
    if (rows.empty()) continue;
    out += fmt::format("<tr class=title><td colspan=20>{}</td></tr>\n",
                       eligible ? "eligible: transfers matter" : "others: kernels dominate, or no trace");
    out += rows + mean_row(results, "geometric mean", &Summary::geometric_mean, eligible) +
           mean_row(results, "minimum", &Summary::least, eligible) +
           mean_row(results, "maximum", &Summary::most, eligible);
  }
  return out + "</table>\n";
}

std::string failures(const Results& results) {
  if (!results.failed()) return {};
  return "<section><h2 class=bad>Failed</h2><pre class=bad>" + escaped(format_failures(results)) + "</pre></section>\n";
}

}  // namespace

std::string format_page(const Results& results) {
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width\">"
             "<title>gmicrobench apps</title>\n{}</head><body><main>\n<h1>Benchmark programs</h1>\n"
             "<p>{}. {} data sets; each policy {}, taken in turn; medians ± half of the range.</p>\n",
             Style, escaped(results.device), escaped(results.size),
             results.repeat == 1 ? "once" : fmt::format("{} times", results.repeat)) +
         failures(results) + "<section><h2>Speedup</h2>\n" + Chart(results).svg() + "</section>\n" +
         "<section><h2>Times</h2>\n" + table(results) +
         "<p>Point at a program for what it does, at a time for its range and what goptimize did.</p></section>\n" +
         "</main></body></html>\n";
}

}  // namespace gt::bench
