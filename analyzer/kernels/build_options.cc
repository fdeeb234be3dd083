// Choosing build options.
#include "analyzer/kernels/build_options.h"

#include "traces/api/option_words.h"

namespace gt::kernels {
namespace {

bool is_kept(const std::string& word) {
  return word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I");
}

}  // namespace

BuildOptions parse_build_options(std::string_view options) {
  constexpr std::string_view Standard = "-cl-std=";
  BuildOptions out;
  const std::vector<api::OptionWord> words = api::option_words(options);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].meant;
    if (word.starts_with(Standard)) {
      out.standard = word.substr(Standard.size());
    } else if (word == "-cl-fast-relaxed-math") {
      out.arguments.push_back("-D__FAST_RELAXED_MATH__=1");
    } else if (is_kept(word) && word.size() > 2) {
      out.arguments.push_back(word);
    } else if (is_kept(word) && i + 1 < words.size()) {
      out.arguments.push_back(word + words[++i].meant);
    }
  }
  return out;
}

}  // namespace gt::kernels
