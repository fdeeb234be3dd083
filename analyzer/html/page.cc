// Filling in the page.
#include "analyzer/html/page.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "analyzer/html/page_assets.h"

namespace gt::analyzer::html {
namespace {

using Part = std::pair<std::string_view, std::string_view>;

std::string replaced(std::string_view text, std::initializer_list<Part> parts) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Part* found = nullptr;
    for (const Part& p : parts)
      if (text.starts_with(p.first)) found = &p;
    if (found) {
      out += found->second;
      text.remove_prefix(found->first.size());
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string escape_text(std::string_view text) {
  return replaced(text, {{"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}, {"\"", "&quot;"}});
}

// Which script may run, in a way that whoever wrote the data could not know beforehand (FNV-1a).
std::string nonce_of(std::string_view data) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : data) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string escape_json(std::string_view json) {
  // Outside strings JSON has none of these.
  return replaced(json, {{"<", "\\u003c"},
                         {">", "\\u003e"},
                         {"&", "\\u0026"},
                         {"\xe2\x80\xa8", "\\u2028"},
                         {"\xe2\x80\xa9", "\\u2029"}});
}

std::string make_page(std::string_view title, std::string_view json) {
  const std::string data = escape_json(json);
  const std::string script = fmt::format("(() => {{\n'use strict';\n{}}})();\n", ScriptText);
  return replaced(PageText, {{"@@TITLE@@", escape_text(title)},
                             {"@@STYLE@@", StyleText},
                             {"@@NONCE@@", nonce_of(data)},
                             {"@@DATA@@", data},
                             {"@@SCRIPT@@", script}});
}

}  // namespace gt::analyzer::html
