// Flows, functions and the folded timeline as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analyzer/calls/function_sums.h"
#include "analyzer/flow/flows.h"
#include "analyzer/flow/folded_timeline.h"

namespace gt::analyzer {

nlohmann::ordered_json flows_json(const Flows& flows);
nlohmann::ordered_json functions_json(const std::vector<FunctionSums>& functions);

// Blocks as columns, because there are many: depth, kind, times, queue (-1: none), and `ref`, which
// is a shape (Call), the number of entries (Loop), or one of `stretches`.
nlohmann::ordered_json timeline_json(const FoldedTimeline& timeline);

}  // namespace gt::analyzer
