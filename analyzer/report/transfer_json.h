// Transfers and the memory that they move, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/analysis.h"

namespace gt::analyzer {

// Sets the keys `allocations`, `other_sources` and `transfers`.
void add_transfer_json(nlohmann::ordered_json& out, const Analysis& analysis);

}  // namespace gt::analyzer
