// The files of the page, put into the program when it is built (embed.cmake).
#pragma once

#include <string_view>

namespace gt::analyzer::html {

extern const std::string_view PageText;    // page.html
extern const std::string_view StyleText;   // style.css
extern const std::string_view ScriptText;  // all scripts, in their order

}  // namespace gt::analyzer::html
