// Fine-grained shared virtual memory: what the program and kernels write without maps, and with them, beside each other
// and held up by the program. Prints what came of it, "NO" where that is wrong; the same on any platform over the same
// device.
//
// Usage: svm_fine work|beside|threads|held|lost|fork|none
#include <CL/cl_ext.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/e2e/virtual/svm_program.h"

namespace {

constexpr size_t Bytes = 200'000;

template <class T = uint8_t>
T* fine(size_t n) {
  return allocate<T>(n, CL_MEM_SVM_FINE_GRAIN_BUFFER);
}
cl_kernel counting(const void* p, cl_int by) {
  cl_kernel k = kernel("count");
  CHECK(clSetKernelArgSVMPointer(k, 0, p));
  CHECK(clSetKernelArg(k, 1, sizeof by, &by));
  return k;
}
void count(void* p, size_t items, cl_int by) {
  cl_kernel k = counting(p, by);
  launch(k, items);
  CHECK(clReleaseKernel(k));
}
// p[i] = i * by + from, for all.
bool is_counted(const uint8_t* p, size_t bytes, size_t by, size_t from = 0) {
  for (size_t i = 0; i < bytes; ++i)
    if (p[i] != static_cast<uint8_t>(i * by + from)) return false;
  return true;
}
void write_counted(uint8_t* p, size_t bytes, size_t by, size_t from = 0) {
  for (size_t i = 0; i < bytes; ++i) p[i] = static_cast<uint8_t>(i * by + from);
}

// --- between commands ---

void touched(size_t bytes) {
  auto* const p = fine(bytes);
  auto* const sum = fine<cl_ulong>(1);
  const std::vector<uint8_t> first = pattern(bytes, 3);
  std::memcpy(p, first.data(), bytes);
  cl_kernel total = kernel("total");
  const cl_ulong all = bytes;
  CHECK(clSetKernelArgSVMPointer(total, 0, p));
  CHECK(clSetKernelArg(total, 1, sizeof all, &all));
  CHECK(clSetKernelArgSVMPointer(total, 2, sum));
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
  // By commands, by maps, and by the host: each a part of a page.
  const uint8_t nine = 9;
  p[0] = 200;
  CHECK(clEnqueueSVMMemFill(g_queue, p + 10, &nine, 1, bytes / 2, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, p + bytes / 2 + 20, p + 5, 15, 0, nullptr, nullptr));
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, p + bytes / 2 + 60, first.data(), 100, 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
  p[5] = 77;
  show("a fill's and the host's", digest(p, bytes));
  show("by a map", contents(p, bytes));
  std::vector<uint8_t> to(bytes);
  p[6] = 78;
  CHECK(clEnqueueSVMMemcpy(g_queue, CL_TRUE, to.data(), p, bytes, 0, nullptr, nullptr));
  show("by a copy", digest(to.data(), bytes));
  map(p + 4, bytes / 2, CL_MAP_READ | CL_MAP_WRITE);
  p[6] = static_cast<uint8_t>(p[6] + 1);
  unmap(p + 4);
  p[7] = 79;
  count(p, bytes, 1);
  cl_event mapped = nullptr, unmapped = nullptr;
  CHECK(clEnqueueSVMMap(g_queue, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, p + 3, 100, 0, nullptr, &mapped));
  CHECK(clWaitForEvents(1, &mapped));
  std::memcpy(p + 3, first.data(), 100);
  CHECK(clEnqueueSVMUnmap(g_queue, p + 3, 0, nullptr, &unmapped));
  count(p, bytes, 2);
  CHECK(clFinish(g_queue));
  show("maps and kernels", digest(p, bytes));
  CHECK(clReleaseEvent(mapped));
  CHECK(clReleaseEvent(unmapped));
  CHECK(clReleaseKernel(total));
  clSVMFree(g_context, p);
  clSVMFree(g_context, sum);
}

struct Node {
  Node* next;
  cl_ulong value;
};

// Each node is a block of its own: told to the kernel, or not, which drivers let pass.
void lists(bool told) {
  constexpr size_t Nodes = 50;
  std::vector<Node*> nodes(Nodes);
  for (Node*& p : nodes) p = fine<Node>(1);
  auto* const sum = fine<cl_ulong>(1);
  for (size_t i = 0; i < Nodes; ++i) *nodes[i] = {i + 1 < Nodes ? nodes[i + 1] : nullptr, i * i + 1};
  cl_kernel walk = kernel("walk");
  CHECK(clSetKernelArgSVMPointer(walk, 0, nodes[0]));
  CHECK(clSetKernelArgSVMPointer(walk, 1, sum));
  if (told) CHECK(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, Nodes * sizeof(void*), nodes.data()));
  launch(walk);
  CHECK(clFinish(g_queue));
  show(told ? "a list that was told" : "a list that was not", *sum);
  for (Node* p : nodes) p->value *= 3;
  nodes[Nodes / 2]->next = nullptr;
  launch(walk);
  CHECK(clFinish(g_queue));
  uint64_t all = *sum;
  for (const Node* p : nodes) all = all * 5 + p->value;
  show("changed by both", all);
  CHECK(clReleaseKernel(walk));
  for (Node* p : nodes) clSVMFree(g_context, p);
  void* last[] = {sum};
  CHECK(clEnqueueSVMFree(g_queue, 1, last, nullptr, nullptr, 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
}

// Commands on buffers over it.
void buffers() {
  auto* const p = fine(Bytes);
  write_counted(p, Bytes, 1);
  cl_int err = 0;
  cl_mem buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, Bytes, p, &err);
  CHECK(err);
  const cl_buffer_region region{Bytes / 2 / 4096 * 4096, 50'000};
  cl_mem part = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
  CHECK(err);
  std::vector<uint8_t> to(Bytes);
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, Bytes, to.data(), 0, nullptr, nullptr));
  expect(is_counted(to.data(), Bytes, 1), "a buffer has what the host wrote");
  p[1] = 100;
  CHECK(clEnqueueWriteBuffer(g_queue, buffer, CL_TRUE, 10, 1000, to.data(), 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
  expect(p[1] == 100 && is_counted(p + 10, 1000, 1) && is_counted(p + 1010, Bytes - 1010, 1, 1010 % 256),
         "written through the buffer, and by the host");
  cl_kernel k = kernel("count");
  const cl_int one = 1;
  CHECK(clSetKernelArg(k, 0, sizeof part, &part));
  CHECK(clSetKernelArg(k, 1, sizeof one, &one));
  p[region.origin + 1] = 50;
  launch(k, region.size);
  CHECK(clFinish(g_queue));
  expect(p[region.origin + 1] == 51 && is_counted(p + region.origin + 2, region.size - 2, 2, region.origin % 256 + 4),
         "changed through a part, by its kernel");
  void* const at =
      clEnqueueMapBuffer(g_queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 64, 4096, 0, nullptr, nullptr, &err);
  CHECK(err);
  expect(at == p + 64, "a map of the buffer is in the block");
  std::memset(at, 1, 4000);
  CHECK(clEnqueueUnmapMemObject(g_queue, buffer, at, 0, nullptr, nullptr));
  CHECK(clEnqueueCopyBuffer(g_queue, buffer, part, 64, 0, 4096, 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
  expect(p[region.origin] == 1 && p[region.origin + 3999] == 1, "a map's bytes are copied");
  show("all of it", digest(p, Bytes));
  CHECK(clReleaseKernel(k));
  CHECK(clReleaseMemObject(part));
  CHECK(clReleaseMemObject(buffer));
  CHECK(clFinish(g_queue));
  clSVMFree(g_context, p);
}

// Between fine-grained and coarse-grained blocks, in two queues, one without an order.
void kinds() {
  cl_int err = 0;
  cl_command_queue other = clCreateCommandQueue(g_context, g_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
  CHECK(err);
  auto* const p = fine(Bytes);
  auto* const q = allocate<uint8_t>(Bytes);
  cl_kernel k = counting(p, 1);
  const size_t items = Bytes;
  bool good = true;
  for (size_t round = 0; round < 10; ++round) {
    write_counted(p, Bytes, round);
    cl_event copied = nullptr, counted = nullptr;
    CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, q, p, Bytes, 0, nullptr, &copied));
    CHECK(clEnqueueNDRangeKernel(other, k, 1, nullptr, &items, nullptr, 1, &copied, &counted));
    CHECK(clEnqueueSVMMemcpy(g_queue, CL_FALSE, p + 1, q, Bytes / 2, 1, &counted, nullptr));
    CHECK(clFinish(g_queue));
    good = good && p[0] == 0 && is_counted(p + 1, Bytes / 2, round) &&
           is_counted(p + Bytes / 2 + 1, Bytes / 2 - 1, round + 1, (Bytes / 2 + 1) * (round + 1));
    CHECK(clReleaseEvent(copied));
    CHECK(clReleaseEvent(counted));
  }
  expect(good, "from one kind to the other");
  CHECK(clReleaseKernel(k));
  CHECK(clReleaseCommandQueue(other));
  clSVMFree(g_context, p);
  clSVMFree(g_context, q);
}

template <class F>
bool find_function(F& function, const char* name) {
  cl_platform_id platform = nullptr;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr));
  function = reinterpret_cast<F>(clGetExtensionFunctionAddressForPlatform(platform, name));
  return function != nullptr;
}

void recorded() {
  clCreateCommandBufferKHR_fn create = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clReleaseCommandBufferKHR_fn let_go = nullptr;
  clEnqueueCommandBufferKHR_fn run = nullptr;
  clCommandNDRangeKernelKHR_fn record = nullptr;
  if (!find_function(create, "clCreateCommandBufferKHR") || !find_function(finalize, "clFinalizeCommandBufferKHR") ||
      !find_function(let_go, "clReleaseCommandBufferKHR") || !find_function(run, "clEnqueueCommandBufferKHR") ||
      !find_function(record, "clCommandNDRangeKernelKHR"))
    return;
  auto* const p = fine(Bytes);
  cl_int err = 0;
  const cl_command_buffer_khr buffer = create(1, &g_queue, nullptr, &err);
  CHECK(err);
  cl_kernel k = counting(p, 1);
  const size_t items = Bytes;
  CHECK(record(buffer, nullptr, nullptr, k, 1, nullptr, &items, nullptr, 0, nullptr, nullptr, nullptr));
  CHECK(finalize(buffer));
  bool good = true;
  for (size_t round = 0; round < 5; ++round) {
    write_counted(p, Bytes, round);
    CHECK(run(0, nullptr, buffer, 0, nullptr, nullptr));
    CHECK(clFinish(g_queue));
    good = good && is_counted(p, Bytes, round + 1);
  }
  expect(good, "what was written before each run, and what it wrote");
  CHECK(let_go(buffer));
  CHECK(clReleaseKernel(k));
  clSVMFree(g_context, p);
}

// --- beside commands ---

// The host writes the odd bytes while kernels write the even ones, also while they are enqueued by another thread, and
// by several.
void beside() {
  constexpr int Writers = 2, Launchers = 2, Launches = 150;
  auto* const p = fine(Bytes);
  std::memset(p, 0, Bytes);
  std::atomic<int> launching{Launchers};
  std::vector<std::thread> all;
  for (int i = 0; i < Launchers; ++i) {
    all.emplace_back([&, i] {
      // One after the other on the device, or their own bytes would be lost: each has a half.
      cl_int err = 0;
      cl_command_queue queue = clCreateCommandQueue(g_context, g_device, 0, &err);
      CHECK(err);
      cl_kernel k = kernel("evens");
      const cl_int one = 1;
      const size_t items = Bytes / 2 / Launchers;
      CHECK(clSetKernelArgSVMPointer(k, 0, p + static_cast<size_t>(i) * items * 2));
      CHECK(clSetKernelArg(k, 1, sizeof one, &one));
      for (int n = 0; n < Launches; ++n)
        CHECK(clEnqueueNDRangeKernel(queue, k, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
      CHECK(clFinish(queue));
      --launching;
      CHECK(clReleaseKernel(k));
      CHECK(clReleaseCommandQueue(queue));
    });
  }
  std::atomic<uint64_t> rounds{0};
  std::vector<uint8_t> written(Writers, 0);
  for (size_t w = 0; w < Writers; ++w) {
    all.emplace_back([&, w] {
      volatile uint8_t* const odd = p + 1;
      for (bool last = false; !last; ++written[w], ++rounds) {
        last = launching == 0;
        for (size_t i = w * 2; i < Bytes - 1; i += 2 * Writers)
          if (i / 4096 % 3 == 0) odd[i] = static_cast<uint8_t>(odd[i] + 1);
      }
    });
  }
  for (std::thread& t : all) t.join();
  int wrong = 0;
  for (size_t i = 0; i < Bytes; i += 2) wrong += p[i] != static_cast<uint8_t>(Launches);
  std::printf("%d of the device's bytes are wrong\n", wrong);
  wrong = 0;
  for (size_t i = 0; i + 1 < Bytes; i += 2)
    if (i / 4096 % 3 == 0) wrong += p[i + 1] != written[i / 2 % Writers];
  std::printf("%d of the host's bytes are wrong\n", wrong);
  expect(rounds >= Writers, "they wrote");
  clSVMFree(g_context, p);
}

// Each thread has a block, a kernel and a queue of its own.
void threads() {
  constexpr int Threads = 4, Rounds = 40;
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (int number = 0; number < Threads; ++number) {
    all.emplace_back([&, number] {
      cl_int err = 0;
      cl_command_queue queue = clCreateCommandQueue(g_context, g_device, 0, &err);
      CHECK(err);
      auto* const p = fine(Bytes);
      const auto by = static_cast<size_t>(number) + 1;
      cl_kernel k = counting(p, number + 1);
      if (number % 2) CHECK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, nullptr));
      const size_t items = Bytes;
      for (size_t round = 0; round < Rounds; ++round) {
        write_counted(p, Bytes, round, by);
        CHECK(clEnqueueNDRangeKernel(queue, k, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
        CHECK(clFinish(queue));
        wrong += !is_counted(p, Bytes, round + by, by);
      }
      clSVMFree(g_context, p);
      CHECK(clReleaseKernel(k));
      CHECK(clReleaseCommandQueue(queue));
    });
  }
  for (std::thread& t : all) t.join();
  std::printf("%d times wrong\n", wrong.load());
}

// --- held up by the program ---

void held() {
  auto* const p = fine(Bytes);
  cl_kernel k = counting(p, 1);
  const size_t items = Bytes;
  write_counted(p, Bytes, 1);
  cl_int err = 0;
  cl_event go = clCreateUserEvent(g_context, &err);
  CHECK(err);
  CHECK(clEnqueueNDRangeKernel(g_queue, k, 1, nullptr, &items, nullptr, 1, &go, nullptr));
  launch(k, items);
  CHECK(clEnqueueSVMMap(g_queue, CL_FALSE, CL_MAP_READ, p, Bytes, 0, nullptr, nullptr));
  expect(is_counted(p, Bytes, 1), "read before it starts");
  write_counted(p, Bytes, 5);
  std::thread other([&] {
    for (size_t i = 0; i < Bytes; i += 4096) p[i] = static_cast<uint8_t>(i * 5);  // as it is
  });
  CHECK(clSetUserEventStatus(go, CL_COMPLETE));
  CHECK(clFinish(g_queue));
  other.join();
  expect(p[1] == 7 && p[Bytes - 1] == static_cast<uint8_t>((Bytes - 1) * 7), "written before it starts");
  CHECK(clReleaseEvent(go));
  CHECK(clReleaseKernel(k));
  CHECK(clEnqueueSVMUnmap(g_queue, p, 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
  clSVMFree(g_context, p);
}

// --- the device goes, the program forks, the device cannot ---

void lost() {
  auto* const p = fine(Bytes);
  auto* const q = fine(Bytes);
  write_counted(p, Bytes, 1);
  write_counted(q, Bytes, 2);
  count(p, Bytes, 1);
  CHECK(clFinish(g_queue));
  expect(p[1] == 2, "it works");
  std::printf("ready\n");
  std::fflush(stdout);
  std::getchar();
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < 2000 && code == CL_SUCCESS; ++i)
    code = clEnqueueSVMMap(g_queue, CL_TRUE, CL_MAP_READ, p, 16, 0, nullptr, nullptr);
  say("map", code);
  p[5] = 5;
  expect(p[5] == 5 && p[1] == 2, "a page that was here");
  p[Bytes - 1] = 9;
  expect(p[Bytes - 1] == 9, "one that was not");
  expect(is_counted(q, Bytes, 2), "what no command has seen");
  say("fill", clEnqueueSVMMemFill(g_queue, p, "wxyz", 4, 16, 0, nullptr, nullptr));
  expect(!clSVMAlloc(g_context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0), "no new block");
  clSVMFree(g_context, p);
}

void forked() {
  auto* const p = fine(Bytes);
  write_counted(p, Bytes, 1);
  count(p, Bytes, 1);
  CHECK(clFinish(g_queue));
  expect(p[1] == 2, "here");
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool there = p[1] == 2;
    p[0] = 'c';
    clSVMFree(g_context, p);
    ::_exit(there ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  say("child", status);
  expect(is_counted(p, Bytes, 2), "the parent has its own");
  count(p, Bytes, 1);
  CHECK(clFinish(g_queue));
  expect(is_counted(p, Bytes, 3), "and goes on with it");
  clSVMFree(g_context, p);
}

void none() {
  cl_device_svm_capabilities can = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr));
  std::printf("capabilities: %llx\n", static_cast<unsigned long long>(can));
  expect(!clSVMAlloc(g_context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0), "no fine-grained block");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "work";
  open_world(false);
  if (mode == "work") {
    for (const size_t bytes : {size_t{4000}, size_t{3} << 20}) touched(bytes);
    for (const bool told : {true, false}) lists(told);
    buffers();
    kinds();
    recorded();
  }
  if (mode == "beside") beside();
  if (mode == "threads") threads();
  if (mode == "held") held();
  if (mode == "lost") lost(), std::printf("end\n"), std::exit(0);
  if (mode == "fork") forked();
  if (mode == "none") none();
  close_world();
}
