// Options and sources as a program may give them. First line: options; the rest: source.
// Seeds: tests/unit/kernels/*.cl.
//
// libclang itself is not our subject: everything is read in this process, where the fuzzer sees our code and where a
// source costs a few milliseconds, with one standard and without a child. Sources that would make libclang wait or eat
// memory are passed over; the limits that they meet have tests of their own (tests/unit/hostile_source_test.cc).
// Fastest with -detect_leaks=0, and three times as fast again without the sanitizers (-DGT_SANITIZE=): some 300 sources
// a second, nearly all of that libclang's time.
// What must hold of every answer: nothing beyond what the types allow, nothing left out where the
// source was not understood, and a function that nobody calls changes nothing.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analyzer/kernels/kernel_source.h"
#include "analyzer/kernels/parse_source.h"

using namespace gt;
using kernels::Access;
using kernels::AddressSpace;

namespace {

constexpr size_t MostBytes = 4 << 10;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const kernels::Source& s) {
  for (const kernels::Kernel& k : s.kernels) {
    for (const kernels::Arg& a : k.args) {
      if (a.space == AddressSpace::Constant) require(!kernels::writes(a.access));
      if (a.space == AddressSpace::Private) require(a.access == Access::None);
      const bool pointer = a.space == AddressSpace::Global && a.type.find('*') != std::string::npos;
      const bool given_up = !s.exact && !s.note.starts_with("too intricate");
      if (pointer && given_up) require(a.access == Access::ReadWrite);
    }
  }
  require(s.exact || !s.note.empty());
}

bool same(const kernels::Source& a, const kernels::Source& b) {
  if (a.kernels.size() != b.kernels.size()) return false;
  for (size_t i = 0; i < a.kernels.size(); ++i)
    for (size_t j = 0; j < a.kernels[i].args.size(); ++j)
      if (b.kernels[i].args.size() <= j || a.kernels[i].args[j].access != b.kernels[i].args[j].access) return false;
  return true;
}

size_t count(const std::string& text, const char* word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

// Other files, and macros that grow without bound.
bool is_risky(const std::string& source) {
  return count(source, "define") > 6 || count(source, "include") > 0 || count(source, "??") > 0;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return ::setenv("LIBCLANG_NOTHREADS", "1", 1);  // a thread for each source costs more than reading a short one
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr const char* Standards[] = {" -cl-std=CL1.2", " -cl-std=CL2.0", " -cl-std=CL3.0"};
  const std::string text(reinterpret_cast<const char*>(data), size < MostBytes ? size : MostBytes);
  if (is_risky(text)) return -1;  // not to be kept
  const size_t end = text.find('\n');
  const std::string options = text.substr(0, end) + Standards[size % 3];
  const std::string source = end == std::string::npos ? "" : text.substr(end + 1);
  const kernels::Source s = kernels::parse_source(source, options);
  check(s);
  if (!s.exact || size % 4 != 0) return 0;
  const kernels::Source longer = kernels::parse_source(source + "\nvoid nobody_calls_this(void) {}\n", options);
  if (longer.exact) require(same(s, longer));
  return 0;
}
