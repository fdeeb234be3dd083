// The analysis as text for people.
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace gt::analyzer {

struct ReportStyle {
  size_t width = 100;
  bool color = false;
};

// `trace` and `profile`: paths, to be named in it.
std::string format_report(const Analysis& analysis, const std::string& trace,
                          const std::string& profile, const ReportStyle& style);

}  // namespace gt::analyzer
