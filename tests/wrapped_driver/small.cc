// A device that can do less: queues in order, work-groups of 8, buffers of 64 KiB, no images of four bytes, no SVM, no
// binaries, and no program that needs cl_khr_fp64.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

constexpr size_t MostInGroup = 8, MostBytes = size_t{64} << 10;

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local, cl_uint n, const cl_event* list, cl_event* event) {
  size_t group = 1;
  for (cl_uint i = 0; local && i < dimensions; ++i) group *= local[i];
  if (group > MostInGroup) return CL_INVALID_WORK_GROUP_SIZE;
  return pocl.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n, list, event);
}

template <class Object>
Object refuse(cl_int* code, cl_int why) {
  if (code) *code = why;
  return nullptr;
}

cl_command_queue CL_API_CALL queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                   cl_int* code) {
  if (properties) return refuse<cl_command_queue>(code, CL_INVALID_QUEUE_PROPERTIES);
  return pocl.clCreateCommandQueue(context, device, properties, code);
}

cl_mem CL_API_CALL buffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
  if (size > MostBytes) return refuse<cl_mem>(code, CL_INVALID_BUFFER_SIZE);
  return pocl.clCreateBuffer(context, flags, size, host, code);
}

cl_mem CL_API_CALL image(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                         const cl_image_desc* desc, void* host, cl_int* code) {
  if (format && format->image_channel_data_type == CL_UNORM_INT8)
    return refuse<cl_mem>(code, CL_IMAGE_FORMAT_NOT_SUPPORTED);
  return pocl.clCreateImage(context, flags, format, desc, host, code);
}

cl_program CL_API_CALL binary(cl_context, cl_uint, const cl_device_id*, const size_t*, const unsigned char**, cl_int*,
                              cl_int* code) {
  return refuse<cl_program>(code, CL_INVALID_BINARY);
}

void* CL_API_CALL svm(cl_context, cl_svm_mem_flags, size_t, cl_uint) { return nullptr; }

cl_int CL_API_CALL build(cl_program program, cl_uint n, const cl_device_id* devices, const char* options,
                         void(CL_CALLBACK* done)(cl_program, void*), void* data) {
  std::string source(1 << 16, '\0');
  if (pocl.clGetProgramInfo(program, CL_PROGRAM_SOURCE, source.size(), source.data(), nullptr) == CL_SUCCESS &&
      source.find("cl_khr_fp64") != std::string::npos)
    return CL_BUILD_PROGRAM_FAILURE;
  return pocl.clBuildProgram(program, n, devices, options, done, data);
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
  const cl_device_svm_capabilities none = 0;
  const cl_ulong most = MostBytes;
  constexpr char Extensions[] = "cl_khr_global_int32_base_atomics";
  if (name == CL_DEVICE_SVM_CAPABILITIES) return answer(&none, sizeof none, size, value, size_ret);
  if (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE) return answer(&most, sizeof most, size, value, size_ret);
  if (name == CL_DEVICE_EXTENSIONS) return answer(Extensions, sizeof Extensions, size, value, size_ret);
  return pocl.clGetDeviceInfo(device, name, size, value, size_ret);
}

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id) {
  table.clEnqueueNDRangeKernel = launch;
  table.clCreateCommandQueue = queue;
  table.clCreateBuffer = buffer;
  table.clCreateImage = image;
  table.clCreateProgramWithBinary = binary;
  table.clSVMAlloc = svm;
  table.clBuildProgram = build;
  table.clGetDeviceInfo = device_info;
}

}  // namespace gt::wrapped
