// The OpenCL functions that transport calls by itself, as pointers: injected code hands in the real loader's, programs
// that link the loader hand in its symbols, an executor those of its driver. So nothing goes through our own wrappers.
// Invariant: the functions for a use are set once has() holds for it; an OpenCL 1.1 loader lacks some for staging.
// Thread safety: values.
#pragma once

#include <CL/cl.h>

#include <cstdint>

namespace gt {

struct ClFunctions {
  // What a function is for; some are for several (functions.def).
  enum Use : uint8_t {
    Memory = 1,    // pinned memory: transport/memory
    Staging = 2,   // transport/staging
    Copies = 4,    // for who copies on a device by itself: transport/moves
    Svm = 8,       // shared virtual memory
    Executor = 16,  // what an executor calls besides
    Usm = 32        // transport/usm, which makes unified shared memory of the shared virtual one
  };

#define GT_CL_FUNCTION(use, function) decltype(&::function) function = nullptr;
#include "transport/opencl/functions.def"

  // All functions for each of these uses are there.
  bool has(uint8_t uses) const noexcept {
    bool all = true;
#define GT_CL_FUNCTION(use, function) all = all && (((use) & uses) == 0 || function);
#include "transport/opencl/functions.def"
    return all;
  }
};

}  // namespace gt
