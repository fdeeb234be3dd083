// The table of the benchmark programs: eligible ones first, with their means, the others apart.
#include <fmt/format.h>

#include <algorithm>

#include "microbench/suite/report.h"

namespace gt::bench {
namespace {

constexpr RunPolicy Base = RunPolicy::Default, Hand = RunPolicy::HandPinned;

bool is_optimizer(RunPolicy p) { return p == RunPolicy::Goptimize || p == RunPolicy::GoptimizeNoProfile; }
bool shows_speedup(const Results& r, RunPolicy p) { return p != Base && !is_remote(p) && r.measured(Base); }
bool shows_overhead(const Results& r, RunPolicy p) { return is_remote(p) && r.measured(Base); }
bool shows_share(const Results& r, RunPolicy p) { return is_optimizer(p) && r.measured(Hand); }

std::string number_or(std::optional<double> value, const char* unit, size_t width) {
  return value ? fmt::format("{:>{}.2f}{}", *value, width - 1, unit) : fmt::format("{:>{}}", "-", width);
}

// How much longer than the default, in percent.
std::string overhead(const ProgramResult& r, RunPolicy p) {
  const auto speed = speed_over(r, p, Base);
  return speed ? fmt::format("{:>+9.1f} %", (1 / *speed - 1) * 100) : fmt::format("{:>11}", "-");
}

// For each policy: time and half of its range; speedup; share of the hand-pinned speed.
std::string heading(const Results& results) {
  std::string above = fmt::format("{:<11}{:>8}", "", "dispatch");
  std::string below = fmt::format("{:<11}{:>8}", "program", "ratio");
  for (const RunPolicy p : results.policies) {
    size_t width = 16;
    below += fmt::format("{:>16}", "time s");
    if (shows_speedup(results, p)) below += fmt::format("{:>8}", "speedup"), width += 8;
    if (shows_overhead(results, p)) below += fmt::format("{:>11}", "overhead"), width += 11;
    if (shows_share(results, p)) below += fmt::format("{:>8}", "/ hand"), width += 8;
    above += fmt::format("{:>{}}", policy_title(p), width);
  }
  return above + "\n" + below + "\n";
}

std::string row(const Results& results, const ProgramResult& r) {
  std::string out = fmt::format("{:<11}{}", r.program->name, number_or(r.dispatch_ratio, " ", 8));
  for (const RunPolicy p : results.policies) {
    const auto time = time_s(r, p);
    out += time ? fmt::format("{:>10.4f} ±{:>3.0f}%", *time, spread(r, p) * 100) : fmt::format("{:>16}", "-");
    if (shows_speedup(results, p)) out += number_or(speed_over(r, p, Base), "x", 8);
    if (shows_overhead(results, p)) out += overhead(r, p);
    if (shows_share(results, p)) out += number_or(speed_over(r, p, Hand), " ", 8);
  }
  return out + "\n";
}

std::string summary_row(const Results& results, const char* name, double Summary::* which, bool eligible) {
  std::string out = fmt::format("{:<19}", name);
  const auto part = [&](RunPolicy p, RunPolicy base, const char* unit) {
    const auto s = summarize(results, p, base, eligible);
    out += number_or(s ? std::optional((*s).*which) : std::nullopt, unit, 8);
  };
  for (const RunPolicy p : results.policies) {
    out += fmt::format("{:>16}", "");
    if (shows_speedup(results, p)) part(p, Base, "x");
    if (shows_overhead(results, p)) out += fmt::format("{:>11}", "");
    if (shows_share(results, p)) part(p, Hand, " ");
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + "\n";
}

std::string group(const Results& results, const char* title, bool eligible) {
  std::string rows;
  for (const ProgramResult& r : results.programs)
    if (r.dispatch_ratio && r.eligible == eligible) rows += row(results, r);
  if (rows.empty()) return {};
  const auto has_mean = [&](RunPolicy p) { return shows_speedup(results, p) || shows_share(results, p); };
  if (std::ranges::none_of(results.policies, has_mean)) return fmt::format("\n{}\n", title) + rows;
  return fmt::format("\n{}\n", title) + rows +
         summary_row(results, "geometric mean", &Summary::geometric_mean, eligible) +
         summary_row(results, "minimum", &Summary::least, eligible) +
         summary_row(results, "maximum", &Summary::most, eligible);
}

std::string untraced(const Results& results) {
  std::string rows;
  for (const ProgramResult& r : results.programs)
    if (!r.dispatch_ratio) rows += row(results, r);
  return rows.empty() ? rows : "\nno trace, hence in no mean\n" + rows;
}

std::string slower(const Results& results) {
  std::string out;
  for (const std::string& one : slower_ones(results)) out += "slower than the default, beyond the noise: " + one + "\n";
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string format_table(const Results& results) {
  return fmt::format("{}\n{} data sets; each policy {}, in turn: medians, ± half of the range\n\n", results.device,
                     results.size, results.repeat == 1 ? "once" : fmt::format("{} times", results.repeat)) +
         heading(results) + group(results, "eligible: transfers matter (dispatch ratio at least 0.1)", true) +
         group(results, "others: kernels dominate", false) + untraced(results) + slower(results);
}

std::string format_failures(const Results& results) {
  std::string out;
  for (const ProgramResult& r : results.programs)
    for (const Failure& f : r.failures)
      out += fmt::format("{} failed under {}, exit status {}{}{}\n", r.program->name, f.where, f.status,
                         f.what.empty() ? "" : ": ", f.what);
  return out;
}

}  // namespace gt::bench
