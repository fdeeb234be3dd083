// The analysis as one HTML page that needs nothing else.
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace gt::analyzer {

// `trace_path` and `profile`: to be named in it. The page's data is what format_json() gives, under
// "report", with the folded timeline and the kernels' sources beside it. REQUIRES: `analysis` is of
// `trace`. Cost: O(folded trace); the page grows with it up to some 10 MB.
std::string format_html(const Analysis& analysis, const model::Trace& trace,
                        const std::string& trace_path, const std::string& profile);

}  // namespace gt::analyzer
