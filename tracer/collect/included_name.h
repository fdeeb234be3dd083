// What a line of a program's source includes.
#pragma once

#include <algorithm>
#include <string_view>

namespace gt::tracer {

// The name in `#include "name"` or `#include <name>`; empty for every other line.
inline std::string_view included_name(std::string_view line) {
  const auto skip = [&line](std::string_view what) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool here = line.starts_with(what);
    if (here) line.remove_prefix(what.size());
    return here;
  };
  if (!skip("#") || !skip("include")) return {};
  const bool angle = skip("<");
  if (!angle && !skip("\"")) return {};
  return line.substr(0, line.find(angle ? '>' : '"'));
}

}  // namespace gt::tracer
