// The real functions whose arguments or results are adapted so that the program does not notice
// that its queues profile, or that its function for printing is called through us, those through which it gets
// extension functions, and one whose arguments do not say all.
#pragma once

#include "tracer/lib/kernel_args.h"
#include "tracer/lib/traced.h"

namespace gt::tracer {

template <>
cl_command_queue call_real<FnId::clCreateCommandQueue, cl_command_queue>(
    cl_context, cl_device_id, cl_command_queue_properties, cl_int*);
template <>
cl_command_queue call_real<FnId::clCreateCommandQueueWithProperties, cl_command_queue>(
    cl_context, cl_device_id, const cl_queue_properties*, cl_int*);
template <>
cl_int call_real<FnId::clGetContextInfo, cl_int>(cl_context, cl_context_info, size_t, void*, size_t*);
template <>
cl_int call_real<FnId::clGetCommandQueueInfo, cl_int>(cl_command_queue, cl_command_queue_info,
                                                      size_t, void*, size_t*);
template <>
cl_int call_real<FnId::clSetCommandQueueProperty, cl_int>(cl_command_queue, cl_command_queue_properties, cl_bool,
                                                          cl_command_queue_properties*);
template <>
cl_int call_real<FnId::clGetEventProfilingInfo, cl_int>(cl_event, cl_profiling_info, size_t, void*,
                                                        size_t*);
template <>
cl_int call_real<FnId::clGetEventInfo, cl_int>(cl_event, cl_event_info, size_t, void*, size_t*);
template <>
cl_int call_real<FnId::clCreateKernelsInProgram, cl_int>(cl_program, cl_uint, cl_kernel*, cl_uint*);
template <>
void* call_real<FnId::clGetExtensionFunctionAddress, void*>(const char*);
template <>
void* call_real<FnId::clGetExtensionFunctionAddressForPlatform, void*>(cl_platform_id, const char*);

}  // namespace gt::tracer
