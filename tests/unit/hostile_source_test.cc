// Sources and options that are made to hurt: each costs its own facts, a few seconds, and no more.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "analyzer/kernels/kernel_source.h"

using namespace gt;
using kernels::Access;

namespace {

const std::string Head = "kernel void k(global int* a) {";

std::string repeat(const std::string& s, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += s;
  return out;
}

kernels::Source read(const std::string& source, const std::string& options = "") {
  kernels::Limits limits;
  limits.seconds = 2;
  limits.memory_bytes = 1u << 30;
  return kernels::read_kernels(source, options, limits);
}

// Either it was understood, or there is a reason and no argument is said to be untouched.
void check_refused(const kernels::Source& s) {
  CHECK_FALSE(s.exact);
  CHECK_FALSE(s.note.empty());
  for (const kernels::Kernel& k : s.kernels)
    for (const kernels::Arg& a : k.args)
      if (a.space == kernels::AddressSpace::Global) CHECK(a.access == Access::ReadWrite);
}

// A macro that doubles what the one before it expands to.
std::string doubling(size_t times, const std::string& core) {
  std::string out = "#define M0 " + core + "\n";
  for (size_t i = 1; i <= times; ++i) {
    const std::string before = " M" + std::to_string(i - 1);
    out += "#define M" + std::to_string(i) + before + before + "\n";
  }
  return out + Head + "M" + std::to_string(times) + " }";
}

}  // namespace

TEST_CASE("sources that nothing can be read from") {
  for (const std::string& source : {
           std::string("\0\xff\xfe{{{", 6),
           Head,
           Head + repeat("{", 200000),
           Head + "a[0] = " + repeat("(", 100000) + "1;",
           Head + "a[0] = " + repeat("-", 100001) + "1; }",
           std::string("#include __FILE__\n"),
           "#include \"kernel.cl\"\n" + Head + "}",
           "#include \"/dev/zero\"\n" + Head + "}",
           "#include \"/\"\n" + Head + "}",
           "#include \"/nowhere/at/all.h\"\n" + Head + "}",
           doubling(40, "a[0]++;"),
           repeat("typedef struct { int x; ", 2000) + repeat("} T;", 2000),
           repeat("#if 1\n", 100000),
           repeat("kernel ", 300000),
           Head + repeat("if (a[0]) ", 100000) + "; }",
           "#define f(x) f(x f(x\n" + Head + " f(f(f(1 }",
           "#line 4294967295 \"" + repeat("x", 100000) + "\"\n" + Head + " ]",
           std::string(8 << 20, '\\'),
       })
    check_refused(read(source));
}

TEST_CASE("a file that says it is empty is empty") {
  const auto s = read("#include \"/proc/self/mem\"\n" + Head + " a[0] = 1; }");
  REQUIRE(s.kernels.size() == 1);
  CHECK(kernels::writes(s.kernels[0].args[0].access));
}

TEST_CASE("options that nothing can be made of") {
  const std::string good = Head + " a[0] = 1; }";
  CHECK(read(good, "-D" + repeat("X", 1 << 20)).kernels.size() == 1);
  CHECK(read(good, repeat("-DX ", 200000)).kernels.size() <= 1);
  CHECK(read(good, "-I/dev/zero -I/proc/self/mem -I").kernels.size() == 1);
  CHECK(read(good, "\"-DX='").kernels.size() == 1);
  CHECK(read(good, std::string("-D\xff\xfe=1", 6)).kernels.size() <= 1);
  check_refused(read(good, "-cl-std=CL99"));
  check_refused(read(good, "-Da=) -Dglobal=local -Dkernel="));
}

TEST_CASE("a header that never ends to come") {
  char folder[] = "/tmp/gt_hostile_XXXXXX";
  REQUIRE(::mkdtemp(folder));
  const std::string fifo = std::string(folder) + "/fifo.h";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  check_refused(read("#include \"fifo.h\"\n" + Head + "}", "-I" + std::string(folder)));
  ::unlink(fifo.c_str());
  ::rmdir(folder);
}

TEST_CASE("large but honest") {
  const auto sum = read(Head + " a[0] = " + repeat("a[1] + ", 5000) + "1; }");
  REQUIRE(sum.kernels.size() == 1);
  CHECK(sum.kernels[0].args[0].access == Access::ReadWrite);
  const auto many = read("inline int f(int x) { return x; }\n" + [] {
    std::string out;
    for (int i = 0; i < 500; ++i) out += "kernel void k" + std::to_string(i) + "(global int* a) { *a = f(1); }\n";
    return out;
  }());
  CHECK(many.exact);
  CHECK(many.kernels.size() == 500);
}

TEST_CASE("calls that multiply") {
  std::string source = "void f0(global int* p, global int* q) { *p = *q; }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string callee = "f" + std::to_string(i - 1);
    source += "void f" + std::to_string(i) + "(global int* p, global int* q) { " + callee + "(p, q); " + callee +
              "(q, p); " + callee + "(p, p); }\n";
  }
  const auto s = read(source + "kernel void k(global int* a, global int* b, global int* c) { f39(a, b); }");
  REQUIRE(s.kernels.size() == 1);
  CHECK(s.exact);
  CHECK(s.kernels[0].args[0].access == Access::ReadWrite);
  CHECK(s.kernels[0].args[1].access == Access::ReadWrite);
  CHECK(s.kernels[0].args[2].access == Access::None);
}
