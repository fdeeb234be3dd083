/* A list in shared virtual memory, whose cells point at each other; a buffer holds where it begins.
 *
 * Usage: shared_list. Host and kernels follow the same pointers: the program links cells of three allocations, a kernel
 * adds up what it finds along the list and turns it around, and the program walks it again. One allocation is freed on
 * the way, and another one takes its place. Exit status 0: what the host finds is what the kernel found.
 */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 100

typedef struct Cell {
  struct Cell* next;
  cl_ulong value;
} Cell;

static const char* const source =
    "typedef struct Cell { global struct Cell* next; ulong value; } Cell;\n"
    "kernel void turn(global ulong* head, global ulong* sum) {\n"
    "  global Cell* at = (global Cell*)head[0];\n"
    "  global Cell* before = 0;\n"
    "  while (at) {\n"
    "    sum[0] += at->value;\n"
    "    global Cell* next = at->next;\n"
    "    at->next = before;\n"
    "    before = at;\n"
    "    at = next;\n"
    "  }\n"
    "  head[0] = (ulong)before;\n"
    "}\n";

static cl_context context;
static cl_command_queue queue;
static cl_kernel turn;

static const size_t bytes = CELLS * sizeof(Cell);

static Cell* cells(void) { return clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0); }

/* The list goes through `parts` in turn. */
static void link_cells(Cell** parts, int n, cl_ulong seed) {
  for (int i = 0; i < n; ++i) clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, parts[i], bytes, 0, NULL, NULL);
  for (int c = 0; c < CELLS * n; ++c) {
    Cell* cell = &parts[c % n][c / n];
    cell->next = c + 1 < CELLS * n ? &parts[(c + 1) % n][(c + 1) / n] : NULL;
    cell->value = seed + (cl_ulong)c;
  }
  for (int i = 0; i < n; ++i) clEnqueueSVMUnmap(queue, parts[i], 0, NULL, NULL);
}

static int walk(Cell** parts, int n, cl_ulong seed) {
  cl_ulong head = (cl_ulong)parts[0], sum = 0, told[2] = {0, 0}, expected = 0;
  cl_mem begin = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof head, NULL, NULL);
  cl_mem total = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof sum, &sum, NULL);
  const size_t one = 1;
  link_cells(parts, n, seed);
  clEnqueueWriteBuffer(queue, begin, CL_TRUE, 0, sizeof head, &head, 0, NULL, NULL);
  clSetKernelArg(turn, 0, sizeof begin, &begin);
  clSetKernelArg(turn, 1, sizeof total, &total);
  clSetKernelExecInfo(turn, CL_KERNEL_EXEC_INFO_SVM_PTRS, (size_t)n * sizeof(Cell*), parts);
  clEnqueueNDRangeKernel(queue, turn, 1, NULL, &one, NULL, 0, NULL, NULL);
  clEnqueueReadBuffer(queue, begin, CL_TRUE, 0, sizeof head, &told[0], 0, NULL, NULL);
  clEnqueueReadBuffer(queue, total, CL_TRUE, 0, sizeof sum, &told[1], 0, NULL, NULL);
  for (int i = 0; i < n; ++i) clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, parts[i], bytes, 0, NULL, NULL);
  for (Cell* at = (Cell*)told[0]; at; at = at->next) expected += at->value;
  for (int i = 0; i < n; ++i) clEnqueueSVMUnmap(queue, parts[i], 0, NULL, NULL);
  clFinish(queue);
  clReleaseMemObject(begin);
  clReleaseMemObject(total);
  printf("%lu %lu\n", (unsigned long)told[1], (unsigned long)expected);
  return told[1] != expected || expected == 0;
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_device_svm_capabilities svm = 0;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 4;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 4;
  if (clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL) != CL_SUCCESS || svm == 0) return 77;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL) != CL_SUCCESS) return 4;
  turn = clCreateKernel(program, "turn", NULL);
  Cell* parts[3] = {cells(), cells(), cells()};
  int wrong = walk(parts, 3, 1000);
  clSVMFree(context, parts[1]);
  void* between = malloc(1 << 16);
  parts[1] = cells();
  wrong |= walk(parts, 3, 5000);
  free(between);
  for (int i = 0; i < 3; ++i) clSVMFree(context, parts[i]);
  return wrong;
}
