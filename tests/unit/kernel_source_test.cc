// Sources that are odd or hostile. What the analysis answers for ordinary ones: kernel_answers_test.cc.
#include "analyzer/kernels/kernel_source.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analyzer/kernels/build_options.h"

using namespace gt;
using kernels::Access;

namespace {

std::string repeat(const std::string& s, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace

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
