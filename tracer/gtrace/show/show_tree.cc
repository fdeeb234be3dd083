// The tree of loops and calls: branches drawn, shares computed.
#include <fmt/format.h>

#include "tracer/gtrace/show/show.h"
#include "tracer/gtrace/base/units.h"

namespace gt::tracer {
namespace {

// Does a row of the same parent come behind row `i`?
bool has_sibling(const std::vector<ShowRow>& rows, size_t i) {
  for (size_t k = i + 1; k < rows.size() && rows[k].depth >= rows[i].depth; ++k) {
    if (rows[k].depth == rows[i].depth) return true;
  }
  return false;
}

std::string time_text(double ns) { return ns > 0 ? human_ns(static_cast<uint64_t>(ns)) : std::string(); }

}  // namespace

void print_tree(const std::string& title, const std::vector<ShowRow>& rows, const TextStyle& style, Output& out) {
  double host = 0, device = 0;
  uint64_t calls = 0;
  for (const ShowRow& r : rows) {
    if (r.depth > 0) continue;
    host += r.host_ns;
    device += r.device_ns;
    calls += r.calls;
  }
  Table table({{"share", true, 0}, {"host", true, 0}, {"device", true, 0}, {"calls", true, 0}, {"call", false, 24},
               {"site", false, 10}});
  const auto add = [&](const ShowRow& r, const std::string& text) {
    const std::string share = r.host_ns > 0 ? human_percent(r.host_ns, host) : "";
    std::vector<std::string> cells = {share, time_text(r.host_ns), time_text(r.device_ns), std::to_string(r.calls),
                                      text,  r.site};
    r.structure ? table.faint_row(std::move(cells)) : table.row(std::move(cells));
  };
  ShowRow root;
  root.host_ns = host;
  root.device_ns = device;
  root.calls = calls;
  add(root, title);
  std::vector<bool> open;  // by depth: more siblings follow, so their line goes on
  for (size_t i = 0; i < rows.size(); ++i) {
    open.resize(rows[i].depth + 1);
    open[rows[i].depth] = has_sibling(rows, i);
    std::string text;
    for (size_t d = 0; d < rows[i].depth; ++d) text += open[d] ? "│ " : "  ";
    add(rows[i], text + (open[rows[i].depth] ? "├ " : "└ ") + rows[i].call);
  }
  table.print(out, style);
}

}  // namespace gt::tracer
