// What two summaries have to say of one thing: a function, a kernel, a size class of transfers, a place that allocates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gt::tracer {

// One thing that both summaries may have.
struct TimeChange {
  std::string name;
  uint64_t a_count = 0, b_count = 0;
  uint64_t a_value = 0, b_value = 0;  // ns; allocations: bytes
  double ratio() const { return a_value ? static_cast<double>(b_value) / static_cast<double>(a_value) : 0; }
};
struct TimeChanges {
  std::vector<TimeChange> functions, kernels, transfers, allocations;  // the largest change first
};

}  // namespace gt::tracer
