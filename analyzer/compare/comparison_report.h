// Comparisons of traces as text for people, and as JSON for programs.
#pragma once

#include <span>
#include <string>

#include "analyzer/compare/compare.h"
#include "analyzer/report/report.h"

namespace gt::analyzer {

// Several traces of one program and the profile of all of them, which is at `path` ("": it could not be written).
struct Several {
  std::span<const Input> inputs;
  const Comparison& comparison;
  const std::vector<Difference>& differences;
  const model::Profile& profile;
  std::string path;
};
std::string format_several(const Several& s, const ReportStyle& style);
std::string format_several_json(const Several& s);

// Two traces, of whatever. `top`: rows of each table; 0: all.
struct Pair {
  const Input &a, &b;
  const Comparison& comparison;
  const std::vector<Difference>& differences;
};
std::string format_diff(const Pair& pair, size_t top, const ReportStyle& style);
std::string format_diff_json(const Pair& pair);

}  // namespace gt::analyzer
