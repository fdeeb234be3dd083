// Uses a device until its very last code runs: whatever the process runs at its end was there before the first OpenCL
// call, and reads back, writes and launches then.
//
// Usage: late_use handler|static|destructor|library|thread|quick|threads|callback|waiting|closing. Says what is right.
// thread: destructors of thread_local variables. threads: others transfer while one calls exit(). callback: exit() in
// an event's callback. waiting: what waits for a user event is let go by the handler. closing: the loader was opened by
// its name, and is closed last. Built again as a library, for its static destructors.
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr size_t Count = size_t{1} << 18;

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  cl_kernel kernel = nullptr;

  void open() {
    cl_int code = 0;
    open_first_device(id, context, queue);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Count * sizeof(int), nullptr, &code);
    CHECK(code);
    const char* source = "kernel void next(global int* a) { a[get_global_id(0)] += 1; }";
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
    CHECK(code);
    CHECK(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
    kernel = clCreateKernel(program, "next", &code);
    CHECK(code);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clReleaseProgram(program));
  }
  // Everything that may fail late, by one command after the other.
  bool works(int seed) const {
    std::vector<int> host(Count, seed), back(Count);
    const size_t n = Count;
    const size_t bytes = Count * sizeof(int);
    cl_int code = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, host.data(), 0, nullptr, nullptr);
    code |= clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr);
    code |= clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, back.data(), 0, nullptr, nullptr);
    code |= clFinish(queue);
    return code == CL_SUCCESS && back == std::vector<int>(Count, seed + 1);
  }
  bool release() {
    cl_int code = clReleaseKernel(kernel);
    code |= clReleaseMemObject(buffer);
    code |= clReleaseCommandQueue(queue);
    return (code | clReleaseContext(context)) == CL_SUCCESS;
  }
};

void say(bool good, const char* what) {
  expect(good, what);
  std::fflush(stdout);
}

}  // namespace

#ifdef GT_LIBRARY

namespace {
struct Late {
  Device device;
  ~Late() {
    if (!device.queue) return;
    say(device.works(7), "in a library's destructor");
    say(device.release(), "released there");
  }
} g_late;
}  // namespace

extern "C" __attribute__((visibility("default"))) void open_device() { g_late.device.open(); }

#else

namespace {

std::string g_mode;
Device g_device;
void (*g_last)() = nullptr;  // of the destructor, which comes after all handlers

void at_end() {
  say(g_device.works(40), "at the end");
  say(g_device.release(), "released");
}

struct Static {
  ~Static() {
    if (g_mode == "static") at_end();
  }
} g_static;

__attribute__((destructor(101))) void very_late() {
  if (g_last) g_last();
}

struct OfThread {
  const char* name = nullptr;
  ~OfThread() {
    if (name) say(g_device.works(3), name);
  }
};

int with_thread_variables() {
  static thread_local OfThread mine;
  mine.name = "in the main thread's";
  std::thread other([] {
    static thread_local OfThread its;
    its.name = "in another thread's";
    if (!g_device.queue) g_device.open();
    (void)g_device.works(1);
  });
  other.join();
  (void)g_device.works(2);
  return 0;
}

std::atomic<int> g_failed{0}, g_rounds{0};

// Each with a queue of its own.
void go_on_for_ever() {
  cl_int code = 0;
  cl_command_queue queue = clCreateCommandQueue(g_device.context, g_device.id, 0, &code);
  cl_mem buffer = clCreateBuffer(g_device.context, CL_MEM_READ_WRITE, Count, nullptr, &code);
  std::vector<char> host(Count);
  while (code == CL_SUCCESS) {
    code = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, Count, host.data(), 0, nullptr, nullptr);
    code |= clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, Count, host.data(), 0, nullptr, nullptr);
    ++g_rounds;
  }
  ++g_failed;
}

void while_others_work() {
  at_end();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  say(g_failed == 0, "others go on");
}

int with_threads() {
  for (int i = 0; i < 3; ++i) std::thread(go_on_for_ever).detach();
  while (g_rounds < 30) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::exit(0);
}

int from_a_callback() {
  cl_event event = nullptr;
  CHECK(clEnqueueMarkerWithWaitList(g_device.queue, 0, nullptr, &event));
  CHECK(clSetEventCallback(event, CL_COMPLETE, [](cl_event, cl_int, void*) { std::exit(5); }, nullptr));
  CHECK(clFlush(g_device.queue));
  for (;;) ::pause();
}

cl_event g_gate = nullptr;
void let_go() {
  say(clSetUserEventStatus(g_gate, CL_COMPLETE) == CL_SUCCESS, "let go");
  at_end();
}

int with_what_waits() {
  cl_int code = 0;
  static char host[4096];
  g_gate = clCreateUserEvent(g_device.context, &code);
  CHECK(code);
  CHECK(clEnqueueWriteBuffer(g_device.queue, g_device.buffer, CL_FALSE, 0, sizeof host, host, 1, &g_gate, nullptr));
  return 0;
}

int from_a_library(const std::string& own_path) {
  const std::string path = own_path.substr(0, own_path.rfind('/')) + "/liblate_use.so";
  void* const library = ::dlopen(path.c_str(), RTLD_NOW);
  const auto open = library ? reinterpret_cast<void (*)()>(::dlsym(library, "open_device")) : nullptr;
  if (!open) return 3;
  open();
  return 0;
}

void* g_loader = nullptr;
void close_loader() {
  at_end();
  say(::dlclose(g_loader) == 0, "closed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  g_mode = argv[1];
  if (g_mode == "handler" || g_mode == "callback") std::atexit(at_end);
  if (g_mode == "quick") std::at_quick_exit(at_end);
  if (g_mode == "threads") std::atexit(while_others_work);
  if (g_mode == "waiting") std::atexit(let_go);
  if (g_mode == "destructor") g_last = at_end;
  if (g_mode == "closing") g_last = close_loader, g_loader = ::dlopen("libOpenCL.so.1", RTLD_NOW);
  if (g_mode == "thread") return with_thread_variables();
  if (g_mode == "library") return from_a_library(argv[0]);
  g_device.open();
  say(g_device.works(1), "before");
  if (g_mode == "threads") return with_threads();
  if (g_mode == "callback") return from_a_callback();
  if (g_mode == "waiting") return with_what_waits();
  if (g_mode == "quick") std::quick_exit(6);
  return 4;
}

#endif
