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
    : trace_(trace), sites_(sites), names_(trace), slots_(trace.classes.size()) {
  for (const CallUse& use : uses) note_slots(use);
  for (const CallUse& creation : creations) note_size(creation);
}

void FlowNodes::note_slots(const CallUse& use) {
  for (const ArgUse& a : use.args) {
    if (!is_device_memory(trace_.classes[a.cls].kind)) continue;
    if (!a.value) some_of_.insert(a.cls);
    if (a.value && slots_[a.cls].size() <= MostObjects) slots_[a.cls].insert(*a.value);
  }
}

void FlowNodes::note_size(const CallUse& creation) {
  std::optional<int64_t> bytes;
  for (const ArgUse& a : creation.args)
    if (a.cls == model::NoIndex) bytes = a.value;
  if (!bytes || *bytes <= 0) return;
  for (const ArgUse& a : creation.args) {
    const bool made = trace_.shapes[creation.shape].args[a.arg].effect == model::Effect::Def;
    if (a.cls == model::NoIndex || !made) continue;
    const auto size = static_cast<uint64_t>(*bytes);
    sizes_[{a.cls, -1}].add(size, creation.times);
    if (a.value) sizes_[{a.cls, *a.value}].add(size, creation.times);
  }
}

uint64_t FlowNodes::size_of(const ArgUse& use) const {
  auto found = sizes_.find({use.cls, use.value.value_or(-1)});
  if (found == sizes_.end()) found = sizes_.find({use.cls, -1});
  return found == sizes_.end() ? 0 : found->second.sum / found->second.count;
}

std::string FlowNodes::name_of(model::ClassId cls, std::optional<int64_t> slot) const {
  std::string name;
  names_.append(name, cls, slot.value_or(0));
  if (!slot) name = name.substr(0, name.find('[')) + "[...]";
  return name;
}

size_t FlowNodes::node(FlowNode n, CodePlaces at) {
  const auto [known, fresh] =
      known_.try_emplace({n.kind, n.name, n.what, std::move(at)}, out_.nodes.size());
  if (fresh) out_.nodes.push_back(std::move(n));
  return known->second;
}

size_t FlowNodes::host(const TransferSource& source) {
  const auto [at, fresh] = hosts_.try_emplace(&source, out_.nodes.size());
  if (!fresh) return at->second;
  FlowNode n{FlowNode::Kind::HostMemory, source.name(), model::object_kind_name(source.kind), {}};
  if (!source.call.empty()) {
    n.what = source.call;
    n.place = source.site.places();
  }
  out_.nodes.push_back(std::move(n));
  return at->second;
}

size_t FlowNodes::device(const ArgUse& use) {
  ArgUse one = use;
  if (slots_[use.cls].size() > MostObjects || some_of_.contains(use.cls)) one.value.reset();
  const auto [at, fresh] =
      devices_.try_emplace({use.cls, one.value.value_or(-1)}, out_.nodes.size());
  if (!fresh) return at->second;
  const model::Class& c = trace_.classes[use.cls];
  FlowNode n{FlowNode::Kind::DeviceMemory, name_of(use.cls, one.value),
             model::object_kind_name(c.kind),
             c.site == model::NoIndex ? "" : sites_.find(trace_, c.site).places()};
  n.bytes = size_of(one);
  n.count = one.value ? 1 : 0;
  out_.nodes.push_back(std::move(n));
  return at->second;
}

size_t FlowNodes::called(FlowNode n, model::SiteId site) {
  if (site == model::NoIndex) return node(std::move(n), {});
  const CallSite at = sites_.find(trace_, site);
  n.place = at.places();
  return node(std::move(n), places_of(at));
}

size_t FlowNodes::transfer(model::ShapeId id) {
  const model::Shape& s = trace_.shapes[id];
  return called({FlowNode::Kind::Transfer, store::function_name(s.fn),
                 store::direction_name(s.moves), {}}, s.site);
}

size_t FlowNodes::kernel(const std::string& name, const std::string& what, model::SiteId at) {
  return called({FlowNode::Kind::Kernel, name, what, {}}, at);
}

void FlowNodes::add(size_t at, uint64_t bytes, uint64_t count, uint64_t time_ns) {
  out_.nodes[at].bytes += bytes;
  out_.nodes[at].count += count;
  out_.nodes[at].time_ns += time_ns;
}

void FlowNodes::join(size_t from, size_t to, uint64_t bytes, uint64_t count, uint64_t time_ns) {
  FlowEdge& e = edges_[{from, to}];
  e.from = from;
  e.to = to;
  e.bytes += bytes;
  e.count += count;
  e.time_ns += time_ns;
}

Flows FlowNodes::take() {
  for (const auto& [key, edge] : edges_) out_.edges.push_back(edge);
  std::stable_sort(out_.edges.begin(), out_.edges.end(),
                   [](const FlowEdge& a, const FlowEdge& b) { return a.bytes > b.bytes; });
  return std::move(out_);
}

}  // namespace gt::analyzer
