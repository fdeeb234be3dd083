/* What extensions do that only the fake driver has: extensions GROUP
 *   printf    a context with a function for what kernels print, without and with one for errors
 *   log       messages that clLogMessagesToStdoutAPPLE prints, as a context's function and called directly
 *   update    a command buffer whose kernel's arguments change
 *   stamps    commands whose sizes, long arguments, addresses and lists of addresses change, several at once
 *   gl        an image and a buffer of OpenGL
 */
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_platform_id platform;
static cl_device_id device;
static void* volatile sink;

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "extensions: %s: %d\n", what, error);
  exit(1);
}
#define DO(call) check(call, #call)
#define EXTENSION(name) name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name)

static cl_kernel kernel_of(cl_context context, const char* text, const char* name, cl_program* program) {
  cl_int error;
  *program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
  check(error, "program");
  DO(clBuildProgram(*program, 1, &device, NULL, NULL, NULL));
  cl_kernel kernel = clCreateKernel(*program, name, &error);
  check(error, "kernel");
  return kernel;
}

static void CL_CALLBACK on_print(const char* text, size_t length, size_t complete, void* data) {
  sink = malloc(77);
  free(sink);
  printf("%.*s %zu %s\n", (int)length, text, complete, data ? (const char*)data : "none");
}
static void CL_CALLBACK on_error(const char* text, const void* info, size_t size, void* data) {
  printf("error %s %s\n", text, (const char*)data);
  (void)info, (void)size;
}

/* The context's own list is the program's, whoever stands in between. */
static void same_list(cl_context context, const cl_context_properties* list, size_t bytes) {
  cl_context_properties got[8];
  size_t size = 0;
  DO(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof got, got, &size));
  printf("list %s\n", size == bytes && memcmp(got, list, bytes) == 0 ? "same" : "other");
}

static void print_in(int errors, const char* data) {
  const cl_context_properties list[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, CL_PRINTF_CALLBACK_ARM,
                                        (cl_context_properties)&on_print, 0};
  cl_int error;
  cl_context context = clCreateContext(list, 1, &device, errors ? on_error : NULL, (void*)data, &error);
  check(error, "context");
  same_list(context, list, sizeof list);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "queue");
  cl_program program;
  cl_kernel kernel = kernel_of(context, "kernel void print() {}", "print", &program);
  for (int i = 0; i < 3; ++i) DO(clEnqueueTask(queue, kernel, 0, NULL, NULL));
  const char* wrong = "#error no\n";
  cl_program bad = clCreateProgramWithSource(context, 1, &wrong, NULL, &error);
  if (clBuildProgram(bad, 1, &device, NULL, NULL, NULL) == CL_SUCCESS) exit(1);
  DO(clReleaseProgram(bad));
  DO(clReleaseKernel(kernel));
  DO(clReleaseProgram(program));
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseContext(context));
}

static void messages(void) {
  typedef void(CL_CALLBACK * Log)(const char*, const void*, size_t, void*);
  Log to_stdout = (Log)clGetExtensionFunctionAddressForPlatform(platform, "clLogMessagesToStdoutAPPLE");
  cl_int error;
  cl_context context = clCreateContext(NULL, 1, &device, to_stdout, NULL, &error);
  check(error, "context");
  const char* wrong = "#error no\n";
  cl_program bad = clCreateProgramWithSource(context, 1, &wrong, NULL, &error);
  if (clBuildProgram(bad, 1, &device, NULL, NULL, NULL) == CL_SUCCESS) exit(1);
  to_stdout("by hand", NULL, 0, NULL);
  DO(clReleaseProgram(bad));
  DO(clReleaseContext(context));
}

/* The form since versions 0.9.5 and 0.9.2 (FAKE_CL_LATER_FORMS): barriers have properties, updates are lists. */
struct later_config {
  cl_mutable_command_khr command;
  cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
  const cl_mutable_dispatch_arg_khr* arg_list;
  const void* more[5];
};
typedef cl_int(CL_API_CALL* later_update)(cl_command_buffer_khr, cl_uint, const cl_uint*, const void**);
typedef cl_int(CL_API_CALL* later_barrier)(cl_command_buffer_khr, cl_command_queue, const cl_properties*, cl_uint,
                                           const cl_sync_point_khr*, cl_sync_point_khr*, cl_mutable_command_khr*);

static void later_barriers(cl_command_buffer_khr commands) {
  later_barrier barrier =
      (later_barrier)clGetExtensionFunctionAddressForPlatform(platform, "clCommandBarrierWithWaitListKHR");
  const cl_properties none[] = {0}, wrong[] = {1, 2, 0};
  cl_sync_point_khr first = 0, second = 0;
  DO(barrier(commands, NULL, NULL, 0, NULL, &first, NULL));
  DO(barrier(commands, NULL, none, 1, &first, &second, NULL));
  printf("%u %u %d\n", first, second, barrier(commands, NULL, wrong, 0, NULL, NULL, NULL));
}

static void update(cl_context context, cl_command_queue queue) {
  EXTENSION(clCreateCommandBufferKHR);
  EXTENSION(clFinalizeCommandBufferKHR);
  EXTENSION(clReleaseCommandBufferKHR);
  EXTENSION(clEnqueueCommandBufferKHR);
  EXTENSION(clCommandNDRangeKernelKHR);
  EXTENSION(clUpdateMutableCommandsKHR);
  cl_int error;
  cl_program program;
  cl_kernel kernel = kernel_of(context, "kernel void increment(global char* a, int n) {}", "increment", &program);
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
  int number = 5;
  DO(clSetKernelArg(kernel, 0, sizeof a, &a));
  DO(clSetKernelArg(kernel, 1, sizeof number, &number));
  cl_command_buffer_khr commands = clCreateCommandBufferKHR(1, &queue, NULL, &error);
  check(error, "command buffer");
  cl_mutable_command_khr command;
  const size_t items = 1;
  DO(clCommandNDRangeKernelKHR(commands, NULL, NULL, kernel, 1, NULL, &items, NULL, 0, NULL, NULL, &command));
  const int later = getenv("FAKE_CL_LATER_FORMS") != NULL;
  if (later) later_barriers(commands);
  DO(clFinalizeCommandBufferKHR(commands));
  DO(clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
  number = 6;
  const cl_mutable_dispatch_arg_khr args[] = {{0, sizeof b, &b}, {1, sizeof number, &number}};
  cl_mutable_dispatch_config_khr dispatch = {CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, .command = command,
                                             .num_args = 2, .arg_list = args};
  const cl_mutable_base_config_khr config = {CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR, NULL, 1, &dispatch};
  const struct later_config changed = {.command = command, .num_args = 2, .arg_list = args};
  const void* const changes[] = {&changed};
  const cl_uint type = 0;
  if (later) {
    later_update function =
        (later_update)clGetExtensionFunctionAddressForPlatform(platform, "clUpdateMutableCommandsKHR");
    DO(function(commands, 1, &type, (const void**)changes));
    if (function(NULL, 1, (const cl_uint*)16, (const void**)16) == CL_SUCCESS) exit(1);
  } else {
    DO(clUpdateMutableCommandsKHR(commands, &config));
    if (clUpdateMutableCommandsKHR(NULL, (const cl_mutable_base_config_khr*)16) == CL_SUCCESS) exit(1);
  }
  DO(clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
  char first, second;
  DO(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 1, &first, 0, NULL, NULL));
  DO(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 1, &second, 0, NULL, NULL));
  printf("%d %d\n", first, second);
  DO(clReleaseCommandBufferKHR(commands));
  DO(clReleaseMemObject(a));
  DO(clReleaseMemObject(b));
  DO(clReleaseKernel(kernel));
  DO(clReleaseProgram(program));
}

/* The form since version 0.9.2, whole. */
struct later_dispatch {
  cl_mutable_command_khr command;
  cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
  const cl_mutable_dispatch_arg_khr *arg_list, *arg_svm_list;
  const cl_mutable_dispatch_exec_info_khr* exec_info_list;
  const size_t *offset, *global, *local;
};
static cl_int change(cl_command_buffer_khr commands, const struct later_dispatch* list, cl_uint count) {
  void* function = clGetExtensionFunctionAddressForPlatform(platform, "clUpdateMutableCommandsKHR");
  if (getenv("FAKE_CL_LATER_FORMS")) {
    const cl_uint types[2] = {0, 0};
    const void* each[2] = {&list[0], &list[1]};
    return ((later_update)function)(commands, count, types, each);
  }
  cl_mutable_dispatch_config_khr earlier[2];
  for (cl_uint i = 0; i < count; ++i)
    earlier[i] = (cl_mutable_dispatch_config_khr){
        CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, NULL, list[i].command, list[i].num_args, list[i].num_svm_args,
        list[i].num_exec_infos, list[i].work_dim, list[i].arg_list, list[i].arg_svm_list, list[i].exec_info_list,
        list[i].offset, list[i].global, list[i].local};
  const cl_mutable_base_config_khr config = {CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR, NULL, count, earlier};
  return ((clUpdateMutableCommandsKHR_fn)function)(commands, &config);
}

enum { StampBytes = 96 };
static void print_bytes(const char* name, const unsigned char* bytes) {
  printf("%s ", name);
  for (int i = 0; i < StampBytes; ++i) printf("%02x", bytes[i]);
  printf("\n");
}
static void print_stamps(cl_command_queue queue, cl_mem a, cl_mem b, void* shared) {
  unsigned char bytes[StampBytes];
  DO(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, StampBytes, bytes, 0, NULL, NULL));
  print_bytes("a", bytes);
  DO(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, StampBytes, bytes, 0, NULL, NULL));
  print_bytes("b", bytes);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, bytes, shared, StampBytes, 0, NULL, NULL));
  print_bytes("s", bytes);
}

static void stamps(cl_context context, cl_command_queue queue) {
  EXTENSION(clCreateCommandBufferKHR);
  EXTENSION(clFinalizeCommandBufferKHR);
  EXTENSION(clReleaseCommandBufferKHR);
  EXTENSION(clEnqueueCommandBufferKHR);
  EXTENSION(clCommandNDRangeKernelKHR);
  cl_int error;
  cl_program program, other;
  cl_kernel kernel = kernel_of(context, "kernel void stamp(global uchar* a, uchar16 v, global uchar* s) {}", "stamp",
                               &program);
  cl_kernel copy = kernel_of(context, "kernel void copy(global char* a, global char* b) {}", "copy", &other);
  const unsigned char zeros[StampBytes] = {0};
  const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem a = clCreateBuffer(context, flags, StampBytes, (void*)zeros, &error);
  cl_mem b = clCreateBuffer(context, flags, StampBytes, (void*)zeros, &error);
  unsigned char* shared = clSVMAlloc(context, CL_MEM_READ_WRITE, 2 * StampBytes, 0);
  DO(clEnqueueSVMMemFill(queue, shared, zeros, 1, (size_t)2 * StampBytes, 0, NULL, NULL));
  DO(clSetKernelArg(kernel, 0, sizeof a, &a));
  DO(clSetKernelArg(kernel, 1, 12, "abcdefghijkl"));
  DO(clSetKernelArgSVMPointer(kernel, 2, shared));
  cl_command_buffer_khr commands = clCreateCommandBufferKHR(1, &queue, NULL, &error);
  check(error, "command buffer");
  cl_mutable_command_khr command[2];
  const size_t first[3] = {4, 30, 3}, second[3] = {60, 20, 1};
  DO(clCommandNDRangeKernelKHR(commands, NULL, NULL, kernel, 1, &first[0], &first[1], &first[2], 0, NULL, NULL,
                               &command[0]));
  DO(clSetKernelArg(kernel, 1, 3, "ABC"));
  DO(clCommandNDRangeKernelKHR(commands, NULL, NULL, kernel, 1, &second[0], &second[1], NULL, 0, NULL, NULL,
                               &command[1]));
  DO(clFinalizeCommandBufferKHR(commands));
  DO(clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
  print_stamps(queue, a, b, shared);
  for (size_t i = 0; i < 6; ++i) {
    char text[24];
    for (size_t c = 0; c < sizeof text; ++c) text[c] = (char)(c * 7 + i);
    const size_t offset = i, global = 10 + 3 * i, local = 1 + i % 3;
    const cl_mutable_dispatch_arg_khr args[] = {{0, sizeof b, i % 2 ? &a : &b}, {1, sizeof text, text}};
    const cl_mutable_dispatch_arg_khr address = {2, 0, shared + i}, none = {2, 0, NULL};
    const void* const list[] = {shared, shared + StampBytes};
    const cl_bool fine = CL_FALSE;
    const cl_mutable_dispatch_exec_info_khr infos[] = {
        {CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list},
        {CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof fine, &fine}};
    const struct later_dispatch changes[2] = {
        {command[0], 2, 1, 2, 1, args, i == 5 ? &none : &address, infos, &offset, &global, &local},
        {command[1], 0, 0, 0, i % 2 ? 1 : 0, NULL, NULL, NULL, NULL, i % 2 ? &global : NULL, NULL}};
    DO(change(commands, changes, 2));
    DO(clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
    print_stamps(queue, a, b, shared);
  }
  const cl_mutable_dispatch_arg_khr beyond = {9, sizeof b, &b};
  const struct later_dispatch wrong = {command[0], 1, 0, 0, 0, &beyond, NULL, NULL, NULL, NULL, NULL};
  printf("wrong %d, none %d\n", change(commands, &wrong, 1), change(commands, &wrong, 0));
  DO(clSetKernelArg(copy, 0, sizeof b, &b));
  DO(clSetKernelArg(copy, 1, sizeof a, &a));
  const size_t one = 1;
  DO(clEnqueueNDRangeKernel(queue, copy, 1, NULL, &one, NULL, 0, NULL, NULL));
  print_stamps(queue, a, b, shared);
  DO(clReleaseCommandBufferKHR(commands));
  clSVMFree(context, shared);
  DO(clReleaseMemObject(a));
  DO(clReleaseMemObject(b));
  DO(clReleaseKernel(kernel));
  DO(clReleaseKernel(copy));
  DO(clReleaseProgram(program));
  DO(clReleaseProgram(other));
}

static void gl(cl_context context, cl_command_queue queue) {
  cl_int error;
  cl_mem image = clCreateFromGLTexture(context, CL_MEM_READ_WRITE, 0x0DE1, 0, 1, &error);
  check(error, "texture");
  cl_mem buffer = clCreateFromGLBuffer(context, CL_MEM_READ_WRITE, 1, &error);
  check(error, "buffer");
  const size_t zero[3] = {0, 0, 0}, region[3] = {4, 5, 1};
  char data[4 * 5 * 8];
  DO(clEnqueueReadImage(queue, image, CL_TRUE, zero, region, 0, 0, data, 0, NULL, NULL));
  cl_mem both[] = {image, buffer};
  cl_event event;
  DO(clEnqueueMigrateMemObjects(queue, 2, both, 0, 0, NULL, &event));
  DO(clReleaseEvent(event));
  DO(clReleaseMemObject(image));
  DO(clReleaseMemObject(buffer));
}

int main(int argc, char** argv) {
  const char* group = argc > 1 ? argv[1] : "";
  cl_int error;
  setbuf(stdout, NULL);
  DO(clGetPlatformIDs(1, &platform, NULL));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  if (strcmp(group, "printf") == 0) return print_in(0, NULL), print_in(1, "data"), 0;
  if (strcmp(group, "log") == 0) return messages(), 0;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "queue");
  if (strcmp(group, "update") == 0) update(context, queue);
  if (strcmp(group, "stamps") == 0) stamps(context, queue);
  if (strcmp(group, "gl") == 0) gl(context, queue);
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseContext(context));
  return 0;
}
