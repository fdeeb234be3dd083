// Finding functions by their names.
#include "optimizer-rt/cl/real.h"

#include <CL/cl_ext.h>

#include <cstring>

#include "tracer/interpose/real_library.h"
#include "tracer/interpose/substitute.h"

namespace gt::opt {
namespace {

constexpr const char* Names[] = {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) #NAME,
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
};

}  // namespace

constinit std::atomic<void*> real_functions[static_cast<size_t>(Fn::Count)] = {};

void* find_real(Fn fn) noexcept {
  const size_t i = static_cast<size_t>(fn);
  void* p = interpose::real_symbol(Names[i]);
  if (!p && interpose::real_library()) p = interpose::substitute(Names[i]);
  real_functions[i].store(p, std::memory_order_relaxed);
  return p;
}

void* exported(const char* name) noexcept {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  if (std::strcmp(name, #NAME) == 0) return reinterpret_cast<void*>(&::NAME);
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  return nullptr;
}

}  // namespace gt::opt
