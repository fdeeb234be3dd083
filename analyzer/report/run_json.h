// Where the run's time goes, and what goptimize is predicted to save of it, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/calls/run_parts.h"
#include "analyzer/transfers/goptimize_gain.h"

namespace gt::analyzer {

// Null where it is not known how long the run was.
nlohmann::ordered_json run_json(const RunParts& run);

nlohmann::ordered_json gain_json(const GoptimizeGain& gain);

}  // namespace gt::analyzer
