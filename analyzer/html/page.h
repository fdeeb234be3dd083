// One self-contained page: markup, style, script, and data that the script shows.
//
// The data come from programs, so they are hostile. They stand in the page as JSON in which no
// character that means something to HTML is left; the script sets them as text only; and the page
// allows no script but its own, and no load at all.
#pragma once

#include <string>
#include <string_view>

namespace gt::analyzer::html {

// `json`: any JSON text. `title`: plain text.
std::string make_page(std::string_view title, std::string_view json);

// The same JSON, without '<', '>', '&' and line separators in its strings.
std::string escape_json(std::string_view json);

}  // namespace gt::analyzer::html
