/* The dumb log's images, rectangles, SVM, parts and programs: tests/e2e/programs/every_transfer.c calls them all. */
#include "tests/oracle/dumb_cl.h"

#define BOX(name) SIZES(name, 3)

cl_int clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
                               const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                               size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                               size_t host_slice_pitch, void* ptr, cl_uint num_events_in_wait_list,
                               const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueReadBufferRect);
  const cl_int r =
      next(command_queue, buffer, blocking_read, buffer_origin, host_origin, region, buffer_row_pitch,
           buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), O(buffer), N(blocking_read), BOX(buffer_origin), BOX(host_origin), BOX(region), N(buffer_row_pitch);
  N(buffer_slice_pitch), N(host_row_pitch), N(host_slice_pitch), P(ptr), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write,
                                const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                                size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                                size_t host_slice_pitch, const void* ptr, cl_uint num_events_in_wait_list,
                                const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueWriteBufferRect);
  const cl_int r =
      next(command_queue, buffer, blocking_write, buffer_origin, host_origin, region, buffer_row_pitch,
           buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), O(buffer), N(blocking_write), BOX(buffer_origin), BOX(host_origin), BOX(region),
      N(buffer_row_pitch);
  N(buffer_slice_pitch), N(host_row_pitch), N(host_slice_pitch), P(ptr), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read, const size_t* origin,
                          const size_t* region, size_t row_pitch, size_t slice_pitch, void* ptr,
                          cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueReadImage);
  const cl_int r = next(command_queue, image, blocking_read, origin, region, row_pitch, slice_pitch, ptr,
                        num_events_in_wait_list, event_wait_list, event);
  O(command_queue), O(image), N(blocking_read), BOX(origin), BOX(region), N(row_pitch), N(slice_pitch), P(ptr);
  WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_write, const size_t* origin,
                           const size_t* region, size_t input_row_pitch, size_t input_slice_pitch, const void* ptr,
                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueWriteImage);
  const cl_int r = next(command_queue, image, blocking_write, origin, region, input_row_pitch, input_slice_pitch, ptr,
                        num_events_in_wait_list, event_wait_list, event);
  O(command_queue), O(image), N(blocking_write), BOX(origin), BOX(region), N(input_row_pitch), N(input_slice_pitch),
      P(ptr);
  WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image, const size_t* src_origin,
                          const size_t* dst_origin, const size_t* region, cl_uint num_events_in_wait_list,
                          const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueCopyImage);
  const cl_int r = next(command_queue, src_image, dst_image, src_origin, dst_origin, region, num_events_in_wait_list,
                        event_wait_list, event);
  O(command_queue), O(src_image), O(dst_image), BOX(src_origin), BOX(dst_origin), BOX(region), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_buffer,
                                  const size_t* src_origin, const size_t* region, size_t dst_offset,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueCopyImageToBuffer);
  const cl_int r = next(command_queue, src_image, dst_buffer, src_origin, region, dst_offset, num_events_in_wait_list,
                        event_wait_list, event);
  O(command_queue), O(src_image), O(dst_buffer), BOX(src_origin), BOX(region), N(dst_offset), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_image,
                                  size_t src_offset, const size_t* dst_origin, const size_t* region,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueCopyBufferToImage);
  const cl_int r = next(command_queue, src_buffer, dst_image, src_offset, dst_origin, region, num_events_in_wait_list,
                        event_wait_list, event);
  O(command_queue), O(src_buffer), O(dst_image), N(src_offset), BOX(dst_origin), BOX(region), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void* fill_color, const size_t* origin,
                          const size_t* region, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                          cl_event* event) {
  START(clEnqueueFillImage);
  const cl_int r =
      next(command_queue, image, fill_color, origin, region, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), O(image), line_bytes(&l, "fill_color", fill_color, 16), BOX(origin), BOX(region), WAITS(), EVENT();
  RETURN(cl_int);
}

void* clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map, cl_map_flags map_flags,
                        const size_t* origin, const size_t* region, size_t* image_row_pitch, size_t* image_slice_pitch,
                        cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event,
                        cl_int* errcode_ret) {
  START(clEnqueueMapImage);
  void* r = next(command_queue, image, blocking_map, map_flags, origin, region, image_row_pitch, image_slice_pitch,
                 num_events_in_wait_list, event_wait_list, event, errcode_ret);
  O(command_queue), O(image), N(blocking_map), N(map_flags), BOX(origin), BOX(region),
      line_number(&l, "image_row_pitch", (long long)*image_row_pitch), WAITS(), EVENT();
  ERROR();
  line_pointer(&l, "return", r);
  line_end(&l);
  return r;
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects, const cl_mem* mem_objects,
                                  cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                  const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueMigrateMemObjects);
  const cl_int r =
      next(command_queue, num_mem_objects, mem_objects, flags, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), N(num_mem_objects), LIST(mem_objects, num_mem_objects), N(flags), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy, void* dst_ptr, const void* src_ptr,
                          size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                          cl_event* event) {
  START(clEnqueueSVMMemcpy);
  const cl_int r =
      next(command_queue, blocking_copy, dst_ptr, src_ptr, size, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), N(blocking_copy), P(dst_ptr), P(src_ptr), N(size), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueSVMMemFill(cl_command_queue command_queue, void* svm_ptr, const void* pattern, size_t pattern_size,
                           size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                           cl_event* event) {
  START(clEnqueueSVMMemFill);
  const cl_int r =
      next(command_queue, svm_ptr, pattern, pattern_size, size, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), P(svm_ptr), line_bytes(&l, "pattern", pattern, pattern_size), N(pattern_size), N(size), WAITS(),
      EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map, cl_map_flags flags, void* svm_ptr,
                       size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueSVMMap);
  const cl_int r =
      next(command_queue, blocking_map, flags, svm_ptr, size, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), N(blocking_map), N(flags), P(svm_ptr), N(size), WAITS(), EVENT();
  RETURN(cl_int);
}

cl_int clEnqueueSVMUnmap(cl_command_queue command_queue, void* svm_ptr, cl_uint num_events_in_wait_list,
                         const cl_event* event_wait_list, cl_event* event) {
  START(clEnqueueSVMUnmap);
  const cl_int r = next(command_queue, svm_ptr, num_events_in_wait_list, event_wait_list, event);
  O(command_queue), P(svm_ptr), WAITS(), EVENT();
  RETURN(cl_int);
}

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  START(clSVMAlloc);
  void* r = next(context, flags, size, alignment);
  O(context), N(flags), N(size), N(alignment);
  line_pointer(&l, "return", r);
  line_end(&l);
  return r;
}

void clSVMFree(cl_context context, void* svm_pointer) {
  START(clSVMFree);
  next(context, svm_pointer);
  O(context), P(svm_pointer);
  line_end(&l);
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* image_format,
                     const cl_image_desc* image_desc, void* host_ptr, cl_int* errcode_ret) {
  START(clCreateImage);
  cl_mem r = next(context, flags, image_format, image_desc, host_ptr, errcode_ret);
  O(context), N(flags), P(host_ptr);
  RETURN_OBJECT();
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type buffer_create_type,
                         const void* buffer_create_info, cl_int* errcode_ret) {
  START(clCreateSubBuffer);
  cl_mem r = next(buffer, flags, buffer_create_type, buffer_create_info, errcode_ret);
  O(buffer), N(flags), N(buffer_create_type),
      line_numbers(&l, "buffer_create_info", (const size_t*)buffer_create_info, 2);
  RETURN_OBJECT();
}

cl_int clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                        cl_uint num_input_headers, const cl_program* input_headers, const char** header_include_names,
                        void(CL_CALLBACK* pfn_notify)(cl_program, void*), void* user_data) {
  START(clCompileProgram);
  const cl_int r = next(program, num_devices, device_list, options, num_input_headers, input_headers,
                        header_include_names, pfn_notify, user_data);
  O(program), N(num_devices), LIST(device_list, num_devices), N(num_input_headers),
      LIST(input_headers, num_input_headers);
  RETURN(cl_int);
}

cl_program clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                         cl_uint num_input_programs, const cl_program* input_programs,
                         void(CL_CALLBACK* pfn_notify)(cl_program, void*), void* user_data, cl_int* errcode_ret) {
  START(clLinkProgram);
  cl_program r = next(context, num_devices, device_list, options, num_input_programs, input_programs, pfn_notify,
                      user_data, errcode_ret);
  O(context), N(num_devices), LIST(device_list, num_devices), N(num_input_programs),
      LIST(input_programs, num_input_programs);
  RETURN_OBJECT();
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel* kernels, cl_uint* num_kernels_ret) {
  START(clCreateKernelsInProgram);
  const cl_int r = next(program, num_kernels, kernels, num_kernels_ret);
  O(program), N(num_kernels), LIST(kernels, r == CL_SUCCESS ? num_kernels : 0);
  RETURN(cl_int);
}

cl_kernel clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret) {
  START(clCloneKernel);
  cl_kernel r = next(source_kernel, errcode_ret);
  O(source_kernel);
  RETURN_OBJECT();
}
