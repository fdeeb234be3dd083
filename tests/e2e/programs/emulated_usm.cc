// Unified shared memory, used in every way that the extension has, on the first device. Checks itself: status 1 and a
// line where something is wrong. Argument "absent": the device is to have none; "cpu": on the first processor.
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/programs/check.h"

namespace {

constexpr size_t N = 5000;
cl_platform_id platform;
cl_device_id device;
cl_context context;
cl_command_queue queue, unordered;
cl_program program;

#define FUNCTION(name) name##_fn name;
#define FUNCTIONS(X)                                                                                              \
  X(clHostMemAllocINTEL)                                                                                          \
  X(clDeviceMemAllocINTEL) X(clSharedMemAllocINTEL) X(clMemFreeINTEL) X(clMemBlockingFreeINTEL)                   \
      X(clGetMemAllocInfoINTEL) X(clSetKernelArgMemPointerINTEL) X(clEnqueueMemFillINTEL) X(clEnqueueMemcpyINTEL) \
          X(clEnqueueMigrateMemINTEL) X(clEnqueueMemAdviseINTEL)
namespace usm {
FUNCTIONS(FUNCTION)
}

const char* const Source =
    "kernel void add(global int* a, int n) { size_t i = get_global_id(0); a[i] += n; }\n"
    "kernel void sum(global const int* a, global const int* b, global int* c) {\n"
    "  size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
    "struct list { global struct list* next; int value; };\n"
    "kernel void walk(global struct list* first) {\n"
    "  for (global struct list* l = first; l; l = l->next) l->value *= 2; }\n";
struct List {
  List* next;
  int value;
};

void begin() {
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  queue = clCreateCommandQueue(context, device, 0, nullptr);
  unordered = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr);
  const char* source = Source;
  program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  CHECK(clBuildProgram(program, 1, &device, "", nullptr, nullptr) == CL_SUCCESS);
#define FIND(name)                                                                                    \
  usm::name = reinterpret_cast<name##_fn>(clGetExtensionFunctionAddressForPlatform(platform, #name)); \
  CHECK(usm::name);
  FUNCTIONS(FIND)
}

bool is_listed() {
  size_t n = 0;
  CHECK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &n) == CL_SUCCESS);
  std::string all(n, ' ');
  CHECK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, n, all.data(), nullptr) == CL_SUCCESS);
  CHECK(all[n - 1] == '\0' && all.find('\0') == n - 1);
  return all.find("cl_intel_unified_shared_memory") != std::string::npos;
}

cl_ulong capability(cl_device_info what) {
  cl_ulong can = 0;
  size_t n = 0;
  CHECK(clGetDeviceInfo(device, what, sizeof can, &can, &n) == CL_SUCCESS && n == sizeof can);
  return can;
}

int* shared(size_t bytes, cl_uint alignment = 0) {
  cl_int code = -1;
  void* const p = usm::clSharedMemAllocINTEL(context, device, nullptr, bytes, alignment, &code);
  CHECK(p && code == CL_SUCCESS);
  return static_cast<int*>(p);
}
int* host(size_t bytes) {
  cl_int code = -1;
  void* const p = usm::clHostMemAllocINTEL(context, nullptr, bytes, 0, &code);
  CHECK(p && code == CL_SUCCESS);
  return static_cast<int*>(p);
}
int* on_device(size_t bytes) {
  cl_int code = -1;
  void* const p = usm::clDeviceMemAllocINTEL(context, device, nullptr, bytes, 64, &code);
  CHECK(p && code == CL_SUCCESS);
  return static_cast<int*>(p);
}
void release(void* p) { CHECK(usm::clMemFreeINTEL(context, p) == CL_SUCCESS); }

cl_kernel kernel(const char* name) {
  const cl_kernel made = clCreateKernel(program, name, nullptr);
  CHECK(made);
  return made;
}
void launch(cl_command_queue q, cl_kernel k, cl_uint n = 0, const cl_event* list = nullptr, cl_event* event = nullptr,
            size_t items = N) {
  CHECK(clEnqueueNDRangeKernel(q, k, 1, nullptr, &items, nullptr, n, list, event) == CL_SUCCESS);
}
void copy(void* to, const void* from, size_t bytes, bool blocking = true) {
  CHECK(usm::clEnqueueMemcpyINTEL(queue, blocking, to, from, bytes, 0, nullptr, nullptr) == CL_SUCCESS);
}
cl_kernel adding(const int* to, int n) {
  const cl_kernel k = kernel("add");
  CHECK(usm::clSetKernelArgMemPointerINTEL(k, 0, to) == CL_SUCCESS);
  CHECK(clSetKernelArg(k, 1, sizeof n, &n) == CL_SUCCESS);
  return k;
}

void test_device_memory() {
  std::vector<int> there(N, 5), back(N);
  int* const p = on_device(N * sizeof(int));
  copy(p, there.data(), N * sizeof(int), false);
  const cl_kernel k = adding(p, 3);
  launch(queue, k);
  copy(back.data(), p, N * sizeof(int));
  CHECK(back == std::vector<int>(N, 8));
  CHECK(usm::clSetKernelArgMemPointerINTEL(k, 0, p + 100) == CL_SUCCESS);  // into the middle
  launch(queue, k, 0, nullptr, nullptr, 1);
  copy(back.data(), p + 99, 3 * sizeof(int));
  CHECK(back[0] == 8 && back[1] == 11 && back[2] == 8);
  clReleaseKernel(k);
  release(p);
}

// The host's between commands, the device's in them.
void test_memory_of_both(int* p) {
  for (size_t i = 0; i < N; ++i) p[i] = static_cast<int>(i);
  const cl_kernel k = adding(p, 1);
  for (int round = 1; round <= 10; ++round) {
    launch(queue, k);
    launch(queue, k);
    CHECK(clFinish(queue) == CL_SUCCESS);
    for (size_t i = 0; i < N; ++i) CHECK(p[i] == static_cast<int>(i) + 3 * round - 1);
    for (size_t i = 0; i < N; ++i) ++p[i];
  }
  cl_event first, second;  // on two queues, one after the other by events
  launch(unordered, k, 0, nullptr, &first);
  launch(queue, k, 1, &first, &second);
  CHECK(clFlush(unordered) == CL_SUCCESS);
  CHECK(clWaitForEvents(1, &second) == CL_SUCCESS);
  for (size_t i = 0; i < N; ++i) CHECK(p[i] == static_cast<int>(i) + 32);
  p[7] = 1000;
  launch(unordered, k, 1, &second, nullptr);
  CHECK(clFinish(unordered) == CL_SUCCESS);
  CHECK(p[7] == 1001 && p[8] == 41);
  clReleaseEvent(first);
  clReleaseEvent(second);
  clReleaseKernel(k);
  release(p);
}

void test_all_copies() {
  std::vector<int> plain[2] = {std::vector<int>(N), std::vector<int>(N)};
  const int pattern = 77;
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      int* blocks[2][4] = {{host(N * 4), on_device(N * 4), shared(N * 4), plain[0].data()},
                           {host(N * 4), on_device(N * 4), shared(N * 4), plain[1].data()}};
      int* const source = blocks[0][from];
      int* const target = blocks[1][to];
      std::vector<int> bytes(N), back(N, 1);
      for (size_t i = 0; i < N; ++i) bytes[i] = static_cast<int>(i) * (from + 4 * to + 1);
      copy(source, bytes.data(), N * 4);
      if (to == 3) {
        std::fill_n(target, N, pattern);
      } else {
        CHECK(usm::clEnqueueMemFillINTEL(queue, target, &pattern, 4, N * 4, 0, nullptr, nullptr) == CL_SUCCESS);
      }
      copy(target + 10, source + 20, 1000 * 4, from % 2 == 0);  // a part of each
      copy(back.data(), target, N * 4);
      for (size_t i = 0; i < N; ++i) CHECK(back[i] == (i >= 10 && i < 1010 ? bytes[i + 10] : pattern));
      for (auto& side : blocks)
        for (int kind = 0; kind < 3; ++kind) release(side[kind]);
    }
  }
}

void test_kernel_with_three() {
  int *const a = host(N * 4), *const b = shared(N * 4), *const c = shared(N * 4);
  const cl_kernel k = kernel("sum");
  for (int round = 0; round < 5; ++round) {
    for (size_t i = 0; i < N; ++i) a[i] = round, b[i] = static_cast<int>(i);
    int* const all[] = {a, b, c};
    for (cl_uint i = 0; i < 3; ++i) CHECK(usm::clSetKernelArgMemPointerINTEL(k, i, all[i]) == CL_SUCCESS);
    cl_event event;
    launch(unordered, k, 0, nullptr, &event);
    CHECK(clWaitForEvents(1, &event) == CL_SUCCESS);
    for (size_t i = 0; i < N; ++i) CHECK(c[i] == static_cast<int>(i) + round);
    clReleaseEvent(event);
  }
  clRetainKernel(k);
  clReleaseKernel(k);
  a[N - 1] = 100;
  launch(queue, k);
  clReleaseKernel(k);
  CHECK(usm::clMemBlockingFreeINTEL(context, a) == CL_SUCCESS);  // the launch still has it
  CHECK(c[N - 1] == static_cast<int>(N) - 1 + 100);
  release(b);
  release(c);
}

void test_pointers_in_memory(bool named) {
  std::vector<List*> all;
  List* first = nullptr;
  for (int i = 0; i < 20; ++i) {
    auto* const l = reinterpret_cast<List*>(i % 2 ? shared(sizeof(List)) : host(sizeof(List)));
    *l = {first, i};
    first = l;
    all.push_back(l);
  }
  cl_kernel k = kernel("walk");
  CHECK(usm::clSetKernelArgMemPointerINTEL(k, 0, first) == CL_SUCCESS);
  const cl_bool yes = CL_TRUE;
  if (named) {
    CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, all.size() * sizeof(List*), all.data()) == 0);
  } else {
    CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, sizeof yes, &yes) == CL_SUCCESS);
    CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, sizeof yes, &yes) == CL_SUCCESS);
    CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, 1, &yes) == CL_INVALID_VALUE);
  }
  launch(queue, k, 0, nullptr, nullptr, 1);
  CHECK(clFinish(queue) == CL_SUCCESS);
  for (int i = 0; i < 20; ++i) CHECK(all[static_cast<size_t>(i)]->value == 2 * i);
  const cl_kernel copied = clCloneKernel(k, nullptr);
  clReleaseKernel(k);
  if (!named) {  // one more, of which no kernel has heard
    auto* const l = reinterpret_cast<List*>(shared(sizeof(List)));
    *l = {first, 50};
    first = l;
    all.push_back(l);
    CHECK(usm::clSetKernelArgMemPointerINTEL(copied, 0, first) == CL_SUCCESS);
  }
  launch(queue, copied, 0, nullptr, nullptr, 1);
  CHECK(clFinish(queue) == CL_SUCCESS);
  CHECK(all[19]->value == 4 * 19);
  CHECK(named || all[20]->value == 100);
  clReleaseKernel(copied);
  for (List* const l : all) release(l);
}

template <class T>
T told(const void* p, cl_mem_info_intel what) {
  T value{};
  size_t n = 0;
  CHECK(usm::clGetMemAllocInfoINTEL(context, p, what, sizeof value, &value, &n) == CL_SUCCESS && n == sizeof value);
  return value;
}

void test_what_is_told() {
  int *const h = host(4000), *const d = on_device(4000), *const s = shared(4000, 4096);
  CHECK(reinterpret_cast<uintptr_t>(s) % 4096 == 0);
  CHECK(told<cl_uint>(h, CL_MEM_ALLOC_TYPE_INTEL) == CL_MEM_TYPE_HOST_INTEL);
  CHECK(told<cl_uint>(d, CL_MEM_ALLOC_TYPE_INTEL) == CL_MEM_TYPE_DEVICE_INTEL);
  CHECK(told<cl_uint>(s + 999, CL_MEM_ALLOC_TYPE_INTEL) == CL_MEM_TYPE_SHARED_INTEL);
  CHECK(told<cl_uint>(s + 1000, CL_MEM_ALLOC_TYPE_INTEL) == CL_MEM_TYPE_UNKNOWN_INTEL);
  CHECK(told<cl_uint>(&h, CL_MEM_ALLOC_TYPE_INTEL) == CL_MEM_TYPE_UNKNOWN_INTEL);
  CHECK(told<void*>(d + 10, CL_MEM_ALLOC_BASE_PTR_INTEL) == d);
  CHECK(told<size_t>(d + 10, CL_MEM_ALLOC_SIZE_INTEL) == 4000);
  CHECK(told<cl_device_id>(d, CL_MEM_ALLOC_DEVICE_INTEL) == device);
  CHECK(told<cl_device_id>(h, CL_MEM_ALLOC_DEVICE_INTEL) == nullptr);
  CHECK(told<void*>(&h, CL_MEM_ALLOC_BASE_PTR_INTEL) == nullptr);
  CHECK(usm::clGetMemAllocInfoINTEL(context, d, 1, 8, &d[0], nullptr) == CL_INVALID_VALUE);
  for (void* const p : {h, d, s}) {
    CHECK(usm::clEnqueueMigrateMemINTEL(queue, p, 4000, 0, 0, nullptr, nullptr) == CL_SUCCESS);
    CHECK(usm::clEnqueueMemAdviseINTEL(queue, p, 4000, 0, 0, nullptr, nullptr) == CL_SUCCESS);
    release(p);
  }
}

void test_mistakes() {
  cl_int code = 0;
  const auto refused = [&](const void* p, cl_int expected) {
    if (code != expected) fprintf(stderr, "%d instead of %d\n", code, expected);
    CHECK(!p && code == expected);
  };
  refused(usm::clSharedMemAllocINTEL(context, device, nullptr, 0, 0, &code), CL_INVALID_BUFFER_SIZE);
  refused(usm::clDeviceMemAllocINTEL(context, device, nullptr, ~size_t{0} / 2, 0, &code), CL_INVALID_BUFFER_SIZE);
  refused(usm::clDeviceMemAllocINTEL(context, nullptr, nullptr, 8, 0, &code), CL_INVALID_DEVICE);
  refused(usm::clHostMemAllocINTEL(nullptr, nullptr, 8, 0, &code), CL_INVALID_CONTEXT);
  refused(usm::clHostMemAllocINTEL(context, nullptr, 8, 3, &code), CL_INVALID_VALUE);
  const cl_mem_properties_intel unknown[] = {0x1234, 1, 0};
  refused(usm::clHostMemAllocINTEL(context, unknown, 8, 0, &code), CL_INVALID_PROPERTY);
  const cl_mem_properties_intel both[] = {
      CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL,
      0};
  refused(usm::clSharedMemAllocINTEL(context, device, both, 8, 0, &code), CL_INVALID_PROPERTY);
  int* const p = shared(64);
  CHECK(usm::clMemFreeINTEL(context, p + 1) == CL_INVALID_VALUE);
  CHECK(usm::clMemFreeINTEL(nullptr, p) == CL_INVALID_CONTEXT);
  CHECK(usm::clMemFreeINTEL(context, nullptr) == CL_SUCCESS);
  release(p);
  CHECK(usm::clMemFreeINTEL(context, p) == CL_INVALID_VALUE);
  CHECK(usm::clEnqueueMemcpyINTEL(nullptr, CL_TRUE, &code, &code, 4, 0, nullptr, nullptr) == CL_INVALID_COMMAND_QUEUE);
  // A launch that is refused leaves the memory to the host, and the next one works.
  int* const q = shared(N * 4);
  const cl_kernel k = adding(q, 1);
  const size_t items = N, group = N + 1;
  CHECK(clEnqueueNDRangeKernel(queue, k, 1, nullptr, &items, &group, 0, nullptr, nullptr) != CL_SUCCESS);
  CHECK(clFinish(queue) == CL_SUCCESS);
  q[0] = 5;
  launch(queue, k);
  CHECK(clFinish(queue) == CL_SUCCESS && q[0] == 6);
  clReleaseKernel(k);
  release(q);
}

void test_on(cl_device_id one) {
  device = one;
  begin();
  CHECK(is_listed());
  CHECK(capability(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL) & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL);
  CHECK(capability(CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL) == 0);
  const cl_ulong both = capability(CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL);
  CHECK(both & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL);
  CHECK(capability(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) == both);
  test_device_memory();
  test_memory_of_both(shared(N * sizeof(int)));
  test_memory_of_both(host(N * sizeof(int)));
  test_all_copies();
  test_kernel_with_three();
  test_pointers_in_memory(false);
  test_pointers_in_memory(true);
  test_what_is_told();
  test_mistakes();
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseCommandQueue(unordered);
  clReleaseContext(context);
  puts(both & CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL ? "fine" : "coarse");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  CHECK(clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS);
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS);
  if (what == "absent") {
    CHECK(!is_listed());
    return puts(clGetExtensionFunctionAddressForPlatform(platform, "clHostMemAllocINTEL") ? "absent, but found"
                                                                                          : "absent") < 0;
  }
  if (what == "cpu") CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS);
  test_on(device);
  return 0;
}
