// The real OpenCL functions, found on first use.
//
// Thread safety: yes (a race resolves the same symbol twice).
// Cost: one load and test after the first call.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "traces/api/table.h"

namespace gt::tracer {

extern std::atomic<void*> g_real[api::FnCount];  // by function number
void* find_real(api::FnId fn);              // slow path; nullptr: the real library does not have it

// Extension functions come from clGetExtensionFunctionAddress, not from the library's symbols.
void set_real(api::FnId fn, void* function);

// True while a loader's dispatch table holds the real functions (layer.cc): then a function that it lacks is missing,
// and no second loader is opened for it.
bool layered();
void set_layered(bool yes);

inline void* real_pointer(api::FnId fn) {
  void* p = g_real[static_cast<size_t>(fn)].load(std::memory_order_relaxed);
  return __builtin_expect(p != nullptr, 1) ? p : find_real(fn);
}

// REQUIRES: Function is the C type of `fn`. May be nullptr.
template <class Function>
auto real(api::FnId fn) {
  return reinterpret_cast<std::add_pointer_t<Function>>(real_pointer(fn));
}

}  // namespace gt::tracer
