// A library to preload: what a program's transfers take alone, however they are made.
//
// Before a transfer the queue is emptied (clFinish), uncounted; then the clock runs from the call until it is empty
// again. So nothing but the transfer is in the time: no kernel before it, and nothing that it would have overlapped
// with, which makes the run as a whole slower. It comes before goptimize's library: staged and pinned transfers are
// measured as the program sees them. Programs that find OpenCL by dlopen, and those whose transfers wait for what the
// program does later (a user event), cannot be measured so.
//
// TRANSFER_CLOCK names a file of two numbers of 64 bits, calls and nanoseconds, which survive any ending.
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct Clock {
  uint64_t calls, ns;
};
static struct Clock g_unseen, *g_clock = &g_unseen;

__attribute__((constructor)) static void open_clock(void) {
  const char* path = getenv("TRANSFER_CLOCK");
  const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  if (ftruncate(file, sizeof(struct Clock)) == 0) {
    void* p = mmap(NULL, sizeof(struct Clock), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p != MAP_FAILED) g_clock = p;
  }
  close(file);
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void count(uint64_t started) {
  __atomic_fetch_add(&g_clock->calls, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_clock->ns, now_ns() - started, __ATOMIC_RELAXED);
}

// NEXT: the function behind ours. CLOCKED: a command of a queue.
#define NEXT(name)                                       \
  static __typeof__(name)* next;                         \
  if (!next) next = (__typeof__(next))dlsym(RTLD_NEXT, #name)
#define CLOCKED(name, parameters, arguments)    \
  cl_int name parameters {                      \
    NEXT(name);                                 \
    if (queue) clFinish(queue);                 \
    const uint64_t started = now_ns();          \
    const cl_int result = next arguments;       \
    if (queue) clFinish(queue);                 \
    count(started);                             \
    return result;                              \
  }
#define WAITS cl_uint waits, const cl_event *list, cl_event *event
#define THEM waits, list, event

CLOCKED(clEnqueueReadBuffer,
        (cl_command_queue queue, cl_mem memory, cl_bool block, size_t offset, size_t size, void* to, WAITS),
        (queue, memory, block, offset, size, to, THEM))
CLOCKED(clEnqueueWriteBuffer,
        (cl_command_queue queue, cl_mem memory, cl_bool block, size_t offset, size_t size, const void* from, WAITS),
        (queue, memory, block, offset, size, from, THEM))
CLOCKED(clEnqueueReadBufferRect,
        (cl_command_queue queue, cl_mem memory, cl_bool block, const size_t* at, const size_t* host_at,
         const size_t* region, size_t row, size_t slice, size_t host_row, size_t host_slice, void* to, WAITS),
        (queue, memory, block, at, host_at, region, row, slice, host_row, host_slice, to, THEM))
CLOCKED(clEnqueueWriteBufferRect,
        (cl_command_queue queue, cl_mem memory, cl_bool block, const size_t* at, const size_t* host_at,
         const size_t* region, size_t row, size_t slice, size_t host_row, size_t host_slice, const void* from, WAITS),
        (queue, memory, block, at, host_at, region, row, slice, host_row, host_slice, from, THEM))
CLOCKED(clEnqueueReadImage,
        (cl_command_queue queue, cl_mem image, cl_bool block, const size_t* at, const size_t* region, size_t row,
         size_t slice, void* to, WAITS),
        (queue, image, block, at, region, row, slice, to, THEM))
CLOCKED(clEnqueueWriteImage,
        (cl_command_queue queue, cl_mem image, cl_bool block, const size_t* at, const size_t* region, size_t row,
         size_t slice, const void* from, WAITS),
        (queue, image, block, at, region, row, slice, from, THEM))
CLOCKED(clEnqueueUnmapMemObject, (cl_command_queue queue, cl_mem memory, void* mapped, WAITS),
        (queue, memory, mapped, THEM))

void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool block, cl_map_flags flags, size_t offset,
                         size_t size, WAITS, cl_int* error) {
  NEXT(clEnqueueMapBuffer);
  if (queue) clFinish(queue);
  const uint64_t started = now_ns();
  void* result = next(queue, memory, block, flags, offset, size, THEM, error);
  if (queue) clFinish(queue);
  count(started);
  return result;
}

void* clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool block, cl_map_flags flags, const size_t* at,
                        const size_t* region, size_t* row, size_t* slice, WAITS, cl_int* error) {
  NEXT(clEnqueueMapImage);
  if (queue) clFinish(queue);
  const uint64_t started = now_ns();
  void* result = next(queue, image, block, flags, at, region, row, slice, THEM, error);
  if (queue) clFinish(queue);
  count(started);
  return result;
}

// Memory that is copied into the new object before the call returns.
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* from, cl_int* error) {
  NEXT(clCreateBuffer);
  const uint64_t started = now_ns();
  cl_mem result = next(context, flags, size, from, error);
  if (flags & CL_MEM_COPY_HOST_PTR) count(started);
  return result;
}
