// Kernels with answers worked out by hand (kernels/*.cl), and the score of an analysis.
//
// In a .cl file, "// expect NAME: arg=access ..." says what the kernel may do, no more and no less:
// read, write, read_write or none of global memory; "local:" or "constant:" before it for other
// memory; "value" for what is passed by value. "// options ..." are the build options of the file.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "traces/kernels/kernel_args.h"

namespace gt::testing {

using Answer = std::vector<std::pair<std::string, std::string>>;  // argument, access
struct Sample {
  std::string text, options;
  std::map<std::string, Answer> kernels;
};
struct Score {
  size_t kernels = 0, exact_kernels = 0, args = 0, exact_args = 0;
  double share() const { return kernels ? static_cast<double>(exact_kernels) / static_cast<double>(kernels) : 0; }
};

inline Answer read_answer(const std::string& line, std::string& name) {
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

inline Sample read_sample(const std::filesystem::path& path) {
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

inline unsigned access_bits(const std::string& access) {
  for (unsigned i = 0; i < 4; ++i)
    if (access == kernels::access_name(static_cast<kernels::Access>(i))) return i;
  FAIL("no access is called " << access);
  return 0;
}

// "local:read" and its like: the address space goes into `space`, the access is returned.
inline unsigned split(const std::string& answer, std::string& space) {
  space = "global";
  if (answer == "value") {
    space = "private";
    return 0;
  }
  const size_t colon = answer.find(':');
  if (colon == std::string::npos) return access_bits(answer);
  space = answer.substr(0, colon);
  return access_bits(answer.substr(colon + 1));
}

}  // namespace gt::testing
