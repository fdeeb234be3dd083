// What operator new must do besides allocating: give way to the program's own operators, call the
// program's new handler, and throw through the program's C++ runtime (ours is private to the
// injected library).
//
// When anything else in the program's global scope defines one of the replaceable operators before
// us, all of ours step aside: they call the runtime's own, which reach the replacement as the
// language says (new[] through new, sized delete through delete, ...). What the replacement
// allocates is seen as its malloc.
//
// Thread safety: all functions; what the dynamic linker was asked for is remembered. Cost: questions to it, with its
// lock, until then; for the new handler each time.
#pragma once

#include <atomic>
#include <cstddef>

#include "tracer/interpose/replaced_operators.h"
#include "traces/api/alloc_fn.h"

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// Slow path of every operator: true when the runtime's own is to be called instead of ours.
bool operators_step_aside();
inline bool operators_are_ours() {
  return __builtin_expect(operators.load(std::memory_order_relaxed) == Operators::Ours, 1);
}

// The runtime's own operator as the function type it has; nullptr when there is no C++ runtime.
// `site` lies in the caller, whose dependencies are searched when the global scope has none.
void* runtime_operator(api::AllocFn fn, const void* site);

// After a failed attempt to allocate. Calls the new handler and returns (try again), or throws
// std::bad_alloc when there is none.
void call_new_handler_or_throw(const void* site);
bool has_new_handler(const void* site);

// A request that must fail: with it the runtime's operator new is made to throw. Never recorded.
constexpr size_t DoomedBytes = static_cast<size_t>(-1) / 2 - 0x4754;

}  // namespace gt::interpose

#pragma GCC visibility pop
