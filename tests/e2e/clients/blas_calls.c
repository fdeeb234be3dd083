// A client of CLBlast through its C interface: SAXPY, SGEMM and DGEMM of small whole numbers, whose results are exact
// in any order of summation, against plain loops. Buffers are made from memory and read back; prints sums.
#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 96, Length = 300000, Rounds = 3 };

static cl_context g_context;
static cl_command_queue g_queue;

static void check(int good, const char* what) {
  if (good) return;
  printf("%s failed\n", what);
  exit(1);
}

static void* allocate(size_t bytes) {
  void* p = malloc(bytes);
  check(p != NULL, "malloc");
  return p;
}

static cl_mem copied(void* host, size_t bytes) {
  cl_int err;
  cl_mem mem = clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, host, &err);
  check(err == CL_SUCCESS, "clCreateBuffer");
  return mem;
}

// Reads `mem` and lets it go.
static void fetch(cl_mem mem, void* to, size_t bytes) {
  check(clEnqueueReadBuffer(g_queue, mem, CL_TRUE, 0, bytes, to, 0, NULL, NULL) == CL_SUCCESS, "clEnqueueReadBuffer");
  check(clReleaseMemObject(mem) == CL_SUCCESS, "clReleaseMemObject");
}

static void saxpy(int round) {
  const size_t bytes = Length * sizeof(float);
  float *x = allocate(bytes), *y = allocate(bytes), *got = allocate(bytes);
  double sum = 0;
  for (int i = 0; i < Length; ++i) x[i] = (float)(i % 11 + round), y[i] = (float)(i % 7);
  cl_mem dx = copied(x, bytes), dy = copied(y, bytes);
  check(CLBlastSaxpy(Length, 3, dx, 0, 1, dy, 0, 1, &g_queue, NULL) == CLBlastSuccess, "CLBlastSaxpy");
  fetch(dy, got, bytes);
  check(clReleaseMemObject(dx) == CL_SUCCESS, "clReleaseMemObject");
  for (int i = 0; i < Length; ++i) check(got[i] == 3 * x[i] + y[i], "SAXPY");
  for (int i = 0; i < Length; ++i) sum += got[i];
  printf("saxpy %.0f\n", sum);
  free(x), free(y), free(got);
}

// One product of N x N matrices, by the library's function for this type.
#define DEFINE_GEMM(TYPE, NAME, CALL)                                                                               \
  static void NAME(int round) {                                                                                     \
    const size_t bytes = sizeof(TYPE) * N * N;                                                                      \
    TYPE *a = allocate(bytes), *b = allocate(bytes), *got = allocate(bytes);                                        \
    double sum = 0;                                                                                                 \
    for (int i = 0; i < N * N; ++i) a[i] = (TYPE)(i % 5 + round), b[i] = (TYPE)(i % 3), got[i] = 0;                 \
    cl_mem da = copied(a, bytes), db = copied(b, bytes), dc = copied(got, bytes);                                   \
    check(CALL(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, N, N, N, 1, da, 0, N, db, 0, N, 0, dc, \
               0, N, &g_queue, NULL) == CLBlastSuccess,                                                             \
          #CALL);                                                                                                   \
    fetch(dc, got, bytes);                                                                                          \
    check(clReleaseMemObject(da) == CL_SUCCESS && clReleaseMemObject(db) == CL_SUCCESS, "clReleaseMemObject");      \
    for (int row = 0; row < N; ++row)                                                                               \
      for (int column = 0; column < N; ++column) {                                                                  \
        TYPE right = 0;                                                                                             \
        for (int k = 0; k < N; ++k) right += a[row * N + k] * b[k * N + column];                                    \
        check(got[row * N + column] == right, #NAME);                                                               \
        sum += (double)right;                                                                                       \
      }                                                                                                             \
    printf("%s %.0f\n", #NAME, sum);                                                                                \
    free(a), free(b), free(got);                                                                                    \
  }
DEFINE_GEMM(float, sgemm, CLBlastSgemm)
DEFINE_GEMM(double, dgemm, CLBlastDgemm)

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_device_fp_config doubles = 0;
  cl_int err;
  check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "clGetDeviceIDs");
  g_context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
  check(err == CL_SUCCESS, "clCreateContext");
  g_queue = clCreateCommandQueue(g_context, device, 0, &err);
  check(err == CL_SUCCESS, "clCreateCommandQueue");
  clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
  for (int round = 0; round < Rounds; ++round) {
    saxpy(round);
    sgemm(round);
    if (doubles) dgemm(round);
  }
  CLBlastClearCache();
  check(clReleaseCommandQueue(g_queue) == CL_SUCCESS && clReleaseContext(g_context) == CL_SUCCESS, "the end");
  return 0;
}
