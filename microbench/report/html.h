// Pages that need nothing but themselves: no script, no load, light and dark as the reader's system is.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt::bench {

// Text as the content of an element, or between double quotes in an attribute.
std::string escaped(std::string_view text);

// The first row is the head, the first column are the rows' heads. Texts, not HTML.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

// `title`: text; `body`: HTML.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace gt::bench
