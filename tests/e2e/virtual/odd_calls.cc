// Calls that few programs make: what they answer, and what came of them. Prints a line for each; the same on any
// platform over the same device.
//
// Usage: odd_calls [all]
#include <CL/cl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

bool g_all = false;  // calls on which PoCL ends the process, too
cl_device_id g_device;
cl_context g_context;
cl_command_queue g_queue;

void say(const char* what, cl_int code) { std::printf("%s: %d\n", what, code); }
void say_numbers(const char* what, const std::vector<size_t>& values) {
  std::printf("%s:", what);
  for (const size_t v : values) std::printf(" %zu", v);
  std::printf("\n");
}

cl_program built(const char* text, const char* options = "") {
  cl_int err = 0;
  cl_program p = clCreateProgramWithSource(g_context, 1, &text, nullptr, &err);
  CHECK(err);
  CHECK(clBuildProgram(p, 1, &g_device, options, nullptr, nullptr));
  return p;
}

cl_mem buffer(size_t bytes, const void* from = nullptr) {
  cl_int err = 0;
  cl_mem mem = clCreateBuffer(g_context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes,
                              const_cast<void*>(from), &err);
  CHECK(err);
  return mem;
}

void show(const char* what, cl_mem mem, size_t count) {
  std::vector<cl_int> now(count);
  CHECK(clEnqueueReadBuffer(g_queue, mem, CL_TRUE, 0, count * sizeof now[0], now.data(), 0, nullptr, nullptr));
  std::printf("%s:", what);
  for (const cl_int v : now) std::printf(" %d", v);
  std::printf("\n");
}

void launch(cl_kernel kernel, size_t items) {
  CHECK(clEnqueueNDRangeKernel(g_queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
}

// An answer's code, its numbers and its size.
void work_group_infos(cl_kernel kernel) {
  struct Asked {
    const char* name;
    cl_kernel_work_group_info info;
    size_t numbers;
  };
  const Asked list[] = {{"work-group size", CL_KERNEL_WORK_GROUP_SIZE, 1},
                        {"compile work-group size", CL_KERNEL_COMPILE_WORK_GROUP_SIZE, 3},
                        {"local memory", CL_KERNEL_LOCAL_MEM_SIZE, 1},
                        {"preferred multiple", CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 1},
                        {"private memory", CL_KERNEL_PRIVATE_MEM_SIZE, 1}};
  for (const Asked& a : list) {
    std::vector<size_t> numbers(a.numbers);
    size_t size = 0;
    say(a.name, clGetKernelWorkGroupInfo(kernel, g_device, a.info, 8 * a.numbers, numbers.data(), &size));
    numbers.push_back(size);
    say_numbers(a.name, numbers);
    say("no room", clGetKernelWorkGroupInfo(kernel, g_device, a.info, 1, numbers.data(), nullptr));
  }
  size_t three[3] = {};
  say("global work size", clGetKernelWorkGroupInfo(kernel, g_device, CL_KERNEL_GLOBAL_WORK_SIZE, sizeof three, three,
                                                   nullptr));
  say("no device", clGetKernelWorkGroupInfo(kernel, nullptr, CL_KERNEL_WORK_GROUP_SIZE, sizeof three, three, nullptr));
}

void sub_group_infos(cl_kernel kernel) {
  const size_t local[2] = {8, 2}, count = 1;
  size_t out[3] = {}, size = 0;
  const auto ask = [&](const char* name, cl_kernel_sub_group_info info, size_t in_bytes, const void* in, size_t room) {
    std::memset(out, 0, sizeof out);
    const cl_int code = clGetKernelSubGroupInfo(kernel, g_device, info, in_bytes, in, room, out, &size);
    say(name, code);
    if (code == CL_SUCCESS) say_numbers(name, {out[0], out[1], out[2], size});
  };
  ask("largest sub-group", CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof local, local, 8);
  ask("sub-groups", CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof local, local, 8);
  ask("local size for sub-groups", CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof count, &count, 24);
  ask("most sub-groups", CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, nullptr, 8);
  ask("compiled sub-groups", CL_KERNEL_COMPILE_NUM_SUB_GROUPS, 0, nullptr, 8);
}

void kernel_questions() {
  cl_program p = built(
      "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(global int* o, local int* l) {\n"
      "  l[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = l[0]; }\n"
      "kernel __attribute__((work_group_size_hint(4, 1, 1))) __attribute__((vec_type_hint(float4)))\n"
      "void hinted(global int* o) { local int own[32]; own[get_local_id(0) % 32] = 2; o[0] = own[0]; }\n");
  for (const char* name : {"fixed", "hinted"}) {
    cl_int err = 0;
    cl_kernel k = clCreateKernel(p, name, &err);
    CHECK(err);
    std::printf("%s\n", name);
    if (std::strcmp(name, "fixed") == 0) CHECK(clSetKernelArg(k, 1, 64, nullptr));
    work_group_infos(k);
    sub_group_infos(k);
    char attributes[256] = "";
    say("attributes", clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof attributes, attributes, nullptr));
    CHECK(clReleaseKernel(k));
  }
  CHECK(clReleaseProgram(p));
}

void kernel_settings() {
  cl_program p = built("kernel void set(global int* o, int v) { o[get_global_id(0)] = v; }\n");
  cl_int err = 0;
  cl_kernel k = clCreateKernel(p, "set", &err);
  CHECK(err);
  cl_mem out = buffer(16);
  cl_int v = 7;
  CHECK(clSetKernelArg(k, 0, sizeof out, &out));
  CHECK(clSetKernelArg(k, 1, sizeof v, &v));
  cl_bool no = CL_FALSE;
  say("exec info: fine grain, no", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof no, &no));
  void* const shared = clSVMAlloc(g_context, CL_MEM_READ_WRITE, 64, 0);
  say("exec info: pointers", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof shared, &shared));
  say("exec info: unknown", clSetKernelExecInfo(k, 12345, sizeof shared, &shared));
  cl_kernel copy = clCloneKernel(k, &err);
  say("clone", err);
  v = 9;
  CHECK(clSetKernelArg(k, 1, sizeof v, &v));
  launch(k, 4);
  show("original", out, 4);
  if (copy) {
    launch(copy, 4);
    show("clone", out, 4);
    v = 11;
    CHECK(clSetKernelArg(copy, 1, sizeof v, &v));
    CHECK(clReleaseKernel(k));
    k = copy;
    launch(k, 2);
    show("clone, set", out, 4);
  }
  CHECK(clEnqueueTask(g_queue, k, 0, nullptr, nullptr));
  show("task", out, 4);
  CHECK(clRetainKernel(k));
  CHECK(clReleaseKernel(k));
  cl_uint references = 0;
  CHECK(clGetKernelInfo(k, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, nullptr));
  std::printf("references: %u\n", references);
  CHECK(clReleaseKernel(k));
  CHECK(clFinish(g_queue));
  clSVMFree(g_context, shared);
  CHECK(clReleaseMemObject(out));
  CHECK(clReleaseProgram(p));
}

void intermediate_language() {
  const uint32_t spirv[] = {0x07230203, 0x00010000, 0, 1, 0};
  char version[64] = "";
  say("IL version", clGetDeviceInfo(g_device, CL_DEVICE_IL_VERSION, sizeof version, version, nullptr));
  std::printf("IL version: '%s'\n", version);
  cl_int err = 0;
  cl_program p = clCreateProgramWithIL(g_context, spirv, sizeof spirv, &err);
  say("program with IL", err);
  if (p) CHECK(clReleaseProgram(p));
  p = clCreateProgramWithIL(g_context, nullptr, 0, &err);
  expect(!p && err != CL_SUCCESS, "program with no IL is refused");
  p = built("kernel void nothing() {}\n");
  const cl_int one = 1;
  expect(clSetProgramSpecializationConstant(p, 0, sizeof one, &one) != CL_SUCCESS,
         "specialization of a source is refused");
  size_t size = 77;
  say("IL of a source", clGetProgramInfo(p, CL_PROGRAM_IL, 0, nullptr, &size));
  std::printf("its size: %zu\n", size);
  CHECK(clReleaseProgram(p));
}

void built_in_kernels() {
  cl_int err = 0;
  cl_program p = clCreateProgramWithBuiltInKernels(g_context, 1, &g_device, "no.such.kernel", &err);
  expect(!p && err == CL_INVALID_VALUE, "unknown built-in kernel");
  p = clCreateProgramWithBuiltInKernels(g_context, 1, &g_device, nullptr, &err);
  expect(!p && err == CL_INVALID_VALUE, "no built-in kernel");
}

void migrations() {
  const cl_int values[4] = {1, 2, 3, 4};
  cl_mem both[2] = {buffer(sizeof values, values), buffer(sizeof values, values)};
  cl_event event = nullptr;
  say("migrate", clEnqueueMigrateMemObjects(g_queue, 2, both, 0, 0, nullptr, nullptr));
  constexpr cl_mem_migration_flags ToHost = CL_MIGRATE_MEM_OBJECT_HOST;
  constexpr cl_mem_migration_flags Undefined = CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  say("migrate to the host", clEnqueueMigrateMemObjects(g_queue, 1, both, ToHost, 0, nullptr, &event));
  CHECK(clWaitForEvents(1, &event));
  cl_command_type type = 0;
  CHECK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
  std::printf("its type: %x\n", type);
  CHECK(clReleaseEvent(event));
  show("migrated", both[0], 4);
  say("migrate, undefined", clEnqueueMigrateMemObjects(g_queue, 1, both + 1, Undefined, 0, nullptr, nullptr));
  say("migrate nothing", clEnqueueMigrateMemObjects(g_queue, 0, nullptr, 0, 0, nullptr, nullptr));
  say("migrate, unknown flag", clEnqueueMigrateMemObjects(g_queue, 1, both, 64, 0, nullptr, nullptr));
  for (cl_mem m : both) CHECK(clReleaseMemObject(m));
}

std::atomic<int> g_called{0};
std::string g_order;  // written before the count
void called(char who) {
  g_order += who;
  ++g_called;
}
void wait_for(int n) {
  for (int i = 0; i < 30'000 && g_called < n; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::printf("called: %s\n", g_order.c_str());
  g_order.clear();
  g_called = 0;
}
void CL_CALLBACK mem_gone(cl_mem, void* who) { called(*static_cast<char*>(who)); }
void CL_CALLBACK context_gone(cl_context, void* who) { called(*static_cast<char*>(who)); }

// The last one that was registered is called first.
void farewells() {
  static char names[] = "abcdef";
  cl_mem whole = buffer(4096);
  for (int i = 0; i < 3; ++i) CHECK(clSetMemObjectDestructorCallback(whole, mem_gone, &names[i]));
  const cl_buffer_region region{0, 1024};
  cl_int err = 0;
  cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
  CHECK(err);
  CHECK(clSetMemObjectDestructorCallback(part, mem_gone, &names[3]));
  CHECK(clReleaseMemObject(whole));  // lives on in its part
  std::printf("called while a part lives: %d\n", g_called.load());
  CHECK(clReleaseMemObject(part));
  wait_for(4);
  cl_context other = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, &err);
  CHECK(err);
  for (int i = 0; i < 3; ++i) {
    say("context callback", clSetContextDestructorCallback(other, context_gone, &names[i]));
  }
  expect(clSetContextDestructorCallback(other, nullptr, nullptr) == CL_INVALID_VALUE, "no context callback");
  CHECK(clReleaseContext(other));
  wait_for(3);
}

void timers() {
  cl_ulong device[2] = {}, host[3] = {};
  say("host timer", clGetHostTimer(g_device, &host[0]));
  say("both timers", clGetDeviceAndHostTimer(g_device, &device[0], &host[1]));
  say("both timers", clGetDeviceAndHostTimer(g_device, &device[1], &host[2]));
  expect(host[0] <= host[1] && host[1] <= host[2] && device[0] <= device[1], "timers go on");
  expect(clGetHostTimer(g_device, nullptr) != CL_SUCCESS, "no place for the timer is refused");
}

void CL_CALLBACK program_gone(cl_program, void*) {}
void CL_CALLBACK native(void* data) { *static_cast<int*>(data) = 5; }

// Optional features: either a device has them and they work, or they are refused as the specification says.
void optional_features() {
  cl_device_exec_capabilities can = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, nullptr));
  int seen = 0;
  const cl_int code = clEnqueueNativeKernel(g_queue, native, &seen, sizeof seen, 0, nullptr, nullptr, 0, nullptr,
                                            nullptr);
  CHECK(clFinish(g_queue));
  expect(can & CL_EXEC_NATIVE_KERNEL ? code == CL_SUCCESS : code == CL_INVALID_OPERATION, "native kernel, as told");
  cl_bool pipes = CL_FALSE;
  clGetDeviceInfo(g_device, CL_DEVICE_PIPE_SUPPORT, sizeof pipes, &pipes, nullptr);
  cl_int err = 0;
  cl_mem pipe = clCreatePipe(g_context, 0, 4, 16, nullptr, &err);
  expect(pipes ? pipe != nullptr : err == CL_INVALID_OPERATION || err == CL_INVALID_VALUE, "pipe, as told");
  cl_mem plain = buffer(64);
  cl_uint size = 0;
  say("pipe info of a buffer", clGetPipeInfo(plain, CL_PIPE_PACKET_SIZE, sizeof size, &size, nullptr));
  cl_uint pitch = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_IMAGE_PITCH_ALIGNMENT, sizeof pitch, &pitch, nullptr));
  cl_image_desc of_buffer{};
  of_buffer.image_type = CL_MEM_OBJECT_IMAGE2D;
  of_buffer.image_width = of_buffer.image_height = 2;
  of_buffer.mem_object = plain;
  const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
  cl_mem image = clCreateImage(g_context, 0, &format, &of_buffer, nullptr, &err);
  expect(pitch ? image != nullptr : err == CL_INVALID_OPERATION, "image of a buffer, as told");
  if (image) CHECK(clReleaseMemObject(image));
  const char* text = "kernel void k() {}";
  cl_program program = clCreateProgramWithSource(g_context, 1, &text, nullptr, &err);
  CHECK(err);
  say("program callback", clSetProgramReleaseCallback(program, program_gone, nullptr));
  CHECK(clReleaseProgram(program));
  CHECK(clReleaseMemObject(plain));
  if (!g_all) return;
  const cl_queue_properties on_device[] = {
      CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl_command_queue q = clCreateCommandQueueWithProperties(g_context, g_device, on_device, &err);
  say("queue on the device", err);
  if (q) CHECK(clReleaseCommandQueue(q));
  expect(clSetDefaultDeviceCommandQueue(g_context, g_device, g_queue) != CL_SUCCESS, "default queue is refused");
}

void sub_devices() {
  struct Split {
    const char* name;
    cl_device_partition_property by[5];
  };
  const Split splits[] = {
      {"equally", {CL_DEVICE_PARTITION_EQUALLY, 1, 0}},
      {"by counts", {CL_DEVICE_PARTITION_BY_COUNTS, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0}},
      {"by counts, and no end", {CL_DEVICE_PARTITION_BY_COUNTS, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 77, 78}},
      {"too many", {CL_DEVICE_PARTITION_EQUALLY, 100000, 0}},
      {"by affinity", {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, 0}}};
  for (const Split& s : splits) {
    cl_uint count = 0;
    const cl_int code = clCreateSubDevices(g_device, s.by, 0, nullptr, &count);
    std::printf("split %s: %d %u\n", s.name, code, code == CL_SUCCESS ? count : 0);
    if (code != CL_SUCCESS) continue;
    std::vector<cl_device_id> parts(count);
    CHECK(clCreateSubDevices(g_device, s.by, count, parts.data(), nullptr));
    cl_uint units = 0, references = 0;
    CHECK(clGetDeviceInfo(parts[0], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr));
    CHECK(clRetainDevice(parts[0]));
    CHECK(clGetDeviceInfo(parts[0], CL_DEVICE_REFERENCE_COUNT, sizeof references, &references, nullptr));
    cl_device_partition_property type[5] = {};
    CHECK(clGetDeviceInfo(parts[0], CL_DEVICE_PARTITION_TYPE, sizeof type, type, nullptr));
    std::printf("units %u, references %u, type %lx\n", units, references, static_cast<unsigned long>(type[0]));
    CHECK(clReleaseDevice(parts[0]));
    for (cl_device_id d : parts) CHECK(clReleaseDevice(d));
  }
}

// What was released lives on in what uses it, and may be had, retained and released again from there.
void had_again() {
  cl_int err = 0;
  cl_context context = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, &err);
  cl_command_queue queue = clCreateCommandQueue(context, g_device, 0, &err);
  CHECK(clReleaseContext(context));
  cl_context of_queue = nullptr;
  CHECK(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of_queue, &of_queue, nullptr));
  expect(of_queue == context, "the queue's context is that one");
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(clRetainContext(of_queue));
    cl_mem buffer = clCreateBuffer(of_queue, CL_MEM_READ_WRITE, 4096, nullptr, &err);
    const cl_buffer_region half{0, 2048};
    cl_mem part = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half, &err);
    CHECK(clReleaseMemObject(buffer));
    const char* source = "kernel void seven(global int* a) { a[get_global_id(0)] = 7; }";
    cl_program program = clCreateProgramWithSource(of_queue, 1, &source, nullptr, &err);
    CHECK(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
    cl_kernel kernel = clCreateKernel(program, "seven", &err);
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseContext(of_queue));

    cl_mem whole = nullptr;
    CHECK(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, nullptr));
    CHECK(clRetainMemObject(whole));
    cl_program of_kernel = nullptr;
    CHECK(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof of_kernel, &of_kernel, nullptr));
    CHECK(clRetainProgram(of_kernel));
    CHECK(clReleaseProgram(of_kernel));
    CHECK(clSetKernelArg(kernel, 0, sizeof whole, &whole));
    const size_t n = 1024;
    std::vector<int> values(n);
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
    CHECK(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, 4096, values.data(), 0, nullptr, nullptr));
    expect(values == std::vector<int>(n, 7), "what was had again works");
    CHECK(clReleaseMemObject(whole));
    CHECK(clReleaseMemObject(part));
    CHECK(clReleaseKernel(kernel));
  }
  CHECK(clReleaseCommandQueue(queue));
}

void samplers() {
  cl_int err = 0;
  cl_sampler_properties list[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_ADDRESSING_MODE,
                                  CL_ADDRESS_REPEAT, CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
  cl_sampler s = clCreateSamplerWithProperties(g_context, list, &err);
  say("sampler that repeats what is not normalized", err);
  list[1] = CL_TRUE;
  s = clCreateSamplerWithProperties(g_context, list, &err);
  say("sampler", err);
  if (!s) return;
  CHECK(clRetainSampler(s));
  cl_uint numbers[4] = {};
  const cl_sampler_info asked[] = {CL_SAMPLER_REFERENCE_COUNT, CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE,
                                   CL_SAMPLER_FILTER_MODE};
  for (int i = 0; i < 4; ++i) CHECK(clGetSamplerInfo(s, asked[i], sizeof numbers[i], &numbers[i], nullptr));
  std::printf("sampler: %u %u %x %x\n", numbers[0], numbers[1], numbers[2], numbers[3]);
  CHECK(clReleaseSampler(s));
  CHECK(clReleaseSampler(s));
}

// Functions of older and newer versions for what there is another function for.
void other_versions() {
  cl_int err = 0;
  const cl_mem_properties no_properties[] = {0};
  cl_mem mem = clCreateBufferWithProperties(g_context, no_properties, CL_MEM_READ_WRITE, 64, nullptr, &err);
  say("buffer with properties", err);
  if (mem) CHECK(clReleaseMemObject(mem));
  const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
  mem = clCreateImage2D(g_context, CL_MEM_READ_ONLY, &format, 16, 8, 0, nullptr, &err);
  say("2D image", err);
  if (mem) CHECK(clReleaseMemObject(mem));
  mem = clCreateImage3D(g_context, CL_MEM_READ_ONLY, &format, 16, 8, 4, 0, 0, nullptr, &err);
  say("3D image", err);
  if (mem) CHECK(clReleaseMemObject(mem));
  cl_event marker = nullptr;
  say("marker", clEnqueueMarker(g_queue, &marker));
  if (g_all) say("wait for events", clEnqueueWaitForEvents(g_queue, 1, &marker));
  say("barrier", clEnqueueBarrier(g_queue));
  CHECK(clFinish(g_queue));
  CHECK(clRetainEvent(marker));
  CHECK(clReleaseEvent(marker));
  CHECK(clReleaseEvent(marker));
  CHECK(clRetainCommandQueue(g_queue));
  CHECK(clReleaseCommandQueue(g_queue));
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl_command_queue q = clCreateCommandQueueWithProperties(g_context, g_device, list, &err);
  say("queue with properties", err);
  cl_command_queue_properties properties = 0;
  CHECK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr));
  std::printf("properties: %lx\n", static_cast<unsigned long>(properties));
  cl_queue_properties kept[8] = {};
  size_t size = 0;
  CHECK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof kept, kept, &size));
  std::printf("as given: %zu bytes, %lx\n", size, static_cast<unsigned long>(kept[1]));
  CHECK(clReleaseCommandQueue(q));
}

}  // namespace

int main(int argc, char**) {
  g_all = argc > 1;
  open_first_device(g_device, g_context, g_queue);
  kernel_questions();
  kernel_settings();
  intermediate_language();
  built_in_kernels();
  migrations();
  farewells();
  timers();
  optional_features();
  sub_devices();
  had_again();
  samplers();
  other_versions();
  CHECK(clReleaseCommandQueue(g_queue));
  CHECK(clReleaseContext(g_context));
  std::printf("end\n");
  return 0;
}
