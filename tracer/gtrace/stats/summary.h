// A trace summed up: time per function, transfers, kernels, allocations, and what recording cost.
#pragma once

#include <string>
#include <vector>

#include "tracer/gtrace/base/table.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct FunctionSum {
  std::string name;
  uint64_t calls = 0, total_ns = 0, timed = 0, min_ns = 0, max_ns = 0, failed = 0;
};
struct TransferSum {
  model::Direction direction = model::Direction::None;
  uint64_t size_from =
      0;  // size class: size_from <= bytes of a transfer < 2 * size_from; 0: empty ones
  uint64_t count = 0, bytes = 0, total_ns = 0;
  bool device_time = false;  // total_ns is device time; else host time of the calls
};
struct KernelSum {
  std::string name;
  uint64_t launches = 0, timed = 0, total_ns = 0, min_ns = 0, max_ns = 0;
};
struct AllocationSum {
  std::string site, function;
  uint64_t calls = 0, bytes = 0, min_bytes = 0, max_bytes = 0;
};

// Calls that were only counted, of a function from a place (gtrace run --no-memory-detail).
struct CountedSum {
  std::string site, function;
  uint64_t size_from = 0;  // size class: size_from <= bytes asked for < 2 * size_from; 0: none
  bool makes = false;      // the function makes blocks, so the size says something
  uint64_t calls = 0, bytes = 0;
};

// What happened to one object, or family of objects: bytes that transfers moved to and from it, launches that it was an
// argument of. Where a call names one object of several in turn, each gets its share.
struct ObjectSum {
  std::string name, kind, site;  // site: where it was made
  uint64_t h2d_bytes = 0, d2h_bytes = 0, d2d_bytes = 0, transfers = 0, launches = 0, total_ns = 0;
  uint64_t bytes() const { return h2d_bytes + d2h_bytes + d2d_bytes; }
};

// Each sorted: the largest first (transfers by direction, then size).
struct Summary {
  uint64_t calls = 0, memory_calls = 0, callback_calls = 0, nodes = 0;
  std::vector<FunctionSum> functions;  // of OpenCL and allocation
  std::vector<FunctionSum> callbacks;  // of the program, called by OpenCL
  std::vector<TransferSum> transfers;
  std::vector<KernelSum> kernels;
  std::vector<AllocationSum> allocations;
  uint64_t counted_from = 0;  // memory calls of smaller blocks were only counted; 0: none
  uint64_t counted_calls = 0;
  std::vector<CountedSum> counted;
  std::vector<ObjectSum> objects;

  // Events a node stands for: 1 when nothing folded.
  double calls_per_node() const {
    const uint64_t events = calls + memory_calls + callback_calls;
    return nodes == 0 ? 0 : static_cast<double>(events) / static_cast<double>(nodes);
  }
};
Summary summarize(const model::Trace& trace);
std::vector<ObjectSum> object_sums(const model::Trace& trace);  // those that a transfer or launch names

}  // namespace gt::tracer
