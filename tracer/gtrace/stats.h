// A trace summed up: time per function, transfers, kernels, allocations, and what recording cost.
#pragma once

#include <string>
#include <vector>

#include "tracer/gtrace/table.h"
#include "traces/model/event.h"

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

// Each sorted: the largest first (transfers by direction, then size).
struct Summary {
  uint64_t calls = 0, memory_calls = 0, nodes = 0;
  std::vector<FunctionSum> functions;
  std::vector<TransferSum> transfers;
  std::vector<KernelSum> kernels;
  std::vector<AllocationSum> allocations;
};
Summary summarize(const model::Trace& trace);

}  // namespace gt::tracer
