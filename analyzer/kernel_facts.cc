// Joining a trace's kernels with their sources.
#include "analyzer/kernel_facts.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view text_of(const model::Trace& trace, model::BlobId id) {
  return id < trace.blobs.size() ? as_text(trace.blobs[id].bytes) : std::string_view();
}

// A string argument is kept with the NUL that ends it.
std::string_view without_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

// Sources are read once, however many kernels they have.
class Sources {
 public:
  Sources(const model::Trace& trace, unsigned seconds)
      : trace_(trace), end_(Clock::now() + std::chrono::seconds(seconds)) {}

  const kernels::Source& find(model::BlobId source, model::BlobId options) {
    const auto [at, fresh] = known_.try_emplace({source, options});
    if (fresh) at->second = read(source, options);
    return at->second;
  }

 private:
  kernels::Source read(model::BlobId source, model::BlobId options) const {
    if (source >= trace_.blobs.size()) {
      return {{}, false, "the program was not made from source"};
    }
    const model::Blob& blob = trace_.blobs[source];
    if (blob.full_size > blob.bytes.size()) {
      return {{}, false, "the trace keeps only the beginning of the source"};
    }
    if (Clock::now() > end_) return {{}, false, "not looked at: there are too many sources"};
    return kernels::read_kernels(without_nul(text_of(trace_, source)),
                                 without_nul(text_of(trace_, options)));
  }

  const model::Trace& trace_;
  Clock::time_point end_;
  std::map<std::pair<model::BlobId, model::BlobId>, kernels::Source> known_;
};

struct Runs {
  uint64_t launches = 0, time_ns = 0;
};

std::map<model::ClassId, Runs> count_launches(const model::Trace& trace) {
  std::map<model::ClassId, Runs> out;
  for (size_t i = 0; i < std::min(trace.shapes.size(), trace.stats.size()); ++i) {
    const bool launches = store::launches_kernel(trace.shapes[i].fn);
    for (const model::Arg& a : trace.shapes[i].args) {
      if (a.cls >= trace.classes.size()) continue;
      if (trace.classes[a.cls].kind != model::ObjectKind::Kernel) continue;
      const bool named = launches && a.param < model::ParamKernelArg;
      if (!named && a.param != model::ParamImplied) continue;  // ParamImplied: a command buffer launches it
      Runs& r = out[a.cls];
      r.launches += trace.stats[i].calls - std::min(trace.stats[i].failed, trace.stats[i].calls);
      if (!named) continue;
      r.time_ns += trace.stats[i].device_ns.sum;
      break;
    }
  }
  return out;
}

void add_source(KernelFacts& k, const kernels::Source& source) {
  k.exact = source.exact;
  k.note = source.note;
  const auto found = std::find_if(source.kernels.begin(), source.kernels.end(),
                                  [&](const kernels::Kernel& s) { return s.name == k.name; });
  if (found != source.kernels.end()) {
    k.args = found->args;
    k.elsewhere = found->elsewhere;
    return;
  }
  k.exact = false;
  if (k.note.empty()) k.note = "the source has no kernel of this name";
}

}  // namespace

std::vector<KernelFacts> find_kernels(const model::Trace& trace, unsigned budget_seconds) {
  const auto runs = count_launches(trace);
  Sources sources(trace, budget_seconds);
  std::map<std::tuple<std::string, model::BlobId, model::BlobId>, KernelFacts> merged;
  for (const model::Kernel& k : trace.kernels) {
    const auto [at, fresh] = merged.try_emplace({k.name, k.source, k.options});
    if (fresh) at->second.name = k.name;
    at->second.classes.push_back(k.cls);
    const auto run = runs.find(k.cls);
    if (run == runs.end()) continue;
    at->second.launches += run->second.launches;
    at->second.time_ns += run->second.time_ns;
  }
  std::vector<std::tuple<std::string, model::BlobId, model::BlobId>> order;
  for (const auto& [key, facts] : merged) order.push_back(key);
  const auto cost = [&](const auto& key) {
    return std::tuple(merged[key].time_ns, merged[key].launches);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return cost(a) > cost(b); });
  std::vector<KernelFacts> out;
  for (const auto& key : order) {
    add_source(merged[key], sources.find(std::get<1>(key), std::get<2>(key)));
    out.push_back(std::move(merged[key]));
  }
  return out;
}

}  // namespace gt::analyzer
