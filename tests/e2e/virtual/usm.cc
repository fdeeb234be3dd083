// Unified shared memory: pointers that hold on both sides, copies between all kinds of memory, fills, what is asked of
// pointers, wrong calls. Prints what came of it; the same on any platform over the same device.
//
// Usage: usm work device|all [listed]; usm wrong|wild|lost
// listed: kernels are told what they reach, after which Intel's CPU driver (2026.2) refuses to launch them.
#include "tests/e2e/virtual/usm_program.h"

namespace {

struct Node {
  Node* next;
  cl_ulong value;
};

// Made here, followed there.
void linked_list(Kind kind) {
  constexpr size_t Nodes = 1000;
  Node* const nodes = allocate<Node>(kind, Nodes);
  auto* const sum = allocate<cl_ulong>(kind, 1);
  std::vector<Node> made(Nodes);
  for (size_t i = 0; i < Nodes; ++i) made[i] = {i == 777 ? nullptr : &nodes[(i + 389) % Nodes], i * 11};
  put(nodes, made.data(), Nodes * sizeof(Node));
  cl_kernel walk = kernel("walk");
  CHECK(usm.set_pointer(walk, 0, nodes + 5));  // into the middle
  CHECK(usm.set_pointer(walk, 1, sum));
  launch(walk);
  launch(walk);
  show("list", contents(sum, sizeof *sum));
  CHECK(clReleaseKernel(walk));
  cl_kernel chain = kernel("chain");
  const cl_int few = 100;
  CHECK(usm.set_pointer(chain, 0, nodes));
  CHECK(clSetKernelArg(chain, 1, sizeof few, &few));
  launch(chain);
  const std::vector<uint8_t> there = bytes_of(nodes, Nodes * sizeof(Node));
  std::memcpy(made.data(), there.data(), there.size());
  uint64_t all = 0, n = 0;
  for (const Node* p = made.data(); n < 5000; ++n) {
    all = all * 3 + p->value;
    if (!p->next) break;
    p = &made[static_cast<size_t>(p->next - nodes)];
  }
  show("the device's list", all + n);
  CHECK(clFinish(g_queue));
  CHECK(clReleaseKernel(chain));
  release(nodes);
  release(sum);
}

// Each node is an allocation of its own.
void scattered(Kind kind, bool listed) {
  constexpr size_t Nodes = 50;
  std::vector<Node*> nodes(Nodes);
  for (Node*& p : nodes) p = allocate<Node>(kind, 1);
  auto* const sum = allocate<cl_ulong>(Kind::Device, 1);
  for (size_t i = 0; i < Nodes; ++i) {
    const Node node{i + 1 < Nodes ? nodes[i + 1] : nullptr, i * i + 1};
    put(nodes[i], &node, sizeof node);
  }
  cl_kernel walk = kernel("walk");
  CHECK(usm.set_pointer(walk, 0, nodes[0]));
  CHECK(usm.set_pointer(walk, 1, sum));
  if (listed) {
    CHECK(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, Nodes * sizeof(void*), nodes.data()));
  } else {
    const cl_bool yes = CL_TRUE;
    for (const cl_kernel_exec_info any :
         {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
          CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL})
      CHECK(clSetKernelExecInfo(walk, any, sizeof yes, &yes));
  }
  launch(walk);
  show(listed ? "scattered, listed" : "scattered, any", contents(sum, sizeof *sum));
  cl_int err = 0;
  cl_kernel copy = clCloneKernel(walk, &err);
  CHECK(err);
  launch(copy);
  show("by a clone", contents(sum, sizeof *sum));
  show("one of them", contents(nodes[Nodes / 2], sizeof(Node)) != 0);
  CHECK(clFinish(g_queue));
  CHECK(clReleaseKernel(copy));
  CHECK(clReleaseKernel(walk));
  for (Node* p : nodes) release(p);
  release(sum);
}

void copies(Kind kind, size_t bytes) {
  auto* const a = allocate(kind, bytes);
  auto* const b = allocate(Kind::Device, bytes);
  const std::vector<uint8_t> from = pattern(bytes, 2);
  std::vector<uint8_t> to(bytes), last(bytes);
  cl_int err = 0;
  cl_event go = clCreateUserEvent(g_context, &err), copied = nullptr;
  CHECK(err);
  CHECK(usm.copy(g_queue, CL_FALSE, a, from.data(), bytes, 1, &go, nullptr));
  CHECK(usm.copy(g_queue, CL_FALSE, b, a, bytes, 0, nullptr, nullptr));
  CHECK(usm.copy(g_queue, CL_FALSE, b + 1, a + bytes / 2, bytes / 2 - 1, 0, nullptr, nullptr));
  CHECK(usm.copy(g_queue, CL_FALSE, a, a + bytes / 2, bytes / 2, 0, nullptr, nullptr));
  CHECK(usm.copy(g_queue, CL_FALSE, to.data(), b, bytes, 0, nullptr, nullptr));
  CHECK(usm.copy(g_queue, CL_FALSE, last.data(), to.data(), bytes, 0, nullptr, &copied));
  cl_int status = 0;
  CHECK(clGetEventInfo(copied, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status > CL_COMPLETE, "nothing is done before its turn");
  CHECK(clSetUserEventStatus(go, CL_COMPLETE));
  CHECK(clWaitForEvents(1, &copied));
  expect(last == to, "from host to host");
  show("there and back", digest(to.data(), bytes));
  show("inside", contents(a, bytes));
  CHECK(usm.copy(g_queue, CL_TRUE, to.data() + 5, a + 11, bytes - 11, 0, nullptr, nullptr));
  show("a part", digest(to.data(), bytes));
  count(a + bytes / 4, bytes / 2, 3);
  show("a kernel's", contents(a, bytes));
  count(a, bytes, 5);
  count(b, bytes, 7);
  CHECK(usm.copy(g_queue, CL_FALSE, b + bytes / 3, a + bytes / 5, bytes / 7, 0, nullptr, nullptr));
  show("two kernels'", contents(a, bytes) ^ contents(b, bytes));
  CHECK(clReleaseEvent(go));
  CHECK(clReleaseEvent(copied));
  release(a);
  release(b);
}

void fills(Kind kind) {
  constexpr size_t Bytes = 70'000;
  auto* const p = allocate(kind, Bytes);
  CHECK(usm.set(g_queue, p, 0, Bytes, 0, nullptr, nullptr));
  CHECK(usm.set(g_queue, p + 3, 0x1234, Bytes - 17, 0, nullptr, nullptr));
  const uint64_t words[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const size_t size : {size_t{1}, size_t{2}, size_t{8}, size_t{64}, size_t{128}})
    CHECK(usm.fill(g_queue, p + size * 40, words, size, size * 7, 0, nullptr, nullptr));
  show("filled", contents(p, Bytes));
  release(p);
}

void tell(const char* what, const void* base, const void* p) {
  cl_uint type = 0;
  void* begin = nullptr;
  size_t size = 0, told = 0;
  cl_device_id device = nullptr;
  cl_ulong flags = 0;
  CHECK(usm.info(g_context, p, CL_MEM_ALLOC_TYPE_INTEL, sizeof type, &type, &told));
  CHECK(usm.info(g_context, p, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof begin, &begin, nullptr));
  CHECK(usm.info(g_context, p, CL_MEM_ALLOC_SIZE_INTEL, sizeof size, &size, nullptr));
  CHECK(usm.info(g_context, p, CL_MEM_ALLOC_DEVICE_INTEL, sizeof device, &device, nullptr));
  CHECK(usm.info(g_context, p, CL_MEM_ALLOC_FLAGS_INTEL, sizeof flags, &flags, nullptr));
  std::printf("%s: type %x (%zu), begins %s, %zu bytes, %s, flags %llx\n", what, type, told,
              begin == nullptr ? "nowhere"
              : begin == base  ? "there"
                               : "ELSEWHERE",
              size,
              device == g_device ? "the device's"
              : device           ? "ANOTHER'S"
                                 : "no device's",
              static_cast<unsigned long long>(flags));
}

void infos(Kind kind) {
  auto* const p = allocate(kind, 1000);
  int mine = 0;
  tell("the first byte", p, p);
  tell("the last byte", p, p + 999);
  tell("behind it", p, p + 1000);
  tell("the host's", p, &mine);
  tell("NULL", p, nullptr);
  release(p);
  tell("freed", p, p);
  const cl_mem_properties_intel list[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0};
  cl_int err = 0;
  void* const combined = usm.device(g_context, g_device, list, 100, 64, &err);
  CHECK(err);
  tell("write-combined", combined, combined);
  release(combined);
}

void types(Kind kind) {
  auto* const p = allocate(kind, 4096);
  uint8_t mine[64] = {};
  cl_event events[4] = {};
  CHECK(usm.copy(g_queue, CL_FALSE, p, mine, sizeof mine, 0, nullptr, &events[0]));
  CHECK(usm.copy(g_queue, CL_FALSE, p + 100, p, 50, 0, nullptr, &events[1]));
  CHECK(usm.fill(g_queue, p, mine, 16, 64, 0, nullptr, &events[2]));
  CHECK(usm.set(g_queue, p, 1, 64, 0, nullptr, &events[3]));
  for (cl_event e : events) {
    cl_command_type type = 0;
    CHECK(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
    std::printf("a command: %x\n", type);
    CHECK(clReleaseEvent(e));
  }
  CHECK(clFinish(g_queue));
  release(p);
}

void many(Kind kind) {
  std::vector<uint8_t*> all;
  for (size_t i = 0; i < 200; ++i) all.push_back(allocate(kind, 1 + i * 37));
  for (size_t i = 0; i < all.size(); i += 2) {
    release(all[i]);
    all[i] = allocate(kind, 5 + i);
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK(usm.set(g_queue, all[i], static_cast<cl_int>(i), 1, 0, nullptr, nullptr));
    sum = sum * 3 + bytes_of(all[i], 1)[0];
  }
  show("many", sum);
  for (uint8_t* p : all) release(p);
}

// The memory goes when the kernel has ended.
void blocking_free(Kind kind) {
  auto* const p = allocate<cl_uint>(kind, 1);
  const cl_uint first = 5, rounds = 3'000'000;
  put(p, &first, sizeof first);
  cl_kernel slow = kernel("slow");
  CHECK(usm.set_pointer(slow, 0, p));
  CHECK(clSetKernelArg(slow, 1, sizeof rounds, &rounds));
  const size_t one = 1;
  cl_event over = nullptr;
  CHECK(clEnqueueNDRangeKernel(g_queue, slow, 1, nullptr, &one, nullptr, 0, nullptr, &over));
  CHECK(usm.blocking_free(g_context, p));
  cl_int status = 1;
  CHECK(clGetEventInfo(over, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status == CL_COMPLETE, "the kernel had ended");
  CHECK(clReleaseEvent(over));
  CHECK(clReleaseKernel(slow));
}

// The program uses the memory itself, between commands.
void touched(Kind kind, size_t bytes) {
  auto* const p = allocate(kind, bytes);
  auto* const sum = allocate<cl_ulong>(kind, 1);
  const std::vector<uint8_t> first = pattern(bytes, 3);
  std::memcpy(p, first.data(), bytes);
  cl_kernel total = kernel("total");
  const cl_ulong all = bytes;
  CHECK(usm.set_pointer(total, 0, p));
  CHECK(clSetKernelArg(total, 1, sizeof all, &all));
  CHECK(usm.set_pointer(total, 2, sum));
  launch(total);
  CHECK(clFinish(g_queue));
  show("the host's bytes", *sum);
  uint64_t seen = 0;
  for (int round = 0; round < 5; ++round) {
    for (size_t i = static_cast<size_t>(round) * 11; i < bytes; i += 4099) p[i] = static_cast<uint8_t>(p[i] + i + 7);
    count(p + bytes / 3, bytes / 4, 3 + round);
    launch(total);
    CHECK(clFinish(g_queue));
    seen = seen * 31 + *sum + p[bytes / 3] + p[bytes / 2] + p[bytes - 1];
  }
  show("rounds", seen);
  show("read by the host", digest(p, bytes));
  // Part of a page is the host's, another a command's.
  p[0] = 200;
  CHECK(usm.set(g_queue, p + 10, 9, bytes / 2, 0, nullptr, nullptr));
  CHECK(usm.copy(g_queue, CL_FALSE, p + bytes / 2 + 20, p + 5, 15, 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
  p[5] = 77;
  show("a fill's and the host's", digest(p, bytes));
  cl_event over = nullptr;
  const size_t items = bytes / 2;
  cl_kernel counts = kernel("count");
  const cl_int by = 13;
  CHECK(usm.set_pointer(counts, 0, p));
  CHECK(clSetKernelArg(counts, 1, sizeof by, &by));
  CHECK(clEnqueueNDRangeKernel(g_queue, counts, 1, nullptr, &items, nullptr, 0, nullptr, &over));
  CHECK(clWaitForEvents(1, &over));
  CHECK(clReleaseEvent(over));
  show("after an event", digest(p, bytes));
  // The memory as the host's side of other commands.
  cl_int err = 0;
  cl_mem buffer = clCreateBuffer(g_context, CL_MEM_COPY_HOST_PTR, bytes, p, &err);
  CHECK(err);
  count(p, bytes, 5);
  CHECK(clFinish(g_queue));
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, bytes / 2, p, 0, nullptr, nullptr));
  show("half of it read", digest(p, bytes));
  count(p, bytes, 6);
  CHECK(clFinish(g_queue));
  CHECK(clEnqueueWriteBuffer(g_queue, buffer, CL_TRUE, 0, bytes, p, 0, nullptr, nullptr));
  std::vector<uint8_t> back(bytes);
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, bytes, back.data(), 0, nullptr, nullptr));
  show("written from it", digest(back.data(), bytes));
  CHECK(clFinish(g_queue));
  CHECK(clReleaseMemObject(buffer));
  CHECK(clReleaseKernel(counts));
  CHECK(clReleaseKernel(total));
  release(p);
  release(sum);
}

// The host makes a list, the device changes and makes one; neither copies anything.
void shared_list(Kind kind) {
  constexpr size_t Nodes = 3000;
  Node* const nodes = allocate<Node>(kind, Nodes);
  auto* const sum = allocate<cl_ulong>(kind, 1);
  for (size_t i = 0; i < Nodes; ++i) nodes[i] = {i == 777 ? nullptr : &nodes[(i + 389) % Nodes], i * 11};
  cl_kernel walk = kernel("walk"), chain = kernel("chain");
  CHECK(usm.set_pointer(walk, 0, nodes + 5));
  CHECK(usm.set_pointer(walk, 1, sum));
  launch(walk);
  CHECK(clFinish(g_queue));
  uint64_t all = *sum;
  for (const Node* n = nodes + 5; n; n = n->next) all = all * 3 + n->value;
  nodes[5].next = nullptr;
  launch(walk);
  CHECK(clFinish(g_queue));
  show("the host's list", all * 5 + *sum);
  const cl_int few = 100;
  CHECK(usm.set_pointer(chain, 0, nodes));
  CHECK(clSetKernelArg(chain, 1, sizeof few, &few));
  launch(chain);
  CHECK(clFinish(g_queue));
  uint64_t n = 0;
  for (const Node* p = nodes; p && n < 5000; p = p->next, ++n) all = all * 3 + p->value;
  show("the device's list, followed", all + n);
  CHECK(clReleaseKernel(chain));
  CHECK(clReleaseKernel(walk));
  release(nodes);
  release(sum);
}

void work(Kind kind, bool listed) {
  std::printf("-- %s\n", name_of(kind));
  linked_list(kind);
  scattered(kind, false);
  if (listed) scattered(kind, true);
  for (const size_t bytes : {size_t{1000}, size_t{100'000}, size_t{5'000'007}}) copies(kind, bytes);
  fills(kind);
  infos(kind);
  types(kind);
  many(kind);
  blocking_free(kind);
  cl_device_type type = 0;  // a CPU's device memory is touched by libraries that know that it is the host's
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_TYPE, sizeof type, &type, nullptr));
  if (kind == Kind::Device && !(type & CL_DEVICE_TYPE_CPU)) return;
  for (const size_t bytes : {size_t{100}, size_t{10'000}, size_t{3'000'001}}) touched(kind, bytes);
  shared_list(kind);
}

void say(const std::string& what, cl_int code) { std::printf("%s %d\n", what.c_str(), code); }

void wrong_allocations() {
  const auto device = [](const char* what, const cl_mem_properties_intel* list, size_t bytes, cl_uint alignment) {
    cl_int err = 1;
    void* const p = usm.device(g_context, g_device, list, bytes, alignment, &err);
    say(std::string("alloc: ") + what, p ? 0 : err);
    if (p) release(p);
  };
  cl_ulong most = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr));
  device("nothing", nullptr, 0, 0);
  device("more than there may be", nullptr, most + 1, 0);
  device("an alignment of 3", nullptr, 100, 3);
  device("an alignment of 65536", nullptr, 100, 65536);
  const cl_mem_properties_intel none[] = {0}, unknown[] = {0x1234, 1, 0},
                                flags[] = {CL_MEM_ALLOC_FLAGS_INTEL, 1 << 8, 0};
  device("an empty list", none, 100, 0);
  device("an unknown property", unknown, 100, 0);
  device("an unknown flag", flags, 100, 0);
  cl_int err = 1;
  usm.device(nullptr, g_device, nullptr, 100, 0, &err);
  say("alloc: no context", err);
  usm.device(g_context, nullptr, nullptr, 100, 0, &err);
  say("alloc: no device", err);
  expect(usm.device(g_context, nullptr, nullptr, 100, 0, nullptr) == nullptr, "no code is wanted");
}

void wrong_commands() {
  auto* const p = allocate(Kind::Device, 1000);
  uint8_t mine[128] = {};
  cl_int err = 0;
  cl_event failed = clCreateUserEvent(g_context, &err);
  CHECK(clSetUserEventStatus(failed, -7));
  say("copy: no queue", usm.copy(nullptr, CL_TRUE, p, mine, 10, 0, nullptr, nullptr));
  say("copy: into itself", usm.copy(g_queue, CL_TRUE, p + 10, p, 100, 0, nullptr, nullptr));
  say("copy: nothing", usm.copy(g_queue, CL_TRUE, p, mine, 0, 0, nullptr, nullptr));
  say("copy: after a failed event", usm.copy(g_queue, CL_TRUE, p, mine, 10, 1, &failed, nullptr));
  say("copy: a list of none", usm.copy(g_queue, CL_TRUE, p, mine, 10, 1, nullptr, nullptr));
  say("fill: no pattern", usm.fill(g_queue, p, nullptr, 4, 16, 0, nullptr, nullptr));
  say("fill: NULL", usm.fill(g_queue, nullptr, mine, 4, 16, 0, nullptr, nullptr));
  for (const size_t size : {size_t{0}, size_t{3}, size_t{256}})
    say("fill: a pattern of " + std::to_string(size), usm.fill(g_queue, p, mine, size, 768, 0, nullptr, nullptr));
  say("fill: half a pattern", usm.fill(g_queue, p, mine, 4, 10, 0, nullptr, nullptr));
  say("fill: between two", usm.fill(g_queue, p + 1, mine, 4, 16, 0, nullptr, nullptr));
  say("migrate: an unknown flag", usm.migrate(g_queue, p, 100, 1 << 8, 0, nullptr, nullptr));
  say("migrate: NULL", usm.migrate(g_queue, nullptr, 100, 0, 0, nullptr, nullptr));
  say("advise: NULL", usm.advise(g_queue, nullptr, 100, 0, 0, nullptr, nullptr));
  size_t told = 0;
  say("info: unknown", usm.info(g_context, p, 0x1234, 8, mine, &told));
  say("info: no room", usm.info(g_context, p, CL_MEM_ALLOC_SIZE_INTEL, 4, mine, &told));
  say("info: no context", usm.info(nullptr, p, CL_MEM_ALLOC_SIZE_INTEL, 8, mine, &told));
  CHECK(clReleaseEvent(failed));
  CHECK(clFinish(g_queue));
  release(p);
}

void wrong_kernels() {
  auto* const p = allocate(Kind::Device, 1000);
  cl_kernel k = kernel("count");
  say("arg: no kernel", usm.set_pointer(nullptr, 0, p));
  say("arg: an index too far", usm.set_pointer(k, 9, p));
  say("arg: a number", usm.set_pointer(k, 1, p));
  say("arg: the end", usm.set_pointer(k, 0, p + 1000));
  say("arg: NULL", usm.set_pointer(k, 0, nullptr));
  say("arg: by the other function", clSetKernelArgSVMPointer(k, 0, p));
  const cl_bool yes = CL_TRUE;
  say("any: no value", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, sizeof yes, nullptr));
  const void* list[] = {p, p + 5};
  say("list: half a pointer", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 7, list));
  say("list: no list", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof list, nullptr));
  say("list: two", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof list, list));
  CHECK(clReleaseKernel(k));
  release(p);
}

void wrong_frees() {
  auto* const p = allocate(Kind::Device, 1000);
  say("free: no context", usm.free(nullptr, p));
  say("free: NULL", usm.free(g_context, nullptr));
  say("free, blocking: NULL", usm.blocking_free(g_context, nullptr));
  say("free: the middle", usm.free(g_context, p + 10));
  say("free", usm.free(g_context, p));
  say("free: again", usm.free(g_context, p));
  auto* const q = allocate(Kind::Device, 1000);
  say("free, blocking", usm.blocking_free(g_context, q));
  say("free, blocking: again", usm.blocking_free(g_context, q));
}

// What drivers crash on.
void wild() {
  auto* const p = allocate(Kind::Device, 1000);
  uint8_t mine[2000] = {};
  say("copy: to NULL", usm.copy(g_queue, CL_TRUE, nullptr, mine, 10, 0, nullptr, nullptr));
  say("copy: from NULL", usm.copy(g_queue, CL_TRUE, mine, nullptr, 10, 0, nullptr, nullptr));
  say("copy: past the end", usm.copy(g_queue, CL_TRUE, mine, p + 900, 101, 0, nullptr, nullptr));
  say("copy: to past the end", usm.copy(g_queue, CL_TRUE, p, mine, 1001, 0, nullptr, nullptr));
  say("fill: past the end", usm.fill(g_queue, p, mine, 1, 1001, 0, nullptr, nullptr));
  say("set: past the end", usm.set(g_queue, p, 1, 1001, 0, nullptr, nullptr));
  say("set: the host's", usm.set(g_queue, mine, 1, 10, 0, nullptr, nullptr));
  cl_kernel k = kernel("count");
  say("arg: the host's", usm.set_pointer(k, 0, mine));
  say("arg: past the end", usm.set_pointer(k, 0, p + 100'000));
  const void* list[] = {p, mine};
  say("list: the host's", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof list, list));
  say("free: the host's", usm.free(g_context, mine));
  CHECK(usm.free(g_context, p));
  say("arg: freed", usm.set_pointer(k, 0, p));
  say("set: freed", usm.set(g_queue, p, 1, 10, 0, nullptr, nullptr));
  CHECK(clReleaseKernel(k));
  CHECK(clFinish(g_queue));
}

void lost() {
  auto* const p = allocate(Kind::Device, 1000);
  auto* const mixed = allocate(Kind::Shared, 100'000);
  std::memset(mixed, 7, 100'000);
  count(mixed, 100'000, 1);
  CHECK(clFinish(g_queue));
  const int there = mixed[3];
  count(mixed, 100'000, 1);
  CHECK(clFinish(g_queue));
  std::printf("ready\n");
  std::fflush(stdout);
  std::getchar();
  uint8_t mine[10] = {};
  say("copy", usm.copy(g_queue, CL_TRUE, mine, p, 10, 0, nullptr, nullptr));
  say("set", usm.set(g_queue, p, 1, 10, 0, nullptr, nullptr));
  say("info", usm.info(g_context, p, CL_MEM_ALLOC_SIZE_INTEL, 8, mine, nullptr));
  cl_int err = 0;
  usm.device(g_context, g_device, nullptr, 100, 0, &err);
  say("alloc", err);
  std::printf("a page: %d, then %s\n", there, mixed[3] == there || mixed[3] == there + 3 ? "as it was" : "OTHERWISE");
  mixed[90'000] = 5;
  std::printf("written: %d\n", mixed[90'000]);
  say("free", usm.free(g_context, mixed));
  say("free, blocking", usm.blocking_free(g_context, p));
  std::printf("end\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "work";
  open_world();
  if (what == "lost") {
    lost();
    std::fflush(stdout);
    std::_Exit(0);
  }
  if (what == "work") {
    const bool listed = argc > 3;
    work(Kind::Device, listed);
    if (argc > 2 && std::string(argv[2]) == "all") {
      work(Kind::Host, listed);
      work(Kind::Shared, listed);
    }
  } else if (what == "wrong") {
    wrong_allocations();
    wrong_commands();
    wrong_kernels();
    wrong_frees();
  } else {
    wild();
  }
  close_world();
}
