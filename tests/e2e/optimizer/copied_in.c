// Memory objects made from the program's memory (CL_MEM_COPY_HOST_PTR), usual and unusual ones, by a program that tries
// again what failed. Prints what it can see of each, and what is in it; the same on every run.
//
//   copied_in [INJECTED]
//
// INJECTED: the error that the driver is told to give now and then.
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/optimizer/contents.h"

enum { Large = 3 << 20, MostTries = 20, Seconds = 60 };
static int g_injected;
static cl_device_id g_device;
static cl_context g_context;
static cl_command_queue g_queue;
static unsigned char g_memory[Large], g_back[Large];

// Evaluates the call until it does not give the injected error.
#define TRY(call)                                                                             \
  do {                                                                                        \
    int tries = 0;                                                                            \
    while ((call) == g_injected && g_injected != CL_SUCCESS && ++tries < MostTries) continue; \
  } while (0)

static void look_at(const char* what, cl_mem mem) {
  cl_mem_flags flags = 0;
  size_t size = 0, properties = 77;
  void* host = &g_context;
  cl_uint references = 0, maps = 9;
  cl_mem parent = NULL;
  cl_int err;
  TRY(err = clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
  TRY(err = clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL));
  TRY(err = clGetMemObjectInfo(mem, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
  // A driver's command that is just over may still hold one.
  for (int waited = 0; references != 1 && waited < 50; ++waited) {
    if (waited > 0) usleep(1000);
    TRY(err = clGetMemObjectInfo(mem, CL_MEM_REFERENCE_COUNT, sizeof references, &references, NULL));
  }
  TRY(err = clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
  TRY(err = clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
  TRY(err = clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, 0, NULL, &properties));
  printf("%s: flags %lx, %zu bytes, host %d, references %u, maps %u, parent %d, properties %zu (%d)\n", what,
         (unsigned long)flags, size, host != NULL, references, maps, parent != NULL, properties, err);
}

static void contents(cl_mem mem, size_t n) {
  cl_int err;
  memset(g_back, 0, n);
  TRY(err = clEnqueueReadBuffer(g_queue, mem, CL_TRUE, 0, n, g_back, 0, NULL, NULL));
  printf("  contents %016lx (%d)\n", err == CL_SUCCESS ? sum(g_back, n) : 0, err);
}

static void release(cl_mem mem) {
  cl_int err;
  TRY(err = clReleaseMemObject(mem));
  if (err != CL_SUCCESS) printf("  release: %d\n", err);
}

// `how`: by clCreateBuffer, or by clCreateBufferWithProperties with none, with an empty list, with a wrong one.
static cl_mem make(int how, cl_mem_flags flags, size_t n, void* host, cl_int* err) {
  const cl_mem_properties empty[] = {0}, wrong[] = {12345, 1, 0};
  const cl_mem_properties* const lists[] = {NULL, NULL, empty, wrong};
  return how == 0 ? clCreateBuffer(g_context, flags, n, host, err)
                  : clCreateBufferWithProperties(g_context, lists[how], flags, n, host, err);
}

static void buffer(int how, cl_mem_flags flags, size_t n, void* host) {
  cl_int err = 77;
  cl_mem mem;
  const size_t used = n < Large ? n : Large;
  fill(g_memory, used, (unsigned)n);
  TRY((mem = make(how, flags, n, host, &err), err));
  fill(g_memory, used, 99);  // read within the call, or not at all
  printf("%d %lx %zu %d: error %d, made %d\n", how, (unsigned long)flags, n, host != NULL, err, mem != NULL);
  if (!mem) return;
  look_at("  buffer", mem);
  if (!(flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY))) contents(mem, n);
  release(mem);
}

// What is made of it shows the flag, too, also when the program has let go of the buffer.
static void sub_buffers(void) {
  const cl_buffer_region half = {0, Large / 2}, end = {Large / 2, Large / 2};
  cl_int err;
  cl_mem mem, a, b, c;
  fill(g_memory, Large, 5);
  TRY((mem = clCreateBuffer(g_context, CL_MEM_COPY_HOST_PTR, Large, g_memory, &err), err));
  TRY((a = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &err), err));
  TRY((b = clCreateSubBuffer(mem, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &end, &err), err));
  TRY(err = clRetainMemObject(mem));
  TRY(err = clRetainMemObject(a));
  TRY((c = clCreateSubBuffer(mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half, &err), err));
  look_at("also half", c);
  release(c);
  look_at("parent", mem);
  look_at("half", a);
  release(a);
  release(mem);
  release(mem);
  look_at("half", a);
  look_at("end", b);
  contents(b, Large / 2);
  release(a);
  look_at("end", b);
  release(b);
  TRY((mem = clCreateBuffer(g_context, CL_MEM_READ_WRITE, Large, NULL, &err), err));  // perhaps at the same address
  look_at("another", mem);
  release(mem);
}

static void image(cl_mem_flags flags, cl_mem_object_type type, size_t width, size_t height, size_t depth,
                  size_t row_pitch) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const size_t origin[3] = {0, 0, 0}, region[3] = {width, height, depth};
  cl_image_desc desc;
  cl_int err = 77;
  cl_mem mem;
  size_t pitch = 0;
  memset(&desc, 0, sizeof desc);
  desc.image_type = type;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_depth = desc.image_array_size = depth;
  desc.image_row_pitch = row_pitch;
  fill(g_memory, Large, (unsigned)width);
  TRY((mem = clCreateImage(g_context, flags | CL_MEM_COPY_HOST_PTR, &format, &desc, g_memory, &err), err));
  fill(g_memory, Large, 99);
  printf("image %x %zux%zux%zu: error %d, made %d\n", type, width, height, depth, err, mem != NULL);
  if (!mem) return;
  look_at("  image", mem);
  memset(g_back, 0, Large);
  TRY(err = clGetImageInfo(mem, CL_IMAGE_ROW_PITCH, sizeof pitch, &pitch, NULL));
  TRY(err = clEnqueueReadImage(g_queue, mem, CL_TRUE, origin, region, 0, 0, g_back, 0, NULL, NULL));
  printf("  pitch %zu, contents %016lx (%d)\n", pitch, sum(g_back, width * height * depth * 4), err);
  release(mem);
}

int main(int argc, char** argv) {
  const cl_mem_flags flags[] = {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_HOST_READ_ONLY,
                                CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS, CL_MEM_ALLOC_HOST_PTR,
                                CL_MEM_USE_HOST_PTR, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY};
  const size_t sizes[] = {1, 4096, 300000, Large};
  cl_platform_id platform;
  cl_uint references = 0;
  cl_int err;
  g_injected = argc > 1 ? atoi(argv[1]) : 0;
  alarm(Seconds);
  TRY(err = clGetPlatformIDs(1, &platform, NULL));
  TRY(err = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &g_device, NULL));
  TRY((g_context = clCreateContext(NULL, 1, &g_device, NULL, NULL, &err), err));
  TRY((g_queue = clCreateCommandQueue(g_context, g_device, 0, &err), err));
  for (size_t f = 0; f < sizeof flags / sizeof *flags; ++f)
    buffer((int)f % 3, flags[f] | CL_MEM_COPY_HOST_PTR, sizes[f % 2 + 2], g_memory);
  for (int how = 0; how < 4; ++how)
    for (size_t s = 0; s < 4; ++s) buffer(how, CL_MEM_COPY_HOST_PTR, sizes[s], g_memory);
  buffer(0, CL_MEM_COPY_HOST_PTR, 0, g_memory);
  buffer(0, CL_MEM_COPY_HOST_PTR, (size_t)1 << 60, g_memory);
  buffer(0, CL_MEM_COPY_HOST_PTR, Large, NULL);
  buffer(0, CL_MEM_READ_WRITE, Large, g_memory);
  sub_buffers();
  image(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 640, 480, 1, 0);
  image(0, CL_MEM_OBJECT_IMAGE2D, 640, 480, 1, 0);
  image(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 640, 480, 1, 700 * 4);
  image(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE3D, 64, 48, 20, 0);
  image(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D_ARRAY, 65, 48, 20, 0);
  image(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, 480, 1, 0);
  TRY(err = clGetContextInfo(g_context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, NULL));
  printf("context: %u references\n", references);
  TRY(err = clReleaseCommandQueue(g_queue));
  TRY(err = clReleaseContext(g_context));
  return 0;
}
