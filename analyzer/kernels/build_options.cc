// Splitting and choosing build options.
#include "analyzer/kernels/build_options.h"

namespace gt::kernels {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // a word has begun (it may be empty: "")
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
    if (!quote && blank) {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
      continue;
    }
    open = true;
    if (c == quote) {
      quote = 0;
    } else if (!quote && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && i + 1 < text.size() && quote != '\'') {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

bool is_kept(const std::string& word) {
  return word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I");
}

}  // namespace

BuildOptions parse_build_options(std::string_view options) {
  constexpr std::string_view Standard = "-cl-std=";
  BuildOptions out;
  const std::vector<std::string> words = split(options);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(Standard)) {
      out.standard = words[i].substr(Standard.size());
    } else if (words[i] == "-cl-fast-relaxed-math") {
      out.arguments.push_back("-D__FAST_RELAXED_MATH__=1");
    } else if (is_kept(words[i]) && words[i].size() > 2) {
      out.arguments.push_back(words[i]);
    } else if (is_kept(words[i]) && i + 1 < words.size()) {
      out.arguments.push_back(words[i] + words[i + 1]);
      ++i;
    }
  }
  return out;
}

}  // namespace gt::kernels
