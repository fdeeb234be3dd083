// The dispatch ratio as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/transfers/dispatch_ratio.h"

namespace gt::analyzer {

// Sets the keys `dispatch_ratio`, `min_ratio`, `eligible`, `explanation`, `time`, `devices`, `queues` and `contexts`.
void add_ratio_json(nlohmann::ordered_json& out, const DispatchRatio& ratio);

}  // namespace gt::analyzer
