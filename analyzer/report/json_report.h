// The analysis as JSON, with the keys that others build on (docs/ganalyze.md lists them).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/analysis.h"

namespace gt::analyzer {

nlohmann::ordered_json report_json(const Analysis& analysis, const std::string& trace,
                                   const std::string& profile);

std::string format_json(const Analysis& analysis, const std::string& trace,
                        const std::string& profile);

}  // namespace gt::analyzer
