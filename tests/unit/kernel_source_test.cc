// What kernels do with their arguments, against answers worked out by hand (kernels/*.cl), and
// hostile sources.
//
// In a .cl file, "// expect NAME: arg=access ..." is the exact answer; "// at_least" gives what
// must be in it, where a wider answer is right too; "// options ..." the build options of the file.
#include "analyzer/kernels/kernel_source.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "analyzer/kernels/build_options.h"

using namespace gt;
using kernels::Access;

namespace {

struct Expected {
  bool exact = true;
  std::vector<std::pair<std::string, std::string>> args;
};
struct Sample {
  std::string text, options;
  std::map<std::string, Expected> kernels;
};

Expected read_answer(const std::string& line, bool exact, std::string& name) {
  std::istringstream words(line);
  Expected e;
  e.exact = exact;
  words >> name;
  name.pop_back();  // ':'
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    e.args.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return e;
}

Sample read_sample(const std::filesystem::path& path) {
  Sample s;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    s.text += line + "\n";
    std::string name;
    for (const std::string mark : {"// expect ", "// at_least "}) {
      if (!line.starts_with(mark)) continue;
      const Expected e = read_answer(line.substr(mark.size()), mark == "// expect ", name);
      s.kernels[name] = e;
    }
    if (line.starts_with("// options ")) s.options = line.substr(11);
  }
  return s;
}

unsigned bits(const std::string& access) {
  for (unsigned i = 0; i < 4; ++i)
    if (access == kernels::access_name(static_cast<Access>(i))) return i;
  FAIL("no access is called " << access);
  return 0;
}

void check_kernel(const kernels::Kernel& k, const Expected& e) {
  REQUIRE_MESSAGE(k.args.size() == e.args.size(), k.name);
  for (size_t i = 0; i < e.args.size(); ++i) {
    const auto& [name, access] = e.args[i];
    const unsigned found = static_cast<unsigned>(k.args[i].access), wanted = bits(access);
    CHECK(k.args[i].name == name);
    CHECK_MESSAGE((found & wanted) == wanted, "unsound: ", k.name, ".", name);
    if (e.exact) CHECK_MESSAGE(found == wanted, "not exact: ", k.name, ".", name);
  }
}

std::string repeat(const std::string& s, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace

TEST_CASE("kernels with known answers") {
  size_t seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(GT_KERNELS)) {
    const Sample sample = read_sample(file.path());
    const kernels::Source s = kernels::read_kernels(sample.text, sample.options);
    CHECK_MESSAGE(s.exact, file.path().filename(), ": ", s.note);
    CHECK(s.kernels.size() == sample.kernels.size());
    for (const kernels::Kernel& k : s.kernels) {
      REQUIRE_MESSAGE(sample.kernels.contains(k.name), k.name);
      check_kernel(k, sample.kernels.at(k.name));
      ++seen;
    }
  }
  CHECK(seen >= 25);
}

TEST_CASE("address spaces") {
  const auto s = kernels::read_kernels(
      "kernel void k(global int* g, constant int* c, local int* l, int v, read_only image2d_t i) "
      "{}",
      "");
  REQUIRE(s.kernels.size() == 1);
  const auto& args = s.kernels[0].args;
  REQUIRE(args.size() == 5);
  CHECK(args[0].space == kernels::AddressSpace::Global);
  CHECK(args[1].space == kernels::AddressSpace::Constant);
  CHECK(args[2].space == kernels::AddressSpace::Local);
  CHECK(args[3].space == kernels::AddressSpace::Private);
  CHECK(args[4].space == kernels::AddressSpace::Global);
}

TEST_CASE("a source that does not compile gets the safe answer") {
  const auto s = kernels::read_kernels(
      "kernel void k(global float* a, constant float* c, int n) { a[0] = vendor_magic(c); }", "");
  CHECK_FALSE(s.exact);
  CHECK(s.note.find("vendor_magic") != std::string::npos);
  REQUIRE(s.kernels.size() == 1);
  CHECK(s.kernels[0].args[0].access == Access::ReadWrite);
  CHECK(s.kernels[0].args[1].access == Access::Read);
  CHECK(s.kernels[0].args[2].access == Access::None);
}

TEST_CASE("a function that is declared only may do anything") {
  const auto s = kernels::read_kernels(
      "void vload_mine(global float* p);\nkernel void k(global float* a) { vload_mine(a); }", "");
  REQUIRE(s.kernels.size() == 1);
  CHECK(s.kernels[0].args[0].access == Access::ReadWrite);
}

TEST_CASE("recursion ends") {
  const auto s = kernels::read_kernels(
      "void f(global float* p, int n) { if (n) f(p, n - 1); }\n"
      "kernel void k(global float* a) { f(a, 3); }",
      "");
  REQUIRE(s.kernels.size() == 1);
}

TEST_CASE("hostile sources cost their own facts only") {
  kernels::Limits limits;
  limits.seconds = 2;
  const std::string head = "kernel void k(global int* a) {";
  const std::vector<std::string> sources = {
      "",
      std::string("\0\xff\xfe{{{", 6),
      head,
      head + repeat("{", 200000),
      head + "a[0] = " + repeat("(", 100000) + "1;",
      "#include __FILE__\n",
      "#include \"/dev/zero\"\n" + head + "}",
      "#define A B B B B B B B B\n#define B C C C C C C C C\n#define C D D D D D D D D\n#define D "
      "E E E E E E E E\n"
      "#define E F F F F F F F F\n#define F G G G G G G G G\n#define G H H H H H H H H\n#define H "
      "a[0]++;\n" +
          head + "A A A A A A A A }",
      repeat("typedef struct { int x; ", 2000) + repeat("} T;", 2000),
  };
  for (const std::string& source : sources) {
    const auto s = kernels::read_kernels(source, "", limits);
    if (!source.empty()) CHECK_FALSE(s.exact);
  }
}

TEST_CASE("build options") {
  const auto o = kernels::parse_build_options(
      " -DA=1 -D B  -I \"my includes\" -cl-std=CL2.0 -cl-fast-relaxed-math '-DC=\"x\"' -w -UA "
      "\\-DZ");
  CHECK(o.standard == "CL2.0");
  CHECK(o.arguments ==
        std::vector<std::string>{"-DA=1", "-DB", "-Imy includes", "-DC=\"x\"", "-UA", "-DZ"});
}
