// The names of the kinds of nodes.
#include "analyzer/flow/flow_graph.h"

namespace gt::analyzer {

const char* flow_kind_name(FlowNode::Kind kind) {
  constexpr const char* Names[] = {"host_memory", "transfer", "device_memory", "kernel"};
  return Names[static_cast<size_t>(kind)];
}

}  // namespace gt::analyzer
