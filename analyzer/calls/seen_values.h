// Which values the arguments of some shapes really had, over all streams, without unfolding them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct SeenValues {
  static constexpr size_t Most = 256;
  std::set<int64_t> values;
  bool more = false;  // there were others, or they were not kept
};

// For each shape in `wanted`, for each of its values. Cost: one walk over the folded trace; runs are unpacked.
std::map<model::ShapeId, std::vector<SeenValues>> find_seen_values(const model::Trace& trace,
                                                                   const std::set<model::ShapeId>& wanted);

}  // namespace gt::analyzer
