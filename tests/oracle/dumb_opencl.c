/* The dumb log's OpenCL calls: the functions that the test programs use, written out by hand.
 *
 * Arguments carry the names that the specification gives them; what a call returns is "return", what it writes through
 * a pointer has the parameter's name. */
#include "tests/oracle/dumb_cl.h"

/* Queries and releases are alike: one handle. */
#define REFERENCE(function, type, name)            \
  cl_int function(type name) {                     \
    START(function);                               \
    const cl_int r = next(name);                   \
    O(name);                                       \
    RETURN(cl_int);                                \
  }
#define QUERY(function, type, name)                                                            \
  cl_int function(type name, cl_uint param_name, size_t param_value_size, void* param_value,   \
                  size_t* param_value_size_ret) {                                              \
    START(function);                                                                           \
    const cl_int r = next(name, param_name, param_value_size, param_value, param_value_size_ret); \
    O(name), N(param_name), N(param_value_size);                                               \
    RETURN(cl_int);                                                                            \
  }

cl_int clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  START(clGetPlatformIDs);
  cl_uint count = 0;
  const cl_int r = next(num_entries, platforms, &count);
  if (num_platforms != NULL) *num_platforms = count;
  N(num_entries), LIST(platforms, r != CL_SUCCESS ? 0 : (count < num_entries ? count : num_entries));
  RETURN(cl_int);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries, cl_device_id* devices,
                      cl_uint* num_devices) {
  START(clGetDeviceIDs);
  cl_uint count = 0;
  const cl_int r = next(platform, device_type, num_entries, devices, &count);
  if (num_devices != NULL) *num_devices = count;
  O(platform), N(device_type), N(num_entries);
  LIST(devices, r != CL_SUCCESS ? 0 : (count < num_entries ? count : num_entries));
  RETURN(cl_int);
}

QUERY(clGetPlatformInfo, cl_platform_id, platform)
QUERY(clGetDeviceInfo, cl_device_id, device)
QUERY(clGetMemObjectInfo, cl_mem, memobj)
QUERY(clGetEventInfo, cl_event, event)
QUERY(clGetEventProfilingInfo, cl_event, event)
QUERY(clGetKernelInfo, cl_kernel, kernel)
REFERENCE(clReleaseContext, cl_context, context)
REFERENCE(clRetainMemObject, cl_mem, memobj)
REFERENCE(clReleaseMemObject, cl_mem, memobj)
REFERENCE(clReleaseProgram, cl_program, program)
REFERENCE(clReleaseKernel, cl_kernel, kernel)
REFERENCE(clReleaseCommandQueue, cl_command_queue, command_queue)
REFERENCE(clRetainEvent, cl_event, event)
REFERENCE(clReleaseEvent, cl_event, event)
REFERENCE(clFinish, cl_command_queue, command_queue)
REFERENCE(clFlush, cl_command_queue, command_queue)

cl_context clCreateContext(const cl_context_properties* properties, cl_uint num_devices, const cl_device_id* devices,
                           void(CL_CALLBACK* pfn_notify)(const char*, const void*, size_t, void*), void* user_data,
                           cl_int* errcode_ret) {
  START(clCreateContext);
  cl_context r = next(properties, num_devices, devices, pfn_notify, user_data, errcode_ret);
  N(num_devices), LIST(devices, num_devices);
  RETURN_OBJECT();
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* errcode_ret) {
  START(clCreateCommandQueue);
  cl_command_queue r = next(context, device, properties, errcode_ret);
  O(context), O(device), N(properties);
  RETURN_OBJECT();
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr, cl_int* errcode_ret) {
  START(clCreateBuffer);
  cl_mem r = next(context, flags, size, host_ptr, errcode_ret);
  O(context), N(flags), N(size), P(host_ptr);
  RETURN_OBJECT();
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                     cl_int* errcode_ret) {
  START(clCreateProgramWithSource);
  cl_program r = next(context, count, strings, lengths, errcode_ret);
  O(context), N(count);
  RETURN_OBJECT();
}

cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                      void(CL_CALLBACK* pfn_notify)(cl_program, void*), void* user_data) {
  START(clBuildProgram);
  const cl_int r = next(program, num_devices, device_list, options, pfn_notify, user_data);
  O(program), N(num_devices), LIST(device_list, num_devices);
  RETURN(cl_int);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info param_name,
                             size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  START(clGetProgramBuildInfo);
  const cl_int r = next(program, device, param_name, param_value_size, param_value, param_value_size_ret);
  O(program), O(device), N(param_name), N(param_value_size);
  RETURN(cl_int);
}

cl_kernel clCreateKernel(cl_program program, const char* kernel_name, cl_int* errcode_ret) {
  START(clCreateKernel);
  cl_kernel r = next(program, kernel_name, errcode_ret);
  O(program);
  RETURN_OBJECT();
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void* arg_value) {
  START(clSetKernelArg);
  const cl_int r = next(kernel, arg_index, arg_size, arg_value);
  O(kernel), N(arg_index), N(arg_size), line_bytes(&l, "arg_value", arg_value, arg_size);
  RETURN(cl_int);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
                              const size_t* global_work_offset, const size_t* global_work_size,
                              const size_t* local_work_size, cl_uint num_events_in_wait_list,
                              const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueNDRangeKernel);
  const cl_int r = next(command_queue, kernel, work_dim, global_work_offset, global_work_size, local_work_size,
                        num_events_in_wait_list, event_wait_list, event);
  O(command_queue), O(kernel), N(work_dim), SIZES(global_work_offset, work_dim), SIZES(global_work_size, work_dim);
  SIZES(local_work_size, work_dim), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write, size_t offset,
                            size_t size, const void* ptr, cl_uint num_events_in_wait_list,
                            const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueWriteBuffer);
  const cl_int r = next(command_queue, buffer, blocking_write, offset, size, ptr, num_events_in_wait_list,
                        event_wait_list, event);
  O(command_queue), O(buffer), N(blocking_write), N(offset), N(size), P(ptr), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read, size_t offset,
                           size_t size, void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                           cl_event* event) {
  START(clEnqueueReadBuffer);
  const cl_int r = next(command_queue, buffer, blocking_read, offset, size, ptr, num_events_in_wait_list,
                        event_wait_list, event);
  O(command_queue), O(buffer), N(blocking_read), N(offset), N(size), P(ptr), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, size_t src_offset,
                           size_t dst_offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueCopyBuffer);
  const cl_int r = next(command_queue, src_buffer, dst_buffer, src_offset, dst_offset, size, num_events_in_wait_list,
                        event_wait_list, event);
  O(command_queue), O(src_buffer), O(dst_buffer), N(src_offset), N(dst_offset), N(size), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void* pattern, size_t pattern_size,
                           size_t offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueFillBuffer);
  const cl_int r = next(command_queue, buffer, pattern, pattern_size, offset, size, num_events_in_wait_list,
                        event_wait_list, event);
  O(command_queue), O(buffer), line_bytes(&l, "pattern", pattern, pattern_size), N(pattern_size), N(offset), N(size);
  WAITS(), EVENT();
  RETURN(cl_int);
}

void* clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map, cl_map_flags map_flags,
                         size_t offset, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                         cl_event* event, cl_int* errcode_ret) {
  START(clEnqueueMapBuffer);
  void* r = next(command_queue, buffer, blocking_map, map_flags, offset, size, num_events_in_wait_list,
                 event_wait_list, event, errcode_ret);
  O(command_queue), O(buffer), N(blocking_map), N(map_flags), N(offset), N(size), WAITS(), EVENT();
  ERROR();
  line_pointer(&l, "return", r);
  line_end(&l);
  return r;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void* mapped_ptr,
                               cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueUnmapMemObject);
  const cl_int r = next(command_queue, memobj, mapped_ptr, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), O(memobj), P(mapped_ptr), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list,
                                   const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueMarkerWithWaitList);
  const cl_int r = next(command_queue, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  START(clWaitForEvents);
  const cl_int r = next(num_events, event_list);
  N(num_events), LIST(event_list, num_events);
  RETURN(cl_int);
}

cl_event clCreateUserEvent(cl_context context, cl_int* errcode_ret) {
  START(clCreateUserEvent);
  cl_event r = next(context, errcode_ret);
  O(context);
  RETURN_OBJECT();
}

cl_int clSetUserEventStatus(cl_event event, cl_int execution_status) {
  START(clSetUserEventStatus);
  const cl_int r = next(event, execution_status);
  O(event), N(execution_status);
  RETURN(cl_int);
}
