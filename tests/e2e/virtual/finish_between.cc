// A clFinish of another thread that comes while a command is being enqueued does not wait for it: what the command
// writes is not there yet for other devices, and its status can be asked without waiting.
//
// The command's bytes are on a page that is not there: the handler of the fault lets the other thread finish the queue,
// and only then makes the page present. Says what is right. Not for drivers, which look at the bytes elsewhere.
#include <CL/cl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr size_t Bytes = 4096;

enum class Turn : uint8_t { Enqueuing, Finishing, Finished };
std::atomic<Turn> g_turn{Turn::Enqueuing};
uint8_t* g_page = nullptr;

void on_fault(int signal, siginfo_t* info, void*) {
  const auto* const at = static_cast<const uint8_t*>(info->si_addr);
  if (at < g_page || at >= g_page + Bytes || g_turn != Turn::Enqueuing) {
    ::signal(signal, SIG_DFL);
    return;
  }
  g_turn = Turn::Finishing;
  while (g_turn != Turn::Finished) ::usleep(100);
  ::mprotect(g_page, Bytes, PROT_READ | PROT_WRITE);
}

struct World {
  cl_context context = nullptr;
  cl_command_queue queues[2] = {};
  cl_mem buffer = nullptr;
};

World make_world() {
  World w;
  cl_platform_id platform = nullptr;
  cl_device_id devices[2] = {};
  cl_int code = 0;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, nullptr));
  w.context = clCreateContext(nullptr, 2, devices, nullptr, nullptr, &code);
  CHECK(code);
  for (int i = 0; i < 2; ++i) {
    w.queues[i] = clCreateCommandQueue(w.context, devices[i], 0, &code);
    CHECK(code);
  }
  std::vector<uint8_t> before(Bytes, 1);
  w.buffer = clCreateBuffer(w.context, CL_MEM_COPY_HOST_PTR, Bytes, before.data(), &code);
  CHECK(code);
  return w;
}

// The write waits for `gate`; gives its event.
cl_event write_around_finish(const World& w, uint8_t value, cl_event gate) {
  std::fill_n(g_page, Bytes, value);
  ::mprotect(g_page, Bytes, PROT_NONE);
  g_turn = Turn::Enqueuing;
  std::atomic<bool> enqueued{false};
  std::thread other([&] {
    while (g_turn != Turn::Finishing && !enqueued) ::usleep(100);
    CHECK(clFinish(w.queues[0]));
    g_turn = Turn::Finished;
  });
  cl_event written = nullptr;
  CHECK(clEnqueueWriteBuffer(w.queues[0], w.buffer, CL_FALSE, 0, Bytes, g_page, 1, &gate, &written));
  expect(g_turn == Turn::Finished, "finished in between");
  enqueued = true;
  other.join();
  return written;
}

cl_event make_gate(const World& w) {
  cl_int code = 0;
  const cl_event gate = clCreateUserEvent(w.context, &code);
  CHECK(code);
  return gate;
}

void open_and_release(cl_event gate, cl_event written) {
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK(clWaitForEvents(1, &written));
  CHECK(clReleaseEvent(written));
  CHECK(clReleaseEvent(gate));
}

void look_from_other_device(const World& w) {
  const cl_event gate = make_gate(w), written = write_around_finish(w, 2, gate);
  cl_event done = nullptr;
  std::vector<uint8_t> seen(Bytes);
  CHECK(clEnqueueReadBuffer(w.queues[1], w.buffer, CL_FALSE, 0, Bytes, seen.data(), 1, &written, &done));
  CHECK(clFlush(w.queues[1]));
  open_and_release(gate, written);
  CHECK(clWaitForEvents(1, &done));
  CHECK(clReleaseEvent(done));
  expect(seen == std::vector<uint8_t>(Bytes, 2), "the other device reads what was written");
}

void ask_status(const World& w) {
  const cl_event gate = make_gate(w), written = write_around_finish(w, 3, gate);
  cl_int status = CL_COMPLETE;
  CHECK(clGetEventInfo(written, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status > CL_COMPLETE, "the write has not ended");
  open_and_release(gate, written);
}

}  // namespace

int main() {
  ::alarm(30);  // for who waits for what cannot end
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const World w = make_world();
  g_page = static_cast<uint8_t*>(::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  look_from_other_device(w);
  ask_status(w);
  CHECK(clReleaseMemObject(w.buffer));
  for (cl_command_queue queue : w.queues) CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseContext(w.context));
}
