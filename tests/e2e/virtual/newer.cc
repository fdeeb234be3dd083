// What programs ask of OpenCL 3.1 and of extensions, a line for each row of docs/virtual.md's table: the answer, or
// the error. Functions of extensions are called only if the device lists the extension (drivers crash on others), or
// with "all".
//
// Usage: newer [all]
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

// Numbers, because headers of OpenCL 3.0 lack the names.
constexpr cl_device_info SpirvSets = 0x12B9, SpirvCapabilities = 0x12BB, Dot8Bit = 0x1074, DotCapabilities = 0x1073;
constexpr cl_mem_info DeviceAddress = 0x5001;
constexpr cl_kernel_exec_info ReachedAddresses = 0x5002;
constexpr cl_mem_properties PrivateAddress = 0x5000, DmaBuf = 0x2067;

cl_platform_id g_platform;
cl_device_id g_device;
cl_context g_context;
cl_command_queue g_queue;
cl_kernel g_kernel;
std::string g_extensions;
bool g_all = false;

void row(const char* name, const std::string& answer) { std::printf("%s: %s\n", name, answer.c_str()); }
void row(const char* name, cl_int code) { row(name, std::to_string(code)); }
bool has(const char* extension) {
  return (" " + g_extensions + " ").find(std::string(" ") + extension + " ") != std::string::npos;
}
void listed(const char* extension) { row(extension, has(extension) ? "listed" : "not listed"); }

template <class Function>
Function* function(const char* extension, const char* name) {
  if (!g_all && !has(extension)) return nullptr;
  return reinterpret_cast<Function*>(clGetExtensionFunctionAddressForPlatform(g_platform, name));
}

std::string hex(const std::vector<uint8_t>& bytes) {
  std::string out;
  for (const uint8_t b : bytes) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", b);
    out += text;
  }
  return out;
}

std::vector<uint8_t> device_info(cl_device_info name, cl_int& code) {
  size_t size = 0;
  code = clGetDeviceInfo(g_device, name, 0, nullptr, &size);
  std::vector<uint8_t> value(code == CL_SUCCESS ? size : 0);
  if (!value.empty()) code = clGetDeviceInfo(g_device, name, size, value.data(), nullptr);
  return value;
}
void device_row(const char* row_name, cl_device_info name) {
  cl_int code = 0;
  const std::vector<uint8_t> value = device_info(name, code);
  row(row_name, code == CL_SUCCESS ? hex(value) : std::to_string(code));
}

cl_kernel make_kernel(const char* name) {
  cl_program program = nullptr;
  CHECK(clGetKernelInfo(g_kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr));
  cl_int code = 0;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  CHECK(code);
  return kernel;
}

void uuids() {
  listed("cl_khr_device_uuid");
  device_row("device UUID", CL_DEVICE_UUID_KHR);
  device_row("driver UUID", CL_DRIVER_UUID_KHR);
  device_row("LUID valid", CL_DEVICE_LUID_VALID_KHR);
  device_row("LUID", CL_DEVICE_LUID_KHR);
  device_row("node mask", CL_DEVICE_NODE_MASK_KHR);
}

void dot_products() {
  listed("cl_khr_integer_dot_product");
  device_row("dot products", DotCapabilities);
  device_row("dot products, accelerated", Dot8Bit);
}

void bus() {
  listed("cl_khr_pci_bus_info");
  device_row("PCI bus", CL_DEVICE_PCI_BUS_INFO_KHR);
  device_row("PCI bus of NVIDIA", 0x4008);
  device_row("PCI slot of NVIDIA", 0x4009);
  device_row("PCI domain of NVIDIA", 0x400A);
  device_row("topology of AMD", CL_DEVICE_TOPOLOGY_AMD);
}

// Names with their versions are those that the list has.
void versions() {
  cl_int code = 0;
  const std::vector<uint8_t> value = device_info(CL_DEVICE_EXTENSIONS_WITH_VERSION, code);
  std::string wrong;
  for (size_t at = 0; at + sizeof(cl_name_version) <= value.size(); at += sizeof(cl_name_version)) {
    cl_name_version one{};
    std::memcpy(&one, value.data() + at, sizeof one);
    if ((" " + g_extensions + " ").find(" " + std::string(one.name) + " ") == std::string::npos) wrong += one.name;
  }
  row("names with versions", code == CL_SUCCESS ? (wrong.empty() ? "those of the list" : wrong) : std::to_string(code));
}

void subgroups() {
  listed("cl_khr_subgroups");
  device_row("most sub-groups", CL_DEVICE_MAX_NUM_SUB_GROUPS);
  device_row("sub-group sizes", CL_DEVICE_SUB_GROUP_SIZES_INTEL);
  using Info = decltype(clGetKernelSubGroupInfo);
  const size_t range[] = {40, 2};
  size_t answer = 0;
  const auto ask = [&](Info* info, const char* name, cl_kernel_sub_group_info what) {
    answer = 0;
    const cl_int code =
        info ? info(g_kernel, g_device, what, sizeof range, range, sizeof answer, &answer, nullptr) : CL_SUCCESS;
    row(name, !info ? "no function" : code == CL_SUCCESS ? std::to_string(answer) : std::to_string(code));
  };
  ask(&clGetKernelSubGroupInfo, "items of a sub-group", CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE);
  ask(&clGetKernelSubGroupInfo, "sub-groups of a group", CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE);
  ask(&clGetKernelSubGroupInfo, "sub-groups, asked wrongly", 0x7777);
  ask(function<Info>("cl_khr_subgroups", "clGetKernelSubGroupInfoKHR"), "sub-groups of a group, KHR",
      CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE);
  cl_ulong spilled = 0;
  const cl_int code =
      clGetKernelWorkGroupInfo(g_kernel, g_device, CL_KERNEL_SPILL_MEM_SIZE_INTEL, sizeof spilled, &spilled, nullptr);
  row("memory that a kernel spills", code);
}

void suggested_sizes() {
  listed("cl_khr_suggested_local_work_size");
  const auto suggest =
      function<cl_int CL_API_CALL(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, size_t*)>(
          "cl_khr_suggested_local_work_size", "clGetKernelSuggestedLocalWorkSizeKHR");
  if (!suggest) return row("suggested size", "no function");
  const auto ask = [&](const char* name, cl_kernel kernel, cl_uint dimensions, std::vector<size_t> global) {
    size_t sizes[3] = {};
    const cl_int code = suggest(g_queue, kernel, dimensions, nullptr, global.empty() ? nullptr : global.data(), sizes);
    row(name, code != CL_SUCCESS
                  ? std::to_string(code)
                  : std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " " + std::to_string(sizes[2]));
  };
  ask("suggested size, in one dimension", g_kernel, 1, {96});
  ask("suggested size, in two dimensions", g_kernel, 2, {256, 6});
  ask("suggested size, odd", g_kernel, 3, {7, 5, 3});
  ask("suggested size, no range", g_kernel, 1, {});
  ask("suggested size, four dimensions", g_kernel, 4, {1, 1, 1, 1});
  cl_kernel other = clCloneKernel(g_kernel, nullptr);
  if (other) {
    ask("suggested size, of a copy", other, 1, {96});
    clReleaseKernel(other);
  }
  cl_kernel bare = make_kernel("add");
  ask("suggested size, no arguments", bare, 1, {96});
  clReleaseKernel(bare);
}

void queue_row(const char* name, std::vector<cl_queue_properties> list) {
  cl_int code = 0;
  cl_command_queue queue = clCreateCommandQueueWithProperties(g_context, g_device, list.data(), &code);
  if (!queue) return row(name, code);
  std::vector<cl_queue_properties> told(list.size());
  size_t bytes = 0;
  code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, told.size() * sizeof told[0], told.data(), &bytes);
  row(name, code != CL_SUCCESS ? std::to_string(code) : told == list ? "a queue that tells them" : "another list");
  CHECK(clFinish(queue));
  CHECK(clReleaseCommandQueue(queue));
}

void queues() {
  listed("cl_khr_create_command_queue");
  listed("cl_khr_priority_hints");
  listed("cl_khr_throttle_hints");
  const auto create = function<decltype(clCreateCommandQueueWithProperties)>("cl_khr_create_command_queue",
                                                                             "clCreateCommandQueueWithPropertiesKHR");
  cl_int code = 0;
  cl_command_queue queue = create ? create(g_context, g_device, nullptr, &code) : nullptr;
  row("queue, KHR", queue ? "made" : std::to_string(code));
  if (queue) CHECK(clReleaseCommandQueue(queue));
  queue_row("queue of high priority", {CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR, 0});
  queue_row("queue of low throttle, with times",
            {CL_QUEUE_THROTTLE_KHR, CL_QUEUE_THROTTLE_LOW_KHR, CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0});
  queue_row("queue of no such priority", {CL_QUEUE_PRIORITY_KHR, 77, 0});
  queue_row("queue of an unknown property", {0x7777, 1, 0});
}

void intermediate_language() {
  listed("cl_khr_il_program");
  device_row("IL version", CL_DEVICE_IL_VERSION);
  const uint32_t nonsense[] = {1, 2, 3};
  cl_int code = 0;
  cl_program program = clCreateProgramWithIL(g_context, nonsense, sizeof nonsense, &code);
  row("program of nonsense", program ? "made" : std::to_string(code));
  if (program) clReleaseProgram(program);
  CHECK(clGetKernelInfo(g_kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr));
  row("constant of a program with a source", clSetProgramSpecializationConstant(program, 0, sizeof code, &code));
}

void spirv_queries() {
  listed("cl_khr_spirv_queries");
  cl_int code = 0;
  const std::vector<uint8_t> value = device_info(SpirvSets, code);
  std::string names;
  for (size_t at = 0; at + sizeof(char*) <= value.size(); at += sizeof(char*)) {
    const char* name = nullptr;
    std::memcpy(&name, value.data() + at, sizeof name);
    names += std::string(" ") + name;
  }
  row("SPIR-V instruction sets", code == CL_SUCCESS ? "names:" + names : std::to_string(code));
  device_row("SPIR-V capabilities", SpirvCapabilities);
}

void made(const char* name, cl_mem mem, cl_int code) {
  row(name, mem ? "made" : std::to_string(code));
  if (mem) clReleaseMemObject(mem);
}

void memory_of_others() {
  listed("cl_khr_external_memory");
  listed("cl_khr_external_semaphore");
  listed("cl_khr_gl_sharing");
  listed("cl_khr_egl_image");
  listed("cl_intel_va_api_media_sharing");
  device_row("handles of memory that can be imported", 0x204F);
  const cl_mem_properties list[] = {DmaBuf, 0, 0};
  cl_int code = 0;
  cl_mem imported = clCreateBufferWithProperties(g_context, list, 0, 64, nullptr, &code);
  made("buffer of external memory", imported, code);
  const auto acquire = function<decltype(clEnqueueAcquireExternalMemObjectsKHR)>(
      "cl_khr_external_memory", "clEnqueueAcquireExternalMemObjectsKHR");
  if (acquire) row("external memory acquired", acquire(g_queue, 0, nullptr, 0, nullptr, nullptr));
  const auto semaphore =
      function<decltype(clGetSemaphoreHandleForTypeKHR)>("cl_khr_external_semaphore", "clGetSemaphoreHandleForTypeKHR");
  if (semaphore) row("handle of a semaphore", semaphore(nullptr, g_device, 0, 0, nullptr, nullptr));
  const cl_context_properties gl[] = {CL_GL_CONTEXT_KHR, 1, 0};
  cl_context context = clCreateContext(gl, 1, &g_device, nullptr, nullptr, &code);
  row("context of OpenGL's", context ? "made" : std::to_string(code));
  if (context) clReleaseContext(context);
}

void addresses_of_devices() {
  listed("cl_ext_buffer_device_address");
  cl_int code = 0;
  const cl_mem_properties list[] = {PrivateAddress, CL_TRUE, 0}, twice[] = {PrivateAddress, 2, 0};
  cl_mem mem = clCreateBufferWithProperties(g_context, twice, 0, 64, nullptr, &code);
  made("buffer with half an address", mem, code);
  mem = clCreateBufferWithProperties(g_context, list, 0, 64, nullptr, &code);
  row("buffer with an address", mem ? "made" : std::to_string(code));
  if (!mem) mem = clCreateBuffer(g_context, 0, 64, nullptr, &code);
  cl_ulong address = 0;
  code = clGetMemObjectInfo(mem, DeviceAddress, sizeof address, &address, nullptr);
  row("address of a buffer", code != CL_SUCCESS ? std::to_string(code) : address ? "told" : "0");
  const auto set = function<cl_int CL_API_CALL(cl_kernel, cl_uint, cl_ulong)>("cl_ext_buffer_device_address",
                                                                              "clSetKernelArgDevicePointerEXT");
  if (set) {
    cl_kernel kernel = make_kernel("add");
    const int b = 1;
    const size_t n = 16;
    CHECK(clSetKernelArg(kernel, 1, sizeof b, &b));
    row("argument that is an address", set(kernel, 0, address));
    row("argument that is none", set(kernel, 7, address));
    row("addresses that are reached", clSetKernelExecInfo(kernel, ReachedAddresses, sizeof address, &address));
    row("launch with an address",
        clEnqueueNDRangeKernel(g_queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
    row("finished", clFinish(g_queue));
    CHECK(clReleaseKernel(kernel));
  }
  CHECK(clReleaseMemObject(mem));
}

void local_memory() {
  cl_kernel kernel = make_kernel("around");
  row("local memory of no bytes", clSetKernelArg(kernel, 0, 0, nullptr));
  CHECK(clReleaseKernel(kernel));
}

void shared_memory() {
  listed("cl_khr_unified_svm");
  listed("cl_intel_required_subgroup_size");
  const auto free = function<cl_int CL_API_CALL(cl_context, const cl_properties*, cl_bitfield, void*)>(
      "cl_khr_unified_svm", "clSVMFreeWithPropertiesKHR");
  if (free) row("unified memory freed", free(g_context, nullptr, 0, nullptr));
}

void endings() {
  listed("cl_khr_terminate_context");
  device_row("contexts that can be ended", CL_DEVICE_TERMINATE_CAPABILITY_KHR);
  static int called = 0;
  cl_int code = 0;
  cl_context context = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, &code);
  CHECK(code);
  const auto terminate = function<decltype(clTerminateContextKHR)>("cl_khr_terminate_context", "clTerminateContextKHR");
  if (terminate) row("context ended", terminate(context));
  const auto note = [](cl_context, void* of) { called = called * 10 + *static_cast<int*>(of); };
  int first = 1, second = 2;
  row("callback of a context", clSetContextDestructorCallback(context, note, &first));
  CHECK(clSetContextDestructorCallback(context, note, &second));
  row("callback of a context, none", clSetContextDestructorCallback(context, nullptr, nullptr));
  CHECK(clReleaseContext(context));
  row("callbacks of a context, in order", called);
  cl_program program = nullptr;
  CHECK(clGetKernelInfo(g_kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr));
  row("callback of a program", clSetProgramReleaseCallback(
                                   program, [](cl_program, void*) {}, nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  g_all = argc > 1 && std::strcmp(argv[1], "all") == 0;
  g_platform = open_first_device(g_device, g_context, g_queue);
  size_t bytes = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_EXTENSIONS, 0, nullptr, &bytes));
  g_extensions.resize(bytes);
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_EXTENSIONS, bytes, g_extensions.data(), nullptr));
  g_extensions.resize(std::strlen(g_extensions.c_str()));
  const char* text =
      "kernel void add(global int* a, int b) { a[get_global_id(0)] += b; }\n"
      "kernel void around(local int* a) { a[0] = 1; }\n";
  cl_int code = 0;
  cl_program program = clCreateProgramWithSource(g_context, 1, &text, nullptr, &code);
  CHECK(code);
  CHECK(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr));
  g_kernel = clCreateKernel(program, "add", &code);
  CHECK(code);
  cl_mem buffer = clCreateBuffer(g_context, 0, 4096, nullptr, &code);
  CHECK(code);
  const int b = 1;
  CHECK(clSetKernelArg(g_kernel, 0, sizeof buffer, &buffer));
  CHECK(clSetKernelArg(g_kernel, 1, sizeof b, &b));
  for (const auto test : {uuids, dot_products, bus, versions, subgroups, suggested_sizes, queues, intermediate_language,
                          spirv_queries, memory_of_others, addresses_of_devices, local_memory, shared_memory, endings})
    test();
  // The arguments that went ahead are those of the launch.
  const size_t n = 1024;
  int result = 0;
  CHECK(clEnqueueFillBuffer(g_queue, buffer, &result, sizeof result, 0, 4096, 0, nullptr, nullptr));
  CHECK(clEnqueueNDRangeKernel(g_queue, g_kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, sizeof result, &result, 0, nullptr, nullptr));
  row("launched", result);
  CHECK(clReleaseMemObject(buffer));
  CHECK(clReleaseKernel(g_kernel));
  CHECK(clReleaseProgram(program));
  CHECK(clReleaseCommandQueue(g_queue));
  CHECK(clReleaseContext(g_context));
  return 0;
}
