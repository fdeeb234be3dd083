// Shared virtual memory: pointers that hold on both sides, copies, maps, buffers over it, what is freed by commands.
// Prints what came of it; the same on any platform over the same device.
//
// Usage: svm work|finer|several|much|lost|fork
#include <CL/cl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/virtual/svm_program.h"

namespace {

struct Node {
  Node* next;
  cl_ulong value;
};
struct Branch {
  Branch* child[2];
  cl_ulong value;
};

void linked_list() {
  constexpr int Nodes = 1000;
  Node* const nodes = allocate<Node>(Nodes);
  auto* const sum = allocate<cl_ulong>(1);
  map(nodes, Nodes * sizeof(Node), CL_MAP_WRITE_INVALIDATE_REGION);
  for (int i = 0; i < Nodes; ++i) {
    nodes[i].value = static_cast<cl_ulong>(i) * 11;
    nodes[i].next = i == 777 ? nullptr : &nodes[(i + 389) % Nodes];
  }
  unmap(nodes);
  cl_kernel walk = kernel("walk");
  CHECK(clSetKernelArgSVMPointer(walk, 0, nodes + 5));  // into the middle
  CHECK(clSetKernelArgSVMPointer(walk, 1, sum));
  launch(walk);
  launch(walk);
  map(sum, sizeof *sum, CL_MAP_READ);
  show("list, by the device", *sum);
  unmap(sum);
  map(nodes, Nodes * sizeof(Node), CL_MAP_READ | CL_MAP_WRITE);
  uint64_t all = 0, n = 0;
  for (const Node* p = nodes + 5; p; p = p->next, ++n) all = all * 3 + p->value;
  nodes[5].next = nullptr;
  unmap(nodes);
  std::printf("list, by the host: %016llx of %llu\n", static_cast<unsigned long long>(all),
              static_cast<unsigned long long>(n));
  launch(walk);
  map(sum, sizeof *sum, CL_MAP_READ);
  show("list, cut", *sum);
  unmap(sum);
  CHECK(clFinish(g_queue));
  CHECK(clReleaseKernel(walk));
  // The device makes the pointers; the host follows them.
  cl_kernel chain = kernel("chain");
  const cl_int few = 100;
  CHECK(clSetKernelArgSVMPointer(chain, 0, nodes));
  CHECK(clSetKernelArg(chain, 1, sizeof few, &few));
  launch(chain);
  map(nodes, Nodes * sizeof(Node), CL_MAP_READ);
  all = n = 0;
  for (const Node* p = nodes; p && n < 5000; p = p->next, ++n) all = all * 3 + p->value;
  unmap(nodes);
  CHECK(clFinish(g_queue));
  show("the device's list", all + n);
  CHECK(clReleaseKernel(chain));
  clSVMFree(g_context, nodes);
  clSVMFree(g_context, sum);
}

// Each branch is a block of its own: the kernel is told which ones it reaches.
void tree() {
  constexpr size_t Branches = 63;
  std::vector<Branch*> all(Branches);
  for (Branch*& b : all) b = allocate<Branch>(1);
  auto* const sum = allocate<cl_ulong>(1);
  for (size_t i = 0; i < Branches; ++i) {
    map(all[i], sizeof(Branch), CL_MAP_WRITE);
    for (size_t side = 0; side < 2; ++side) {
      const size_t child = 2 * i + 1 + side;
      all[i]->child[side] = child < Branches ? all[child] : nullptr;
    }
    all[i]->value = i + 1;
    unmap(all[i]);
  }
  cl_kernel k = kernel("leftmost");
  CHECK(clSetKernelArgSVMPointer(k, 0, all[0]));
  CHECK(clSetKernelArgSVMPointer(k, 1, sum));
  CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, Branches * sizeof(void*), all.data()));
  launch(k);
  map(sum, sizeof *sum, CL_MAP_READ);
  show("tree", *sum);
  unmap(sum);
  cl_int err = 0;
  cl_kernel copy = clCloneKernel(k, &err);
  CHECK(err);
  CHECK(clSetKernelArgSVMPointer(copy, 0, all[1]));
  launch(copy);
  map(sum, sizeof *sum, CL_MAP_READ);
  show("tree, a clone", *sum);
  unmap(sum);
  CHECK(clFinish(g_queue));
  CHECK(clReleaseKernel(copy));
  CHECK(clReleaseKernel(k));
  CHECK(clEnqueueSVMMigrateMem(g_queue, Branches, const_cast<const void**>(reinterpret_cast<void**>(all.data())),
                               nullptr, 0, 0, nullptr, nullptr));
  const size_t one = sizeof(Branch);
  const void* first = all[0];
  cl_event moved = nullptr;
  CHECK(clEnqueueSVMMigrateMem(g_queue, 1, &first, &one, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, &moved));
  cl_command_type type = 0;
  CHECK(clGetEventInfo(moved, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
  std::printf("a migration: %x\n", type);
  CHECK(clReleaseEvent(moved));
  CHECK(clFinish(g_queue));
  for (Branch* b : all) clSVMFree(g_context, b);
  clSVMFree(g_context, sum);
}

void maps(size_t bytes) {
  auto* const p = allocate<uint8_t>(bytes);
  const std::vector<uint8_t> first = pattern(bytes, 1);
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, p, first.data(), bytes, 0, nullptr, nullptr));
  cl_kernel count = kernel("count");
  const cl_int three = 3;
  CHECK(clSetKernelArgSVMPointer(count, 0, p + bytes / 4));
  CHECK(clSetKernelArg(count, 1, sizeof three, &three));
  launch(count, bytes / 2);
  show("a kernel's", contents(p, bytes));
  map(p + 100, 50, CL_MAP_READ | CL_MAP_WRITE);
  map(p + 1000, 500, CL_MAP_WRITE);
  for (int i = 0; i < 50; i += 3) p[100 + i] ^= 0x55;
  std::memset(p + 1100, 7, 100);
  unmap(p + 1000);
  unmap(p + 100);
  show("two parts", contents(p, bytes));
  cl_event mapped = nullptr, unmapped = nullptr;
  CHECK(clEnqueueSVMMap(g_queue, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, p + 3, bytes - 3, 0, nullptr, &mapped));
  CHECK(clWaitForEvents(1, &mapped));
  std::memcpy(p + 3, first.data(), bytes - 3);
  CHECK(clEnqueueSVMUnmap(g_queue, p + 3, 0, nullptr, &unmapped));
  show("all but three", contents(p, bytes));
  cl_command_type types[2] = {};
  CHECK(clGetEventInfo(mapped, CL_EVENT_COMMAND_TYPE, sizeof types[0], &types[0], nullptr));
  CHECK(clGetEventInfo(unmapped, CL_EVENT_COMMAND_TYPE, sizeof types[1], &types[1], nullptr));
  std::printf("commands: %x %x\n", types[0], types[1]);
  CHECK(clReleaseEvent(mapped));
  CHECK(clReleaseEvent(unmapped));
  // What is mapped for reading alone stays as it was there.
  map(p, bytes, CL_MAP_READ);
  unmap(p);
  launch(count, bytes / 2);
  map(p, 1, CL_MAP_READ);
  unmap(p);
  show("read only", contents(p, bytes));
  CHECK(clFinish(g_queue));
  CHECK(clReleaseKernel(count));
  clSVMFree(g_context, p);
}

void copies(size_t bytes) {
  auto* const a = allocate<uint8_t>(bytes);
  auto* const b = allocate<uint8_t>(bytes);
  const std::vector<uint8_t> from = pattern(bytes, 2);
  std::vector<uint8_t> to(bytes), last(bytes);
  cl_int err = 0;
  cl_event go = clCreateUserEvent(g_context, &err), copied = nullptr, there = nullptr;
  CHECK(err);
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, a, from.data(), bytes, 1, &go, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, b, a, bytes, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, b + 1, a + bytes / 2, bytes / 2 - 1, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, a, a + bytes / 2, bytes / 2, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, to.data(), b, bytes, 0, nullptr, &there));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, last.data(), to.data(), bytes, 0, nullptr, &copied));
  cl_int status = 0;
  CHECK(clGetEventInfo(copied, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status > CL_COMPLETE, "nothing is done before its turn");
  CHECK(clSetUserEventStatus(go, CL_COMPLETE));
  CHECK(clWaitForEvents(1, &copied));
  CHECK(clGetEventInfo(there, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status == CL_COMPLETE && last == to, "from host to host");
  show("there and back", digest(to.data(), bytes));
  show("inside a block", contents(a, bytes));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, last.data() + 9, from.data(), bytes - 9, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, to.data() + 5, a + 11, bytes - 11, 0, nullptr, nullptr));
  show("blocking", digest(last.data(), bytes) ^ digest(to.data(), bytes));
  CHECK(clReleaseEvent(go));
  CHECK(clReleaseEvent(there));
  CHECK(clReleaseEvent(copied));
  clSVMFree(g_context, a);
  clSVMFree(g_context, b);
}

void fills() {
  constexpr size_t Bytes = 4096;
  auto* const p = allocate<uint8_t>(Bytes);
  const std::vector<uint8_t> with = pattern(128, 9);
  CHECK(clEnqueueSVMMemFill(g_queue, p, with.data(), 1, Bytes, 0, nullptr, nullptr));
  size_t at = 0;
  for (size_t n = 1; n <= 128; n *= 2, at += 256) {
    CHECK(clEnqueueSVMMemFill(g_queue, p + at, with.data() + 128 - n, n, 128, 0, nullptr, nullptr));
  }
  show("fills", contents(p, Bytes));
  clSVMFree(g_context, p);
}

std::atomic<int> g_freed{0};
void CL_CALLBACK free_them(cl_command_queue queue, cl_uint n, void** pointers, void* data) {
  if (queue != g_queue || data != &g_freed) return;
  for (cl_uint i = 0; i < n; ++i) clSVMFree(g_context, pointers[i]);
  g_freed += static_cast<int>(n);
}

void freed_by_commands() {
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(allocate<uint8_t>(size_t{1000} * static_cast<size_t>(i + 1)));
  cl_int err = 0;
  cl_event go = clCreateUserEvent(g_context, &err), freed = nullptr;
  CHECK(err);
  CHECK(clEnqueueSVMFree(g_queue, 3, blocks.data(), free_them, &g_freed, 1, &go, &freed));
  expect(g_freed == 0, "not freed before its turn");
  cl_command_type type = 0;
  CHECK(clGetEventInfo(freed, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
  CHECK(clSetUserEventStatus(go, CL_COMPLETE));
  CHECK(clFinish(g_queue));
  std::printf("freed: %d by command %x\n", g_freed.load(), type);
  CHECK(clEnqueueSVMFree(g_queue, 3, blocks.data() + 3, nullptr, nullptr, 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
  CHECK(clReleaseEvent(go));
  CHECK(clReleaseEvent(freed));
}

void buffers() {
  constexpr size_t Bytes = 1 << 17;
  auto* const p = allocate<uint8_t>(Bytes);
  const std::vector<uint8_t> first = pattern(Bytes, 3);
  map(p, Bytes, CL_MAP_WRITE);
  std::memcpy(p, first.data(), Bytes);
  unmap(p);
  cl_int err = 0;
  cl_mem buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, Bytes, p, &err);
  CHECK(err);
  cl_mem plain = clCreateBuffer(g_context, CL_MEM_READ_WRITE, Bytes, nullptr, &err);
  CHECK(err);
  for (cl_mem mem : {buffer, plain}) {
    cl_bool uses = 2;
    void* host = nullptr;
    CHECK(clGetMemObjectInfo(mem, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, nullptr));
    CHECK(clGetMemObjectInfo(mem, CL_MEM_HOST_PTR, sizeof host, &host, nullptr));
    std::printf("uses: %u %d\n", uses, host == p);
  }
  std::vector<uint8_t> to(Bytes);
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, Bytes, to.data(), 0, nullptr, nullptr));
  expect(to == first, "a buffer has the block's bytes");
  CHECK(clEnqueueWriteBuffer(g_queue, buffer, CL_TRUE, 10, 1000, first.data(), 0, nullptr, nullptr));
  show("written through the buffer", contents(p, Bytes));
  cl_kernel count = kernel("count");
  const cl_int five = 5;
  CHECK(clSetKernelArg(count, 0, sizeof buffer, &buffer));
  CHECK(clSetKernelArg(count, 1, sizeof five, &five));
  launch(count, Bytes);
  show("changed through the buffer", contents(p, Bytes));
  CHECK(clSetKernelArgSVMPointer(count, 0, p));
  launch(count, Bytes);
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, Bytes, to.data(), 0, nullptr, nullptr));
  show("changed through the pointer", digest(to.data(), Bytes));
  void* const at = clEnqueueMapBuffer(g_queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 64, 4096, 0, nullptr,
                                      nullptr, &err);
  CHECK(err);
  expect(at == p + 64, "a map of the buffer is in the block");
  std::memset(at, 1, 4000);
  CHECK(clEnqueueUnmapMemObject(g_queue, buffer, at, 0, nullptr, nullptr));
  show("changed through a map", contents(p, Bytes));
  cl_buffer_region region{Bytes / 2, 4096};
  cl_mem part = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
  CHECK(err);
  CHECK(clEnqueueCopyBuffer(g_queue, buffer, part, 0, 0, 4096, 0, nullptr, nullptr));
  show("changed through a part", contents(p, Bytes));
  CHECK(clReleaseMemObject(part));
  CHECK(clReleaseMemObject(buffer));
  CHECK(clReleaseMemObject(plain));
  CHECK(clReleaseKernel(count));
  CHECK(clFinish(g_queue));
  clSVMFree(g_context, p);
}

// Commands of an out-of-order queue that wait for one another alone.
void out_of_order() {
  cl_int err = 0;
  cl_command_queue queue = clCreateCommandQueue(g_context, g_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
  CHECK(err);
  constexpr size_t Bytes = 1 << 18;
  auto* const p = allocate<uint8_t>(Bytes);
  std::vector<uint8_t> bytes = pattern(Bytes, 4), to(Bytes), copy(Bytes);
  cl_event e[4] = {};
  CHECK(clEnqueueSVMMemcpy(queue, CL_FALSE, p, bytes.data(), Bytes, 0, nullptr, &e[0]));
  CHECK(clEnqueueSVMMemFill(queue, p, "abcd", 4, Bytes / 2, 1, &e[0], &e[1]));
  CHECK(clEnqueueSVMMemcpy(queue, CL_FALSE, to.data(), p, Bytes, 1, &e[1], &e[2]));
  CHECK(clEnqueueSVMMemcpy(queue, CL_FALSE, copy.data(), to.data(), Bytes, 1, &e[2], &e[3]));
  CHECK(clWaitForEvents(1, &e[3]));
  show("out of order", digest(copy.data(), Bytes));
  for (cl_event one : e) CHECK(clReleaseEvent(one));
  void* list[] = {p};
  CHECK(clEnqueueSVMFree(queue, 1, list, nullptr, nullptr, 0, nullptr, nullptr));
  CHECK(clFinish(queue));
  CHECK(clReleaseCommandQueue(queue));
}

// Bytes that are still on their way to the program when commands that take them from there are enqueued.
void chains(size_t bytes) {
  auto* const a = allocate<uint8_t>(bytes);
  auto* const b = allocate<uint8_t>(bytes);
  const std::vector<uint8_t> first = pattern(bytes, 5);
  std::vector<uint8_t> by(bytes), further(bytes);
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, a, first.data(), bytes, 0, nullptr, nullptr));
  cl_int err = 0;
  cl_event go = clCreateUserEvent(g_context, &err);
  CHECK(err);
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, by.data(), a, bytes, 1, &go, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, b, by.data(), bytes, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, further.data(), by.data() + 1, bytes - 1, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, a, further.data() + 1, bytes - 2, 0, nullptr, nullptr));
  // Given back before it can be there: nobody has changed it.
  CHECK(clEnqueueSVMMap(g_queue, CL_FALSE, CL_MAP_WRITE, a + 3, bytes / 2, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMUnmap(g_queue, a + 3, 0, nullptr, nullptr));
  CHECK(clSetUserEventStatus(go, CL_COMPLETE));
  CHECK(clReleaseEvent(go));
  show("by the host", contents(b, bytes));
  show("by the host, twice", contents(a, bytes));
  clSVMFree(g_context, a);
  clSVMFree(g_context, b);
}

// Where a block ends, memory of the program's own may begin.
void behind_a_block() {
  constexpr size_t Bytes = 8192;
  auto* const p = allocate<uint8_t>(Bytes);
  void* const wanted = p + Bytes;
  constexpr int Flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  const bool pages = reinterpret_cast<uintptr_t>(wanted) % 4096 == 0;
  void* const own = pages ? ::mmap(wanted, 4096, PROT_READ | PROT_WRITE, Flags, -1, 0) : MAP_FAILED;
  bool good = true;
  if (own == wanted) {
    std::memset(own, 7, 4096);
    CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, p, own, 4096, 0, nullptr, nullptr));
    std::memset(own, 0, 4096);
    CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, own, p, 4096, 0, nullptr, nullptr));
    good = static_cast<uint8_t*>(own)[4095] == 7;
    cl_int err = 0;
    cl_mem buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 4096, own, &err);
    CHECK(err);
    CHECK(clReleaseMemObject(buffer));
  }
  if (own != MAP_FAILED) ::munmap(own, 4096);
  expect(good, "memory right behind a block");
  clSVMFree(g_context, p);
}

// In an out-of-order queue with a command that waits for the program, others that wait for nothing go on.
void pass_by() {
  cl_int err = 0;
  cl_command_queue queue = clCreateCommandQueue(g_context, g_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
  CHECK(err);
  cl_event go = clCreateUserEvent(g_context, &err), last = nullptr;
  CHECK(err);
  constexpr size_t Bytes = 1000;
  auto* const held = allocate<uint8_t>(Bytes);
  auto* const p = allocate<uint8_t>(Bytes);
  void* freed[] = {allocate<uint8_t>(Bytes)};
  std::vector<uint8_t> from = pattern(Bytes, 6), to(Bytes);
  CHECK(clEnqueueSVMMemFill(queue, held, "a", 1, Bytes, 1, &go, nullptr));
  const auto wait = [&] {
    CHECK(clWaitForEvents(1, &last));
    CHECK(clReleaseEvent(last));
  };
  CHECK(clEnqueueSVMMemcpy(queue, CL_FALSE, to.data(), from.data(), Bytes, 0, nullptr, &last));
  wait();
  CHECK(clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, p, Bytes, 0, nullptr, &last));
  wait();
  std::memcpy(p, to.data(), Bytes);
  CHECK(clEnqueueSVMUnmap(queue, p, 0, nullptr, &last));
  wait();
  CHECK(clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ, p, Bytes, 0, nullptr, &last));
  wait();
  expect(std::memcmp(p, from.data(), Bytes) == 0, "past a command that waits");
  CHECK(clEnqueueSVMUnmap(queue, p, 0, nullptr, &last));
  wait();
  CHECK(clEnqueueSVMFree(queue, 1, freed, nullptr, nullptr, 0, nullptr, &last));
  wait();
  CHECK(clSetUserEventStatus(go, CL_COMPLETE));
  CHECK(clFinish(queue));
  CHECK(clReleaseEvent(go));
  CHECK(clReleaseCommandQueue(queue));
  clSVMFree(g_context, held);
  clSVMFree(g_context, p);
}

void many() {
  std::vector<cl_uint*> blocks;
  for (cl_uint i = 0; i < 300; ++i) {
    blocks.push_back(allocate<cl_uint>(1 + i * 13));
    CHECK(clEnqueueSVMMemFill(g_queue, blocks.back(), &i, sizeof i, (1 + i * 13) * sizeof i, 0, nullptr, nullptr));
  }
  bool good = true;
  for (cl_uint i = 0; i < 300; ++i) {
    const size_t n = 1 + i * 13;
    map(blocks[i], n * sizeof(cl_uint), CL_MAP_READ);
    good = good && blocks[i][0] == i && blocks[i][n - 1] == i;
    unmap(blocks[i]);
    CHECK(clFinish(g_queue));
    if (i % 3 != 0) clSVMFree(g_context, blocks[i]);
  }
  expect(good, "300 blocks");  // the context takes the others along
}

// What only finer memory than that without atomics has.
void finer() {
  cl_device_svm_capabilities can = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr));
  std::printf("capabilities: %llx\n", static_cast<unsigned long long>(can));
  for (const cl_svm_mem_flags flags :
       {cl_svm_mem_flags{CL_MEM_SVM_ATOMICS}, cl_svm_mem_flags{CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS}}) {
    void* const p = clSVMAlloc(g_context, flags, 64, 0);
    std::printf("finer: %d\n", p != nullptr);
    if (p) clSVMFree(g_context, p);
  }
  cl_kernel k = kernel("count");
  const cl_bool system = CL_TRUE;
  static uint8_t own[64];
  say("of the program's own memory",
      clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof system, &system));
  say("a pointer to it", clSetKernelArgSVMPointer(k, 0, own));
  say("a map of it", clEnqueueSVMMap(g_queue, CL_TRUE, CL_MAP_READ, own, 8, 0, nullptr, nullptr));
  CHECK(clReleaseKernel(k));
}

// As many blocks of 64 MiB as there may be, up to 16.
void much() {
  std::vector<void*> blocks;
  const auto take = [&] {
    while (blocks.size() < 16) {
      void* const p = clSVMAlloc(g_context, CL_MEM_READ_WRITE, size_t{64} << 20, 0);
      if (!p) break;
      blocks.push_back(p);
    }
    return blocks.size();
  };
  std::printf("blocks: %zu\n", take());
  clSVMFree(g_context, blocks.back());
  blocks.pop_back();
  std::printf("one freed: %zu\n", take());
  for (void* p : blocks) clSVMFree(g_context, p);
}

// The place dies: what was read stays, everything else is an error.
void lost() {
  auto* const p = allocate<uint8_t>(1 << 20);
  CHECK(clEnqueueSVMMemFill(g_queue, p, "wxyz", 4, 1 << 20, 0, nullptr, nullptr));
  map(p, 1 << 20, CL_MAP_READ | CL_MAP_WRITE);
  std::printf("ready\n");
  std::fflush(stdout);
  std::getchar();
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < 2000 && code == CL_SUCCESS; ++i) {
    code = clEnqueueSVMMap(g_queue, CL_TRUE, CL_MAP_READ, p, 16, 0, nullptr, nullptr);
  }
  say("map", code);
  std::printf("shadow: %c%c\n", p[0], p[(1 << 20) - 1]);
  say("unmap", clEnqueueSVMUnmap(g_queue, p, 0, nullptr, nullptr));
  say("copy", clEnqueueSVMMemcpy(g_queue, CL_TRUE, p, "hello", 5, 0, nullptr, nullptr));
  say("fill", clEnqueueSVMMemFill(g_queue, p, "wxyz", 4, 16, 0, nullptr, nullptr));
  void* list[] = {p};
  say("free by command", clEnqueueSVMFree(g_queue, 1, list, nullptr, nullptr, 0, nullptr, nullptr));
  expect(!clSVMAlloc(g_context, CL_MEM_READ_WRITE, 64, 0), "no new block");
  clSVMFree(g_context, p);
}

// A child has what was mapped, and frees it; the parent does not notice.
void forked() {
  auto* const p = allocate<uint8_t>(1 << 20);
  CHECK(clEnqueueSVMMemFill(g_queue, p, "wxyz", 4, 1 << 20, 0, nullptr, nullptr));
  map(p, 1 << 20, CL_MAP_READ | CL_MAP_WRITE);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool there = p[0] == 'w' && p[(1 << 20) - 1] == 'z';
    p[0] = 'c';
    const cl_int code = clEnqueueSVMUnmap(g_queue, p, 0, nullptr, nullptr);
    clSVMFree(g_context, p);
    ::_exit(there && code == CL_DEVICE_NOT_AVAILABLE ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  say("child", status);
  p[1] = 'p';
  unmap(p);
  map(p, 4, CL_MAP_READ);
  std::printf("parent: %.4s\n", reinterpret_cast<const char*>(p));
  unmap(p);
  CHECK(clFinish(g_queue));
  clSVMFree(g_context, p);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "work";
  open_world(mode == "several");
  if (mode == "work") {
    linked_list();
    tree();
    for (const size_t bytes : {size_t{4000}, size_t{3} << 20}) {
      maps(bytes);
      copies(bytes);
    }
    fills();
    freed_by_commands();
    buffers();
    out_of_order();
    for (const size_t bytes : {size_t{3000}, size_t{1} << 20}) chains(bytes);
    behind_a_block();
    pass_by();
    many();
  }
  if (mode == "finer") finer();
  if (mode == "much") much();
  if (mode == "lost") lost(), std::printf("end\n"), std::exit(0);
  if (mode == "fork") forked();
  if (mode == "several") {
    expect(!clSVMAlloc(g_context, CL_MEM_READ_WRITE, 64, 0), "none in a context of several places");
  }
  close_world();
}
