// The analysis as GitHub-flavoured Markdown: what a pipeline shows beside its build.
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace gt::analyzer {

// The verdict, where the devices' time goes, the findings, and what feeds transfers; a screen of it. `trace`: its path.
// Names come from the traced program: nothing of them is markup.
std::string format_markdown(const Analysis& analysis, const std::string& trace);

}  // namespace gt::analyzer
