// The OpenCL functions that moves between devices call, as pointers.
// Invariant: those that staging has are set once complete() holds; those of copies with has_copies().
#pragma once

#include "transport/staging/cl_functions.h"

namespace gt::moves {

// For who copies on a device by itself; the first is of OpenCL 3.0.
#define GT_MOVES_COPY_FUNCTIONS(X) \
  X(clCreateBufferWithProperties) X(clEnqueueCopyBuffer) X(clEnqueueCopyImageToBuffer) X(clEnqueueCopyBufferToImage)

struct Cl : staging::ClFunctions {
  decltype(&::clGetDeviceInfo) clGetDeviceInfo = nullptr;
#define GT_X(f) decltype(&::f) f = nullptr;
  GT_MOVES_COPY_FUNCTIONS(GT_X)
#undef GT_X

  bool has_copies() const {
    bool all = true;
#define GT_X(f) all = all && f;
    GT_MOVES_COPY_FUNCTIONS(GT_X)
#undef GT_X
    return all;
  }
};

}  // namespace gt::moves
