// Preloaded: a driver that forgets the second half of each large transfer in one direction (LOSE=write or LOSE=read).
// What a self-verifying program must notice.
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { Large = 256 };

static int loses(const char* way) {
  const char* lose = getenv("LOSE");
  return lose && strcmp(lose, way) == 0;
}

static size_t kept(const char* way, size_t bytes) { return bytes >= Large && loses(way) ? bytes / 2 : bytes; }

#define REAL(f) ((__typeof__(&f))dlsym(RTLD_NEXT, #f))

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void* from, cl_uint count, const cl_event* list, cl_event* event) {
  return REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, kept("write", size), from, count, list, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           void* to, cl_uint count, const cl_event* list, cl_event* event) {
  return REAL(clEnqueueReadBuffer)(queue, buffer, blocking, offset, kept("read", size), to, count, list, event);
}

// Of a volume the second half of its planes.
static void keep_planes(const char* way, const size_t* region, size_t* out) {
  memcpy(out, region, 3 * sizeof *region);
  if (region[2] > 1 && loses(way)) out[2] = region[2] / 2;
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                size_t host_row, size_t host_slice, const void* from, cl_uint count,
                                const cl_event* list, cl_event* event) {
  size_t part[3];
  keep_planes("write", region, part);
  return REAL(clEnqueueWriteBufferRect)(queue, buffer, blocking, origin, host_origin, part, row, slice, host_row,
                                        host_slice, from, count, list, event);
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                               const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                               size_t host_row, size_t host_slice, void* to, cl_uint count, const cl_event* list,
                               cl_event* event) {
  size_t part[3];
  keep_planes("read", region, part);
  return REAL(clEnqueueReadBufferRect)(queue, buffer, blocking, origin, host_origin, part, row, slice, host_row,
                                       host_slice, to, count, list, event);
}
