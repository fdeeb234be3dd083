// The OpenCL functions that an executor calls: one pointer for each function of the table, nullptr where the loader
// lacks it. Injected code hands in a driver's own, or the optimizer's (optimizer-rt/client/session/local_executor.h).
// Thread safety: values.
#pragma once

#include <array>
#include <cstddef>

#include "traces/api/fn_id.h"

namespace gt::exec {

using AnyFunction = void (*)();

struct Functions {
  std::array<AnyFunction, api::FnCount> of{};

  AnyFunction operator[](api::FnId fn) const { return of[static_cast<size_t>(fn)]; }
};

// By name, from a library that dlopen() gave.
Functions functions_of(void* library);

}  // namespace gt::exec
