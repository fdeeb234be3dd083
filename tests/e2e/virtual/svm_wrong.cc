// Wrong calls of shared virtual memory, and what they return.
//
// Usage: svm_wrong [all]      all: also those that PoCL crashes on, waits for, or does
#include <string>
#include <utility>

#include "tests/e2e/virtual/svm_program.h"

namespace {

void wrong_allocations() {
  const auto given = [](cl_svm_mem_flags flags, size_t bytes, cl_uint alignment) {
    void* const block = clSVMAlloc(g_context, flags, bytes, alignment);
    const bool aligned = alignment == 0 || reinterpret_cast<uintptr_t>(block) % alignment == 0;
    if (block) clSVMFree(g_context, block);
    return block ? aligned ? 1 : 2 : 0;
  };
  constexpr cl_svm_mem_flags Access[] = {CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY};
  for (unsigned set = 0; set < 8; ++set) {
    cl_svm_mem_flags flags = 0;
    for (unsigned i = 0; i < 3; ++i) flags |= set >> i & 1 ? Access[i] : 0;
    say("alloc: ways " + std::to_string(set), given(flags, 64, 0));
  }
  for (const cl_uint alignment : {1u, 2u, 8u, 64u, 5u, 96u, 129u})
    say("alloc: alignment " + std::to_string(alignment), given(CL_MEM_READ_WRITE, 64, alignment));
  for (const cl_svm_mem_flags flag : {CL_MEM_COPY_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, CL_MEM_HOST_READ_ONLY})
    say("alloc: flag " + std::to_string(flag), given(flag, 64, 0));
  cl_ulong most = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr));
  say("alloc: a byte too many", given(CL_MEM_READ_WRITE, most + 1, 0));
}

// Each command with wait lists that are none, and blocking ones behind an event that has failed.
void wrong_waits(uint8_t* p, bool all) {
  cl_int err = 0;
  cl_context other = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, &err);
  CHECK(err);
  const cl_event foreign = clCreateUserEvent(other, &err), failed = clCreateUserEvent(g_context, &err);
  CHECK(err);
  CHECK(clSetUserEventStatus(failed, -7));
  uint8_t host[16] = {};
  const void* list[] = {p};
  struct Case {
    std::string name;
    cl_uint n;
    const cl_event* list;
  };
  const cl_event none = nullptr;
  const Case cases[] = {{"a list of none", 0, &foreign}, {"no list", 1, nullptr}, {"no event", 1, &none},
                        {"another context's event", 1, &foreign}};
  for (const Case& c : cases) {
    const auto told = [&](const char* what, cl_int code) { say(what + (": " + c.name), code); };
    told("map", clEnqueueSVMMap(g_queue, CL_FALSE, CL_MAP_READ, p, 8, c.n, c.list, nullptr));
    told("unmap", clEnqueueSVMUnmap(g_queue, p, c.n, c.list, nullptr));
    told("copy", clEnqueueSVMMemcpy(g_queue, CL_FALSE, p, host, 8, c.n, c.list, nullptr));
    told("fill", clEnqueueSVMMemFill(g_queue, p, host, 4, 8, c.n, c.list, nullptr));
    told("migrate", clEnqueueSVMMigrateMem(g_queue, 1, list, nullptr, 0, c.n, c.list, nullptr));
    told("free", clEnqueueSVMFree(g_queue, 0, nullptr, nullptr, nullptr, c.n, c.list, nullptr));
  }
  if (all) {  // PoCL waits for ever
    const auto copy = [&](void* to, const void* from) {
      return clEnqueueSVMMemcpy(g_queue, CL_TRUE, to, from, 8, 1, &failed, nullptr);
    };
    say("map: after a failed event", clEnqueueSVMMap(g_queue, CL_TRUE, CL_MAP_READ, p, 8, 1, &failed, nullptr));
    say("copy in: after a failed event", copy(p, host));
    say("copy out: after a failed event", copy(host, p));
    say("copy: after a failed event", copy(p, p + 64));
    say("copy of the host: after a failed event", copy(host, host + 8));
  }
  CHECK(clReleaseEvent(foreign));
  CHECK(clReleaseEvent(failed));
  CHECK(clReleaseContext(other));
}

void wrong_ranges(uint8_t* p, bool all) {
  uint8_t host[256] = {};
  cl_command_queue q = g_queue;
  const auto map = [&](cl_map_flags flags) { return clEnqueueSVMMap(q, CL_TRUE, flags, p, 8, 0, nullptr, nullptr); };
  say("map: no flags", map(0));
  say("map: an unknown flag", map(8));
  say("map: for reading, and not", map(CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION));
  say("map: for writing, and invalidated", map(CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION));
  const auto copy = [&](void* to, const void* from, size_t n) {
    return clEnqueueSVMMemcpy(q, CL_TRUE, to, from, n, 0, nullptr, nullptr);
  };
  say("copy: to itself", copy(p, p, 8));
  say("copy: overlap of a byte", copy(p, p + 7, 8));
  say("copy: overlap of a byte from behind", copy(p + 7, p, 8));
  say("copy: overlap in the host's memory", copy(host, host + 7, 8));
  say("copy: nothing", copy(p, host, 0));
  say("copy: nothing to itself", copy(p, p, 0));
  const auto fill = [&](void* to, size_t unit, size_t n) {
    return clEnqueueSVMMemFill(q, to, host, unit, n, 0, nullptr, nullptr);
  };
  for (const size_t unit : {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256})
    say("fill: by " + std::to_string(unit), fill(p, unit, unit * 2));
  for (size_t unit = 2; unit <= 128; unit *= 2) {
    say("fill: off by one, by " + std::to_string(unit), fill(p + 1, unit, unit));
    say("fill: off by half, by " + std::to_string(unit), fill(p + unit / 2, unit, unit));
    say("fill: one too few, by " + std::to_string(unit), fill(p, unit, 2 * unit - 1));
  }
  const auto migrate = [&](const void* at, size_t n, cl_mem_migration_flags flags) {
    return clEnqueueSVMMigrateMem(q, 1, &at, &n, flags, 0, nullptr, nullptr);
  };
  say("migrate: to nowhere", migrate(p, 8, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED));
  say("migrate: to the host", migrate(p + 8, 0, CL_MIGRATE_MEM_OBJECT_HOST));
  if (!all) return;  // PoCL does them
  say("map: outside", clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, p + 4090, 8, 0, nullptr, nullptr));
  say("copy: out of a block", copy(host, p + 4090, 8));
  say("copy: into one, and beyond", copy(p + 4090, host, 8));
  say("fill: beyond a block", fill(p + 4088, 8, 16));
  say("fill: the host's memory", fill(host, 1, 8));
  say("migrate: the host's memory", migrate(host, 8, 0));
  say("migrate: nobody's", migrate(nullptr, 0, 0));
}

void wrong_kernels(uint8_t* p, bool all) {
  cl_kernel k = kernel("count");
  const auto reach = [&](size_t bytes, const void* list) {
    return clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, bytes, list);
  };
  const void* list[] = {p, p + 100};
  const void* host[] = {p, &list};
  say("info: two", reach(sizeof list, list));
  if (all) {  // PoCL lets them pass
    say("info: half a pointer", reach(12, list));
    say("info: the host's memory", reach(sizeof host, host));
    say("info: nothing, at an address", reach(0, list));
    say("arg: the host's memory", clSetKernelArgSVMPointer(k, 0, &list));
    say("arg: behind a block", clSetKernelArgSVMPointer(k, 0, p + 4097));
  }
  say("info: nothing any more", reach(0, nullptr));
  say("arg: in the middle", clSetKernelArgSVMPointer(k, 0, p + 4095));
  CHECK(clReleaseKernel(k));
}

// `all`: also what crashes PoCL.
void wrong_calls(bool all) {
  auto* const p = allocate<uint8_t>(4096);
  std::vector<uint8_t> host(4096);
  uint8_t* const h = host.data();
  const auto given = [](void* block) {
    if (block) clSVMFree(g_context, block);
    return block ? 1 : 0;
  };
  say("alloc: no bytes", given(clSVMAlloc(g_context, CL_MEM_READ_WRITE, 0, 0)));
  say("alloc: too many", given(clSVMAlloc(g_context, CL_MEM_READ_WRITE, size_t{1} << 60, 0)));
  say("alloc: odd alignment", given(clSVMAlloc(g_context, CL_MEM_READ_WRITE, 64, 3)));
  say("alloc: two ways", given(clSVMAlloc(g_context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, 0)));
  say("alloc: atomics alone", given(clSVMAlloc(g_context, CL_MEM_SVM_ATOMICS, 64, 0)));
  say("alloc: a flag of buffers", given(clSVMAlloc(g_context, CL_MEM_USE_HOST_PTR, 64, 0)));
  say("alloc: no context", given(clSVMAlloc(nullptr, 0, 64, 0)));
  say("alloc: by default", given(clSVMAlloc(g_context, 0, 64, 0)));
  say("alloc: aligned", given(clSVMAlloc(g_context, CL_MEM_READ_WRITE, 64, 128)));
  clSVMFree(g_context, nullptr);
  wrong_allocations();
  wrong_waits(p, all);
  wrong_ranges(p, all);
  wrong_kernels(p, all);
  cl_command_queue q = g_queue;
  say("map: no queue", clEnqueueSVMMap(nullptr, CL_TRUE, CL_MAP_READ, p, 8, 0, nullptr, nullptr));
  say("map: NULL", clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, nullptr, 8, 0, nullptr, nullptr));
  say("map: no bytes", clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, p, 0, 0, nullptr, nullptr));
  say("map: wait list", clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, p, 8, 1, nullptr, nullptr));
  say("unmap: no queue", clEnqueueSVMUnmap(nullptr, p, 0, nullptr, nullptr));
  say("unmap: NULL", clEnqueueSVMUnmap(q, nullptr, 0, nullptr, nullptr));
  say("unmap: not mapped", clEnqueueSVMUnmap(q, p, 0, nullptr, nullptr));
  say("copy: no queue", clEnqueueSVMMemcpy(nullptr, CL_TRUE, p, h, 8, 0, nullptr, nullptr));
  say("copy: to NULL", clEnqueueSVMMemcpy(q, CL_TRUE, nullptr, h, 8, 0, nullptr, nullptr));
  say("copy: from NULL", clEnqueueSVMMemcpy(q, CL_TRUE, p, nullptr, 8, 0, nullptr, nullptr));
  say("copy: overlap", clEnqueueSVMMemcpy(q, CL_TRUE, p, p + 4, 8, 0, nullptr, nullptr));
  say("copy: overlap from behind", clEnqueueSVMMemcpy(q, CL_TRUE, p + 4, p, 8, 0, nullptr, nullptr));
  say("copy: side by side", clEnqueueSVMMemcpy(q, CL_TRUE, p + 8, p, 8, 0, nullptr, nullptr));
  say("fill: NULL", clEnqueueSVMMemFill(q, nullptr, h, 4, 8, 0, nullptr, nullptr));
  if (all) say("fill: no pattern", clEnqueueSVMMemFill(q, p, nullptr, 4, 8, 0, nullptr, nullptr));
  say("fill: odd pattern", clEnqueueSVMMemFill(q, p, h, 3, 9, 0, nullptr, nullptr));
  say("fill: large pattern", clEnqueueSVMMemFill(q, p, h, 256, 512, 0, nullptr, nullptr));
  say("fill: no bytes", clEnqueueSVMMemFill(q, p, h, 4, 0, 0, nullptr, nullptr));
  say("fill: half a pattern", clEnqueueSVMMemFill(q, p, h, 4, 10, 0, nullptr, nullptr));
  say("fill: off", clEnqueueSVMMemFill(q, p + 2, h, 4, 8, 0, nullptr, nullptr));
  const void* list[] = {p};
  const size_t much = 5000;
  say("migrate: none", clEnqueueSVMMigrateMem(q, 0, list, nullptr, 0, 0, nullptr, nullptr));
  say("migrate: NULL", clEnqueueSVMMigrateMem(q, 1, nullptr, nullptr, 0, 0, nullptr, nullptr));
  say("migrate: flags", clEnqueueSVMMigrateMem(q, 1, list, nullptr, 64, 0, nullptr, nullptr));
  say("migrate: too much", clEnqueueSVMMigrateMem(q, 1, list, &much, 0, 0, nullptr, nullptr));
  say("free: no queue", clEnqueueSVMFree(nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr));
  say("free: NULL", clEnqueueSVMFree(q, 1, nullptr, nullptr, nullptr, 0, nullptr, nullptr));
  void* none[] = {p};
  say("free: none", clEnqueueSVMFree(q, 0, none, nullptr, nullptr, 0, nullptr, nullptr));
  cl_kernel k = kernel("count");
  say("arg: no kernel", clSetKernelArgSVMPointer(nullptr, 0, p));
  say("arg: index", clSetKernelArgSVMPointer(k, 9, p));
  say("arg: a number", clSetKernelArgSVMPointer(k, 1, p));
  say("arg: NULL", clSetKernelArgSVMPointer(k, 0, nullptr));
  say("info: no kernel", clSetKernelExecInfo(nullptr, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list));
  say("info: NULL", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, nullptr));
  say("info: unknown", clSetKernelExecInfo(k, 1, sizeof list, list));
  say("info: good", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list));
  cl_int err = 0;
  cl_mem large = clCreateBuffer(g_context, CL_MEM_USE_HOST_PTR, 5000, p, &err);
  say("buffer: larger than the block", err);
  if (large) clReleaseMemObject(large);
  CHECK(clFinish(q));
  CHECK(clReleaseKernel(k));
  clSVMFree(g_context, p);
}

}  // namespace

int main(int argc, char**) {
  open_world(false);
  wrong_calls(argc > 1);
  close_world();
}
