// Sources that are odd. What the analysis answers for ordinary ones: kernel_answers_test.cc.
#include "analyzer/kernels/kernel_source.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
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

TEST_CASE("types are as the source has them") {
  const auto s = kernels::read_kernels(
      "#define REAL float\n#define TWO global int* c, global int* d\n"
      "kernel void k(__global  const REAL\t*restrict in, global int  out[ 4 ], local float4* /* a note */ scratch,\n"
      "              int n, write_only image2d_t image, TWO) {}",
      "");
  REQUIRE(s.kernels.size() == 1);
  const std::vector<std::string> expected = {"__global const REAL *restrict", "global int [ 4 ]", "local float4*",
                                             "int", "write_only image2d_t"};
  REQUIRE(s.kernels[0].args.size() == expected.size() + 2);
  for (size_t i = 0; i < expected.size(); ++i) CHECK(s.kernels[0].args[i].type == expected[i]);
  CHECK(s.kernels[0].args[5].type == "__global int *__private");  // a macro's: as clang writes it
}

TEST_CASE("a pointer that is lost among arrays is no reason to be narrow") {
  for (const char* body : {"int (^f)(global int[]) = ^(global int x[]) { x[0] = 1; return 0; }; f(a);",
                           "global int* p = ({ a; }); p[0] = 1;"}) {
    const std::string text = "kernel void k(global int a[], global int* b) { " + std::string(body) + " }";
    const auto s = kernels::read_kernels(text, "-cl-std=CL2.0");
    REQUIRE(s.kernels.size() == 1);
    CHECK_MESSAGE(kernels::writes(s.kernels[0].args[0].access), body);
  }
}

TEST_CASE("headers are asked for what devices they tell apart, too") {
  const std::string folder = std::filesystem::temp_directory_path() / ("gt_headers_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/device.h")
      << "#ifdef __NV_CL_C_VERSION\n#define PUT(p) (p)[0] = 1\n#else\n#define PUT(p)\n#endif\n";
  const char* source = "#include \"device.h\"\nkernel void k(global int* a) { PUT(a); }";
  const auto s = kernels::read_kernels(source, "-I" + folder);
  std::filesystem::remove_all(folder);
  CHECK(s.exact);
  REQUIRE(s.kernels.size() == 1);
  CHECK(s.kernels[0].args[0].access == Access::Write);
}
