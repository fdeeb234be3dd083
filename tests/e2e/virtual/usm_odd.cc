// Unified shared memory in programs that do odd things with it: touch it in many threads, hand it to other contexts and
// devices, record it, reserve much of it, follow wild pointers in it. Prints what came of it, "NO" where that is wrong.
//
// Usage: usm_odd contexts|devices|recorded|threads|held|failed|huge|wild|out
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/e2e/virtual/usm_program.h"

namespace {

constexpr size_t Bytes = OddBytes;

// --- other contexts, other devices ---

void contexts() {
  cl_int err = 0;
  cl_context other = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, &err);
  CHECK(err);
  cl_command_queue queue = clCreateCommandQueue(other, g_device, 0, &err);
  CHECK(err);
  auto* const p = static_cast<uint8_t*>(usm.shared(other, g_device, nullptr, Bytes, 0, &err));
  CHECK(err);
  auto* const mine = allocate(Kind::Shared, Bytes);
  write_counted(p, Bytes, 1);
  cl_kernel k = kernel("count");
  say("arg", usm.set_pointer(k, 0, p));
  const void* list[] = {p};
  say("list", clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof list, list));
  say("free", usm.free(g_context, p));
  say("free, blocking", usm.blocking_free(g_context, p));
  say("set", usm.set(g_queue, p, 1, 10, 0, nullptr, nullptr));
  say("migrate", usm.migrate(g_queue, p, 10, 0, 0, nullptr, nullptr));
  cl_uint type = 1;
  CHECK(usm.info(g_context, p, CL_MEM_ALLOC_TYPE_INTEL, sizeof type, &type, nullptr));
  expect(type == CL_MEM_TYPE_UNKNOWN_INTEL, "of a type that is unknown here");
  // To copies it is memory of the program's.
  CHECK(usm.copy(g_queue, CL_TRUE, mine, p, Bytes, 0, nullptr, nullptr));
  expect(is_counted(mine, Bytes, 1), "copied from there");
  CHECK(usm.set(queue, p, 0, Bytes, 0, nullptr, nullptr));
  CHECK(clFinish(queue));
  count(mine, Bytes, 2);
  CHECK(usm.copy(g_queue, CL_TRUE, p + 1, mine + 1, Bytes - 1, 0, nullptr, nullptr));
  expect(is_counted(p, Bytes, 3), "copied to there");
  CHECK(usm.set(queue, p, 9, 1, 0, nullptr, nullptr));
  CHECK(clFinish(queue));
  expect(p[0] == 9 && is_counted(p + 1, Bytes - 1, 3, 3), "which goes on with it");
  std::vector<uint8_t> back(Bytes);
  CHECK(usm.set(queue, p, 5, Bytes, 0, nullptr, nullptr));
  CHECK(clFinish(queue));
  CHECK(usm.copy(g_queue, CL_TRUE, back.data(), p, Bytes, 0, nullptr, nullptr));
  expect(is_counted(back.data(), Bytes, 0, 5), "from there to the program's");
  CHECK(usm.set(queue, p, 6, Bytes, 0, nullptr, nullptr));
  CHECK(usm.copy(g_queue, CL_TRUE, p + 5, back.data(), Bytes - 5, 0, nullptr, nullptr));
  expect(is_counted(p + 5, Bytes - 5, 0, 5) && p[4] == 6, "and back");
  CHECK(usm.free(other, p));
  CHECK(clReleaseKernel(k));
  CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseContext(other));
  release(mine);
}

// Two devices of two executors in one context.
void devices() {
  cl_device_id all[2] = {};
  CHECK(clGetDeviceIDs(g_platform, CL_DEVICE_TYPE_ALL, 2, all, nullptr));
  cl_int err = 0;
  cl_context both = clCreateContext(nullptr, 2, all, nullptr, nullptr, &err);
  CHECK(err);
  const char* source = Source;
  cl_program program = clCreateProgramWithSource(both, 1, &source, nullptr, &err);
  CHECK(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  cl_command_queue queues[2] = {};
  uint8_t *mixed[2] = {}, *own[2] = {};
  cl_kernel kernels[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    queues[i] = clCreateCommandQueue(both, all[i], 0, &err);
    CHECK(err);
    mixed[i] = static_cast<uint8_t*>(usm.shared(both, all[i], nullptr, Bytes, 0, &err));
    CHECK(err);
    own[i] = static_cast<uint8_t*>(usm.device(both, all[i], nullptr, Bytes, 0, &err));
    CHECK(err);
    kernels[i] = clCreateKernel(program, "count", &err);
    CHECK(err);
  }
  expect(!usm.host(both, nullptr, 100, 0, &err), "no host memory");
  say("host", err);
  expect(!usm.shared(both, nullptr, nullptr, 100, 0, &err), "no shared memory of all");
  say("shared", err);
  const size_t items = Bytes;
  for (size_t i = 0; i < 2; ++i) {
    const cl_int by = static_cast<cl_int>(i) + 2;
    write_counted(mixed[i], Bytes, 1);
    CHECK(usm.set_pointer(kernels[i], 0, mixed[i]));
    CHECK(clSetKernelArg(kernels[i], 1, sizeof by, &by));
    CHECK(clEnqueueNDRangeKernel(queues[i], kernels[i], 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
    CHECK(usm.copy(queues[i], CL_FALSE, own[i], mixed[i], Bytes, 0, nullptr, nullptr));
  }
  for (cl_command_queue queue : queues) CHECK(clFinish(queue));
  expect(is_counted(mixed[0], Bytes, 3) && is_counted(mixed[1], Bytes, 4), "each device's own");
  // Across.
  const cl_int code = clEnqueueNDRangeKernel(queues[1], kernels[0], 1, nullptr, &items, nullptr, 0, nullptr, nullptr);
  const cl_int ended = clFinish(queues[1]);
  expect(code != CL_SUCCESS || ended != CL_SUCCESS, "the other's memory in a kernel is refused");
  say("copy", usm.copy(queues[1], CL_TRUE, mixed[1], mixed[0], Bytes, 0, nullptr, nullptr));
  say("set", usm.set(queues[1], own[0], 1, 1, 0, nullptr, nullptr));
  std::vector<uint8_t> through(Bytes);
  CHECK(usm.copy(queues[0], CL_TRUE, through.data(), own[0], Bytes, 0, nullptr, nullptr));
  CHECK(usm.copy(queues[1], CL_TRUE, own[1], through.data(), Bytes, 0, nullptr, nullptr));
  CHECK(usm.copy(queues[1], CL_TRUE, mixed[1], own[1], Bytes, 0, nullptr, nullptr));
  expect(is_counted(mixed[1], Bytes, 3), "by way of the host");
  for (size_t i = 0; i < 2; ++i) {
    CHECK(usm.free(both, mixed[i]));
    CHECK(usm.free(both, own[i]));
    CHECK(clReleaseKernel(kernels[i]));
    CHECK(clReleaseCommandQueue(queues[i]));
  }
  CHECK(clReleaseProgram(program));
  CHECK(clReleaseContext(both));
}

// --- recorded ---

void recorded() {
  clCreateCommandBufferKHR_fn create;
  clFinalizeCommandBufferKHR_fn finalize;
  clReleaseCommandBufferKHR_fn let_go;
  clEnqueueCommandBufferKHR_fn run;
  clCommandNDRangeKernelKHR_fn record;
  find_function(create, "clCreateCommandBufferKHR");
  find_function(finalize, "clFinalizeCommandBufferKHR");
  find_function(let_go, "clReleaseCommandBufferKHR");
  find_function(run, "clEnqueueCommandBufferKHR");
  find_function(record, "clCommandNDRangeKernelKHR");
  auto* const p = allocate(Kind::Shared, Bytes);
  auto* const q = allocate(Kind::Host, Bytes);
  cl_int err = 0;
  const cl_command_buffer_khr buffer = create(1, &g_queue, nullptr, &err);
  CHECK(err);
  cl_kernel k = kernel("count");
  const size_t items = Bytes;
  for (uint8_t* const memory : {p, q}) {
    const cl_int by = memory == p ? 1 : 2;
    CHECK(usm.set_pointer(k, 0, memory));
    CHECK(clSetKernelArg(k, 1, sizeof by, &by));
    CHECK(record(buffer, nullptr, nullptr, k, 1, nullptr, &items, nullptr, 0, nullptr, nullptr, nullptr));
  }
  CHECK(finalize(buffer));
  bool good = true;
  for (size_t round = 0; round < 5; ++round) {
    write_counted(p, Bytes, round);
    write_counted(q, Bytes, round);
    cl_event over = nullptr;
    CHECK(run(0, nullptr, buffer, 0, nullptr, round % 2 ? &over : nullptr));
    CHECK(over ? clWaitForEvents(1, &over) : clFinish(g_queue));
    if (over) CHECK(clReleaseEvent(over));
    good = good && is_counted(p, Bytes, round + 1) && is_counted(q, Bytes, round + 2);
    CHECK(clFinish(g_queue));
  }
  expect(good, "what was written before each run, and what it wrote");
  CHECK(let_go(buffer));
  CHECK(clReleaseKernel(k));
  release(p);
  release(q);
}

// --- threads ---

// Each has memory, a kernel and a queue of its own, but a launch may see what all have.
void threads() {
  constexpr int Threads = 4, Rounds = 60;
  std::atomic<int> wrong{0};
  const auto work = [&](int number) {
    cl_int err = 0;
    cl_command_queue queue = clCreateCommandQueue(g_context, g_device, 0, &err);
    cl_kernel k = kernel("count");
    const cl_bool yes = CL_TRUE;
    CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, sizeof yes, &yes));
    CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, sizeof yes, &yes));
    auto* const p = allocate(number % 2 ? Kind::Shared : Kind::Host, Bytes);
    const cl_int by = number + 1;
    const size_t items = Bytes;
    CHECK(usm.set_pointer(k, 0, p));
    CHECK(clSetKernelArg(k, 1, sizeof by, &by));
    for (size_t round = 0; round < Rounds; ++round) {
      write_counted(p, Bytes, round, static_cast<size_t>(number));
      CHECK(clEnqueueNDRangeKernel(queue, k, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
      CHECK(clFinish(queue));
      wrong += !is_counted(p, Bytes, round + static_cast<size_t>(by), static_cast<size_t>(number));
      for (size_t i = 0; i < Bytes; i += 5000) ++p[i];  // others launch meanwhile
      for (size_t i = 0; i < Bytes; i += 5000)
        wrong += p[i] != static_cast<uint8_t>(i * (round + static_cast<size_t>(by)) + static_cast<size_t>(number) + 1);
    }
    release(p);
    CHECK(clReleaseKernel(k));
    CHECK(clReleaseCommandQueue(queue));
  };
  std::vector<std::thread> all;
  for (int i = 0; i < Threads; ++i) all.emplace_back(work, i);
  for (std::thread& t : all) t.join();
  std::printf("%d times wrong\n", wrong.load());
}

// --- held up by the program ---

cl_event user_event() {
  cl_int err = 0;
  const cl_event event = clCreateUserEvent(g_context, &err);
  CHECK(err);
  return event;
}
void set(cl_event event, cl_int status = CL_COMPLETE) {
  CHECK(clSetUserEventStatus(event, status));
  CHECK(clReleaseEvent(event));
}
cl_kernel counting(uint8_t* p, cl_int by) {
  cl_kernel k = kernel("count");
  CHECK(usm.set_pointer(k, 0, p));
  CHECK(clSetKernelArg(k, 1, sizeof by, &by));
  return k;
}
void enqueue(cl_command_queue queue, cl_kernel k, std::vector<cl_event> after, cl_event* event = nullptr) {
  const size_t items = Bytes;
  const auto n = static_cast<cl_uint>(after.size());
  CHECK(clEnqueueNDRangeKernel(queue, k, 1, nullptr, &items, nullptr, n, n ? after.data() : nullptr, event));
}

// Commands that cannot start before the program sets an event leave it the memory until then.
void held() {
  cl_int err = 0;
  auto* const p = allocate(Kind::Shared, Bytes);
  auto* const q = allocate(Kind::Host, Bytes);
  cl_kernel k = counting(p, 1);
  cl_command_queue second = clCreateCommandQueue(g_context, g_device, 0, &err);
  CHECK(err);
  cl_command_queue unordered = clCreateCommandQueue(g_context, g_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
  CHECK(err);
  write_counted(p, Bytes, 1);
  cl_event go = user_event();
  enqueue(g_queue, k, {go});
  enqueue(g_queue, k, {});  // behind it
  expect(is_counted(p, Bytes, 1), "read before it starts");
  write_counted(p, Bytes, 5);
  set(go);
  CHECK(clFinish(g_queue));
  expect(is_counted(p, Bytes, 7), "written before it starts");

  enqueue(g_queue, k, {});
  CHECK(clFinish(g_queue));
  go = user_event();
  cl_event over = nullptr, last = nullptr;
  enqueue(g_queue, k, {go}, &over);
  enqueue(second, k, {over}, &last);
  expect(is_counted(p, Bytes, 8), "what the device wrote before");
  p[4] = 100;
  CHECK(clFlush(g_queue));
  set(go);
  CHECK(clWaitForEvents(1, &last));
  expect(p[4] == 108 && is_counted(p + 5, Bytes - 5, 10, 50), "behind an event of another queue");
  CHECK(clReleaseEvent(over));
  CHECK(clReleaseEvent(last));

  cl_event a = user_event(), b = user_event();
  write_counted(q, Bytes, 2);
  CHECK(usm.copy(unordered, CL_FALSE, p, q, Bytes, 1, &a, nullptr));
  CHECK(clEnqueueBarrierWithWaitList(unordered, 1, &b, nullptr));
  CHECK(clEnqueueBarrierWithWaitList(unordered, 0, nullptr, nullptr));
  enqueue(unordered, k, {});
  p[0] = 1;
  q[3] = 200;
  set(b);
  q[4] = 201;
  expect(p[0] == 1, "behind two events, one of which is set");
  set(a);
  CHECK(clFinish(unordered));
  expect(p[3] == 203 && p[4] == 205 && is_counted(p + 5, Bytes - 5, 3, 15), "what was written until the last one");

  go = user_event();
  enqueue(g_queue, k, {go});
  std::thread other([&] {
    ::usleep(20'000);
    set(go);
  });
  expect(p[5] == 15 || p[5] == 20, "while another thread sets it");
  other.join();
  CHECK(clFinish(g_queue));
  expect(p[5] == 20, "and when it is set");

  CHECK(clReleaseCommandQueue(second));
  CHECK(clReleaseCommandQueue(unordered));
  CHECK(clReleaseKernel(k));
  release(p);
  release(q);
}

// PoCL by itself ends the process.
void failed() {
  cl_int err = 0;
  auto* const p = allocate(Kind::Shared, Bytes);
  cl_kernel k = counting(p, 1);
  write_counted(p, Bytes, 3);
  cl_command_queue queue = clCreateCommandQueue(g_context, g_device, 0, &err);
  CHECK(err);
  cl_event go = user_event();
  enqueue(queue, k, {go});
  p[5] = 40;
  set(go, -7);
  expect(p[5] == 40 && p[6] == 18, "where the event fails nothing is written");
  enqueue(g_queue, k, {});
  CHECK(clFinish(g_queue));
  expect(p[5] == 45 && p[6] == 24, "and what follows has it");
  CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseKernel(k));
  release(p);
}

// --- much of it ---

void huge() {
  constexpr size_t Much = size_t{64} << 30;
  cl_int err = 0;
  auto* const p = static_cast<uint8_t*>(usm.shared(g_context, g_device, nullptr, Much, 0, &err));
  say("64 GiB", err);
  auto* const own = static_cast<uint8_t*>(usm.device(g_context, g_device, nullptr, Much, 0, &err));
  say("on the device", err);
  for (size_t at = 0; at < Much; at += Much / 64) p[at] = static_cast<uint8_t>(at >> 24);
  uint8_t* const far = p + Much - Bytes;
  write_counted(far, Bytes, 1);
  count(far, Bytes, 2);
  CHECK(clFinish(g_queue));
  expect(is_counted(far, Bytes, 3), "the end of it");
  bool good = true;
  for (size_t at = 0; at < Much; at += Much / 64) good = good && p[at] == static_cast<uint8_t>(at >> 24);
  expect(good, "here and there");
  CHECK(usm.copy(g_queue, CL_TRUE, own + Much - Bytes, far, Bytes, 0, nullptr, nullptr));
  std::vector<uint8_t> back(Bytes);
  CHECK(usm.copy(g_queue, CL_TRUE, back.data(), own + Much - Bytes, Bytes, 0, nullptr, nullptr));
  expect(is_counted(back.data(), Bytes, 3), "by the device's");
  release(p);
  release(own);
}

// --- wild pointers, and what a killed program leaves ---

struct Node {
  Node* next;
  cl_ulong value;
};

void wild() {
  auto* const nodes = allocate<Node>(Kind::Shared, 1000);
  auto* const sum = allocate<cl_ulong>(Kind::Shared, 1);
  auto* const p = allocate(Kind::Shared, Bytes);
  write_counted(p, Bytes, 1);
  count(p, Bytes, 1);
  nodes[0] = {nodes + 1, 1};
  nodes[1] = {reinterpret_cast<Node*>(0x123456789000), 2};  // which the driver follows
  cl_kernel walk = kernel("walk");
  const cl_bool yes = CL_TRUE;
  CHECK(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, sizeof yes, &yes));
  CHECK(usm.set_pointer(walk, 0, nodes));
  CHECK(usm.set_pointer(walk, 1, sum));
  launch(walk);
  say("finish", clFinish(g_queue));
  const uint8_t any = p[Bytes / 2];  // nobody has the device's bytes any more
  p[Bytes / 2] = static_cast<uint8_t>(any + 1);
  expect(p[Bytes / 2] == static_cast<uint8_t>(any + 1), "the memory stays");
  say("launch", usm.set(g_queue, p, 1, 1, 0, nullptr, nullptr));
  say("free", usm.free(g_context, p));
  std::printf("end\n");
  std::fflush(stdout);
  std::_Exit(0);
}

// Until it is killed: pages of all kinds are out, some on their way.
void out() {
  auto* const p = allocate(Kind::Shared, Bytes);
  auto* const q = allocate(Kind::Host, 50 * Bytes);
  for (int i = 0;; ++i) {
    write_counted(p, Bytes, 1);
    std::memset(q, i, 50 * Bytes);
    count(q, 50 * Bytes, 1);
    count(p, Bytes, 1);
    CHECK(clFinish(g_queue));
    if (i == 3) std::printf("ready\n"), std::fflush(stdout);
    if (q[17] != static_cast<uint8_t>(i + 17)) expect(false, "bytes");
    count(q, 50 * Bytes, 1);
  }
}

}  // namespace

int main(int, char** argv) {
  run_part(argv[1], {{"contexts", contexts},
                     {"devices", devices},
                     {"recorded", recorded},
                     {"threads", threads},
                     {"held", held},
                     {"failed", failed},
                     {"huge", huge},
                     {"wild", wild},
                     {"out", out}});
}
