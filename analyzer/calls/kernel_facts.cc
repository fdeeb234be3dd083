// Joining a trace's kernels with their sources.
#include "analyzer/calls/kernel_facts.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "analyzer/calls/declared_args.h"
#include "analyzer/calls/kernel_modules.h"
#include "analyzer/kernels/build_options.h"
#include "analyzer/kernels/kernel_source.h"
#include "traces/api/api.h"
#include "traces/model/folded/kernel_origin.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view text_of(const model::Trace& trace, model::BlobId id) {
  return id < trace.blobs.size() ? as_text(trace.blobs[id].bytes) : std::string_view();
}

// A string argument is kept with the NUL that ends it.
std::string_view without_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

// Sources are read once for each set of options that can make a difference, however many kernels and programs they
// have.
class Sources {
 public:
  Sources(const model::Trace& trace, unsigned seconds)
      : trace_(trace), end_(Clock::now() + std::chrono::seconds(seconds)) {}

  bool late() const { return Clock::now() > end_; }

  const kernels::Source& find(model::BlobId source, model::BlobId options) {
    const std::string_view text = without_nul(text_of(trace_, options));
    const auto [at, fresh] = known_.try_emplace({source, kernels::parse_build_options(text)});
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
    if (late()) return {{}, false, "not looked at: there are too many sources"};
    const std::string_view text = without_nul(text_of(trace_, source)), given = without_nul(text_of(trace_, options));
    // What the program includes lies where it was started, or, on another machine, where we are.
    const std::string started(trace_.fact("folder"));
    std::error_code absent;
    return kernels::read_kernels(text, given, {}, std::filesystem::is_directory(started, absent) ? started : "");
  }

  const model::Trace& trace_;
  Clock::time_point end_;
  std::map<std::pair<model::BlobId, kernels::BuildOptions>, kernels::Source> known_;
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

// Names and types of the driver's where the module has none: front ends strip names.
void add_module(KernelFacts& k, KernelModules::Answer answer, std::string_view declared) {
  k.exact = answer.exact;
  k.note = answer.note;
  k.args = std::move(answer.kernel->args);
  k.elsewhere = answer.kernel->elsewhere;
  const std::vector<kernels::Arg> said = declared_args(declared);
  for (size_t i = 0; i < std::min(said.size(), k.args.size()); ++i)
    if (k.args[i].name.empty()) k.args[i].name = said[i].name;
}

// Memory that no argument leads to counts as read and written.
void add_declared(KernelFacts& k, std::string_view lines) {
  k.exact = false;
  k.elsewhere = kernels::Access::ReadWrite;
  k.note = "no source: as declared, by what the driver says of the arguments";
  k.args = declared_args(lines);
}

// A kernel of a class, made from one program.
struct Key {
  std::string name;
  model::KernelOrigin origin;
  auto tied() const { return std::tie(name, origin.source, origin.options, origin.declared, origin.modules); }
  bool operator<(const Key& o) const { return tied() < o.tied(); }
};

// Did the recording keep track of the first program of each class only, and were there others?
bool lost_programs(const model::Trace& trace) {
  uint64_t builds = 0;
  for (size_t i = 0; i < std::min(trace.shapes.size(), trace.stats.size()); ++i)
    if (api::attributes(trace.shapes[i].fn).options >= 0) builds += trace.stats[i].calls;
  std::set<std::pair<model::BlobId, model::BlobId>> known;
  for (const model::Kernel& k : trace.kernels) known.insert({k.source, k.options});
  return builds > known.size();
}

std::map<model::ClassId, std::string> names_of_kernels(const model::Trace& trace) {
  std::map<model::ClassId, std::string> out;
  for (const model::Kernel& k : trace.kernels) out.try_emplace(k.cls, k.name);
  return out;
}

std::map<Key, KernelFacts> gather(const model::Trace& trace) {
  bool complete = false;
  model::KernelOrigins origins = model::read_origins(trace, complete);
  const bool lost = !complete && lost_programs(trace);
  const auto runs = count_launches(trace);
  const auto names = names_of_kernels(trace);
  std::map<Key, KernelFacts> out;
  for (auto& [cls, list] : origins) {
    const auto name = names.find(cls);
    if (name == names.end()) continue;
    bool first = true;  // whose program a launch runs is not known: all count for the first
    for (const model::KernelOrigin& origin : list) {
      KernelFacts& k = out[{name->second, origin}];
      k.name = name->second;
      k.classes.push_back(cls);
      k.source = origin.source;
      k.options = origin.options;
      k.others |= lost;
      const auto run = runs.find(cls);
      const bool counts = std::exchange(first, false);
      using Shared = KernelFacts::Shared;
      if (list.size() > 1 && k.shared != Shared::First) k.shared = counts ? Shared::First : Shared::Other;
      if (!counts || run == runs.end()) continue;
      k.launches += run->second.launches;
      k.time_ns += run->second.time_ns;
    }
  }
  return out;
}

}  // namespace

std::vector<KernelFacts> find_kernels(const model::Trace& trace, unsigned budget_seconds) {
  Sources sources(trace, budget_seconds);
  KernelModules modules(trace);
  std::map<Key, KernelFacts> kernels = gather(trace);
  std::vector<std::pair<const Key, KernelFacts>*> order;
  for (auto& entry : kernels) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->second.time_ns, a->second.launches) > std::tuple(b->second.time_ns, b->second.launches);
  });
  std::vector<KernelFacts> out;
  for (auto* entry : order) {
    const model::KernelOrigin& origin = entry->first.origin;
    KernelModules::Answer answer;
    if (!origin.modules.empty() && !sources.late()) answer = modules.find(origin.modules, entry->first.name);
    if (answer.kernel) {
      add_module(entry->second, std::move(answer), origin.declared);
    } else if (origin.declared.empty()) {
      add_source(entry->second, sources.find(origin.source, origin.options));
    } else {
      add_declared(entry->second, origin.declared);
    }
    if (!answer.note.empty() && !entry->second.exact) entry->second.note = std::move(answer.note);
    out.push_back(std::move(entry->second));
  }
  return out;
}

}  // namespace gt::analyzer
