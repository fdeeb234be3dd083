// How a program records command buffers, in either form that cl_khr_command_buffer has had: it has got other parameters
// in version 0.9.5, and the device's version says which are meant.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace recording {

inline constexpr size_t Items = 1024, Bytes = Items * sizeof(cl_int);
inline constexpr const char* Source =
    "kernel void add(global int* a, int x) { a[get_global_id(0)] += x; }\n"
    "kernel void wide(global int* a, int4 v) { a[get_global_id(0)] += v.s0 + v.s3 * (int)get_local_size(0); }\n"
    "kernel void sum(global int* to, global const int* from, local int* room, int x) {\n"
    "  const int i = get_global_id(0), l = get_local_id(0);\n"
    "  room[l] = from[i] * x;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  to[i] += room[get_local_size(0) - 1 - l];\n"
    "}\n";

inline cl_platform_id platform;
inline cl_device_id device;
inline cl_context context;
inline cl_program program;
inline bool later = false, lists = false;  // forms of the functions

#define DO(call) good(call, #call)
inline void good(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "command_buffers: %s: %d\n", what, code);
  std::exit(1);
}

template <class Function>
Function extension(const char* name) {
  return reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
}
#define EXTENSION(name) const auto name = extension<name##_fn>(#name)

// A recording function in either form.
template <class Function>
struct Form;
template <class B, class Q, class... A>
struct Form<cl_int (*)(B, Q, A...)> {
  static cl_int call(const char* name, B buffer, Q queue, A... arguments) {
    using Later = cl_int(CL_API_CALL*)(B, Q, const cl_properties*, A...);
    using Function = cl_int(CL_API_CALL*)(B, Q, A...);
    if (later) return extension<Later>(name)(buffer, queue, nullptr, arguments...);
    return extension<Function>(name)(buffer, queue, arguments...);
  }
};
#define RECORD(name, ...) Form<name##_fn>::call(#name, __VA_ARGS__)

inline cl_version version_of(const char* extension) {
  size_t bytes = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, nullptr, &bytes) != CL_SUCCESS) return 0;
  std::vector<cl_name_version> all(bytes / sizeof(cl_name_version));
  DO(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, bytes, all.data(), nullptr));
  for (const cl_name_version& one : all)
    if (std::strcmp(one.name, extension) == 0) return one.version;
  return 0;
}

inline bool begin() {
  DO(clGetPlatformIDs(1, &platform, nullptr));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  const cl_version commands = version_of("cl_khr_command_buffer");
  if (commands == 0) return false;
  later = commands >= CL_MAKE_VERSION(0, 9, 5);
  lists = version_of("cl_khr_command_buffer_mutable_dispatch") >= CL_MAKE_VERSION(0, 9, 2);
  cl_int code = 0;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  good(code, "context");
  program = clCreateProgramWithSource(context, 1, const_cast<const char**>(&Source), nullptr, &code);
  DO(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  return true;
}

inline cl_command_queue new_queue(cl_command_queue_properties properties = 0) {
  cl_int code = 0;
  cl_command_queue queue = clCreateCommandQueue(context, device, properties, &code);
  good(code, "queue");
  return queue;
}
inline cl_mem new_buffer(cl_int value = 0) {
  cl_int code = 0;
  std::vector<cl_int> values(Items, value);
  cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, values.data(), &code);
  good(code, "buffer");
  return mem;
}
inline cl_kernel new_kernel(const char* name) {
  cl_int code = 0;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  good(code, "kernel");
  return kernel;
}
template <class T>
inline void set(cl_kernel kernel, cl_uint index, T value) {
  DO(clSetKernelArg(kernel, index, sizeof value, &value));
}
inline cl_command_buffer_khr new_commands(cl_command_queue queue, cl_command_buffer_flags_khr flags = 0) {
  EXTENSION(clCreateCommandBufferKHR);
  const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
  cl_int code = 0;
  cl_command_buffer_khr buffer = clCreateCommandBufferKHR(1, &queue, flags ? properties : nullptr, &code);
  good(code, "command buffer");
  return buffer;
}
inline void finalize(cl_command_buffer_khr buffer) {
  EXTENSION(clFinalizeCommandBufferKHR);
  DO(clFinalizeCommandBufferKHR(buffer));
}
inline cl_int enqueue(cl_command_buffer_khr buffer, cl_uint n = 0, const cl_event* list = nullptr,
                      cl_event* event = nullptr, cl_command_queue queue = nullptr) {
  EXTENSION(clEnqueueCommandBufferKHR);
  return clEnqueueCommandBufferKHR(queue ? 1 : 0, queue ? &queue : nullptr, buffer, n, list, event);
}
inline void release(cl_command_buffer_khr buffer) {
  EXTENSION(clReleaseCommandBufferKHR);
  DO(clReleaseCommandBufferKHR(buffer));
}
inline cl_sync_point_khr launch(cl_command_buffer_khr buffer, cl_kernel kernel,
                                std::vector<cl_sync_point_khr> after = {}, const size_t* local = nullptr) {
  EXTENSION(clCommandNDRangeKernelKHR);
  const size_t size = Items;
  cl_sync_point_khr point = 0;
  DO(clCommandNDRangeKernelKHR(buffer, nullptr, nullptr, kernel, 1, nullptr, &size, local,
                               static_cast<cl_uint>(after.size()), after.empty() ? nullptr : after.data(), &point,
                               nullptr));
  return point;
}
inline cl_sync_point_khr fill(cl_command_buffer_khr buffer, cl_mem mem, cl_int value) {
  cl_sync_point_khr point = 0;
  DO(RECORD(clCommandFillBufferKHR, buffer, nullptr, mem, &value, sizeof value, 0, Bytes, 0, nullptr, &point, nullptr));
  return point;
}
// cl_mutable_dispatch_config_khr since version 0.9.2.
struct LaterConfig {
  cl_mutable_command_khr command;
  cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
  const cl_mutable_dispatch_arg_khr *arg_list, *arg_svm_list;
  const cl_mutable_dispatch_exec_info_khr* exec_info_list;
  const size_t *global_work_offset, *global_work_size, *local_work_size;
};

inline cl_int update(cl_command_buffer_khr buffer, const LaterConfig& c) {
  if (lists) {
    using Update = cl_int(CL_API_CALL*)(cl_command_buffer_khr, cl_uint, const cl_uint*, const void**);
    const cl_uint type = 0;
    const void* config = &c;
    return extension<Update>("clUpdateMutableCommandsKHR")(buffer, 1, &type, &config);
  }
  EXTENSION(clUpdateMutableCommandsKHR);
  cl_mutable_dispatch_config_khr one{};
  one.type = CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
  one.command = c.command;
  one.num_args = c.num_args;
  one.arg_list = c.arg_list;
  one.work_dim = c.work_dim;
  one.global_work_offset = c.global_work_offset;
  one.global_work_size = c.global_work_size;
  one.local_work_size = c.local_work_size;
  cl_mutable_base_config_khr all{};
  all.num_mutable_dispatch = 1;
  all.mutable_dispatch_list = &one;
  return clUpdateMutableCommandsKHR(buffer, &all);
}
inline std::vector<cl_int> contents(cl_command_queue queue, cl_mem mem) {
  std::vector<cl_int> values(Items);
  DO(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, Bytes, values.data(), 0, nullptr, nullptr));
  return values;
}
inline void expect(cl_command_queue queue, cl_mem mem, cl_int value, const char* what) {
  for (const cl_int v : contents(queue, mem)) {
    if (v == value) continue;
    std::printf("%s: %d instead of %d\n", what, v, value);
    std::exit(1);
  }
  std::printf("%s: %d\n", what, value);
}
inline cl_uint state(cl_command_buffer_khr buffer) {
  EXTENSION(clGetCommandBufferInfoKHR);
  cl_uint value = 99;
  DO(clGetCommandBufferInfoKHR(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof value, &value, nullptr));
  return value;
}

}  // namespace recording
