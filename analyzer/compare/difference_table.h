// Differences between traces as rows of a table.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/compare.h"
#include "analyzer/base/text.h"

namespace gt::analyzer {

std::string ratio_word(const Ratio& r);  // "3.49", "infinite", "none"

// One row each, at most `top` of them (0: all), with a column for each input, headed as `inputs` says.
void add_differences(Text& out, const std::vector<Difference>& differences, const std::vector<std::string>& inputs,
                     size_t top);

}  // namespace gt::analyzer
