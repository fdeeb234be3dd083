// The OpenCL loader of this machine, and its functions by their numbers in the table.
// Thread safety: find() from any thread.
#pragma once

#include <CL/cl.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "traces/api/fn_id.h"
#include "traces/base/status.h"

namespace gt::tracer {

using AnyFunction = void (*)();

class OpenClLibrary {
 public:
  // Of a driver that is linked in (tests): `of` gives its functions.
  explicit OpenClLibrary(AnyFunction (*of)(api::FnId));
  // Unsupported: there is none.
  static Result<std::unique_ptr<OpenClLibrary>> open();

  // nullptr: neither the loader nor the driver of `platform` has it. Extensions are asked of `platform`.
  AnyFunction find(uint16_t fn, cl_platform_id platform) const;
  template <class F>
  F* get(api::FnId fn) const {
    return reinterpret_cast<F*>(find(static_cast<uint16_t>(fn), nullptr));
  }

 private:
  explicit OpenClLibrary(void* library) : library_(library) {}

  void* library_;
  mutable std::array<std::atomic<AnyFunction>, api::FnCount> found_{};  // of one platform at a time
};

}  // namespace gt::tracer
