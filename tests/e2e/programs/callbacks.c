// Registers callbacks of every kind, and prints what was called back: callbacks MODE [N]
//   events     N user events, each with a callback that allocates and calls OpenCL
//   chain      each callback registers the next one
//   commands   a callback for each of N markers
//   build      of a program that builds, and of one that does not
//   native     N native kernels with two buffers each; one without arguments
//   bare N     native kernels without arguments, N of which wait for one event
//   destroy    of a buffer, a program, a context
//   svm        frees SVM
//   failing    registrations that the driver refuses
//   jump       a callback that jumps out of the call that it interrupts, N times
//   exit       a callback that exits
//   kill       a callback that kills the process with signal N
//   stop N     calls back N times, then again and again until stdin ends, and N times more
// Every line: kind, index of the registration, what was given.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_2_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static atomic_int called;
static volatile char* sink;

#define GOOD(call)                                                           \
  do {                                                                       \
    const cl_int code_ = (call);                                             \
    if (code_ != CL_SUCCESS) printf("%s: %d\n", #call, (int)code_), exit(1); \
  } while (0)

static int index_of(void* data) { return (int)(intptr_t)data; }
static void* data_of(int index) { return (void*)(intptr_t)index; }

static void CL_CALLBACK on_error(const char* text, const void* info, size_t bytes, void* data) {
  printf("context %d %s %d %zu\n", index_of(data), text, info != NULL, bytes);
}

static cl_event user_event(void) {
  cl_int err;
  cl_event e = clCreateUserEvent(context, &err);
  GOOD(err);
  return e;
}

// Allocates, and calls OpenCL: both are the program's.
static void CL_CALLBACK on_event(cl_event e, cl_int status, void* data) {
  sink = malloc(100);
  cl_int now;
  GOOD(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof now, &now, NULL));
  free((void*)sink);
  printf("event %d %d %d\n", index_of(data), (int)status, (int)now);
  ++called;
}

static void wait_for(int count) {
  while (called < count) poll(NULL, 0, 1);
}

static void one_event(int i) {
  cl_event e = user_event();
  GOOD(clSetEventCallback(e, CL_COMPLETE, on_event, data_of(i)));
  GOOD(clSetUserEventStatus(e, CL_COMPLETE));
  wait_for(i + 1);
  GOOD(clReleaseEvent(e));
}
static void events(int n) {
  for (int i = 0; i < n; ++i) one_event(i);
}

static int chain_length;
static void CL_CALLBACK on_link(cl_event e, cl_int status, void* data) {
  printf("event %d %d\n", index_of(data), (int)status);
  if (index_of(data) + 1 < chain_length) {
    cl_event next = user_event();
    GOOD(clSetEventCallback(next, CL_COMPLETE, on_link, data_of(index_of(data) + 1)));
    GOOD(clSetUserEventStatus(next, CL_COMPLETE));
    GOOD(clReleaseEvent(next));
  }
  ++called;
  (void)e;
}

static void commands(int n) {
  for (int i = 0; i < n; ++i) {
    cl_event e;
    GOOD(clEnqueueMarkerWithWaitList(queue, 0, NULL, &e));
    GOOD(clSetEventCallback(e, CL_COMPLETE, on_event, data_of(i)));
    GOOD(clFinish(queue));
    wait_for(i + 1);
    GOOD(clReleaseEvent(e));
  }
}

static void CL_CALLBACK on_build(cl_program p, void* data) {
  cl_uint references = 0;
  GOOD(clGetProgramInfo(p, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL));
  printf("program %d\n", index_of(data));
  ++called;
}

static cl_program program_of(const char* source) {
  cl_int err;
  cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &err);
  GOOD(err);
  return p;
}

static void build(void) {
  cl_program p = program_of("kernel void nothing(global int* a) { a[0] = 1; }\n");
  GOOD(clBuildProgram(p, 1, &device, "", on_build, data_of(0)));
  wait_for(1);
  GOOD(clReleaseProgram(p));
  p = program_of("#error no\n");
  clBuildProgram(p, 1, &device, "", on_build, data_of(1));
  GOOD(clReleaseProgram(p));
}

struct NativeArgs {
  int index;
  int* a;
  char between[3];
  int* b;
  char rest[4096];
};
static int native_bytes;

static void CL_CALLBACK on_native(void* p) {
  struct NativeArgs* args = p;
  printf("native %d %d %d %d %d\n", args->index, args->a[0], args->b[0], args->rest[0],
         native_bytes > 1000 ? args->rest[4095] : 0);
  args->b[0] += args->a[0];
  ++called;
}
static void CL_CALLBACK on_nothing(void* p) { printf("native none %d\n", p == NULL), ++called; }

static void check_native(void) {
  cl_device_exec_capabilities can = CL_EXEC_NATIVE_KERNEL;
  clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL);
  if (!(can & CL_EXEC_NATIVE_KERNEL)) printf("cannot\n"), exit(0);
}

static int bytes;  // that stand where the arguments would
static void CL_CALLBACK on_refused(void* p) { printf("refused, and called all the same: %p\n", p); }

static void bare(int n) {
  check_native();
  cl_event e = user_event();
  for (int i = 0; i < n; ++i) GOOD(clEnqueueNativeKernel(queue, on_nothing, NULL, 0, 0, NULL, NULL, 1, &e, NULL));
  GOOD(clSetUserEventStatus(e, CL_COMPLETE));
  GOOD(clFinish(queue));
  GOOD(clReleaseEvent(e));
  for (int i = 0; i < 1000; ++i) {
    if (clEnqueueNativeKernel(queue, on_refused, NULL, 4, 0, NULL, NULL, 0, NULL, NULL) == CL_SUCCESS) exit(1);
    if (clEnqueueNativeKernel(queue, on_refused, &bytes, 0, 0, NULL, NULL, 0, NULL, NULL) == CL_SUCCESS) exit(1);
    if (clEnqueueNativeKernel(queue, on_refused, NULL, 0, 0, NULL, NULL, 1, NULL, NULL) == CL_SUCCESS) exit(1);
  }
  GOOD(clEnqueueNativeKernel(queue, on_nothing, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
  GOOD(clFinish(queue));
}

static void native(int n) {
  check_native();
  cl_int err, one = 1, sum = 0;
  cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof one, &one, &err);
  GOOD(err);
  cl_mem b = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof sum, &sum, &err);
  GOOD(err);
  for (int i = 0; i < n; ++i) {
    struct NativeArgs args;
    memset(&args, i, sizeof args);
    args.index = i;
    const cl_mem list[] = {a, b};
    const void* places[] = {&args.a, &args.b};
    native_bytes = i % 2 ? (int)sizeof args : (int)offsetof(struct NativeArgs, rest) + 4;
    GOOD(clEnqueueNativeKernel(queue, on_native, &args, (size_t)native_bytes, 2, list, places, 0, NULL, NULL));
    GOOD(clFinish(queue));
  }
  GOOD(clEnqueueNativeKernel(queue, on_nothing, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
  GOOD(clFinish(queue));
  GOOD(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL));
  printf("sum %d\n", (int)sum);
  GOOD(clReleaseMemObject(a));
  GOOD(clReleaseMemObject(b));
}

static void CL_CALLBACK on_mem(cl_mem m, void* data) { printf("mem %d %d\n", index_of(data), m != NULL), ++called; }
static void CL_CALLBACK on_context(cl_context c, void* data) {
  printf("destroyed %d %d\n", index_of(data), c != NULL), ++called;
}
static void CL_CALLBACK on_program(cl_program p, void* data) {
  printf("released %d %d\n", index_of(data), p != NULL), ++called;
}

static void destroy(void) {
  cl_int err;
  cl_mem m = clCreateBuffer(context, 0, 64, NULL, &err);
  GOOD(err);
  GOOD(clSetMemObjectDestructorCallback(m, on_mem, data_of(0)));
  GOOD(clSetMemObjectDestructorCallback(m, on_mem, data_of(1)));
  GOOD(clReleaseMemObject(m));
  cl_program p = program_of("kernel void nothing(global int* a) { a[0] = 1; }\n");
  if (clSetProgramReleaseCallback(p, on_program, data_of(2)) != CL_SUCCESS) printf("no program release callbacks\n");
  GOOD(clReleaseProgram(p));
  if (clSetContextDestructorCallback(context, on_context, data_of(3)) != CL_SUCCESS)
    printf("no context destructor callbacks\n");
}

static void CL_CALLBACK on_free(cl_command_queue q, cl_uint n, void** pointers, void* data) {
  printf("svm %d %u %d\n", index_of(data), (unsigned)n, q == queue);
  for (cl_uint i = 0; i < n; ++i) clSVMFree(context, pointers[i]);
  ++called;
}
static void svm(void) {
  void* pointers[3];
  for (int i = 0; i < 3; ++i) {
    if (!(pointers[i] = clSVMAlloc(context, CL_MEM_READ_WRITE, 256, 0))) printf("cannot\n"), exit(0);
  }
  GOOD(clEnqueueSVMFree(queue, 3, pointers, on_free, data_of(7), 0, NULL, NULL));
  GOOD(clFinish(queue));
  wait_for(1);
}

static void failing(int n) {
  for (int i = 0; i < n; ++i) {
    cl_event e = user_event();
    printf("%d", clSetEventCallback(e, 12345, on_event, data_of(i)) != CL_SUCCESS);
    printf("%d", clSetEventCallback(e, CL_COMPLETE, NULL, NULL) != CL_SUCCESS);
    printf("%d", clEnqueueNativeKernel(queue, on_nothing, NULL, 8, 0, NULL, NULL, 0, NULL, NULL) != CL_SUCCESS);
    GOOD(clSetUserEventStatus(e, CL_COMPLETE));
    GOOD(clReleaseEvent(e));
  }
  printf("\n");
}

static jmp_buf out;
static void CL_CALLBACK on_jump(cl_event e, cl_int status, void* data) {
  printf("event %d %d\n", index_of(data), (int)status);
  (void)e;
  longjmp(out, 1);
}
static void jump(int n) {
  for (volatile int i = 0; i < n; ++i) {
    cl_event e = user_event();
    GOOD(clSetEventCallback(e, CL_COMPLETE, on_jump, data_of(i)));
    if (!setjmp(out)) clSetUserEventStatus(e, CL_COMPLETE);
    sink = malloc(10);
    free((void*)sink);
  }
}

static void CL_CALLBACK on_end(cl_event e, cl_int status, void* data) {
  (void)e;
  printf("event 0 %d\n", (int)status);
  fflush(stdout);
  if (index_of(data) != 0) raise(index_of(data));
  exit(3);
}
static void end(int signal_number) {
  cl_event e = user_event();
  GOOD(clSetEventCallback(e, CL_COMPLETE, on_end, data_of(signal_number)));
  clSetUserEventStatus(e, CL_COMPLETE);
  for (;;) poll(NULL, 0, 1000);
}

static void stop(int n) {
  struct pollfd ended = {0, POLLIN, 0};
  events(n);
  printf("recorded\n"), fflush(stdout);
  int i = n;
  while (poll(&ended, 1, 0) == 0) one_event(i++);
  printf("end of input\n");
  for (const int last = i + n; i < last; ++i) one_event(i);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const int n = argc > 2 ? atoi(argv[2]) : 1;
  cl_platform_id platform;
  cl_int err;
  GOOD(clGetPlatformIDs(1, &platform, NULL));
  GOOD(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, on_error, data_of(9), &err);
  GOOD(err);
  queue = clCreateCommandQueue(context, device, 0, &err);
  GOOD(err);
  chain_length = n;
  if (!strcmp(mode, "events")) events(n);
  if (!strcmp(mode, "chain")) {
    cl_event e = user_event();
    GOOD(clSetEventCallback(e, CL_COMPLETE, on_link, data_of(0)));
    GOOD(clSetUserEventStatus(e, CL_COMPLETE));
    wait_for(n);
    GOOD(clReleaseEvent(e));
  }
  if (!strcmp(mode, "commands")) commands(n);
  if (!strcmp(mode, "build")) build();
  if (!strcmp(mode, "native")) native(n);
  if (!strcmp(mode, "bare")) bare(n);
  if (!strcmp(mode, "destroy")) destroy();
  if (!strcmp(mode, "svm")) svm();
  if (!strcmp(mode, "failing")) failing(n);
  if (!strcmp(mode, "jump")) jump(n);
  if (!strcmp(mode, "exit")) end(0);
  if (!strcmp(mode, "kill")) end(n);
  if (!strcmp(mode, "stop")) stop(n);
  GOOD(clReleaseCommandQueue(queue));
  GOOD(clReleaseContext(context));
  printf("done\n");
  return 0;
}
