// Options and sources as a program may give them. First line: options; the rest: source.
// Seeds: tests/unit/kernels/*.cl.
//
// libclang itself is not our subject, so what would make it wait or eat memory goes to the child
// process with its limits; everything else is read in this process, where the fuzzer sees our code.
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

constexpr size_t MostBytes = 16 << 10;

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

// Other files, and macros that grow without bound.
bool is_risky(const std::string& source) {
  size_t macros = 0;
  for (size_t at = source.find("define"); at != std::string::npos; at = source.find("define", at + 1)) ++macros;
  return macros > 20 || source.find("include") != std::string::npos || source.find("??") != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size < MostBytes ? size : MostBytes);
  const size_t end = text.find('\n');
  const std::string options = text.substr(0, end);
  const std::string source = end == std::string::npos ? "" : text.substr(end + 1);
  if (is_risky(text)) {
    kernels::Limits limits;
    limits.seconds = 1;
    check(kernels::read_kernels(source, options, limits));
    return 0;
  }
  const kernels::Source s = kernels::parse_source(source, options);
  check(s);
  if (!s.exact) return 0;
  const kernels::Source longer = kernels::parse_source(source + "\nvoid nobody_calls_this(void) {}\n", options);
  if (longer.exact) require(same(s, longer));
  return 0;
}
