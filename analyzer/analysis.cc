// The passes, in their order.
#include "analyzer/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/calls/effects.h"
#include "analyzer/calls/fact_number.h"
#include "analyzer/base/text.h"
#include "traces/store/digest.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

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
    if (!name.starts_with(Lost) || number_in(value) == 0) continue;
    std::string what = name.substr(Lost.size());
    std::replace(what.begin(), what.end(), '_', ' ');
    if (what == "memory calls of helpers") what = "memory calls of processes that it started and that used no OpenCL";
    out.push_back(fmt::format("Not in the trace: {} ({}).", what, value));
  }
  return out;
}

std::vector<Link> all_links(const model::Platform* platform, const std::vector<model::LinkCosts>& assumed) {
  std::vector<Link> out;
  if (platform)
    for (const model::LinkCosts& l : platform->links) out.push_back({l, false});
  for (const model::LinkCosts& l : assumed) out.push_back({l, true});
  return out;
}

}  // namespace

std::string Analysis::kernel_name(const KernelFacts& kernel) const {
  size_t all = 0, number = 0;
  for (const KernelFacts& k : kernels) {
    if (k.name != kernel.name) continue;
    ++all;
    if (&k == &kernel) number = all;
  }
  return all < 2 ? printable(kernel.name) : fmt::format("{} [program {}]", printable(kernel.name), number);
}

std::string Analysis::program_name() const {
  const std::string name = program.substr(program.rfind('/') + 1);
  return name.empty() ? "program" : name;
}

Analysis analyze(const model::Trace& trace, double min_ratio, const model::Platform* platform,
                 const std::vector<model::LinkCosts>& links, Progress* progress) {
  const auto begin = [&](const char* what, uint64_t step) {
    if (progress) progress->show(what, step);
  };
  Analysis a;
  if (!trace.processes.empty()) a.program = trace.processes.front().executable;
  a.build_id = build_id_of(trace, a.program);
  begin("summing up", 1);
  a.digest = store::trace_digest(trace);
  a.wall_ns = fact_number(trace, "wall_ns");
  a.opencl_calls = count_opencl_calls(trace);
  CallSites sites;
  a.ratio = find_dispatch_ratio(trace, min_ratio, sites);
  a.run = find_run_parts(trace, platform);
  begin("following transfers", 2);
  TransferSources sources = find_transfer_sources(trace, sites);
  a.transfers = find_transfer_calls(trace, sources, sites);
  begin("reading kernels", 3);
  a.kernels = find_kernels(trace);
  const Effects effects = refine_effects(trace, a.kernels);
  a.functions = find_functions(trace);
  a.flows = find_flows(trace, sites, sources, a.kernels);
  a.sources = std::move(sources.list);
  begin("replaying on links", 4);
  a.remote = find_remote_eligibility(trace, sites, effects);
  a.prediction = predict_remote(trace, all_links(platform, links), a.wall_ns);
  begin("looking for findings", 5);
  a.found = find_all(trace, a.ratio, a.run, a.sources, a.kernels, effects, platform, sites);
  a.gain = predict_gain(trace, a.ratio, a.run, a.sources, platform, sites);
  a.losses = find_losses(trace);
  return a;
}

}  // namespace gt::analyzer
