#include "traces/api/option_words.h"

namespace gt::api {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

// The word that begins at `begin`, where no blank is.
OptionWord word_at(std::string_view text, size_t begin) {
  OptionWord word;
  char quote = 0;
  size_t i = begin;
  for (; i < text.size() && (quote || !is_blank(text[i])); ++i) {
    const char c = text[i];
    if (c == quote)
      quote = 0;
    else if (!quote && (c == '"' || c == '\''))
      quote = c;
    else if (c == '\\' && i + 1 < text.size() && quote != '\'')
      word.meant += text[++i];
    else
      word.meant += c;
  }
  word.written = text.substr(begin, i - begin);
  return word;
}

}  // namespace

std::vector<OptionWord> option_words(std::string_view options) {
  std::vector<OptionWord> words;
  for (size_t at = 0; at < options.size();) {
    if (is_blank(options[at])) {
      ++at;
      continue;
    }
    words.push_back(word_at(options, at));
    at += words.back().written.size();
  }
  return words;
}

SplitOptions split_options(std::string_view options) {
  SplitOptions split;
  const std::vector<OptionWord> words = option_words(options);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].meant;
    if (!word.starts_with("-I"))
      split.others.append(split.others.empty() ? "" : " ").append(words[i].written);
    else if (word.size() > 2)
      split.include_folders.push_back(word.substr(2));
    else if (i + 1 < words.size())
      split.include_folders.push_back(words[++i].meant);
  }
  return split;
}

}  // namespace gt::api
