// Naming and numbering the nodes of the flow graph.
#include "analyzer/flow/flow_nodes.h"

#include <algorithm>

#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

FlowNodes::CodePlaces places_of(const CallSite& site) {
  FlowNodes::CodePlaces out{{site.module, site.offset}};
  for (const CallSite& around : site.around) out.emplace_back(around.module, around.offset);
  return out;
}

}  // namespace

bool is_device_memory(ObjectKind kind) {
  return kind == ObjectKind::Buffer || kind == ObjectKind::Image || kind == ObjectKind::Pipe ||
         kind == ObjectKind::Svm;
}

FlowNodes::FlowNodes(const model::Trace& trace, CallSites& sites,
                     const std::vector<CallUse>& uses, const std::vector<CallUse>& creations)
    : x_trace(trace), x_sites(sites), x_names(trace), x_slots(trace.classes.size()) {
  for (const CallUse& use : uses) note_slots(use);
  for (const CallUse& creation : creations) note_size(creation);
}

void FlowNodes::note_slots(const CallUse& use) {
  for (const ArgUse& a : use.args) {
    if (!is_device_memory(x_trace.classes[a.cls].kind)) continue;
    if (!a.value) x_some_of.insert(a.cls);
    if (a.value && x_slots[a.cls].size() <= MostObjects) x_slots[a.cls].insert(*a.value);
  }
}

void FlowNodes::note_size(const CallUse& creation) {
  std::optional<int64_t> bytes;
  for (const ArgUse& a : creation.args)
    if (a.cls == model::NoIndex) bytes = a.value;
  if (!bytes || *bytes <= 0) return;
  for (const ArgUse& a : creation.args) {
    const bool made = x_trace.shapes[creation.shape].args[a.arg].effect == model::Effect::Def;
    if (a.cls == model::NoIndex || !made) continue;
    const auto size = static_cast<uint64_t>(*bytes);
    x_sizes[{a.cls, -1}].add(size, creation.times);
    if (a.value) x_sizes[{a.cls, *a.value}].add(size, creation.times);
  }
}

uint64_t FlowNodes::size_of(const ArgUse& use) const {
  auto found = x_sizes.find({use.cls, use.value.value_or(-1)});
  if (found == x_sizes.end()) found = x_sizes.find({use.cls, -1});
  return found == x_sizes.end() ? 0 : found->second.sum / found->second.count;
}

std::string FlowNodes::name_of(model::ClassId cls, std::optional<int64_t> slot) const {
  std::string name;
  x_names.append(name, cls, slot.value_or(0));
  if (!slot) name = name.substr(0, name.find('[')) + "[...]";
  return name;
}

size_t FlowNodes::node(FlowNode n, CodePlaces at) {
  const auto [known, fresh] =
      x_known.try_emplace({n.kind, n.name, n.what, std::move(at)}, x_out.nodes.size());
  if (fresh) x_out.nodes.push_back(std::move(n));
  return known->second;
}

size_t FlowNodes::host(const TransferSource& source) {
  const auto [at, fresh] = x_hosts.try_emplace(&source, x_out.nodes.size());
  if (!fresh) return at->second;
  FlowNode n{FlowNode::Kind::HostMemory, source.name(), model::object_kind_name(source.kind), {}};
  if (!source.call.empty()) {
    n.what = source.call;
    n.place = source.site.places();
  }
  x_out.nodes.push_back(std::move(n));
  return at->second;
}

size_t FlowNodes::device(const ArgUse& use) {
  ArgUse one = use;
  if (x_slots[use.cls].size() > MostObjects || x_some_of.contains(use.cls)) one.value.reset();
  const auto [at, fresh] =
      x_devices.try_emplace({use.cls, one.value.value_or(-1)}, x_out.nodes.size());
  if (!fresh) return at->second;
  const model::Class& c = x_trace.classes[use.cls];
  FlowNode n{FlowNode::Kind::DeviceMemory, name_of(use.cls, one.value),
             model::object_kind_name(c.kind),
             c.site == model::NoIndex ? "" : x_sites.find(x_trace, c.site).places()};
  n.bytes = size_of(one);
  n.count = one.value ? 1 : 0;
  x_out.nodes.push_back(std::move(n));
  return at->second;
}

size_t FlowNodes::called(FlowNode n, model::SiteId site) {
  if (site == model::NoIndex) return node(std::move(n), {});
  const CallSite at = x_sites.find(x_trace, site);
  n.place = at.places();
  return node(std::move(n), places_of(at));
}

size_t FlowNodes::transfer(model::ShapeId id) {
  const model::Shape& s = x_trace.shapes[id];
  return called({FlowNode::Kind::Transfer, store::function_name(s.fn),
                 store::direction_name(s.moves), {}}, s.site);
}

size_t FlowNodes::kernel(const std::string& name, const std::string& what, model::SiteId at) {
  return called({FlowNode::Kind::Kernel, name, what, {}}, at);
}

void FlowNodes::add(size_t at, uint64_t bytes, uint64_t count, uint64_t time_ns) {
  x_out.nodes[at].bytes += bytes;
  x_out.nodes[at].count += count;
  x_out.nodes[at].time_ns += time_ns;
}

void FlowNodes::join(size_t from, size_t to, uint64_t bytes, uint64_t count, uint64_t time_ns) {
  FlowEdge& e = x_edges[{from, to}];
  e.from = from;
  e.to = to;
  e.bytes += bytes;
  e.count += count;
  e.time_ns += time_ns;
}

Flows FlowNodes::take() {
  for (const auto& [key, edge] : x_edges) x_out.edges.push_back(edge);
  std::stable_sort(x_out.edges.begin(), x_out.edges.end(),
                   [](const FlowEdge& a, const FlowEdge& b) { return a.bytes > b.bytes; });
  return std::move(x_out);
}

}  // namespace gt::analyzer
