// Building the graph: a walk over the executed calls, each of which joins the nodes it names.
#include "analyzer/flow/flows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "analyzer/calls/call_use.h"
#include "analyzer/flow/flow_nodes.h"
#include "analyzer/transfers/moved_memory.h"
#include "traces/api/api.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using model::Effect;
using model::ObjectKind;

uint64_t part_of(uint64_t sum, uint64_t some, uint64_t all) {
  if (all == 0) return 0;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(sum) * std::min(some, all) / all);
}

// What a part of a shape's calls cost. Calls that failed are spread evenly.
struct Cost {
  uint64_t done = 0, bytes = 0, time_ns = 0;
};
Cost cost_of(const model::ShapeStats& s, uint64_t times) {
  const uint64_t done = s.calls - std::min(s.failed, s.calls);
  const uint64_t timed = std::min(s.device_ns.count, done);
  const uint64_t all_ns =
      s.device_ns.sum + part_of(s.host_ns.sum, done - timed, s.host_ns.count);
  return {part_of(done, times, s.calls), part_of(s.bytes.sum, times, s.calls),
          part_of(all_ns, times, s.calls)};
}

// Of one of several memories that a transfer moves together.
Cost cost_share(const Cost& all, size_t memories) {
  const uint64_t n = std::max<size_t>(memories, 1);
  return {all.done, all.bytes / n, all.time_ns / n};
}

class Builder {
 public:
  Builder(const model::Trace& trace, const TransferSources& sources,
          const std::vector<KernelFacts>& kernels, FlowNodes& nodes)
      : trace_(trace), sources_(sources), moved_(trace), nodes_(nodes) {
    for (const model::Kernel& k : trace.kernels) names_.emplace(k.cls, k.name);
    for (const KernelFacts& k : kernels)
      for (const model::ClassId cls : k.classes) kernels_[cls].push_back(&k);
  }

  void add(const CallUse& use) {
    const Cost cost = cost_of(trace_.stats[use.shape], use.times);
    if (cost.done == 0) return;
    const model::Shape& shape = trace_.shapes[use.shape];
    if (store::launches_kernel(shape.fn)) add_launch(use, cost);
    if (shape.moves != model::Direction::None) add_transfer(use, cost);
  }

 private:
  const model::Arg& arg(const CallUse& use, const ArgUse& a) const {
    return trace_.shapes[use.shape].args[a.arg];
  }
  ObjectKind kind(const ArgUse& a) const { return trace_.classes[a.cls].kind; }

  // The first device memory that a transfer names, or the first that it only reads, or writes.
  std::optional<size_t> device_end(const CallUse& use, std::optional<bool> written = {}) {
    for (const ArgUse& a : use.args) {
      const uint16_t param = arg(use, a).param;
      if (param >= model::ParamKernelArg && param != model::ParamReturn) continue;
      const bool writes = arg(use, a).effect != Effect::Use;
      if (is_device_memory(kind(a)) && written.value_or(writes) == writes) return nodes_.device(a);
    }
    return std::nullopt;
  }

  void join(std::optional<size_t> from, std::optional<size_t> to, const Cost& cost) {
    if (from && to) nodes_.join(*from, *to, cost.bytes, cost.done, cost.time_ns);
  }

  void add_transfer(const CallUse& use, const Cost& cost) {
    const model::Shape& shape = trace_.shapes[use.shape];
    const size_t transfer = nodes_.transfer(use.shape);
    nodes_.add(transfer, cost.bytes, cost.done, cost.time_ns);
    if (shape.moves == model::Direction::DeviceToDevice) {
      join(device_end(use, false), transfer, cost);
      join(transfer, device_end(use, true), cost);
      return;
    }
    const bool sent = shape.moves == model::Direction::HostToDevice;
    const std::optional<size_t> device = device_end(use);
    sent ? join(transfer, device, cost) : join(device, transfer, cost);
    const auto memories = moved_.of(shape);
    for (const Moved& m : memories) add_host(m, transfer, sent, cost_share(cost, memories.size()));
  }

  void add_host(const Moved& m, size_t transfer, bool sent, const Cost& cost) {
    const auto source = sources_.index.find({m.cls, m.kind});
    if (source == sources_.index.end()) return;
    const size_t host = nodes_.host(sources_.list[source->second]);
    nodes_.add(host, cost.bytes, cost.done, cost.time_ns);
    sent ? join(host, transfer, cost) : join(transfer, host, cost);
  }

  // Command buffers launch several kernels: what each of them touches is not told apart.
  size_t kernel_node(const CallUse& use, std::span<const KernelFacts* const>& facts) {
    const model::Shape& shape = trace_.shapes[use.shape];
    for (const ArgUse& a : use.args) {
      if (kind(a) != ObjectKind::Kernel || arg(use, a).param >= model::ParamKernelArg) continue;
      const auto name = names_.find(a.cls);
      if (name == names_.end()) break;
      const auto known = kernels_.find(a.cls);
      if (known != kernels_.end()) facts = known->second;
      return nodes_.kernel(name->second, "kernel", trace_.classes[a.cls].site);
    }
    return nodes_.kernel(store::function_name(shape.fn), "commands", shape.site);
  }

  // By any of the programs that the kernel may be of.
  static unsigned access(const model::Arg& a, std::span<const KernelFacts* const> facts) {
    const size_t index = static_cast<size_t>(a.param - model::ParamKernelArg);
    unsigned bits = 0;
    for (const KernelFacts* k : facts) {
      if (a.param >= model::ParamReturn || k->others || index >= k->args.size()) return recorded_access(a);
      bits |= static_cast<unsigned>(k->args[index].access);
    }
    return facts.empty() ? recorded_access(a) : bits;
  }
  static unsigned recorded_access(const model::Arg& a) {
    return a.effect == Effect::Use ? 1 : a.effect == Effect::Def ? 2 : 3;
  }

  void add_launch(const CallUse& use, const Cost& cost) {
    std::span<const KernelFacts* const> facts;
    const size_t kernel = kernel_node(use, facts);
    nodes_.add(kernel, 0, cost.done, cost.time_ns);
    for (const ArgUse& a : use.args) {
      if (!is_device_memory(kind(a)) || arg(use, a).param < model::ParamKernelArg) continue;
      const size_t node = nodes_.device(a);
      const uint64_t bytes = nodes_.size_of(a) * cost.done;
      const unsigned bits = access(arg(use, a), facts);
      if (bits & 1) nodes_.join(node, kernel, bytes, cost.done, cost.time_ns);
      if (bits & 2) nodes_.join(kernel, node, bytes, cost.done, cost.time_ns);
    }
  }

  const model::Trace& trace_;
  const TransferSources& sources_;
  MovedMemory moved_;
  FlowNodes& nodes_;
  std::map<model::ClassId, std::string> names_;
  std::map<model::ClassId, std::vector<const KernelFacts*>> kernels_;
};

}  // namespace

Flows find_flows(const model::Trace& trace, CallSites& sites, const TransferSources& sources,
                 const std::vector<KernelFacts>& kernels) {
  const size_t known = std::min(trace.shapes.size(), trace.stats.size());
  const auto uses = find_uses(trace, [&](model::ShapeId s) {
    const model::Shape& shape = trace.shapes[s];
    const bool flows =
        shape.moves != model::Direction::None || store::launches_kernel(shape.fn);
    return Wanted{s < known && flows, -1};
  });
  const auto creations = find_uses(trace, [&](model::ShapeId s) {
    const api::Attributes& a = api::attributes(trace.shapes[s].fn);
    return Wanted{is_device_memory(a.creates) && a.size >= 0, a.size};
  });
  FlowNodes nodes(trace, sites, uses, creations);
  Builder builder(trace, sources, kernels, nodes);
  for (const CallUse& use : uses) builder.add(use);
  return nodes.take();
}

}  // namespace gt::analyzer
