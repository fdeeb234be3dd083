// The functions of extensions, as the driver of a platform gives them; those of unified shared memory
// (cl_intel_unified_shared_memory) together.
// Thread safety: values.
#pragma once

#include <CL/cl_ext.h>

#include "transport/executor/base/functions.h"

namespace gt::exec {

struct Session;

struct UsmFunctions {
  clHostMemAllocINTEL_fn allocate_host = nullptr;
  clDeviceMemAllocINTEL_fn allocate_device = nullptr;
  clSharedMemAllocINTEL_fn allocate_shared = nullptr;
  clMemFreeINTEL_fn free = nullptr;
  clEnqueueMemcpyINTEL_fn copy = nullptr;
  clSetKernelArgMemPointerINTEL_fn set_argument = nullptr;

  // What every allocation needs; a driver may lack a kind of them.
  bool usable() const { return free && copy && set_argument; }
};

// A device of the context; nullptr: it tells of none.
cl_device_id device_of(const Session& session, cl_context context);
UsmFunctions usm_functions(const Session& session, cl_device_id device);

// The driver's, or ours where it is emulated (Session::usm); nullptr: there is none of that name. Cost: a question to
// the driver, which looks for a name.
AnyFunction extension_function(const Session& session, cl_device_id device, api::FnId fn);
AnyFunction extension_function(const Session& session, cl_platform_id platform, api::FnId fn);

}  // namespace gt::exec
