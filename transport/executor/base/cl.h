// The OpenCL functions that the executor calls by itself, with their types.
// Invariant: every pointer is set once has_all() holds; those of shared virtual memory with has_svm(), those of copies
// on a device with has_copies().
#pragma once

#include "transport/executor/base/functions.h"
#include "transport/moves/cl.h"

namespace gt::exec {

#define GT_EXECUTOR_FUNCTIONS(X)                                                                                     \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetContextInfo) X(clGetCommandQueueInfo)            \
  X(clGetMemObjectInfo) X(clGetImageInfo) X(clGetKernelInfo) X(clGetKernelArgInfo) X(clGetProgramInfo)               \
  X(clGetProgramBuildInfo) X(clBuildProgram) X(clCompileProgram) X(clLinkProgram) X(clCreateKernel)                  \
  X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clFinish) X(clRetainCommandQueue)                                    \
  X(clRetainContext) X(clRetainProgram) X(clReleaseDevice) X(clReleaseContext) X(clReleaseSampler)                   \
  X(clReleaseProgram) X(clReleaseKernel)

#define GT_EXECUTOR_SVM_FUNCTIONS(X) X(clSVMAlloc) X(clSVMFree) X(clEnqueueSVMMemcpy) X(clSetKernelArgSVMPointer)

struct Cl : moves::Cl {
#define GT_X(f) decltype(&::f) f = nullptr;
  GT_EXECUTOR_FUNCTIONS(GT_X) GT_EXECUTOR_SVM_FUNCTIONS(GT_X)
#undef GT_X

  explicit Cl(const Functions& all) {
#define GT_X(f) this->f = reinterpret_cast<decltype(&::f)>(all[api::FnId::f]);
    GT_STAGING_FUNCTIONS(GT_X) GT_EXECUTOR_FUNCTIONS(GT_X) GT_EXECUTOR_SVM_FUNCTIONS(GT_X)
    GT_MOVES_COPY_FUNCTIONS(GT_X) GT_X(clGetDeviceInfo)
#undef GT_X
  }
  bool has_all() const {
    bool all = complete() && clGetDeviceInfo;
#define GT_X(f) all = all && f;
    GT_EXECUTOR_FUNCTIONS(GT_X)
#undef GT_X
    return all;
  }
  bool has_svm() const {
    bool all = true;
#define GT_X(f) all = all && f;
    GT_EXECUTOR_SVM_FUNCTIONS(GT_X)
#undef GT_X
    return all;
  }

  // The answer to a query of a fixed size; T{} when the driver does not know.
  template <class T, class Query, class Of, class Name>
  static T ask(Query query, Of of, Name name) {
    T value{};
    return query(of, name, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
  }
  // Over when not above CL_COMPLETE; an error is below it.
  cl_int status(cl_event event) const {
    cl_int status = CL_OUT_OF_RESOURCES;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status;
  }
};

}  // namespace gt::exec
