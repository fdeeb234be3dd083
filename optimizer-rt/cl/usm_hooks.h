// Hooks of exports.cc for unified shared memory, where that is emulated.
#pragma once

#include "optimizer-rt/cl/hook.h"
#include "optimizer-rt/cl/usm.h"

namespace gt::opt {
namespace {

template <>
struct Hook<Fn::clGetExtensionFunctionAddress> : Instead {
  static bool instead(void** result, const char* name) {
    void* const usm = usm_function(name);
    if (!usm) return false;
    void* const drivers = GT_REAL(clGetExtensionFunctionAddress)(name);
    *result = drivers ? drivers : usm;
    return true;
  }
};

template <>
struct Hook<Fn::clEnqueueNDRangeKernel> : Instead {
  static bool instead(cl_int* result, cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                      const size_t* offset, const size_t* global, const size_t* local, cl_uint n, const cl_event* list,
                      cl_event* event) {
    return usm_launch(queue, kernel, dimensions, offset, global, local, {n, list}, event, result);
  }
};
template <>
struct Hook<Fn::clEnqueueTask> : Instead {
  static bool instead(cl_int* result, cl_command_queue queue, cl_kernel kernel, cl_uint n, const cl_event* list,
                      cl_event* event) {
    const size_t one = 1;
    return usm_launch(queue, kernel, 1, nullptr, &one, &one, {n, list}, event, result);
  }
};
template <>
struct Hook<Fn::clSetKernelExecInfo> : Instead {
  static bool instead(cl_int* result, cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value) {
    return usm_exec_info(kernel, what, size, value, result);
  }
};
template <>
struct Hook<Fn::clCloneKernel> : AfterOnly {
  static void after(cl_kernel copy, cl_kernel kernel, cl_int*) { usm_kernel_cloned(kernel, copy); }
};
template <>
struct Hook<Fn::clReleaseKernel> : BeforeOnly {
  static void before(cl_kernel kernel) { usm_kernel_releasing(kernel); }
};

}  // namespace
}  // namespace gt::opt
