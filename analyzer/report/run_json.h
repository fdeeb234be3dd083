// Where the run's time goes, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/calls/run_parts.h"

namespace gt::analyzer {

// Null where it is not known how long the run was.
nlohmann::ordered_json run_json(const RunParts& run);

}  // namespace gt::analyzer
