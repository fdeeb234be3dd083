// OpenCL linked into the program itself: the functions that door_job.c calls, just enough of them.
#include <CL/cl.h>
#include <string.h>

static int platform, device, context, buffer;

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id* out, cl_uint* count) {
  if (out && n) *out = (cl_platform_id)&platform;
  if (count) *count = 1;
  return CL_SUCCESS;
}
cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id* out, cl_uint* count) {
  if (p != (cl_platform_id)&platform) return CL_INVALID_PLATFORM;
  if (out && n && type) *out = (cl_device_id)&device;
  if (count) *count = 1;
  return CL_SUCCESS;
}
cl_context clCreateContext(const cl_context_properties* properties, cl_uint n, const cl_device_id* devices,
                           void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                           cl_int* error) {
  (void)properties, (void)notify, (void)data;
  if (error) *error = n == 1 && devices[0] == (cl_device_id)&device ? CL_SUCCESS : CL_INVALID_DEVICE;
  return (cl_context)&context;
}
cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t size, void* host, cl_int* error) {
  (void)flags, (void)size, (void)host;
  if (error) *error = c == (cl_context)&context ? CL_SUCCESS : CL_INVALID_CONTEXT;
  return (cl_mem)&buffer;
}
cl_int clGetMemObjectInfo(cl_mem b, cl_mem_info name, size_t room, void* out, size_t* size_ret) {
  const size_t size = 4096;
  if (b != (cl_mem)&buffer || name != CL_MEM_SIZE || room < sizeof size) return CL_INVALID_VALUE;
  if (out) memcpy(out, &size, sizeof size);
  if (size_ret) *size_ret = sizeof size;
  return CL_SUCCESS;
}
cl_int clReleaseMemObject(cl_mem b) { return b == (cl_mem)&buffer ? CL_SUCCESS : CL_INVALID_MEM_OBJECT; }
cl_int clReleaseContext(cl_context c) { return c == (cl_context)&context ? CL_SUCCESS : CL_INVALID_CONTEXT; }
#if defined(__x86_64__)
// Nothing to patch: three bytes, and no room behind them.
__asm__(".text\n.globl clFinish\n.type clFinish,@function\nclFinish: xor %eax,%eax\nret\n.size clFinish,3\n"
        ".globl beside_clFinish\n.type beside_clFinish,@function\nbeside_clFinish: ret\n.size beside_clFinish,1\n");
#endif
