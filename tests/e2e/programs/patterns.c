/* One wasteful pattern for each rule of the analyzer, and the same work done well.
 *
 * Usage: patterns PATTERN bad|good
 * Host memory is static, so that no allocation feeds large transfers; the loops that do not show missed overlap read a
 * few bytes back in each iteration, as programs that look at their results do.
 */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel probe, work, three;
static cl_mem input, output;

enum { Large = 8 << 20, Churned = 48 << 20, Fresh = 64 << 20 };
static char g_host[Large], g_small[4096];

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "patterns: %s: %d\n", what, error);
  exit(1);
}
#define DO(call) check(call, #call)

static const char* const Source =
    "kernel void probe(global const int* in, global int* out) { out[0] += in[0]; }\n"
    "kernel void work(global const int* in, global int* out, int turns) {\n"
    "  int x = in[get_global_id(0)];\n"
    "  for (int i = 0; i < turns; ++i) x = x * 1664525 + 1013904223 + i;\n"
    "  out[0] = x;\n"
    "}\n"
    "kernel void three(global const int* in, global int* out, global int* spare) { out[0] += in[0]; }\n";

static cl_mem make_buffer_for(cl_mem_flags flags, size_t bytes) {
  cl_int error;
  cl_mem buffer = clCreateBuffer(context, flags, bytes, NULL, &error);
  check(error, "clCreateBuffer");
  return buffer;
}
static cl_mem make_buffer(size_t bytes) { return make_buffer_for(CL_MEM_READ_WRITE, bytes); }

static void build(void) {
  cl_int error;
  program = clCreateProgramWithSource(context, 1, (const char**)&Source, NULL, &error);
  check(error, "clCreateProgramWithSource");
  DO(clBuildProgram(program, 1, &device, "", NULL, NULL));
  probe = clCreateKernel(program, "probe", &error);
  check(error, "clCreateKernel");
  work = clCreateKernel(program, "work", &error);
  check(error, "clCreateKernel");
  three = clCreateKernel(program, "three", &error);
  check(error, "clCreateKernel");
}

static void start(void) {
  cl_platform_id platform;
  cl_int error;
  DO(clGetPlatformIDs(1, &platform, NULL));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "clCreateCommandQueue");
  build();
  input = make_buffer(Large);
  output = make_buffer(sizeof g_small);
}

static void run_probe(cl_mem in, cl_mem out) {
  const size_t one = 1;
  DO(clSetKernelArg(probe, 0, sizeof in, &in));
  DO(clSetKernelArg(probe, 1, sizeof out, &out));
  DO(clEnqueueNDRangeKernel(queue, probe, 1, NULL, &one, NULL, 0, NULL, NULL));
}
static void look(cl_mem at) { DO(clEnqueueReadBuffer(queue, at, CL_TRUE, 0, 16, g_small, 0, NULL, NULL)); }
static void send_large(void) {
  DO(clEnqueueWriteBuffer(queue, input, CL_TRUE, 0, Large, g_host, 0, NULL, NULL));
}

/* --- The patterns --- */
static void repeated_sends(int bad) {
  for (int i = 0; i < 150; ++i) {
    if (!bad) g_host[i] = (char)(i + 1);
    send_large();
    run_probe(input, output);
    look(output);
  }
}

static void unread_sends(int bad) {
  for (int i = 0; i < 150; ++i) {
    if (bad) send_large();
    g_host[i] = 1;
    DO(clEnqueueWriteBuffer(queue, input, CL_TRUE, 0, Large, g_host, 0, NULL, NULL));
    run_probe(input, output);
    look(output);
  }
}

static void returned_results(int bad) {
  for (int i = 0; i < 150; ++i) {
    run_probe(output, input);
    DO(clEnqueueReadBuffer(queue, input, CL_TRUE, 0, Large, g_host, 0, NULL, NULL));
    if (!bad) g_host[Large - 1 - i] = (char)(i + 1);
    send_large();
  }
}

static void idle_waits(int bad) {
  for (int i = 0; i < 20000; ++i) {
    run_probe(input, output);
    if (bad) DO(clFinish(queue));
  }
  look(output);
}

static void small_transfers(int bad) {
  const size_t piece = 64, pieces = 500;
  for (int i = 0; i < 40; ++i) {
    if (bad)
      for (size_t j = 0; j < pieces; ++j)
        DO(clEnqueueWriteBuffer(queue, input, CL_TRUE, j * piece, piece, g_host + j * piece, 0, NULL, NULL));
    else
      DO(clEnqueueWriteBuffer(queue, input, CL_TRUE, 0, pieces * piece, g_host, 0, NULL, NULL));
    run_probe(input, output);
    look(output);
  }
}

static void buffers_in_loop_of(int iterations, int bad) {
  cl_mem kept = make_buffer(Large);
  for (int i = 0; i < iterations; ++i) {
    cl_mem out = bad ? make_buffer(Large) : kept;
    run_probe(input, out);
    look(out);
    if (bad) DO(clReleaseMemObject(out));
  }
  DO(clReleaseMemObject(kept));
}

static void buffers_in_loop(int bad) { buffers_in_loop_of(500, bad); }
static void few_buffers_in_loop(int bad) { buffers_in_loop_of(20, bad); }

static void repeated_builds(int bad) {
  for (int i = 0; i < 20; ++i) {
    if (bad) {
      DO(clReleaseKernel(probe));
      DO(clReleaseKernel(work));
      DO(clReleaseKernel(three));
      DO(clReleaseProgram(program));
      build();
    }
    run_probe(input, output);
    look(output);
  }
}

static void run_work(cl_mem in) {
  const size_t items = 64;
  const int turns = 10000;
  DO(clSetKernelArg(work, 0, sizeof in, &in));
  DO(clSetKernelArg(work, 1, sizeof output, &output));
  DO(clSetKernelArg(work, 2, sizeof turns, &turns));
  DO(clEnqueueNDRangeKernel(queue, work, 1, NULL, &items, NULL, 0, NULL, NULL));
}

static void missed_overlap(int bad) {
  cl_int error;
  cl_command_queue second = clCreateCommandQueue(context, device, 0, &error);
  check(error, "clCreateCommandQueue");
  cl_mem other = make_buffer(Large);
  for (int i = 0; i < 100; ++i) {
    if (bad) {
      DO(clEnqueueWriteBuffer(queue, input, CL_FALSE, 0, Large, g_host, 0, NULL, NULL));
      run_work(input);
      continue;
    }
    cl_mem in = i % 2 ? input : other;
    DO(clEnqueueWriteBuffer(second, in, CL_TRUE, 0, Large, g_host, 0, NULL, NULL));
    run_work(in);
    if (i % 2) DO(clFinish(queue));
  }
  look(output);
  DO(clReleaseMemObject(other));
  DO(clReleaseCommandQueue(second));
}

static void allocation_churn(int bad) {
  static char kept[Churned];
  cl_mem from = make_buffer(Churned);
  for (int i = 0; i < 20; ++i) {
    char* memory = bad ? malloc(Churned) : kept;
    DO(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, Churned, memory, 0, NULL, NULL));
    run_probe(input, output);
    look(output);
    if (bad) free(memory);
  }
  DO(clReleaseMemObject(from));
}

/* Nothing is copied by a device that shares the host's memory. */
static void maps(int bad) {
  cl_int error;
  for (int i = 0; i < 300; ++i) {
    const cl_map_flags flags = bad ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_READ;
    void* p = clEnqueueMapBuffer(queue, input, CL_TRUE, flags, 0, Large, 0, NULL, NULL, &error);
    check(error, "clEnqueueMapBuffer");
    DO(clEnqueueUnmapMemObject(queue, input, p, 0, NULL, NULL));
    run_probe(input, output);
    look(output);
  }
}

/* A buffer that nothing has written to is mapped with its contents. */
static void copying_maps(int bad) {
  cl_int error;
  for (int i = 0; i < 40; ++i) {
    cl_mem fresh = make_buffer(Large);
    const cl_map_flags flags = bad ? CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION;
    char* p = clEnqueueMapBuffer(queue, fresh, CL_TRUE, flags, 0, Large, 0, NULL, NULL, &error);
    check(error, "clEnqueueMapBuffer");
    memset(p, i, 4096);
    DO(clEnqueueUnmapMemObject(queue, fresh, p, 0, NULL, NULL));
    run_probe(fresh, output);
    look(output);
    DO(clReleaseMemObject(fresh));
  }
}

static void first_touch(int bad) {
  cl_mem from = make_buffer(Fresh);
  const int zero = 0;
  DO(clEnqueueFillBuffer(queue, from, &zero, sizeof zero, 0, Fresh, 0, NULL, NULL));
  DO(clEnqueueReadBuffer(queue, input, CL_TRUE, 0, Large, g_host, 0, NULL, NULL));
  char* memory = malloc(Fresh);
  if (!bad) memset(memory, 1, Fresh);
  for (int i = 0; i < 6; ++i) {
    run_probe(from, output);
    DO(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, Fresh, memory, 0, NULL, NULL));
  }
  free(memory);
  DO(clReleaseMemObject(from));
}

static void round_trips(int bad) {
  for (int i = 0; i < 4000; ++i) {
    run_probe(input, output);
    if (bad || i % 50 == 49) look(output);
  }
}

static void run_three(cl_mem out, cl_mem spare) {
  const size_t one = 1;
  DO(clSetKernelArg(three, 0, sizeof input, &input));
  DO(clSetKernelArg(three, 1, sizeof out, &out));
  DO(clSetKernelArg(three, 2, sizeof spare, &spare));
  DO(clEnqueueNDRangeKernel(queue, three, 1, NULL, &one, NULL, 0, NULL, NULL));
}

/* What is added up in a buffer is read there. */
static void access_flags(int bad) {
  cl_mem sum = make_buffer_for(bad ? CL_MEM_WRITE_ONLY : CL_MEM_READ_WRITE, sizeof g_small);
  run_probe(input, sum);
  look(sum);
  DO(clReleaseMemObject(sum));
}

static void unused_buffers(int bad) {
  cl_mem spare = bad ? make_buffer(Large) : NULL;
  run_three(output, spare);
  look(output);
  if (spare) DO(clReleaseMemObject(spare));
}

static const struct {
  const char* name;
  void (*run)(int bad);
} Patterns[] = {
    {"repeated-sends", repeated_sends},
    {"unread-sends", unread_sends},
    {"returned-results", returned_results},
    {"idle-waits", idle_waits},
    {"small-transfers", small_transfers},
    {"buffers-in-loop", buffers_in_loop},
    {"few-buffers-in-loop", few_buffers_in_loop},
    {"repeated-builds", repeated_builds},
    {"missed-overlap", missed_overlap},
    {"allocation-churn", allocation_churn},
    {"maps", maps},
    {"copying-maps", copying_maps},
    {"first-touch", first_touch},
    {"round-trips", round_trips},
    {"access-flags", access_flags},
    {"unused-buffers", unused_buffers},
};

int main(int argc, char** argv) {
  for (size_t i = 0; argc == 3 && i < sizeof Patterns / sizeof *Patterns; ++i) {
    if (strcmp(argv[1], Patterns[i].name) != 0) continue;
    start();
    Patterns[i].run(strcmp(argv[2], "bad") == 0);
    DO(clFinish(queue));
    DO(clReleaseMemObject(input));
    DO(clReleaseMemObject(output));
    return 0;
  }
  fprintf(stderr, "usage: patterns PATTERN bad|good\n");
  return 2;
}
