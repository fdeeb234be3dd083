// The page: a chart of the speedups, and the table with its ranges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "microbench/report/html.h"
#include "microbench/suite/report.h"

namespace gt::bench {
namespace {

constexpr double Left = 44, Right = 12, Top = 12, Height = 260, Foot = Top + Height, Bottom = 66;
constexpr double BarWidth = 16, LeastGroup = 68;

// Colours of the page's classes; the default is the line at 1.
constexpr const char* Colors[RunPolicies] = {"c2", "c1", "c3", "c0", "c4", "c6"};

bool has_hand_share(RunPolicy p) { return p == RunPolicy::Goptimize || p == RunPolicy::GoptimizeNoProfile; }
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
  std::stable_partition(out.begin(), out.end(), [](const ProgramResult* r) { return r->eligible; });
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

  std::string html() const {
    std::string out = "<ul class=\"legend\">";
    for (const RunPolicy p : policies_)
      out += fmt::format("<li><span class=\"{}\"></span>{}</li>", Colors[index_of(p)], policy_title(p));
    return out + "</ul>\n<div class=\"scroll\">" + svg() + "</div>\n";
  }

 private:
  std::string svg() const {
    std::string out = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" style=\"min-width: 50rem\" role=\"img\" "
                                  "aria-label=\"Speedup over the default, by program\">\n",
                                  width_, Top + Height + Bottom);
    out += grid();
    for (size_t i = 0; i < programs_.size(); ++i) out += group(i);
    out += apart() + line("line c2 dashed", Left, width_ - Right, y(1), y(1));
    out += text(Left, Foot + 58, "start",
                "second line: dispatch ratio, the device time of transfers over that of kernels; a program is eligible "
                "from 0.1 on");
    return out + "</svg>\n";
  }

  double y(double speedup) const { return Top + Height * (1 - speedup / most_); }

  static std::string line(const char* classes, double x1, double x2, double y1, double y2, const char* style = "") {
    return fmt::format(
        "<line class=\"{}\" style=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", classes, style,
        x1, x2, y1, y2);
  }
  static std::string text(double x, double y, const char* anchor, std::string_view what, const char* style = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" style=\"{}\">{}</text>\n", x, y, anchor,
                       style, what);
  }

  std::string grid() const {
    std::string out;
    for (double v = 0; v <= most_ + 1e-9; v += step_)
      out += line("grid", Left, width_ - Right, y(v), y(v)) + text(Left - 7, y(v) + 4, "end", fmt::format("{:g}x", v));
    return out;
  }

  // Where the eligible programs end.
  std::string apart() const {
    const auto eligible = static_cast<size_t>(std::ranges::count_if(programs_, &ProgramResult::eligible));
    if (eligible == 0 || eligible == programs_.size()) return {};
    const double x = Left + static_cast<double>(eligible) * group_width_;
    return line("axis dashed", x, x, Top, Foot + 40);
  }

  // The bars of one program, and what stands below them.
  std::string group(size_t i) const {
    const ProgramResult& r = *programs_[i];
    const double middle = Left + (static_cast<double>(i) + 0.5) * group_width_;
    double x = middle - BarWidth * static_cast<double>(policies_.size()) / 2;
    std::string out;
    for (const RunPolicy p : policies_) {
      if (const auto speed = speed_over(r, p, RunPolicy::Default)) out += bar(r, p, *speed, x);
      x += BarWidth;
    }
    out += text(middle, Foot + 18, "middle", r.program->name, "fill: var(--text)");
    if (!r.dispatch_ratio) return out;
    const int digits = *r.dispatch_ratio < 10 ? 2 : 0;
    return out + text(middle, Foot + 35, "middle", fmt::format("{:.{}f}", *r.dispatch_ratio, digits));
  }

  // With a line from the slowest to the fastest run, over the default's median.
  std::string bar(const ProgramResult& r, RunPolicy p, double speed, double x) const {
    const std::vector<double>& times = r.runs[index_of(p)].times_s;
    const double base = *time_s(r, RunPolicy::Default), middle = x + (BarWidth - 2) / 2;
    const double high = std::max(Top, y(base / std::ranges::min(times))), low = y(base / std::ranges::max(times));
    return fmt::format("<rect class=\"fill {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\">"
                       "<title>{}, {}: {:.2f}x ({:.4f} s)</title></rect>\n",
                       Colors[index_of(p)], x, y(speed), BarWidth - 2, Foot - y(speed), r.program->name,
                       policy_title(p), speed, *time_s(r, p)) +
           line("line", middle, middle, high, low, "stroke: var(--text); stroke-width: 1");
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
  if (f.staging_suspensions)
    out += fmt::format("; staging suspended {} times, {} transfers left to the driver", f.staging_suspensions,
                       f.left_to_driver);
  for (const auto& [reason, count] : f.fallbacks) out += fmt::format("; {} {}", reason, count);
  return out;
}

std::string table_row(const Results& results, const ProgramResult& r) {
  const BenchProgram& program = *r.program;
  std::string out = fmt::format("<tr><th title=\"{}: {}\">{}</th>", escaped(program.shape), escaped(program.style),
                                program.name) +
                    number_cell(r.dispatch_ratio, "");
  for (const RunPolicy p : results.policies) {
    const PolicyRuns& runs = r.runs[index_of(p)];
    const auto time = time_s(r, p);
    out += time ? cell(fmt::format("{:.4f} <span class=\"soft\">±{:.0f}%</span>", *time, spread(r, p) * 100),
                       range_text(runs.times_s) + what_was_done(runs))
                : cell("–");
    if (p == RunPolicy::Default) continue;
    out += number_cell(speed_over(r, p, RunPolicy::Default), "x");
    if (has_hand_share(p)) out += number_cell(speed_over(r, p, RunPolicy::HandPinned), "");
  }
  return out + "</tr>\n";
}

std::string mean_row(const Results& results, const char* name, double Summary::* which, bool eligible) {
  std::string out = fmt::format("<tr><th>{}</th><td></td>", name);
  for (const RunPolicy p : results.policies) {
    out += cell("");
    if (p == RunPolicy::Default) continue;
    const auto part = [&](RunPolicy base, const char* unit) {
      const auto s = summarize(results, p, base, eligible);
      return number_cell(s ? std::optional((*s).*which) : std::nullopt, unit);
    };
    out += part(RunPolicy::Default, "x");
    if (has_hand_share(p)) out += part(RunPolicy::HandPinned, "");
  }
  return out + "</tr>\n";
}

std::string table(const Results& results) {
  std::string above = "<tr><th></th><th>dispatch</th>", below = "<tr><th>program</th><th>ratio</th>";
  for (const RunPolicy p : results.policies) {
    const int columns = p == RunPolicy::Default ? 1 : has_hand_share(p) ? 3 : 2;
    above += fmt::format("<th colspan=\"{}\" style=\"text-align: center\">{}</th>", columns, policy_title(p));
    below += "<th>time, s</th>";
    if (p != RunPolicy::Default) below += "<th>speedup</th>";
    if (columns == 3) below += "<th>/ hand</th>";
  }
  std::string out = "<div class=\"scroll\"><table>\n" + above + "</tr>\n" + below + "</tr>\n";
  for (const bool eligible : {true, false}) {
    std::string rows;
    for (const ProgramResult& r : results.programs)
      if (r.eligible == eligible) rows += table_row(results, r);
    if (rows.empty()) continue;
    out += fmt::format("<tr><th colspan=\"20\" class=\"soft\">{}</th></tr>\n",
                       eligible ? "eligible: transfers matter" : "others: kernels dominate, or no trace");
    out += rows + mean_row(results, "geometric mean", &Summary::geometric_mean, eligible) +
           mean_row(results, "minimum", &Summary::least, eligible) +
           mean_row(results, "maximum", &Summary::most, eligible);
  }
  return out + "</table></div>\n";
}

std::string complaints(const Results& results) {
  std::string out;
  if (results.failed()) out = "<h2>Failed</h2>\n<pre>" + escaped(format_failures(results)) + "</pre>\n";
  const std::vector<std::string> slower = slower_ones(results);
  if (!slower.empty()) out += "<h2>Slower than the default, beyond the noise</h2>\n";
  for (const std::string& one : slower) out += "<p>" + escaped(one) + "</p>\n";
  return out;
}

}  // namespace

std::string format_page(const Results& results) {
  const std::string rounds = results.repeat == 1 ? "once" : fmt::format("{} times", results.repeat);
  return html_page(
      "Benchmark programs",
      fmt::format("<p>{}</p>\n<p class=\"soft\">{} data sets; each policy {}, taken in turn: medians, ± half of the "
                  "range.</p>\n",
                  escaped(results.device), escaped(results.size), rounds) +
          complaints(results) + "<h2>Speedup over the default</h2>\n" + Chart(results).html() + "<h2>Times</h2>\n" +
          table(results) +
          "<p class=\"soft\">/ hand: which part of the hand-pinned program's speed is reached. Point at a program for "
          "what it does, at a time for its range and what goptimize did.</p>\n");
}

}  // namespace gt::bench
