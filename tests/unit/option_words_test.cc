// Build options word by word: what is a word, and what of it is meant.
#include <doctest/doctest.h>

#include "traces/api/option_words.h"

using namespace gt::api;

namespace {

struct Words {
  std::vector<std::string> written, meant;
};
Words words(std::string_view options) {
  Words out;
  for (const OptionWord& word : option_words(options)) {
    out.written.emplace_back(word.written);
    out.meant.push_back(word.meant);
  }
  return out;
}
using List = std::vector<std::string>;

}  // namespace

TEST_CASE("options are split at blanks") {
  CHECK(words("").written.empty());
  CHECK(words(" \t\n ").written.empty());
  CHECK(words("  -w\t-DA=1\n-D B ").meant == List{"-w", "-DA=1", "-D", "B"});
  CHECK(words(std::string_view("-w\0-DA", 6)).meant == List{"-w", "-DA"});
}

TEST_CASE("quotes and backslashes protect, and are not meant") {
  const Words seen = words(R"(-DA="x y" '-DB="z"' -DC=\"s\" "a\"b" 'c\d' \-DZ -DP=a\ b "" -I"e f"g)");
  CHECK(seen.written == List{R"(-DA="x y")", R"('-DB="z"')", R"(-DC=\"s\")", R"("a\"b")", R"('c\d')", R"(\-DZ)",
                             R"(-DP=a\ b)", R"("")", R"(-I"e f"g)"});
  CHECK(seen.meant ==
        List{"-DA=x y", R"(-DB="z")", R"(-DC="s")", R"(a"b)", R"(c\d)", "-DZ", "-DP=a b", "", "-Ie fg"});
}

TEST_CASE("what is left open ends with the text") {
  CHECK(words(R"(-w "a b)").meant == List{"-w", "a b"});
  CHECK(words(R"(-w a\)").meant == List{"-w", R"(a\)"});
}

TEST_CASE("folders are apart from the rest, which stays as it was written") {
  const SplitOptions split = split_options(R"( -I /here  -DA="x y" -I/there '-I/in quotes' -DS=\"s\" -I "c d" -w -I)");
  CHECK(split.include_folders == List{"/here", "/there", "/in quotes", "c d"});
  CHECK(split.others == R"(-DA="x y" -DS=\"s\" -w)");
  CHECK(split_options("-I /only").others.empty());
}
