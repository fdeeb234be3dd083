// How often each node of a folded stream ran, and the number of its first call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::tracer {

struct Weight {
  uint64_t executions = 0;  // calls: how often made; loops: iterations in all; runs: calls inside
  std::optional<uint64_t> number;  // of its first call in the stream, from 1; nothing where a trip
                                   // count before it varies
};

// In pre-order. Cost: the folded trace's size, plus the length of columns of trip counts.
std::vector<Weight> weigh(const std::vector<model::Node>& nodes);

}  // namespace gt::tracer
