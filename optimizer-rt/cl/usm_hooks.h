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
struct Hook<Fn::clCreateKernel> : AfterOnly {
  template <class... A>
  static void after(cl_kernel kernel, A...) {
    usm_kernel_made(kernel);
  }
};
template <>
struct Hook<Fn::clCreateKernelsInProgram> : AfterOnly {
  static void after(cl_int err, cl_program, cl_uint, cl_kernel* kernels, cl_uint* count) {
    if (err != CL_SUCCESS || !kernels || !count) return;  // how many there are nobody says: seen when they are used
    for (cl_uint i = 0; i < *count; ++i) usm_kernel_made(kernels[i]);
  }
};
template <>
struct Hook<Fn::clCloneKernel> : AfterOnly {
  static void after(cl_kernel copy, cl_kernel kernel, cl_int*) { usm_kernel_cloned(kernel, copy); }
};
template <>
struct Hook<Fn::clRetainKernel> : AfterOnly {
  static void after(cl_int err, cl_kernel kernel) {
    if (err == CL_SUCCESS) usm_kernel_retained(kernel);
  }
};
template <>
struct Hook<Fn::clReleaseKernel> : BeforeOnly {
  static void before(cl_kernel kernel) { usm_kernel_releasing(kernel); }
};
template <>
struct Hook<Fn::clRetainCommandQueue> : AfterOnly {
  static void after(cl_int err, cl_command_queue queue) {
    if (err == CL_SUCCESS) usm_queue_retained(queue);
  }
};

}  // namespace
}  // namespace gt::opt
