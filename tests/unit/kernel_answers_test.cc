// What kernels do with their arguments, against answers worked out by hand (kernel_answers.h), and the
// score.
#include <filesystem>

#include "analyzer/kernels/kernel_source.h"
#include "tests/unit/kernel_answers.h"

using namespace gt;
using namespace gt::testing;

namespace {

void check_kernel(const kernels::Kernel& k, const Answer& answer, Score& score) {
  REQUIRE_MESSAGE(k.args.size() == answer.size(), k.name);
  size_t exact = 0;
  for (size_t i = 0; i < answer.size(); ++i) {
    const auto& [name, text] = answer[i];
    std::string space;
    const unsigned found = static_cast<unsigned>(k.args[i].access), wanted = split(text, space);
    CHECK(k.args[i].name == name);
    CHECK_MESSAGE(kernels::address_space_name(k.args[i].space) == space, k.name, ".", name);
    CHECK_MESSAGE((found & wanted) == wanted, "unsound: ", k.name, ".", name);
    exact += found == wanted;
    if (found != wanted) MESSAGE("wider than need be: ", k.name, ".", name, " is ", text);
  }
  score.args += answer.size();
  score.exact_args += exact;
  ++score.kernels;
  score.exact_kernels += exact == answer.size();
}

}  // namespace

TEST_CASE("kernels with known answers") {
  Score score;
  for (const auto& file : std::filesystem::directory_iterator(GT_KERNELS)) {
    const Sample sample = read_sample(file.path());
    const kernels::Source s = kernels::read_kernels(sample.text, sample.options);
    const bool wide = sample.text.find("// not followed") != std::string::npos;  // known to be, and said so
    CHECK_MESSAGE(s.exact != wide, file.path().filename(), ": ", s.note);
    CHECK(s.note.empty() != wide);
    CHECK_MESSAGE(s.kernels.size() == sample.kernels.size(), file.path().filename());
    for (const kernels::Kernel& k : s.kernels) {
      REQUIRE_MESSAGE(sample.kernels.contains(k.name), k.name);
      check_kernel(k, sample.kernels.at(k.name), score);
    }
  }
  MESSAGE("exact: ", score.exact_kernels, " of ", score.kernels, " kernels, ", score.exact_args, " of ", score.args,
          " arguments");
  CHECK(score.kernels >= 150);
  CHECK(score.share() >= 0.95);
}
