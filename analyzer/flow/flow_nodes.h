// The nodes and edges of the flow graph while it is built: memory and kernels by what they are in
// the trace, each once.
// Thread safety: none.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analyzer/calls/call_use.h"
#include "analyzer/code/call_site.h"
#include "analyzer/flow/flow_graph.h"
#include "analyzer/transfers/transfer_sources.h"
#include "traces/model/ssa/object_names.h"

namespace gt::analyzer {

bool is_device_memory(model::ObjectKind kind);  // shared virtual memory is host memory too

class FlowNodes {
 public:
  // A place in the program's code, whichever thread or process ran it; with the calls around it.
  using CodePlaces = std::vector<std::pair<std::string, uint64_t>>;

  // A creating call of which the uses name more objects than this is one node.
  static constexpr size_t MostObjects = 16;

  // `uses`: of the calls that will be joined. `creations`: of those that make memory objects, with
  // their sizes.
  FlowNodes(const model::Trace& trace, CallSites& sites, const std::vector<CallUse>& uses,
            const std::vector<CallUse>& creations);

  // Each gives the index of a node.
  size_t host(const TransferSource& source);
  size_t device(const ArgUse& use);
  size_t transfer(model::ShapeId shape);
  size_t kernel(const std::string& name, const std::string& what, model::SiteId at);

  void add(size_t node, uint64_t bytes, uint64_t count, uint64_t time_ns);
  void join(size_t from, size_t to, uint64_t bytes, uint64_t count, uint64_t time_ns);
  uint64_t size_of(const ArgUse& use) const;  // of one object, on average; 0: not known

  Flows take();

 private:
  size_t node(FlowNode n, CodePlaces at);
  size_t called(FlowNode n, model::SiteId at);
  void note_slots(const CallUse& use);
  void note_size(const CallUse& creation);
  std::string name_of(model::ClassId cls, std::optional<int64_t> slot) const;

  const model::Trace& trace_;
  CallSites& sites_;
  model::ObjectNames names_;
  std::vector<std::set<int64_t>> slots_;  // by class; at most MostObjects + 1 of each
  std::set<model::ClassId> some_of_;      // of which a call names one that is not known
  std::map<std::pair<model::ClassId, int64_t>, model::Stats> sizes_;  // slot -1: of the class
  std::map<const TransferSource*, size_t> hosts_;
  std::map<std::pair<model::ClassId, int64_t>, size_t> devices_;
  std::map<std::tuple<FlowNode::Kind, std::string, std::string, CodePlaces>, size_t> known_;
  std::map<std::pair<size_t, size_t>, FlowEdge> edges_;
  Flows out_;
};

}  // namespace gt::analyzer
