// How things end: the executor dies, the program forks, or exits with commands in flight.
//
// Usage: virtual_endings lost|fork|exit|static|closed|replaced|orphan|unreachable [SOCKET]. Prints codes of calls, one
// a line.
#include <CL/cl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Job {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem buffer = nullptr;
  std::vector<char> host = std::vector<char>(1 << 20);
};

void say(const char* what, cl_int code) {
  std::printf("%s %d\n", what, code);
  std::fflush(stdout);
}

Job make(cl_uint which) {
  Job j;
  cl_platform_id platform = nullptr;
  clGetPlatformIDs(1, &platform, nullptr);
  cl_device_id devices[4];
  cl_uint n = 0;
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 4, devices, &n);
  j.device = devices[which < n ? which : 0];
  cl_int err = 0;
  j.context = clCreateContext(nullptr, 1, &j.device, nullptr, nullptr, &err);
  j.queue = clCreateCommandQueue(j.context, j.device, 0, &err);
  j.buffer = clCreateBuffer(j.context, 0, j.host.size(), nullptr, &err);
  const char* source = "kernel void k(global int* a) { for (int i = 0; i < 1000; ++i) a[0] += i; }";
  cl_program program = clCreateProgramWithSource(j.context, 1, &source, nullptr, &err);
  if (clBuildProgram(program, 0, nullptr, "", nullptr, nullptr) != CL_SUCCESS) std::exit(3);
  j.kernel = clCreateKernel(program, "k", &err);
  clReleaseProgram(program);
  clSetKernelArg(j.kernel, 0, sizeof j.buffer, &j.buffer);
  return j;
}

cl_int launch(Job& j) {
  const size_t one = 1;
  return clEnqueueNDRangeKernel(j.queue, j.kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
}

// One round of everything that may block.
cl_int work(Job& j) {
  cl_int code = clEnqueueWriteBuffer(j.queue, j.buffer, CL_FALSE, 0, j.host.size(), j.host.data(), 0, nullptr, nullptr);
  if (code == CL_SUCCESS) code = launch(j);
  if (code == CL_SUCCESS) code = clFinish(j.queue);
  if (code != CL_SUCCESS) return code;
  return clEnqueueReadBuffer(j.queue, j.buffer, CL_TRUE, 0, j.host.size(), j.host.data(), 0, nullptr, nullptr);
}

// A context of both devices, when the first one is lost: everything goes on at the second one.
void go_on(cl_device_id first, cl_device_id second, cl_context both) {
  cl_int err = 0;
  cl_command_queue dead = clCreateCommandQueue(both, first, 0, &err);
  say("queue of the lost", dead ? 0 : err);
  cl_command_queue queue = clCreateCommandQueue(both, second, 0, &err);
  say("queue of the other", err);
  int out[64] = {};
  cl_mem buffer = clCreateBuffer(both, CL_MEM_COPY_HOST_PTR, sizeof out, out, &err);
  say("buffer", err);
  const char* source = "kernel void k(global int* a) { a[get_global_id(0)] = 5; }";
  cl_program program = clCreateProgramWithSource(both, 1, &source, nullptr, &err);
  say("build", clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, "k", &err);
  say("kernel", err);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  const size_t n = 64;
  say("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
  say("read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof out, out, 0, nullptr, nullptr));
  say("value", out[63]);
}

// The first device's executor is killed while it works; the second one goes on.
int lost() {
  Job first = make(0), second = make(1);
  const cl_device_id devices[] = {first.device, second.device};
  cl_int err = 0;
  cl_context both = clCreateContext(nullptr, 2, devices, nullptr, nullptr, &err);
  cl_int code = work(first);
  say("ready", code);
  while (code == CL_SUCCESS) code = work(first);
  say("lost", code);
  cl_bool available = CL_TRUE;
  clGetDeviceInfo(first.device, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr);
  say("available", static_cast<cl_int>(available));
  cl_mem none = clCreateBuffer(first.context, 0, 64, nullptr, &err);
  say("create", none ? 0 : err);
  say("finish", clFinish(first.queue));
  say("release", clReleaseKernel(first.kernel));
  say("other", work(second));
  go_on(first.device, second.device, both);
  return 0;
}

int forked() {
  Job j = make(0);
  say("before", work(j));
  const pid_t child = ::fork();
  if (child == 0) {
    say("child finish", clFinish(j.queue));
    say("child read", clEnqueueReadBuffer(j.queue, j.buffer, CL_TRUE, 0, 64, j.host.data(), 0, nullptr, nullptr));
    say("child release", clReleaseMemObject(j.buffer));
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  say("child", status);
  say("parent", work(j));
  return 0;
}

int exiting() {
  Job& j = *new Job(make(0));  // for ever: commands under way use its memory
  for (int i = 0; i < 2000; ++i) launch(j);
  clEnqueueWriteBuffer(j.queue, j.buffer, CL_FALSE, 0, j.host.size(), j.host.data(), 0, nullptr, nullptr);
  say("leaving", 0);
  return 0;
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Sockets in which a byte waits, under the numbers that were the link's.
struct OwnSockets {
  static constexpr int Pairs = 64;
  int ends[Pairs][2];
  OwnSockets() {
    for (auto& pair : ends) {
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) std::exit(3);
      for (const int end : pair) (void)!::write(end, "x", 1);
    }
  }
  int disturbed() const {
    int n = 0;
    for (const auto& pair : ends) {
      for (const int end : pair) {
        char bytes[64];
        n += ::read(end, bytes, sizeof bytes) != 1 || bytes[0] != 'x';
      }
    }
    return n;
  }
};

void close_everything() {
  constexpr int More = 8192;  // than the numbers that anybody has here
  for (int fd = 3; fd < More; ++fd) ::close(fd);
}

// The program closes what it does not know, as daemons do, and may open other things then. It finds its device again.
int closed(bool opens_others) {
  Job j = make(0);
  say("before", work(j));
  close_everything();
  std::unique_ptr<OwnSockets> others;
  if (opens_others) others = std::make_unique<OwnSockets>();
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < 5 && code == CL_SUCCESS; ++i) code = work(j);
  say("after", code);
  const double before = cpu_seconds();
  ::sleep(1);
  say("spins", cpu_seconds() - before > 0.5);
  say("disturbed", others ? others->disturbed() : 0);
  return 0;
}

// Its proxy is not to be found any more: `socket` is where it listens.
int unreachable(const char* socket) {
  Job j = make(0);
  say("before", work(j));
  ::unlink(socket);
  close_everything();
  cl_int code = CL_SUCCESS;
  while (code == CL_SUCCESS) code = work(j);
  say("lost", code);
  say("release", clReleaseMemObject(j.buffer));
  return 0;
}

cl_event g_behind = nullptr;

// What waits for a user event that was released without a status has failed when the first exit handler runs, which is
// the last one.
int orphan() {
  std::atexit([] {
    cl_int status = CL_COMPLETE;
    say("asked", clGetEventInfo(g_behind, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
    say("failed", status < 0);
  });
  Job j = make(0);
  cl_int err = 0;
  cl_event never = clCreateUserEvent(j.context, &err);
  cl_event set = clCreateUserEvent(j.context, &err);
  const size_t one = 1;
  say("behind one that is set later",
      clEnqueueNDRangeKernel(j.queue, j.kernel, 1, nullptr, &one, nullptr, 1, &set, nullptr));
  say("retain", clRetainEvent(set));
  say("release", clReleaseEvent(set));
  say("set", clSetUserEventStatus(set, CL_COMPLETE));
  say("finish", clFinish(j.queue));
  say("release", clReleaseEvent(set));
  say("behind one that is never set",
      clEnqueueNDRangeKernel(j.queue, j.kernel, 1, nullptr, &one, nullptr, 1, &never, &g_behind));
  say("flush", clFlush(j.queue));
  say("release", clReleaseEvent(never));
  return 0;
}

struct Late {
  Job job;
  ~Late() {
    if (!job.queue) return;
    clReleaseMemObject(job.buffer);
    clReleaseKernel(job.kernel);
    clReleaseCommandQueue(job.queue);
    clReleaseContext(job.context);
    say("late", 0);
  }
} g_late;

int with_static() {
  g_late.job = make(0);
  say("before", work(g_late.job));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc >= 2 ? argv[1] : "";
  if (mode == "unreachable" && argc == 3) return unreachable(argv[2]);
  if (mode == "lost") return lost();
  if (mode == "fork") return forked();
  if (mode == "exit") return exiting();
  if (mode == "closed" || mode == "replaced") return closed(mode == "replaced");
  if (mode == "orphan") return orphan();
  return mode == "static" ? with_static() : 2;
}
