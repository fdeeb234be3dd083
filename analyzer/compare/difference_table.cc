// Rows of differences.
#include "analyzer/compare/difference_table.h"

#include <fmt/format.h>

#include <cmath>

namespace gt::analyzer {
namespace {

std::string subject(const Difference& d) {
  if (d.about == "ratio") return "dispatch ratio";
  if (d.about == "eligible") return "worth optimizing";
  if (d.about == "remote") return "may run on remote devices";
  const std::string name = printable(d.name);
  if (d.about == "loop" && d.aspect.empty()) return name;
  return d.aspect.empty() ? fmt::format("{}: {}", d.about, name) : fmt::format("{}: {}", name, d.aspect);
}

}  // namespace

std::string ratio_word(const Ratio& r) {
  if (!r.defined()) return "none";
  return std::isinf(r.value()) ? "infinite" : fmt::format("{:.3g}", r.value());
}

void add_differences(Text& out, const std::vector<Difference>& differences, const std::vector<std::string>& inputs,
                     size_t top) {
  std::vector<std::vector<std::string>> rows = {inputs};
  rows[0].insert(rows[0].begin(), "What");
  for (const Difference& d : differences) {
    if (top != 0 && rows.size() > top) break;
    rows.push_back({subject(d)});
    for (const std::string& v : d.values) rows.back().push_back(v.empty() ? "-" : printable(v));
  }
  out.table(rows, 1);
  if (rows.size() <= differences.size()) {
    out.faint(fmt::format("... and {} more (--json shows all)", differences.size() - rows.size() + 1), 2);
  }
}

}  // namespace gt::analyzer
