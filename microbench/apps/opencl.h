// The OpenCL API for the programs: linked as usual, or, with GT_APPS_DLOPEN, from
// dlopen("libOpenCL.so.1").
#pragma once

#include <CL/cl.h>

#ifdef GT_APPS_DLOPEN

// Every function that the programs call. A new one needs a line here and one below.
#define GT_APPS_FUNCTIONS(X)                                                                    \
  X(clBuildProgram)                                                                             \
  X(clCreateBuffer) X(clCreateCommandQueue) X(clCreateContext) X(clCreateKernel)                \
      X(clCreateProgramWithSource) X(clEnqueueMapBuffer) X(clEnqueueNDRangeKernel)              \
          X(clEnqueueReadBuffer) X(clEnqueueUnmapMemObject) X(clEnqueueWriteBuffer) X(clFinish) \
              X(clGetDeviceIDs) X(clGetPlatformIDs) X(clGetProgramBuildInfo)                    \
                  X(clReleaseCommandQueue) X(clReleaseContext) X(clReleaseEvent)                \
                      X(clReleaseKernel) X(clReleaseMemObject) X(clReleaseProgram)              \
                          X(clSetKernelArg) X(clWaitForEvents)

namespace gt::apps {
struct Functions {
#define GT_MEMBER(f) decltype(&::f) f = nullptr;
  GT_APPS_FUNCTIONS(GT_MEMBER)
#undef GT_MEMBER
};
const Functions&
opencl();  // loads the library at the first call; ends the program with 4 when there is none
}  // namespace gt::apps

#ifndef GT_APPS_LOADER
#define clBuildProgram gt::apps::opencl().clBuildProgram
#define clCreateBuffer gt::apps::opencl().clCreateBuffer
#define clCreateCommandQueue gt::apps::opencl().clCreateCommandQueue
#define clCreateContext gt::apps::opencl().clCreateContext
#define clCreateKernel gt::apps::opencl().clCreateKernel
#define clCreateProgramWithSource gt::apps::opencl().clCreateProgramWithSource
#define clEnqueueMapBuffer gt::apps::opencl().clEnqueueMapBuffer
#define clEnqueueNDRangeKernel gt::apps::opencl().clEnqueueNDRangeKernel
#define clEnqueueReadBuffer gt::apps::opencl().clEnqueueReadBuffer
#define clEnqueueUnmapMemObject gt::apps::opencl().clEnqueueUnmapMemObject
#define clEnqueueWriteBuffer gt::apps::opencl().clEnqueueWriteBuffer
#define clFinish gt::apps::opencl().clFinish
#define clGetDeviceIDs gt::apps::opencl().clGetDeviceIDs
#define clGetPlatformIDs gt::apps::opencl().clGetPlatformIDs
#define clGetProgramBuildInfo gt::apps::opencl().clGetProgramBuildInfo
#define clReleaseCommandQueue gt::apps::opencl().clReleaseCommandQueue
#define clReleaseContext gt::apps::opencl().clReleaseContext
#define clReleaseEvent gt::apps::opencl().clReleaseEvent
#define clReleaseKernel gt::apps::opencl().clReleaseKernel
#define clReleaseMemObject gt::apps::opencl().clReleaseMemObject
#define clReleaseProgram gt::apps::opencl().clReleaseProgram
#define clSetKernelArg gt::apps::opencl().clSetKernelArg
#define clWaitForEvents gt::apps::opencl().clWaitForEvents
#endif

#endif  // GT_APPS_DLOPEN
