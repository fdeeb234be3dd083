// The passes, in their order, and the profile that follows from them.
#include "analyzer/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "analyzer/effects.h"
#include "traces/store/digest.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

uint64_t number(std::string_view text) {
  uint64_t v = 0;
  std::from_chars(text.data(), text.data() + text.size(), v);
  return v;
}

std::string build_id_of(const model::Trace& trace, const std::string& path) {
  for (const model::Module& m : trace.modules)
    if (m.path == path) return m.build_id;
  return {};
}

uint64_t count_opencl_calls(const model::Trace& trace) {
  uint64_t n = 0;
  for (size_t i = 0; i < std::min(trace.shapes.size(), trace.stats.size()); ++i) {
    const uint16_t fn = trace.shapes[i].fn;
    if (!store::is_alloc_fn(fn) && !store::is_callback_fn(fn)) n += trace.stats[i].calls;
  }
  return n;
}

std::vector<std::string> find_losses(const model::Trace& trace) {
  std::vector<std::string> out;
  for (const auto& [name, value] : trace.facts) {
    constexpr std::string_view Lost = "lost.";
    if (!name.starts_with(Lost) || number(value) == 0) continue;
    std::string what = name.substr(Lost.size());
    std::replace(what.begin(), what.end(), '_', ' ');
    out.push_back(fmt::format("Not in the trace: {} ({}).", what, value));
  }
  return out;
}

// The program will run on other inputs than the traced one, so the range of sizes is wider than what was seen, by a
// factor; pages are the least that can be pinned. Allocations that can have fed a transfer are at least as large as
// the smallest transfer.
constexpr uint64_t OtherInputs = 16;
constexpr uint64_t Page = 4096;

model::ProfileSite profile_site(const TransferSource& s) {
  model::ProfileSite p;
  p.build_id = s.site.build_id;
  p.module = s.site.module_name();
  p.offset = s.site.offset;
  p.where = s.site.place();
  p.call = s.call;
  const uint64_t smallest = std::max(s.sizes.min, s.sums.sizes.min);
  p.min_bytes = std::min(smallest, std::max(Page, smallest / OtherInputs));
  p.max_bytes = std::max(s.sizes.max, smallest) * OtherInputs;
  p.typical_bytes = s.sizes.count > 0 ? s.sizes.sum / s.sizes.count : smallest;
  p.allocations = s.allocations;
  p.transfers_each = s.transfers_each();
  p.h2d_bytes = s.sums.h2d_bytes;
  p.d2h_bytes = s.sums.d2h_bytes;
  p.transfer_ns = s.sums.time_ns;
  return p;
}

// One place may call two functions (through a pointer), and a wrapper's has several uses: the optimizer knows the
// innermost place only.
void add_site(std::vector<model::ProfileSite>& sites, const model::ProfileSite& s) {
  const auto same = [&](const model::ProfileSite& o) {
    return o.build_id == s.build_id && o.offset == s.offset &&
           (!s.build_id.empty() || o.module == s.module);
  };
  const auto old = std::find_if(sites.begin(), sites.end(), same);
  if (old == sites.end()) {
    sites.push_back(s);
    return;
  }
  const double transfers =
      old->transfers_each * static_cast<double>(std::max<uint64_t>(old->allocations, 1)) +
      s.transfers_each * static_cast<double>(std::max<uint64_t>(s.allocations, 1));
  old->min_bytes = std::min(old->min_bytes, s.min_bytes);
  old->max_bytes = std::max(old->max_bytes, s.max_bytes);
  old->typical_bytes = std::max(old->typical_bytes, s.typical_bytes);
  old->allocations += s.allocations;
  old->transfers_each = transfers / static_cast<double>(std::max<uint64_t>(old->allocations, 1));
  old->h2d_bytes += s.h2d_bytes;
  old->d2h_bytes += s.d2h_bytes;
  old->transfer_ns += s.transfer_ns;
  if ((", " + old->call + ", ").find(", " + s.call + ", ") == std::string::npos) old->call += ", " + s.call;
}

}  // namespace

std::string Analysis::program_name() const {
  const std::string name = program.substr(program.rfind('/') + 1);
  return name.empty() ? "program" : name;
}

Analysis analyze(const model::Trace& trace, double min_ratio, const model::Platform* platform) {
  Analysis a;
  if (!trace.processes.empty()) a.program = trace.processes.front().executable;
  a.build_id = build_id_of(trace, a.program);
  a.digest = store::trace_digest(trace);
  a.wall_ns = number(trace.fact("wall_ns"));
  a.opencl_calls = count_opencl_calls(trace);
  CallSites sites;
  a.ratio = find_dispatch_ratio(trace, min_ratio, sites);
  TransferSources sources = find_transfer_sources(trace, sites);
  a.transfers = find_transfer_calls(trace, sources, sites);
  a.kernels = find_kernels(trace);
  a.functions = find_functions(trace);
  a.flows = find_flows(trace, sites, sources, a.kernels);
  a.sources = std::move(sources.list);
  a.remote = find_remote_eligibility(trace);
  a.found = find_all(trace, a.ratio, a.sources, refine_effects(trace, a.kernels), platform, sites);
  a.losses = find_losses(trace);
  return a;
}

model::Profile make_profile(const Analysis& a) {
  model::Profile p;
  p.program = a.program;
  p.build_id = a.build_id;
  p.trace_digest = a.digest;
  p.dispatch_ratio = a.ratio.program.value();
  p.eligible = a.ratio.eligible;
  for (const TransferSource& s : a.sources) {
    const bool known = s.kind == model::ObjectKind::Segment && s.sums.transfers > 0 && s.site.offset != 0 &&
                       s.site.module_name().find_first_not_of('?') != std::string::npos;
    if (known) add_site(p.sites, profile_site(s));
  }
  return p;
}

}  // namespace gt::analyzer
