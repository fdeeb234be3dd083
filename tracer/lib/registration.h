// The program's callbacks that are registered with the driver: what stands behind the number that it passes back.
//
// Thread safety: any thread; no lock. Allocates nothing: there is room for a fixed number of them.
#pragma once

#include <CL/cl.h>

#include <atomic>
#include <cstdint>

#include "traces/api/callback_fn.h"

namespace gt::tracer {

using api::CallbackFn;

struct Registration {
  std::atomic<uint64_t> id{0};  // 0: free
  void* function = nullptr;
  void* data = nullptr;
  void* print = nullptr;         // a context's second function, for what kernels print; it gets the same data
  cl_context context = nullptr;  // of one with such a function
};

// A free registration, filled in; nullptr: all are taken. Places are used again as late as possible, and keep their
// contents until then: a driver that calls a one-time callback twice still reaches the right function.
Registration* take_registration(void* function, void* data, void* print = nullptr);
// Once only for each id; later ones do nothing.
void free_registration(Registration& registration, uint64_t id);

// The program's function for what the kernels of a context print; nullptr: none. Cost: a search through all of them.
void* print_function_of(cl_context context);

namespace detail {

// What to call, read before anything else: a registration that is called once is free from here on.
struct Called {
  uint64_t id;
  void* function;
  void* data;
};
Called called(Registration& registration, CallbackFn kind);

}  // namespace detail

}  // namespace gt::tracer
