// What kernels do with their arguments, against answers worked out by hand (kernels/*.cl), and the
// score.
//
// In a .cl file, "// expect NAME: arg=access ..." says what the kernel may do, no more and no less:
// read, write, read_write or none of global memory; "local:" or "constant:" before it for other
// memory; "value" for what is passed by value. "// options ..." are the build options of the file.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "analyzer/kernels/kernel_source.h"

using namespace gt;
using kernels::Access;

namespace {

using Answer = std::vector<std::pair<std::string, std::string>>;  // argument, access
struct Sample {
  std::string text, options;
  std::map<std::string, Answer> kernels;
};
struct Score {
  size_t kernels = 0, exact_kernels = 0, args = 0, exact_args = 0;
  double share() const { return kernels ? static_cast<double>(exact_kernels) / static_cast<double>(kernels) : 0; }
};

Answer read_answer(const std::string& line, std::string& name) {
  std::istringstream words(line);
  Answer out;
  words >> name;
  name.pop_back();  // ':'
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    out.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return out;
}

Sample read_sample(const std::filesystem::path& path) {
  const std::string expect = "// expect ", options = "// options ";
  Sample s;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    s.text += line + "\n";
    std::string name;
    if (line.starts_with(expect)) {
      const Answer answer = read_answer(line.substr(expect.size()), name);
      s.kernels[name] = answer;
    }
    if (line.starts_with(options)) s.options = line.substr(options.size());
  }
  return s;
}

unsigned bits(const std::string& access) {
  for (unsigned i = 0; i < 4; ++i)
    if (access == kernels::access_name(static_cast<Access>(i))) return i;
  FAIL("no access is called " << access);
  return 0;
}

// "local:read" and its like: the address space goes into `space`, the access is returned.
unsigned split(const std::string& answer, std::string& space) {
  space = "global";
  if (answer == "value") {
    space = "private";
    return 0;
  }
  const size_t colon = answer.find(':');
  if (colon == std::string::npos) return bits(answer);
  space = answer.substr(0, colon);
  return bits(answer.substr(colon + 1));
}

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
