// What changed in data movement between two traces, as text.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/compare/comparison_report.h"
#include "analyzer/compare/difference_table.h"
#include "analyzer/base/text.h"
#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

void add_side(Text& out, const char* letter, const Input& i) {
  const Analysis& a = i.analysis;
  out.paragraph(fmt::format("{} {}: {} ran {}, {} OpenCL calls, dispatch ratio {}, {}", letter, printable(i.file),
                            a.program.empty() ? "a program" : printable(a.program), time_text(a.wall_ns),
                            a.opencl_calls, ratio_word(a.ratio.program),
                            a.ratio.eligible ? "worth optimizing" : "not worth optimizing"));
  for (const std::string& loss : a.losses) out.faint(loss, 2);
}

std::string factor(uint64_t a, uint64_t b) {
  return a && b ? fmt::format("{:.2f}x", static_cast<double>(b) / static_cast<double>(a)) : "-";
}

uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// The cells that a row has for one side; "-" where the side lacks it.
template <class T, class Text>
std::string cell(const T* v, const Text& text) {
  return v ? text(*v) : std::string("-");
}

// Rows by how much their time changed.
template <class T, class Time>
std::vector<const Row<T>*> by_change(const std::vector<Row<T>>& rows, const Time& time) {
  std::vector<const Row<T>*> out;
  for (const auto& row : rows) out.push_back(&row);
  const auto change = [&](const Row<T>* r) {
    return distance(r->in[0] ? time(*r->in[0]) : 0, r->in[1] ? time(*r->in[1]) : 0);
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto* x, const auto* y) { return change(x) > change(y); });
  return out;
}

template <class T, class Time, class Count, class Amount>
void add_rows(Text& out, const std::vector<Row<T>>& all, size_t top, std::vector<std::string> head, const Time& time,
              const Count& count, const Amount& amount) {
  std::vector<std::vector<std::string>> rows = {std::move(head)};
  for (const Row<T>* r : by_change(all, time)) {
    if (top != 0 && rows.size() > top) break;
    const T *a = r->in[0], *b = r->in[1];
    const auto time_cell = [&](const T& v) { return time_text(time(v)); };
    rows.push_back({printable(r->name), cell(a, count), cell(b, count), cell(a, amount), cell(b, amount),
                    cell(a, time_cell), cell(b, time_cell), factor(a ? time(*a) : 0, b ? time(*b) : 0)});
  }
  out.table(rows, 1);
  if (rows.size() <= all.size())
    out.faint(fmt::format("... and {} more (--top 0 shows all)", all.size() - rows.size() + 1), 2);
}

void add_sources(Text& out, const Pair& p, size_t top) {
  if (p.comparison.sources.empty()) return;
  out.heading("Memory that feeds transfers");
  add_rows(
      out, p.comparison.sources, top, {"Where", "Transfers A", "B", "Bytes A", "B", "Time A", "B", "B/A"},
      [](const TransferSource& s) { return s.sums.time_ns; },
      [](const TransferSource& s) { return std::to_string(s.sums.transfers); },
      [](const TransferSource& s) { return bytes_text(s.sums.bytes()); });
}

std::string each_text(const KernelFacts& k) { return k.launches ? time_text(k.time_ns / k.launches) : "-"; }

void add_kernels(Text& out, const Pair& p, size_t top) {
  if (p.comparison.kernels.empty()) return;
  out.heading("Kernels");
  add_rows(
      out, p.comparison.kernels, top, {"Name", "Launches A", "B", "Per launch A", "B", "Time A", "B", "B/A"},
      [](const KernelFacts& k) { return k.time_ns; }, [](const KernelFacts& k) { return std::to_string(k.launches); },
      each_text);
}

void add_findings(Text& out, const Pair& p, size_t top) {
  size_t stayed = 0, shown = 0;
  out.heading("Findings");
  for (const auto& row : p.comparison.findings) {
    if (row.in[0] && row.in[1]) {
      ++stayed;
    } else if (top == 0 || shown++ < top) {
      out.paragraph(fmt::format("{} {}", row.in[1] ? "new in B:" : "gone in B:", printable(row.name)), 2);
    }
  }
  out.paragraph(fmt::format("{} in both.", stayed), 2);
}

}  // namespace

std::string format_diff(const Pair& p, size_t top, const ReportStyle& style) {
  Text out(style.width, style.color);
  add_side(out, "A", p.a);
  add_side(out, "B", p.b);
  out.heading("What differs");
  if (p.differences.empty()) {
    out.paragraph("Nothing but times: the same sites, sizes, transfers, kernels, loops and findings.");
  } else {
    add_differences(out, p.differences, {"A", "B"}, top);
    if (same_structure(p.differences)) out.paragraph("Only what follows from times: the structure is the same.");
  }
  add_sources(out, p, top);
  add_kernels(out, p, top);
  add_findings(out, p, top);
  return out.take();
}

}  // namespace gt::analyzer
