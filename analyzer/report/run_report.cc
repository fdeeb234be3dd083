// A table, and the bound that follows from it.
#include "analyzer/report/run_report.h"

#include <fmt/format.h>

#include <cmath>

#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

double percent(uint64_t ns, const RunParts& run) {
  return 100 * static_cast<double>(ns) / static_cast<double>(run.whole_ns);
}

}  // namespace

std::string bound_text(const RunParts& run) {
  const std::string touch = run.page_ns > 0 ? " and the first touch of memory take" : " takes";
  if (run.reachable_ns() == 0) return "Moving data" + touch + " nothing of it: goptimize cannot help.";
  const std::string time = time_text(run.reachable_ns());
  const double most = run.best_speedup();
  const std::string faster = std::isinf(most) ? "" : fmt::format(", {:.2f} times as fast", most);
  return fmt::format("Moving data{} {} of the {}. goptimize makes that faster: the run can be {} shorter at best{}.",
                     touch, time, time_text(run.whole_ns), time, faster);
}

std::string gain_text(const GoptimizeGain& gain, const RunParts& run) {
  const auto seconds = [](double s) { return time_text(static_cast<uint64_t>(s * 1e9)); };
  std::string parts;
  const auto add = [&](double s, const char* what) {
    if (s > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", seconds(s), what);
  };
  add(gain.sites_s, "at allocation sites");
  add(gain.staging_s, "by staging");
  add(gain.pages_s, "by huge pages");
  const std::string whole = run.known() ? " of " + time_text(run.whole_ns) : "";
  return fmt::format("That is predicted to save {}{} ({}), {}.", seconds(gain.saved_s), whole, parts, gain.basis);
}

void add_run(Text& out, const RunParts& run) {
  if (!run.known()) return;
  out.heading("Where the run's time goes");
  std::vector<std::vector<std::string>> rows = {{"", "Time", "Of the run"}};
  for (const RunPart& part : RunPartList) {
    const uint64_t ns = run.*part.ns;
    if (ns > 0) rows.push_back({part.name, time_text(ns), fmt::format("{:.1f} %", percent(ns, run))});
  }
  out.table(rows, 1);
  out.paragraph(bound_text(run));
  if (!run.whole_run) out.faint("Of the run as far as it was recorded: how long all of it was is not in the trace.", 2);
  if (run.page_ns == 0) {
    out.faint("What the first touch of memory takes is not in the trace: it is part of the others.", 2);
  } else if (run.faults > 0) {
    out.faint(fmt::format("First touch: {} page faults at {}; {} of what was transferred had no pages yet.", run.faults,
                          time_text(run.page_ns), bytes_text(run.fresh_bytes)), 2);
  }
  if (run.beside_ns > 0) {
    out.faint(fmt::format("Other threads spent {} in OpenCL calls, beside this one: in none of the figures.",
                          time_text(run.beside_ns)), 2);
  }
}

}  // namespace gt::analyzer
