// Questions that people ask of a trace, by name: those of docs/TRACE_FORMAT.md, and more.
// Thread safety: constants.
#pragma once

#include <span>
#include <string_view>

namespace gt::analyzer {

struct NamedQuery {
  std::string_view name;  // letters, digits and '_'
  std::string_view what;  // one line
  const char* sql;
};

std::span<const NamedQuery> named_queries();
const NamedQuery* find_query(std::string_view name);  // null: none of this name

}  // namespace gt::analyzer
