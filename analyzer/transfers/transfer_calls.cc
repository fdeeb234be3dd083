// Transfers by call, with the versions that SSA gives their segments.
#include "analyzer/transfers/transfer_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "analyzer/code/source_key.h"
#include "analyzer/transfers/moved_memory.h"
#include "traces/api/api.h"
#include "traces/model/fold/fold.h"
#include "traces/model/ssa/ssa.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using model::Node;
using model::VariableId;

constexpr size_t MostSegments = 16;  // shown of a call whose memory is a different one each time

// For each variable the version that the call which made it gave it; 0: none did.
class FirstVersions {
 public:
  FirstVersions(const model::Trace& trace, const model::ObjectNames& names)
      : trace_(trace), first_(names.variables().size(), 0) {
    model::visit_ssa(trace, names, [this](size_t stream, const Node& n, std::span<const model::NodeSsa> versions) {
      size_t index = 0;
      walk(trace_.streams[stream].memory, {&n, 1}, versions, index);
    });
  }
  uint32_t of(VariableId v) const { return first_[v]; }

 private:
  void walk(bool memory, std::span<const Node> nodes, std::span<const model::NodeSsa> versions, size_t& index) {
    for (const Node& n : nodes) {
      for (const model::SsaRef& def : versions[index++].defs) {
        const bool call = n.kind == Node::Kind::Call && def.arg != model::NoIndex;
        const bool makes =
            call ? trace_.shapes[n.shape].args[def.arg].effect == model::Effect::Def : memory;
        if (makes && first_[def.variable] == 0) first_[def.variable] = def.version;
      }
      walk(memory, n.body, versions, index);
    }
  }

  const model::Trace& trace_;
  std::vector<uint32_t> first_;
};

class Table {
 public:
  Table(const model::Trace& trace, const TransferSources& sources, CallSites& sites)
      : trace_(trace), sources_(sources), sites_(sites), names_(trace), first_(trace, names_),
        moved_(trace.shapes.size()) {
    const MovedMemory memory(trace);
    for (size_t i = 0; i < trace.shapes.size(); ++i) moved_[i] = memory.of(trace.shapes[i]);
    for (const model::Shape& s : trace.shapes) value_counts_.push_back(s.values());
  }

  std::vector<TransferCall> take() {
    for (model::ShapeId i = 0; i < std::min(trace_.shapes.size(), trace_.stats.size()); ++i) add_sums(i);
    for (const model::Stream& s : trace_.streams) {
      if (!s.memory) walk(s.nodes);
    }
    std::vector<TransferCall> out;
    for (auto& [key, row] : rows_) {
      for (const VariableId v : row.segments) row.call.segments.push_back(segment(v));
      if (row.call.sums.transfers > 0) out.push_back(std::move(row.call));
    }
    std::stable_sort(out.begin(), out.end(), [](const TransferCall& a, const TransferCall& b) {
      return std::tuple(a.sums.time_ns, a.sums.bytes()) > std::tuple(b.sums.time_ns, b.sums.bytes());
    });
    return out;
  }

 private:
  using Key = std::tuple<model::FnId, std::vector<CodePlace>, model::Direction, size_t>;
  struct Row {
    TransferCall call;
    std::set<VariableId> segments;
  };

  Row* row(model::ShapeId id, const Moved& m) {
    const model::Shape& shape = trace_.shapes[id];
    const auto source = sources_.index.find({m.cls, m.kind});
    if (source == sources_.index.end()) return nullptr;
    const auto [at, fresh] =
        rows_.try_emplace(Key{shape.fn, code_places(trace_, shape.site), shape.moves, source->second});
    if (fresh) {
      TransferCall& call = at->second.call;
      call.call = store::function_name(shape.fn);
      call.command = api::attributes(shape.fn).direction != api::DirectionRule::Create;
      call.site = sites_.find(trace_, shape.site);
      call.direction = shape.moves;
      call.source = source->second;
    }
    return &at->second;
  }

  void add_sums(model::ShapeId id) {
    std::set<Row*> rows;
    for (const Moved& m : moved_[id]) rows.insert(row(id, m));
    rows.erase(nullptr);
    for (Row* r : rows) r->call.sums.add(trace_.shapes[id].moves, trace_.stats[id], rows.size());
  }

  void walk(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      if (n.kind == Node::Kind::Loop) walk(n.body);
      if (n.kind == Node::Kind::Call) call(n);
      if (n.kind == Node::Kind::Run) run(n);
    }
  }

  void call(const Node& n) {
    for (const Moved& m : moved_[n.shape]) {
      const size_t at = value_index(n.shape, m.arg);
      for (const VariableId v : names_.variables(memory_class(n.shape, m), n.values[at])) add(n.shape, m, v);
    }
  }
  void run(const Node& n) {
    (void)model::expand_run(n, value_counts_, [&](model::ShapeId shape, std::span<const int64_t> values) {
      for (const Moved& m : moved_[shape]) {
        add(shape, m, names_.variable(memory_class(shape, m), values[value_index(shape, m.arg)]));
      }
      return true;
    });
  }
  void add(model::ShapeId shape, const Moved& m, VariableId v) {
    Row* r = v == model::NoIndex ? nullptr : row(shape, m);
    if (r && r->segments.size() < MostSegments) r->segments.insert(v);
  }

  model::ClassId memory_class(model::ShapeId shape, const Moved& m) const {
    return trace_.shapes[shape].args[m.arg].cls;
  }
  size_t value_index(model::ShapeId shape, uint32_t arg) const {
    size_t at = 0;
    for (uint32_t i = 0; i < arg; ++i) at += static_cast<size_t>(value_count(trace_.shapes[shape].args[i].form));
    return at;
  }

  TransferCall::Segment segment(VariableId v) const {
    const uint32_t version = first_.of(v);
    const std::string& name = names_.variables()[v].name;
    return {name, version == 0 ? std::string() : model::version_text(name, version)};
  }

  const model::Trace& trace_;
  const TransferSources& sources_;
  CallSites& sites_;
  model::ObjectNames names_;
  FirstVersions first_;
  std::vector<std::vector<Moved>> moved_;  // by shape
  std::vector<int> value_counts_;
  std::map<Key, Row> rows_;
};

}  // namespace

std::vector<TransferCall> find_transfer_calls(const model::Trace& trace, const TransferSources& sources,
                                              CallSites& sites) {
  return Table(trace, sources, sites).take();
}

}  // namespace gt::analyzer
