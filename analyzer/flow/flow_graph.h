// The data flow of a program: from the memory that it allocates through its transfers into device
// memory, through kernels, and back.
//
//   main (app.cc:12) ─► clEnqueueWriteBuffer (app.cc:40) ─► b0[1] ─► vadd ─► b0[2] ─► ... ─► main
//
// A graph over the folded trace: host memory is one node for each allocation site, device memory
// one for each object (or one for a creating call that made many), transfers one for each call
// site, kernels one for each kernel object. What a kernel moves is not known, only what it may
// touch at most: the whole of each of its buffers at each launch. Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gt::analyzer {

struct FlowNode {
  enum class Kind : uint8_t { HostMemory, Transfer, DeviceMemory, Kernel };
  Kind kind = Kind::HostMemory;
  std::string name;   // place of the allocation; function; "b0[1]" as `gtrace show` says; kernel
  std::string what;   // "malloc", or the kind of object; of a transfer "h2d", "d2h", "d2d"
  std::string place;  // of the call that makes, moves or launches it; empty when not known
  uint64_t bytes = 0;    // moved through it; DeviceMemory: its size
  uint64_t count = 0;    // transfers, launches; DeviceMemory: 1, or 0 for several objects
  uint64_t time_ns = 0;  // Transfer, Kernel: device time; of the host call where it was not timed
};

struct FlowEdge {
  size_t from = 0, to = 0;  // into Flows::nodes
  uint64_t bytes = 0;       // from or to a Kernel: at most
  uint64_t count = 0;
  uint64_t time_ns = 0;
};

struct Flows {
  std::vector<FlowNode> nodes;
  std::vector<FlowEdge> edges;  // each pair of nodes once, largest first
};

const char* flow_kind_name(FlowNode::Kind kind);  // "host_memory", "transfer", ...

}  // namespace gt::analyzer
