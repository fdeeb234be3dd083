// What several traces of one program say together, as text.
#include <fmt/format.h>

#include <cmath>

#include "analyzer/compare/comparison_report.h"
#include "analyzer/compare/difference_table.h"
#include "analyzer/report/text.h"
#include "analyzer/report/units.h"

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

void add_sites(Text& out, const model::Profile& p) {
  out.heading("Memory that feeds transfers, in all of them");
  if (p.sites.empty()) return out.paragraph("No allocation feeds a transfer.");
  std::vector<std::vector<std::string>> rows = {
      {"Where", "By", "Typical", "Each", "To device", "From device", "Time", "Seen in"}};
  for (const model::ProfileSite& s : p.sites) {
    if (rows.size() > MostRows) break;
    rows.push_back({printable(s.where), s.call, bytes_text(s.typical_bytes), fmt::format("{:.4g}", s.transfers_each),
                    bytes_text(s.h2d_bytes), bytes_text(s.d2h_bytes), time_text(s.transfer_ns),
                    fmt::format("{} of {}", s.seen_in, p.traces)});
  }
  out.table(rows, 2);
  if (p.sites.size() > MostRows)
    out.faint(fmt::format("... and {} more (--json shows all)", p.sites.size() - MostRows), 2);
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
  add_sites(out, s.profile);
  add_next(out, s);
  return out.take();
}

}  // namespace gt::analyzer
