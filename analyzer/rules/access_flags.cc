// Rule: buffers made for one kind of access by kernels, and bound to arguments that kernels access otherwise. What is
// read then is undefined: right on this device, perhaps, and wrong on another.
#include <CL/cl.h>
#include <fmt/format.h>

#include <set>

#include "analyzer/rules/bound_buffers.h"
#include "analyzer/rules/finding.h"

namespace gt::analyzer {
namespace {

struct Misuse {
  const char *does, *flag, *advice;
};

constexpr Misuse ReadsWriteOnly = {"reads", "CL_MEM_WRITE_ONLY",
                                   "Make the buffer with CL_MEM_READ_WRITE: what a kernel reads from one that is for "
                                   "writing only is undefined."};
constexpr Misuse WritesReadOnly = {"writes", "CL_MEM_READ_ONLY",
                                   "Make the buffer with CL_MEM_READ_WRITE: what becomes of writes to one that is for "
                                   "reading only is undefined."};

const Misuse* misuse(int64_t flags, kernels::Access access) {
  if ((flags & CL_MEM_WRITE_ONLY) && kernels::reads(access)) return &ReadsWriteOnly;
  if ((flags & CL_MEM_READ_ONLY) && kernels::writes(access)) return &WritesReadOnly;
  return nullptr;
}

}  // namespace

void find_access_flags(Findings& f) {
  const BoundBuffers bound(f);
  std::set<std::pair<model::ClassId, const Misuse*>> seen;
  for (const Binding& b : bound.list()) {
    const Birth* birth = bound.birth(b.buffer);
    const Misuse* found = birth && birth->flags ? misuse(*birth->flags, b.access) : nullptr;
    if (!found || !seen.insert({b.buffer, found}).second) continue;
    Finding finding;
    finding.rule = "access-flags";
    finding.place = f.sites.find(f.trace, f.trace.classes[b.buffer].site).place();
    finding.evidence = fmt::format("kernel {} {} argument {} where control goes that way, and the buffer made here was "
                                   "made with {}",
                                   b.kernel->name, found->does, b.argument().name, found->flag);
    finding.basis = "is not the point: this is about right results";
    finding.advice = found->advice;
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
