/* Programs whose data is on the device, for who reads it back. Usage: device_data kinds|gated|unordered|crowd|callback
 *
 * kinds      launches with a sub-buffer, an image, shared virtual memory, and a buffer that the host may not read
 * gated      launches that wait for a user event, which the program sets after it has enqueued them all
 * unordered  an out-of-order queue: two chains of launches, each ordered by events, beside a command that is held up
 * crowd      four threads, each with a queue of its own, launch the same kernel on buffers of their own
 * callback   a launch from an event's callback
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* const source =
    "kernel void advance(global int* a, int by) { size_t i = get_global_id(0); a[i] = a[i] * 3 + by + (int)i; }\n"
    "kernel void blend(global int* part, read_only image2d_t image, global int* shared, global int* out) {\n"
    "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = part[i] + read_imagei(image, s, (int2)(i % 8, i / 8)).x * 10 + shared[i] * 1000;\n"
    "  part[i] = -part[i];\n"
    "}\n"
    "kernel void blended(global int* part, read_only image2d_t image, global int* out) {\n"
    "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = part[i] + read_imagei(image, s, (int2)(i % 8, i / 8)).x * 10;\n"
    "}\n";

static cl_context context;
static cl_device_id device;
static cl_program program;
enum { N = 64 };

static cl_command_queue queue_with(cl_command_queue_properties properties) {
  return clCreateCommandQueue(context, device, properties, NULL);
}

static void start(void) {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) exit(4);
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) exit(4);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, NULL, NULL, NULL) != CL_SUCCESS) exit(4);
}

static cl_mem buffer_of(size_t elements, int first) {
  int data[4 * N];
  for (size_t i = 0; i < elements; ++i) data[i] = first + (int)i;
  return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, elements * sizeof(int), data, NULL);
}

static cl_kernel step_on(cl_mem a, int by) {
  cl_kernel kernel = clCreateKernel(program, "advance", NULL);
  clSetKernelArg(kernel, 0, sizeof a, &a);
  clSetKernelArg(kernel, 1, sizeof by, &by);
  return kernel;
}

static cl_int launch(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* before, cl_event* event) {
  const size_t global = N;
  return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, count, before, event);
}

static int sum_of(cl_command_queue queue, cl_mem a, cl_uint count, const cl_event* before) {
  int data[N], sum = 0;
  cl_event read;  // a call that waits may wait for all of an unordered queue
  clEnqueueReadBuffer(queue, a, CL_FALSE, 0, sizeof data, data, count, before, &read);
  clWaitForEvents(1, &read);
  for (int i = 0; i < N; ++i) sum += data[i] % 1000;
  return sum;
}

static int kinds(void) {
  cl_command_queue queue = queue_with(0);
  cl_mem whole = buffer_of(4 * N, 5), out = clCreateBuffer(context, CL_MEM_READ_WRITE, N * 4, NULL, NULL);
  cl_device_svm_capabilities svm = 0;
  const int* memory = NULL;
  clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
  const cl_buffer_region region = {512, N * 4};
  cl_mem part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
  const cl_image_format format = {CL_R, CL_SIGNED_INT32};
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 8};
  cl_int error = CL_SUCCESS;
  cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY, &format, &desc, NULL, &error);
  if (error != CL_SUCCESS) return 77;
  int texels[N];
  for (int i = 0; i < N; ++i) texels[i] = i * i % 7;
  const size_t origin[3] = {0, 0, 0}, all[3] = {8, 8, 1};
  clEnqueueWriteImage(queue, image, CL_TRUE, origin, all, 0, 0, texels, 0, NULL, NULL);
  launch(queue, step_on(part, 2), 0, NULL, NULL);
  cl_mem hidden = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, N * 4, NULL, NULL);
  clEnqueueCopyBuffer(queue, part, hidden, 0, 0, N * 4, 0, NULL, NULL);
  launch(queue, step_on(hidden, 3), 0, NULL, NULL);
  clEnqueueCopyBuffer(queue, hidden, part, 0, 0, N * 4, 0, NULL, NULL);
  cl_kernel kernel = clCreateKernel(program, svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER ? "blend" : "blended", NULL);
  cl_uint arg = 0;
  clSetKernelArg(kernel, arg++, sizeof part, &part);
  clSetKernelArg(kernel, arg++, sizeof image, &image);
  if (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
    int* shared = clSVMAlloc(context, CL_MEM_READ_WRITE, N * 4, 0);
    clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, shared, N * 4, 0, NULL, NULL);
    for (int i = 0; i < N; ++i) shared[i] = N - i;
    clEnqueueSVMUnmap(queue, shared, 0, NULL, NULL);
    memory = shared;
    clSetKernelArgSVMPointer(kernel, arg++, shared);
  }
  clSetKernelArg(kernel, arg++, sizeof out, &out);
  launch(queue, kernel, 0, NULL, NULL);
  printf("%d %d\n", sum_of(queue, out, 0, NULL), sum_of(queue, part, 0, NULL));
  if (memory) clSVMFree(context, (void*)memory);
  return 0;
}

static int gated(void) {
  cl_command_queue queue = queue_with(0);
  cl_mem a = buffer_of(N, 1);
  cl_event gate = clCreateUserEvent(context, NULL), last = NULL;
  for (int i = 0; i < 3; ++i) launch(queue, step_on(a, i), 1, &gate, i == 2 ? &last : NULL);
  clFlush(queue);
  usleep(10000);
  clSetUserEventStatus(gate, CL_COMPLETE);
  clWaitForEvents(1, &last);
  launch(queue, step_on(a, 7), 0, NULL, NULL);
  printf("%d\n", sum_of(queue, a, 0, NULL));
  return 0;
}

static int unordered(void) {
  cl_command_queue queue = queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_mem held = buffer_of(N, 3), chain[2] = {buffer_of(N, 10), buffer_of(N, 20)};
  cl_event gate = clCreateUserEvent(context, NULL), last[2] = {NULL, NULL};
  launch(queue, step_on(held, 1), 1, &gate, NULL);
  for (int i = 0; i < 6; ++i) {
    cl_event* event = &last[i % 2];
    const cl_event before = *event;
    launch(queue, step_on(chain[i % 2], i), before ? 1 : 0, before ? &before : NULL, event);
  }
  printf("%d %d\n", sum_of(queue, chain[0], 1, &last[0]), sum_of(queue, chain[1], 1, &last[1]));
  clSetUserEventStatus(gate, CL_COMPLETE);
  clFinish(queue);
  printf("%d\n", sum_of(queue, held, 0, NULL));
  return 0;
}

static void* one_of_many(void* number) {
  cl_command_queue queue = queue_with(0);
  cl_mem a = buffer_of(N, (int)(size_t)number);
  cl_kernel kernel = step_on(a, 3);
  for (int i = 0; i < 25; ++i) launch(queue, kernel, 0, NULL, NULL);
  return (void*)(size_t)sum_of(queue, a, 0, NULL);
}

static int crowd(void) {
  pthread_t threads[4];
  for (size_t i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, one_of_many, (void*)(i * 100));
  for (size_t i = 0; i < 4; ++i) {
    void* sum;
    pthread_join(threads[i], &sum);
    printf("%d\n", (int)(size_t)sum);
  }
  return 0;
}

static cl_command_queue called_queue;
static cl_kernel called_kernel;
static sem_t called;

static void CL_CALLBACK then_launch(cl_event event, cl_int status, void* unused) {
  (void)event, (void)status, (void)unused;
  launch(called_queue, called_kernel, 0, NULL, NULL);
  clFlush(called_queue);
  sem_post(&called);
}

static int callback(void) {
  sem_init(&called, 0, 0);
  cl_mem a = buffer_of(N, 9), b = buffer_of(N, 8);
  cl_command_queue queue = queue_with(0);
  called_queue = queue_with(0);
  called_kernel = step_on(b, 4);
  cl_event event;
  launch(queue, step_on(a, 1), 0, NULL, &event);
  clSetEventCallback(event, CL_COMPLETE, then_launch, NULL);
  clFlush(queue);
  sem_wait(&called);
  printf("%d %d\n", sum_of(queue, a, 0, NULL), sum_of(called_queue, b, 0, NULL));
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  start();
  if (strcmp(what, "kinds") == 0) return kinds();
  if (strcmp(what, "gated") == 0) return gated();
  if (strcmp(what, "unordered") == 0) return unordered();
  if (strcmp(what, "crowd") == 0) return crowd();
  if (strcmp(what, "callback") == 0) return callback();
  return 2;
}
