// The real loader's OpenCL functions, found on first use; and ours that stand for them.
// Thread safety: yes (a race finds the same symbol twice). Cost: one load and test after the first
// call.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "traces/api/icd_dispatch.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

enum class Fn : size_t {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) NAME,
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  Count,
};

extern std::atomic<void*> real_functions[static_cast<size_t>(Fn::Count)];
void* find_real(Fn fn) noexcept;  // nullptr: the real library is missing, or too old to have it
// Ours, which looks at the handle; nullptr: no loader exports such a function.
void* exported(const char* name) noexcept;

// REQUIRES: Function is the C type of `fn`.
template <class Function>
std::add_pointer_t<Function> real(Fn fn) noexcept {
  void* p = real_functions[static_cast<size_t>(fn)].load(std::memory_order_relaxed);
  return reinterpret_cast<std::add_pointer_t<Function>>(
      __builtin_expect(p != nullptr, 1) ? p : find_real(fn));
}
#define GT_REAL(NAME) ::gt::opt::real<decltype(::NAME)>(::gt::opt::Fn::NAME)

}  // namespace gt::opt

#pragma GCC visibility pop
