// Reading traces for commands that take several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/compare.h"

namespace gt::analyzer {

// Nothing for an empty path.
Result<std::optional<model::Platform>> load_platform(const std::string& path);

// Reads and analyses one after another; a trace is let go before the next is read. `platform` may be null.
Result<std::vector<Input>> read_inputs(const std::vector<std::string>& files, double min_ratio,
                                       const model::Platform* platform);

}  // namespace gt::analyzer
