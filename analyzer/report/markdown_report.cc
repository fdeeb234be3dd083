// The summary for pipelines.
#include "analyzer/report/markdown_report.h"

#include <fmt/format.h>

#include <cmath>

#include "analyzer/base/text.h"
#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

constexpr size_t MostFindings = 10, MostSources = 5, MostKernels = 5;

// As text: no character of it is markup, nor ends a cell of a table.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~@!").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string ratio_text(const Ratio& r) {
  if (!r.defined()) return "none";
  return std::isinf(r.value()) ? "infinite" : fmt::format("{:.3g}", r.value());
}

void add_devices(std::string& out, const DispatchRatio& d) {
  if (d.devices.empty()) return;
  out += "\n| Device | Kernels | Transfers | Both at once | Ratio |\n|---|--:|--:|--:|--:|\n";
  for (const DeviceRatio& r : d.devices) {
    out += fmt::format("| {} | {} | {} | {} | {} |\n", plain(r.device), time_text(r.ratio.kernel_ns),
                       time_text(r.ratio.transfer_ns), time_text(r.ratio.overlap_ns), ratio_text(r.ratio));
  }
}

std::string saving_text(const Finding& f) {
  return f.saving_s ? time_text(static_cast<uint64_t>(*f.saving_s * 1e9)) : "not known";
}

void add_rest(std::string& out, size_t all, size_t shown) {
  if (all > shown) out += fmt::format("\n... and {} more.\n", all - shown);
}

void add_findings(std::string& out, const FoundAll& found) {
  out += "\n### Findings\n\n";
  if (found.findings.empty()) {
    out += "None.\n";
    return;
  }
  out += "| | Would save | Where | What to do |\n|---|--:|---|---|\n";
  size_t shown = 0;
  for (const Finding& f : found.findings) {
    if (shown == MostFindings) break;
    ++shown;
    out += fmt::format("| **{}** | {} | {} | {} |\n", plain(f.rule), saving_text(f), plain(f.place), plain(f.advice));
  }
  add_rest(out, found.findings.size(), shown);
  out += "\n<details><summary>Evidence</summary>\n\n";
  for (size_t i = 0; i < shown; ++i) {
    const Finding& f = found.findings[i];
    out += fmt::format("{}. **{}**: {}. Saving: {}.\n", i + 1, plain(f.rule), plain(f.evidence), plain(f.basis));
  }
  out += "\n</details>\n";
}

void add_sources(std::string& out, const std::vector<TransferSource>& sources) {
  if (sources.empty()) return;
  out +=
      "\n### Memory that feeds transfers\n\n| Where | By | Transfers | To device | From device | Time |\n"
      "|---|---|--:|--:|--:|--:|\n";
  size_t shown = 0;
  for (const TransferSource& s : sources) {
    if (shown == MostSources) break;
    ++shown;
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", plain(s.name()), s.call.empty() ? "-" : plain(s.call),
                       s.sums.transfers, bytes_text(s.sums.h2d_bytes), bytes_text(s.sums.d2h_bytes),
                       time_text(s.sums.time_ns));
  }
  add_rest(out, sources.size(), shown);
}

void add_kernels(std::string& out, const Analysis& a) {
  if (a.kernels.empty()) return;
  out += "\n### Kernels\n\n| Kernel | Launches | Time |\n|---|--:|--:|\n";
  size_t shown = 0;
  for (const KernelFacts& k : a.kernels) {
    if (shown == MostKernels) break;
    ++shown;
    out += fmt::format("| {} | {} | {} |\n", plain(a.kernel_name(k)), k.launches, time_text(k.time_ns));
  }
  add_rest(out, a.kernels.size(), shown);
}

}  // namespace

std::string format_markdown(const Analysis& a, const std::string& trace) {
  std::string out = fmt::format("## gtrace: {}\n\n{}: {}, {}.\n", plain(a.program_name()), plain(trace),
                                time_text(a.wall_ns), count_text(a.opencl_calls, "OpenCL call", "OpenCL calls"));
  if (a.opencl_calls == 0) return out + "\nThere is nothing to analyze.\n";
  out += fmt::format("\n**Dispatch ratio: {}, {}.** {}\n", ratio_text(a.ratio.program),
                     a.ratio.eligible ? "worth optimizing" : "not worth optimizing", plain(a.ratio.sentence));
  add_devices(out, a.ratio);
  add_findings(out, a.found);
  add_sources(out, a.sources);
  add_kernels(out, a);
  if (!a.losses.empty()) out += "\n### Losses\n\n";
  for (const std::string& loss : a.losses) out += "- " + plain(loss) + "\n";
  return out;
}

}  // namespace gt::analyzer
