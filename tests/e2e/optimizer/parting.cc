// A program that parts: forks, starts others or ends while transfers are under way. Prints what every part saw; the
// same on every run.
//
//   parting WAY     fork, release, waiting, spawn, threads: the parent goes on
//                   exit, quick_exit, _exit, abort, kill, static: it ends
#include <CL/cl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/e2e/optimizer/first_device.h"

extern char** environ;

namespace {

constexpr size_t Bytes = size_t{24} << 20;
char g_still[Bytes], g_back[Bytes];

struct Place : FirstDevice {
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;

  void open() {
    FirstDevice::open();
    queue = clCreateCommandQueue(context, device, 0, nullptr);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, nullptr, nullptr);
  }
  void write(const void* p, bool blocking) {
    clEnqueueWriteBuffer(queue, buffer, blocking, 0, Bytes, p, 0, nullptr, nullptr);
  }
  void read(void* p, bool blocking) {
    clEnqueueReadBuffer(queue, buffer, blocking, 0, Bytes, p, 0, nullptr, nullptr);
  }
  void release() {
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
};

Place g_place;

void fill(void* p, unsigned seed) {
  auto* b = static_cast<unsigned char*>(p);
  for (size_t i = 0; i < Bytes; ++i) b[i] = static_cast<unsigned char>(i * 13 + (i >> 12) + seed);
}
unsigned long sum(const void* p) {
  unsigned long h = 14695981039346656037u;
  for (size_t i = 0; i < Bytes; i += 7) h = (h ^ static_cast<const unsigned char*>(p)[i]) * 1099511628211u;
  return h;
}

void say(const char* what, unsigned long value) {
  std::printf("%s %016lx\n", what, value);
  std::fflush(stdout);
}

// Waits for the child, at most a while: a child that hangs is a result, too.
void wait_for(pid_t child) {
  int status = 0;
  for (int i = 0; i < 2000; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) return say("child ended", static_cast<unsigned long>(status));
    usleep(10000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  say("child hung", 0);
}

// Transfers of the parent are under way both ways while children come and go.
void forks(bool releases) {
  void* block = std::malloc(Bytes);
  for (unsigned round = 0; round < 4; ++round) {
    fill(g_still, round);
    fill(block, round + 1);
    g_place.write(g_still, false);
    g_place.read(g_back, false);
    const pid_t child = fork();
    if (child == 0) {
      void* own = std::malloc(Bytes);
      fill(own, 9);
      std::free(block);
      std::free(own);
      if (releases) g_place.release();
      if (round % 2) {
        execlp("true", "true", nullptr);
        std::_Exit(8);
      }
      std::_Exit(static_cast<int>(round) + 3);
    }
    wait_for(child);
    clFinish(g_place.queue);
    say("round", sum(g_back));
    g_place.write(block, true);
    g_place.read(g_back, true);
    say("block", sum(g_back));
  }
  std::free(block);
}

// The child lets everything go while a small transfer of the parent's waits for the parent's event.
void releases_what_waits() {
  cl_event gate = clCreateUserEvent(g_place.context, nullptr);
  char small[20000];
  std::memset(small, 'w', sizeof small);
  clEnqueueWriteBuffer(g_place.queue, g_place.buffer, CL_FALSE, 0, sizeof small, small, 1, &gate, nullptr);
  clFlush(g_place.queue);
  const pid_t child = fork();
  if (child == 0) {
    clReleaseMemObject(g_place.buffer);
    clReleaseContext(g_place.context);
    std::_Exit(0);
  }
  wait_for(child);
  clSetUserEventStatus(gate, CL_COMPLETE);
  clReleaseEvent(gate);
  g_place.read(g_back, true);
  say("waited", static_cast<unsigned long>(g_back[19999]));
}

void spawns() {
  fill(g_still, 1);
  g_place.write(g_still, false);
  g_place.read(g_back, false);
  pid_t child = 0;
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  if (posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) == 0) wait_for(child);
  if (std::system("exit 3") == 3 << 8) say("system", 3);
  const pid_t second = vfork();
  if (second == 0) _exit(4);
  wait_for(second);
  clFinish(g_place.queue);
  say("read", sum(g_back));
}

// Forks while another thread is inside transfers and allocations.
void threads() {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
      void* p = std::malloc(Bytes / 4);
      clEnqueueWriteBuffer(g_place.queue, g_place.buffer, CL_TRUE, 0, Bytes / 4, p, 0, nullptr, nullptr);
      std::free(p);
      g_place.read(g_back, false);
      clFinish(g_place.queue);
    }
  });
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      void* p = std::malloc(Bytes);
      std::memset(p, 1, 4096);
      std::free(std::realloc(p, 2 * Bytes));
      std::_Exit(0);
    }
    wait_for(child);
  }
  over = true;
  other.join();
}

struct AtTheEnd {
  bool active = false;
  ~AtTheEnd() {
    if (!active) return;
    clFinish(g_place.queue);
    say("read at the end", sum(g_back));
    g_place.write(g_back, true);
    g_place.read(g_still, true);
    say("and back", sum(g_still));
    g_place.release();
  }
} g_at_the_end;

void end(const std::string& way) {
  fill(g_still, 5);
  if (way == "static") g_at_the_end.active = true;
  for (int i = 0; i < 4; ++i) {
    g_place.write(g_still, false);
    g_place.read(g_back, false);
  }
  say("ending", 0);
  if (way == "quick_exit") std::quick_exit(6);
  if (way == "_exit") _exit(7);
  if (way == "abort") std::abort();
  if (way == "kill") raise(SIGKILL);
  std::exit(5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  g_place.open();
  if (way == "fork" || way == "release")
    forks(way == "release");
  else if (way == "waiting")
    releases_what_waits();
  else if (way == "spawn")
    spawns();
  else if (way == "threads")
    threads();
  else
    end(way);
  g_place.release();
  say("over", 0);
}
