// A call site as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/code/call_site.h"

namespace gt::analyzer {

// With the calls around it, where it is a wrapper's.
nlohmann::ordered_json site_json(const CallSite& site);

}  // namespace gt::analyzer
