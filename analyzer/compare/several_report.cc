// What several traces of one program say together, as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/compare/comparison_report.h"
#include "analyzer/compare/difference_table.h"
#include "analyzer/base/text.h"
#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

constexpr size_t MostRows = 20;

void add_inputs(Text& out, const Several& s) {
  std::vector<std::vector<std::string>> rows = {{"Trace", "", "Ran", "OpenCL calls", "Ratio", "Worth it", "Moved"}};
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const Analysis& a = s.inputs[i].analysis;
    uint64_t bytes = 0;
    for (const TransferSource& source : a.sources) bytes += source.sums.bytes();
    rows.push_back({printable(s.inputs[i].file), fmt::format("[{}]", i + 1), time_text(a.wall_ns),
                    std::to_string(a.opencl_calls), ratio_word(a.ratio.program), a.ratio.eligible ? "yes" : "no",
                    bytes_text(bytes)});
  }
  out.table(rows, 2);
  for (const Input& i : s.inputs)
    for (const std::string& loss : i.analysis.losses) out.faint(printable(i.file) + ": " + loss, 2);
}

struct United {
  const TransferSource* first = nullptr;
  uint64_t allocations = 0, seen_in = 0;
  TransferSums sums;
  model::Stats sizes;
};

United unite(const Row<TransferSource>& row) {
  United all;
  for (const TransferSource* s : row.in) {
    if (!s) continue;
    if (!all.first) all.first = s;
    ++all.seen_in;
    all.allocations += s->allocations;
    all.sizes.merge(s->sizes);
    all.sums.transfers += s->sums.transfers;
    all.sums.h2d_bytes += s->sums.h2d_bytes;
    all.sums.d2h_bytes += s->sums.d2h_bytes;
    all.sums.time_ns += s->sums.time_ns;
  }
  return all;
}

std::string per_allocation(const United& s) {
  if (s.allocations == 0) return "-";
  return fmt::format("{:.4g}", static_cast<double>(s.sums.transfers) / static_cast<double>(s.allocations));
}

void add_sites(Text& out, const Several& s) {
  out.heading("Memory that feeds transfers, in all of them");
  std::vector<United> all;
  for (const auto& row : s.comparison.sources) all.push_back(unite(row));
  if (all.empty()) return out.paragraph("No transfer between host memory and a device was recorded.");
  std::stable_sort(all.begin(), all.end(),
                   [](const United& a, const United& b) { return a.sums.time_ns > b.sums.time_ns; });
  std::vector<std::vector<std::string>> rows = {
      {"Where", "By", "Mean size", "Per allocation", "To device", "From device", "Time", "Seen in"}};
  for (const United& u : all) {
    if (rows.size() > MostRows) break;
    rows.push_back({printable(u.first->name()), u.first->call.empty() ? "-" : u.first->call,
                    u.sizes.count ? bytes_text(u.sizes.sum / u.sizes.count) : "-", per_allocation(u),
                    bytes_text(u.sums.h2d_bytes), bytes_text(u.sums.d2h_bytes), time_text(u.sums.time_ns),
                    fmt::format("{} of {}", u.seen_in, s.inputs.size())});
  }
  out.table(rows, 2);
  if (all.size() > MostRows) out.faint(fmt::format("... and {} more (--json shows all)", all.size() - MostRows), 2);
}

void add_next(Text& out, const Several& s) {
  out.heading("Next");
  if (!s.path.empty()) out.paragraph(fmt::format("The profile for all {} is in {}", s.inputs.size(), s.path));
  out.paragraph("The full report of one trace: ganalyze FILE. What changed between two: ganalyze diff A B.");
}

}  // namespace

std::string format_several(const Several& s, const ReportStyle& style) {
  Text out(style.width, style.color);
  const std::string& program = s.profile.program;
  out.paragraph(fmt::format("{} traces of {}", s.inputs.size(), program.empty() ? "a program" : printable(program)));
  add_inputs(out, s);
  const double ratio = s.profile.dispatch_ratio;
  out.heading(fmt::format("Dispatch ratio of all: {}, {}",
                          std::isinf(ratio) ? "infinite" : fmt::format("{:.3g}", ratio),
                          s.profile.eligible ? "worth optimizing" : "not worth optimizing"));
  out.heading("What differs");
  if (s.differences.empty()) {
    out.paragraph("Nothing: the same sites, sizes, transfers, kernels and loops.");
  } else {
    std::vector<std::string> heads;
    for (size_t i = 0; i < s.inputs.size(); ++i) heads.push_back(fmt::format("[{}]", i + 1));
    add_differences(out, s.differences, heads, MostRows);
  }
  add_sites(out, s);
  add_next(out, s);
  return out.take();
}

}  // namespace gt::analyzer
