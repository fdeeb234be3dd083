// The options of clBuildProgram, word by word.
//
// Words are split at blanks; quotes and backslashes protect, as in a shell. Thread safety: yes. Cost: allocates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt::api {

struct OptionWord {
  std::string_view written;  // a part of the options, with its quotes and backslashes
  std::string meant;         // without them
};
std::vector<OptionWord> option_words(std::string_view options);

// -I and what follows it, apart from everything else.
struct SplitOptions {
  std::vector<std::string> include_folders;
  std::string others;  // as they were written, one blank between them
};
SplitOptions split_options(std::string_view options);

}  // namespace gt::api
