// The sections of the report.
#include "analyzer/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/report/remote_report.h"
#include "analyzer/report/run_report.h"
#include "analyzer/report/verified_report.h"
#include "analyzer/base/text.h"
#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

constexpr size_t MostRows = 20;
constexpr size_t MostFunctions = 6;
constexpr uint64_t NotableNs = 10'000'000;
constexpr double WorthSaying_s = 0.001;
constexpr uint64_t HotBytes = 1 << 20;  // what moves less is not worth a word

std::string ratio_text(const Ratio& r) {
  if (!r.defined()) return "none";
  return std::isinf(r.value()) ? "infinite (no kernels)" : fmt::format("{:.3g}", r.value());
}

std::string steady_text(const Ratio& r) {
  if (!r.steady_defined()) return "-";
  return std::isinf(r.steady_value()) ? "infinite" : fmt::format("{:.3g}", r.steady_value());
}

std::vector<std::string> ratio_row(const std::string& name, const Ratio& r) {
  return {name,
          ratio_text(r),
          steady_text(r),
          time_text(r.kernel_ns),
          time_text(r.transfer_ns),
          time_text(r.h2d_ns),
          time_text(r.d2h_ns),
          time_text(r.overlap_ns)};
}

// One of a kind is as its device.
void add_objects(std::vector<std::vector<std::string>>& rows, const char* kind,
                 const std::vector<ObjectRatio>& objects) {
  if (objects.size() < 2) return;
  for (const ObjectRatio& o : objects) {
    if (rows.size() > MostRows) return;
    rows.push_back(ratio_row(fmt::format("{} {} of {}", kind, o.name, printable(o.site.places())), o.ratio));
  }
}

size_t bar_width(const Text& out) {
  return out.width() >= 100 ? 30 : out.width() >= 80 ? 14 : 6;
}

void add_devices(Text& out, const DispatchRatio& d) {
  if (!d.program.defined()) return;
  const uint64_t most = std::max(d.program.transfer_ns, d.program.kernel_ns);
  const auto bar = [&](const char* what, uint64_t ns) {
    return std::vector<std::string>{what, bar_text(ns, most, bar_width(out)), time_text(ns)};
  };
  out.paragraph("On the devices:");
  out.table({{"", "", ""},
             bar("Transfers", d.program.transfer_ns),
             bar("Kernels", d.program.kernel_ns)},
            2);
  std::vector<std::vector<std::string>> rows = {
      {"Device", "Ratio", "Steady", "Kernels", "Transfers", "To device", "From device", "Both at once"}};
  for (const DeviceRatio& r : d.devices) rows.push_back(ratio_row(printable(r.device), r.ratio));
  add_objects(rows, "queue", d.queues);
  add_objects(rows, "context", d.contexts);
  out.table(rows, 1);
  out.faint("Steady: the ratio without the first execution of each call; - where none was timed twice.", 2);
}

void add_ratio(Text& out, const DispatchRatio& d) {
  out.verdict("Dispatch ratio: " + ratio_text(d.program) +
                  (d.eligible ? ", worth optimizing" : ", not worth optimizing"),
              d.eligible ? Text::Tone::Good : Text::Tone::Bad);
  out.paragraph(d.sentence);
  if (!d.steady.empty()) out.paragraph(d.steady);
  if (!d.estimated.empty()) out.paragraph(d.estimated);
  if (!d.untimed.empty()) out.paragraph(d.untimed);
}

// Functions whose first calls took a notable part of the run: who waits for a first launch waits for its compiler.
void add_first_calls(Text& out, const Analysis& a) {
  for (const FunctionSums& f : a.functions) {
    if (f.first_ns < NotableNs || f.first_ns * 100 < a.wall_ns) continue;
    const char* why = f.follows_launches ? ", in which a driver may still compile or set up what was launched" : "";
    out.faint(fmt::format("{}: {} of its time are first calls{}.", f.name, time_text(f.first_ns), why), 2);
  }
}

// The devices, in two bars; then the host, in the functions that take most of its time.
void add_time(Text& out, const Analysis& a) {
  out.heading("Where the time goes");
  add_devices(out, a.ratio);
  std::vector<std::vector<std::string>> rows = {{"Function", "", "Calls", "Time", "Per call"}};
  const uint64_t most = a.functions.empty() ? 0 : a.functions.front().host_ns;
  for (const FunctionSums& f : a.functions) {
    if (rows.size() > MostFunctions || f.host_ns == 0 || f.host_ns * 100 < most) break;
    rows.push_back({f.name, bar_text(f.host_ns, most, bar_width(out)), std::to_string(f.calls),
                    time_text(f.host_ns), time_text(f.host_ns / std::max<uint64_t>(f.calls, 1))});
  }
  if (rows.size() == 1) return;
  out.paragraph("In OpenCL calls, on the host:");
  out.table(rows, 2);
  add_first_calls(out, a);
}

void add_rest(Text& out, size_t all) {
  if (all > MostRows) {
    out.faint(fmt::format("... and {} more (--json shows all)", all - MostRows), 2);
  }
}

std::string each_text(const TransferSource& s) {
  if (s.allocations == 0) return "-";
  return fmt::format("{:.4g}", s.transfers_each());
}

std::string allocated_text(const TransferSource& s) {
  if (s.sizes.count == 0) return "-";
  const bool varies = s.sizes.min != s.sizes.max;
  return fmt::format("{} x {}{}", s.allocations, varies ? "up to " : "", bytes_text(s.sizes.max));
}

// Of several places in one module with one problem the first stands for all.
void add_site_problems(Text& out, const std::vector<TransferSource>& sources) {
  std::map<std::pair<std::string, std::string>, std::pair<std::string, size_t>> problems;
  for (const TransferSource& s : sources) {
    if (!s.site.problem.empty()) {
      ++problems.try_emplace({s.site.module, s.site.problem}, s.name(), 0).first->second.second;
    } else if (s.site.call == CallKind::NotACall) {
      out.faint(s.name() + ": there is no call instruction before this address", 2);
    }
  }
  for (const auto& [problem, place] : problems) {
    const std::string more = place.second > 1 ? fmt::format(", and {} more", place.second - 1) : "";
    out.faint(fmt::format("{}{}: {}: {}", printable(place.first), more, printable(problem.first), problem.second), 2);
  }
}

// Of what the profile cannot help; and which memory is a buffer's as it is.
void add_remedies(Text& out, const std::vector<TransferSource>& sources) {
  size_t rows = 0;
  for (const TransferSource& s : sources) {
    if (++rows > MostRows) break;
    const std::string name = printable(s.name());
    if (s.in_place_buffers > 0) {
      out.faint(fmt::format("{}: {} of buffers use this memory in place (CL_MEM_USE_HOST_PTR)", name,
                            bytes_text(s.in_place_bytes)),
                2);
    }
    if (!s.allocated() && s.sums.bytes() >= HotBytes) out.faint(name + ": " + s.remedy(), 2);
  }
}

void add_sources(Text& out, const Analysis& a) {
  out.heading("Memory that feeds transfers");
  if (a.sources.empty()) {
    out.paragraph("No transfer between host memory and a device was recorded.");
    return;
  }
  out.paragraph(
      "Where the program allocates the host memory that it sends to devices or receives from "
      "them.");
  std::vector<std::vector<std::string>> rows = {
      {"Where", "By", "Allocated", "Transfers", "Per allocation", "To device", "From device", "Time"}};
  for (const TransferSource& s : a.sources) {
    if (rows.size() > MostRows) break;
    rows.push_back({printable(s.name()), s.call.empty() ? "-" : s.call, allocated_text(s),
                    std::to_string(s.sums.transfers), each_text(s), bytes_text(s.sums.h2d_bytes),
                    bytes_text(s.sums.d2h_bytes),
                    time_text(s.sums.time_ns) + (s.sums.untimed ? "*" : "")});
  }
  out.table(rows, 2);
  add_rest(out, a.sources.size());
  for (const TransferSource& s : a.sources) {
    if (s.sums.untimed == 0) continue;
    out.faint("* has transfers without device times: their host time is counted instead", 2);
    break;
  }
  add_site_problems(out, a.sources);
  add_remedies(out, a.sources);
}

std::string arg_text(const kernels::Arg& a, size_t index) {
  constexpr const char* Verbs[] = {"unused", "read", "written", "read+written"};
  const std::string name = a.name.empty() ? fmt::format("argument {}", index) : a.name;
  if (a.space == kernels::AddressSpace::Private) {
    std::string out = name;
    for (const kernels::Member& m : a.members)
      out += fmt::format(" (what byte {} points to: {})", m.offset, Verbs[static_cast<size_t>(m.access)]);
    return out;
  }
  std::string out = name + ": " + Verbs[static_cast<size_t>(a.access)];
  if (a.space != kernels::AddressSpace::Global)
    out += std::string(" (") + kernels::address_space_name(a.space) + ")";
  return out;
}

using Shared = KernelFacts::Shared;

std::string launches_text(const KernelFacts& k) {
  if (k.shared == Shared::Other) return "launches are counted above, with another program's";
  const std::string launches = count_text(k.launches, "launch", "launches");
  const std::string whose = k.shared == Shared::First ? " of all programs that have it" : "";
  return fmt::format("{}{}, {}", launches, whose, time_text(k.time_ns));
}

void add_kernels(Text& out, const Analysis& a) {
  if (a.kernels.empty()) return;
  out.heading("Kernels");
  size_t shown = 0;
  for (const KernelFacts& k : a.kernels) {
    if (++shown > MostRows) break;
    std::string line =
        fmt::format("{}  {}", a.kernel_name(k), launches_text(k));
    for (size_t i = 0; i < k.args.size(); ++i) line += (i ? ", " : "; ") + arg_text(k.args[i], i);
    out.paragraph(printable(line), 2);
    const bool said = shown > 1 && a.kernels[shown - 2].note == k.note;
    if (!k.exact) out.faint("as much as may be: " + (said ? "as above" : printable(k.note)), 4);
  }
  add_rest(out, a.kernels.size());
}

void add_findings(Text& out, const Analysis& a) {
  out.heading("Findings");
  if (a.found.findings.empty()) out.paragraph("None.");
  size_t shown = 0;
  for (const Finding& f : a.found.findings) {
    if (++shown > MostRows) break;
    out.paragraph(fmt::format("{}. {} at {}", shown, f.rule, printable(f.place)), 2);
    out.paragraph(f.evidence, 5);
    if (shown == 1 || f.advice != a.found.findings[shown - 2].advice) out.paragraph(f.advice, 5);
    if (f.saving_s) {
      out.paragraph(fmt::format("Would save about {} ({}).",
                                time_text(static_cast<uint64_t>(*f.saving_s * 1e9)), f.basis),
                    5);
    } else {
      out.faint("Saving " + f.basis + ".", 5);
    }
  }
  add_rest(out, a.found.findings.size());
  if (a.found.findings.size() > 1 && a.found.total_s > 0) {
    out.paragraph(fmt::format("Together they save {} at most: what concerns the same calls does not add up.",
                              time_text(static_cast<uint64_t>(a.found.total_s * 1e9))));
  }
  if (!a.found.hint.empty()) out.faint(a.found.hint);
}

void add_losses(Text& out, const Analysis& a) {
  if (a.losses.empty()) return;
  out.heading("Losses");
  for (const std::string& loss : a.losses) out.paragraph("- " + loss, 2);
}

void add_next(Text& out, const Analysis& a, const std::string& trace,
              const std::string& profile) {
  out.heading("Next");
  if (!profile.empty()) out.paragraph("The profile is in " + printable(profile));
  const std::string run = "goptimize run " + (a.program.empty() ? "PROGRAM" : printable(shell_text(a.program)));
  if (!a.ratio.eligible) {
    out.paragraph(run + " would leave the program as it is: there is too little to gain.");
  } else if (a.ratio.hardly_runs()) {
    out.paragraph(run + " would hardly change how long it runs: the devices work for too little of that.");
  } else {
    out.paragraph("Run the program with it: " + run + " ARGS...");
  }
  if (a.gain.saved_s >= WorthSaying_s) out.paragraph(gain_text(a.gain, a.run), 2);
  out.faint("With pictures: ganalyze " + printable(shell_text(trace)) + " --html report.html");
}

}  // namespace

std::string format_report(const Analysis& a, const std::string& trace, const std::string& profile,
                          const ReportStyle& style) {
  Text out(style.width, style.color);
  out.paragraph(fmt::format("{}: {} ran {}, {}", printable(trace),
                            a.program.empty() ? "a program" : printable(a.program),
                            time_text(a.wall_ns), count_text(a.opencl_calls, "OpenCL call", "OpenCL calls")));
  if (a.opencl_calls == 0) {
    add_losses(out, a);
    out.paragraph(
        "The trace has no OpenCL calls: there is nothing to analyze. If the program does use "
        "OpenCL, "
        "see what `gtrace run` said about it.");
    if (!profile.empty()) out.paragraph("An empty profile is in " + printable(profile));
    return out.take();
  }
  add_ratio(out, a.ratio);
  add_run(out, a.run);
  add_time(out, a);
  add_findings(out, a);
  if (a.verified) add_verified(out, *a.verified);
  add_sources(out, a);
  add_kernels(out, a);
  add_remote(out, a.remote, a.prediction);
  add_losses(out, a);
  add_next(out, a, trace, profile);
  return out.take();
}

}  // namespace gt::analyzer
