// Sources that are odd. What the analysis answers for ordinary ones: kernel_answers_test.cc.
#include "analyzer/kernels/kernel_source.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analyzer/kernels/build_options.h"

using namespace gt;
using kernels::Access;

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

TEST_CASE("C++ for OpenCL gets the safe answer") {
  const auto s = kernels::read_kernels(
      "template <class T> void put(T* p) { *p = 1; }\n"
      "kernel void k(global int* a, constant int* c, const global int* b, int n) { put(a); }",
      "-cl-std=CLC++");
  CHECK_FALSE(s.exact);
  REQUIRE(s.kernels.size() == 1);
  CHECK(s.kernels[0].args[0].access == Access::ReadWrite);
  CHECK(s.kernels[0].args[1].access == Access::Read);
  CHECK(s.kernels[0].args[2].access == Access::ReadWrite);
  CHECK(s.kernels[0].elsewhere == Access::ReadWrite);
}

TEST_CASE("build options") {
  const auto o = kernels::parse_build_options(
      " -DA=1 -D B  -I \"my includes\" -cl-std=CL2.0 -cl-fast-relaxed-math '-DC=\"x\"' -w -UA "
      "\\-DZ");
  CHECK(o.standard == "CL2.0");
  CHECK(o.arguments ==
        std::vector<std::string>{"-DA=1", "-DB", "-Imy includes", "-D__FAST_RELAXED_MATH__=1", "-DC=\"x\"", "-UA",
                                               "-DZ"});
}
