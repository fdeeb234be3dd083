// The fake driver as a table, for tests that link it (gt_fake_driver). A test puts functions of its own in it where it
// wants to see a call, or to do something else: they go on to the fake's own by its name, ::clFlush.
#pragma once

#include "tests/fake_cl/behaviour.h"
#include "tests/fake_cl/driver.h"
#include "tests/fake_cl/held.h"
#include "transport/opencl/cl_functions.h"

namespace gt::fake {

inline ClFunctions table() {
  ClFunctions f;
#define GT_CL_FUNCTION(use, function) f.function = &::function;
#include "transport/opencl/functions.def"
  return f;
}

// A context of all devices, never released: none of what alive() counts.
inline cl_context any_context() {
  static const cl_context context = [] {
    const cl_device_id devices[] = {device(0), device(1)};
    static_assert(std::size(devices) == MostDevices);
    return fake_clCreateContext(nullptr, behaviour().devices, devices, nullptr, nullptr, nullptr);
  }();
  return context;
}

}  // namespace gt::fake
