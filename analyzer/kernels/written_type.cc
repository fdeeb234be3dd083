// From the extent of a declaration to its text.
#include "analyzer/kernels/written_type.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace gt::kernels {
namespace {

constexpr size_t Longest = 400;  // bytes; no one writes a longer one

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The text from the first to the last character; nothing when it lies in several files, or there is none.
std::optional<std::string_view> text_of(CXCursor c) {
  const CXSourceRange range = clang_getCursorExtent(c);
  CXFile first = nullptr, last = nullptr;
  unsigned from = 0, to = 0;
  clang_getExpansionLocation(clang_getRangeStart(range), &first, nullptr, nullptr, &from);
  clang_getExpansionLocation(clang_getRangeEnd(range), &last, nullptr, nullptr, &to);
  if (!first || !last || !clang_File_isEqual(first, last)) return std::nullopt;
  size_t size = 0;
  const char* text = clang_getFileContents(clang_Cursor_getTranslationUnit(c), first, &size);
  if (!text || from >= to || to > size || to - from > Longest) return std::nullopt;
  return std::string_view(text + from, to - from);
}

// One blank for any, none at the ends; without comments, of which a declaration may have some.
std::string tidied(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool block = text.substr(i).starts_with("/*"), line = text.substr(i).starts_with("//");
    if (block || line) {
      const size_t end = text.find(block ? "*/" : "\n", i + 2);
      i = end == std::string_view::npos ? text.size() : end + (block ? 1 : 0);
    }
    const bool blank = block || line || std::isspace(static_cast<unsigned char>(text[i])) || text[i] == '\\';
    if (!blank) out += text[i];
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Where the name stands as a word for the last time: a type may have the same word before it.
size_t find_name(const std::string& text, const std::string& name) {
  size_t at = name.empty() ? std::string::npos : text.rfind(name);
  while (at != std::string::npos) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + name.size() >= text.size() || !is_word(text[at + name.size()]);
    if (begins && ends) break;
    at = at == 0 ? std::string::npos : text.rfind(name, at - 1);
  }
  return at;
}

}  // namespace

std::string written_type(CXCursor parameter) {
  const std::string name = take(clang_getCursorSpelling(parameter));
  const std::string clangs = take(clang_getTypeSpelling(clang_getCursorType(parameter)));
  const auto text = text_of(parameter);
  if (!text) return clangs;
  std::string written = tidied(*text);
  const size_t at = find_name(written, name);
  if (at == std::string::npos || written.find_first_of("(){};,#") != std::string::npos) return clangs;
  written.erase(at, name.size());
  return tidied(written);
}

}  // namespace gt::kernels
