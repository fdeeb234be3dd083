// The functions that the fake driver really has. Every other function of the table answers
// CL_INVALID_OPERATION.
//
// One platform, one device, unless a behaviour says otherwise (behaviour.h). Commands run when they are enqueued, on
// the calling thread, unless something holds them back (held.h).
// Launches do nothing, apart from kernels named "copy" (argument 0 to argument 1, as far as both
// reach), "increment" (bytes of argument 0) and "print" (calls the context's function for what kernels print).
#pragma once

#include "tests/fake_cl/objects.h"
#include "traces/api/table.h"

namespace gt::fake {

template <api::FnId F>
struct Implementation {
  static constexpr std::nullptr_t function = nullptr;
};

#define GT_HAS(name)                                                  \
  std::remove_pointer_t<api::FnPointer<api::FnId::name>> fake_##name; \
  template <>                                                         \
  struct Implementation<api::FnId::name> {                            \
    static constexpr auto function = &fake_##name;                    \
  };

// clang-format off
// object_functions.cc
GT_HAS(clCreateContext) GT_HAS(clCreateContextFromType) GT_HAS(clRetainContext) GT_HAS(clReleaseContext)
GT_HAS(clRetainDevice) GT_HAS(clReleaseDevice) GT_HAS(clSetCommandQueueProperty) GT_HAS(clCreateCommandQueue)
GT_HAS(clCreateCommandQueueWithProperties) GT_HAS(clRetainCommandQueue) GT_HAS(clReleaseCommandQueue)
GT_HAS(clCreateBuffer) GT_HAS(clCreateBufferWithProperties) GT_HAS(clCreateSubBuffer) GT_HAS(clRetainMemObject)
GT_HAS(clReleaseMemObject) GT_HAS(clCreateProgramWithSource) GT_HAS(clBuildProgram) GT_HAS(clRetainProgram)
GT_HAS(clReleaseProgram) GT_HAS(clCreateKernel) GT_HAS(clCreateKernelsInProgram) GT_HAS(clCloneKernel)
GT_HAS(clRetainKernel) GT_HAS(clReleaseKernel) GT_HAS(clSetKernelArg) GT_HAS(clSetKernelArgSVMPointer)
GT_HAS(clCreateUserEvent) GT_HAS(clSetUserEventStatus) GT_HAS(clRetainEvent) GT_HAS(clReleaseEvent) GT_HAS(clSVMAlloc)
GT_HAS(clSVMFree)
// commands.cc
GT_HAS(clEnqueueReadBuffer) GT_HAS(clEnqueueWriteBuffer) GT_HAS(clEnqueueCopyBuffer) GT_HAS(clEnqueueFillBuffer)
GT_HAS(clEnqueueReadBufferRect) GT_HAS(clEnqueueWriteBufferRect) GT_HAS(clEnqueueMapBuffer)
GT_HAS(clEnqueueUnmapMemObject) GT_HAS(clEnqueueMigrateMemObjects) GT_HAS(clEnqueueNDRangeKernel)
GT_HAS(clEnqueueTask) GT_HAS(clEnqueueMarker) GT_HAS(clEnqueueBarrier) GT_HAS(clEnqueueMarkerWithWaitList)
GT_HAS(clEnqueueBarrierWithWaitList) GT_HAS(clEnqueueWaitForEvents) GT_HAS(clEnqueueSVMMemcpy)
GT_HAS(clEnqueueSVMMemFill) GT_HAS(clEnqueueSVMMap) GT_HAS(clEnqueueSVMUnmap) GT_HAS(clFlush) GT_HAS(clFinish)
GT_HAS(clWaitForEvents)
// queries.cc
GT_HAS(clGetPlatformIDs) GT_HAS(clIcdGetPlatformIDsKHR) GT_HAS(clGetPlatformInfo) GT_HAS(clGetDeviceIDs)
GT_HAS(clGetDeviceInfo) GT_HAS(clGetContextInfo) GT_HAS(clGetCommandQueueInfo) GT_HAS(clGetMemObjectInfo)
GT_HAS(clGetProgramInfo) GT_HAS(clGetProgramBuildInfo) GT_HAS(clGetKernelInfo) GT_HAS(clGetKernelWorkGroupInfo)
GT_HAS(clGetEventInfo) GT_HAS(clGetEventProfilingInfo)
// newer.cc
GT_HAS(clGetKernelSubGroupInfo) GT_HAS(clGetKernelSuggestedLocalWorkSize)
GT_HAS(clGetKernelSuggestedLocalWorkSizeKHR) GT_HAS(clGetKernelSubGroupInfoKHR)
GT_HAS(clCreateCommandQueueWithPropertiesKHR) GT_HAS(clSetKernelExecInfo)
GT_HAS(clSetKernelArgDevicePointerEXT)
// callback_functions.cc
GT_HAS(clSetEventCallback) GT_HAS(clSetMemObjectDestructorCallback) GT_HAS(clSetContextDestructorCallback)
GT_HAS(clSetProgramReleaseCallback) GT_HAS(clEnqueueNativeKernel) GT_HAS(clEnqueueSVMFree)
// command_buffers.cc
GT_HAS(clCreateCommandBufferKHR) GT_HAS(clFinalizeCommandBufferKHR) GT_HAS(clReleaseCommandBufferKHR)
GT_HAS(clCommandNDRangeKernelKHR) GT_HAS(clUpdateMutableCommandsKHR) GT_HAS(clEnqueueCommandBufferKHR)
// semaphores.cc
GT_HAS(clCreateSemaphoreWithPropertiesKHR) GT_HAS(clEnqueueSignalSemaphoresKHR) GT_HAS(clEnqueueWaitSemaphoresKHR)
GT_HAS(clGetSemaphoreInfoKHR) GT_HAS(clReleaseSemaphoreKHR)
// images.cc
GT_HAS(clCreateFromGLTexture) GT_HAS(clCreateFromGLBuffer) GT_HAS(clGetImageInfo) GT_HAS(clEnqueueReadImage)
GT_HAS(clEnqueueWriteImage) GT_HAS(clEnqueueCopyImageToBuffer) GT_HAS(clEnqueueCopyBufferToImage)
// messages.cc
GT_HAS(clLogMessagesToStdoutAPPLE)
// driver.cc
GT_HAS(clGetExtensionFunctionAddress) GT_HAS(clGetExtensionFunctionAddressForPlatform)
// clang-format on
#undef GT_HAS

_cl_platform_id* platform();
_cl_device_id* device(uint32_t number = 0);
bool is_device(cl_device_id d);  // that is listed
void run_kernel(cl_kernel kernel);
void* later_form(const char* name);  // of an extension function, where that has been written; else nullptr
void print(cl_context context);  // what the kernel "print" has to say

// --- For tests that link the driver. What they call by these names is neither counted nor refused ---

using AnyFunction = void (*)();
AnyFunction exported(api::FnId fn);  // as a program calls it; nullptr: it is no symbol of the ICD loader
cl_mem make_image(cl_mem buffer, size_t width, size_t height, size_t depth, size_t element);  // that buffer, as one
inline int alive() { return _cl_command_queue::alive + _cl_mem::alive + _cl_event::alive; }

}  // namespace gt::fake
