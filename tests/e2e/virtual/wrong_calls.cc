// Calls that are wrong, each with one fault, and what came back: a line for each. A virtual platform must answer what
// the native one does, except where that is lenient: then the specification's code is expected of it.
//
// Usage: wrong_calls [all]
#include <CL/cl.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

struct World {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr, other = nullptr;
  cl_command_queue queue = nullptr, other_queue = nullptr;
  cl_mem buffer = nullptr, other_buffer = nullptr, image = nullptr, read_only = nullptr, hidden = nullptr;
  cl_program program = nullptr, unbuilt = nullptr;
  cl_kernel kernel = nullptr;
  cl_event done = nullptr, other_event = nullptr, user = nullptr;
  std::vector<uint8_t> host = std::vector<uint8_t>(1 << 16);
};
constexpr size_t Size = 4096;

const char* const Source =
    "kernel void k(global int* a, int b, local int* c, float4 f, sampler_t s, read_only image2d_t i) { a[0] = b; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void fixed(global int* a) { a[get_global_id(0)] = 1; }\n";

void say(const char* what, cl_int code) { std::printf("%s %d\n", what, code); }

#define SAY(name, call) say(name, call)
// Crashes or hangs a native driver that we test with: only made with the argument `all`.
bool g_all = false;
#define SAY_IF_ALL(name, call) \
  if (g_all) say(name, call)
#define SAY_MADE(name, type, release, call) \
  do {                                      \
    cl_int err = 12345;                     \
    type made = call;                       \
    say(name, made ? 0 : err);              \
    if (made) release(made);                \
  } while (false)

World make() {
  World w;
  cl_int err = 0;
  clGetPlatformIDs(1, &w.platform, nullptr);
  clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ALL, 1, &w.device, nullptr);
  w.context = clCreateContext(nullptr, 1, &w.device, nullptr, nullptr, &err);
  w.other = clCreateContext(nullptr, 1, &w.device, nullptr, nullptr, &err);
  w.queue = clCreateCommandQueue(w.context, w.device, 0, &err);
  w.other_queue = clCreateCommandQueue(w.other, w.device, 0, &err);
  w.buffer = clCreateBuffer(w.context, CL_MEM_READ_WRITE, Size, nullptr, &err);
  w.other_buffer = clCreateBuffer(w.other, CL_MEM_READ_WRITE, Size, nullptr, &err);
  w.read_only = clCreateBuffer(w.context, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, Size, nullptr, &err);
  w.hidden = clCreateBuffer(w.context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, Size, nullptr, &err);
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 16;
  w.image = clCreateImage(w.context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &err);
  const char* source = Source;
  w.program = clCreateProgramWithSource(w.context, 1, &source, nullptr, &err);
  clBuildProgram(w.program, 0, nullptr, "-cl-kernel-arg-info", nullptr, nullptr);
  w.unbuilt = clCreateProgramWithSource(w.context, 1, &source, nullptr, &err);
  w.kernel = clCreateKernel(w.program, "k", &err);
  clEnqueueWriteBuffer(w.queue, w.buffer, CL_TRUE, 0, Size, w.host.data(), 0, nullptr, &w.done);
  clEnqueueWriteBuffer(w.other_queue, w.other_buffer, CL_TRUE, 0, Size, w.host.data(), 0, nullptr, &w.other_event);
  clFinish(w.queue);
  clFinish(w.other_queue);
  w.user = clCreateUserEvent(w.context, &err);
  return w;
}

void platforms(World& w) {
  cl_uint n = 0;
  char text[4];
  SAY("platform ids: nothing asked", clGetPlatformIDs(0, nullptr, nullptr));
  SAY("platform info: unknown", clGetPlatformInfo(w.platform, 0x1234, 0, nullptr, nullptr));
  SAY("platform info: no room", clGetPlatformInfo(w.platform, CL_PLATFORM_NAME, sizeof text, text, nullptr));
  SAY("platform ids: nothing asked, room", clGetPlatformIDs(1, nullptr, nullptr));
  SAY("device ids: nothing asked, room", clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ALL, 1, nullptr, nullptr));
  SAY("device info: nothing asked", clGetDeviceInfo(w.device, CL_DEVICE_NAME, 0, nullptr, nullptr));
  SAY("device ids: nothing asked", clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr));
  SAY("device ids: no type", clGetDeviceIDs(w.platform, 0, 1, &w.device, &n));
  SAY("device ids: none", clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ACCELERATOR, 0, nullptr, &n));
  SAY("device info: NULL", clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, nullptr));
  SAY("device info: unknown", clGetDeviceInfo(w.device, 0x7777, 0, nullptr, nullptr));
  SAY("device info: no room", clGetDeviceInfo(w.device, CL_DEVICE_TYPE, 1, text, nullptr));
}

void contexts(World& w) {
  const cl_context_properties bad[] = {0x9999, 1, 0};
  SAY_MADE("context: no devices", cl_context, clReleaseContext,
           clCreateContext(nullptr, 0, nullptr, nullptr, nullptr, &err));
  SAY_MADE("context: data without function", cl_context, clReleaseContext,
           clCreateContext(nullptr, 1, &w.device, nullptr, &w, &err));
  SAY_MADE("context: bad property", cl_context, clReleaseContext,
           clCreateContext(bad, 1, &w.device, nullptr, nullptr, &err));
  SAY("context info: NULL", clGetContextInfo(nullptr, CL_CONTEXT_NUM_DEVICES, 0, nullptr, nullptr));
  SAY("context info: unknown", clGetContextInfo(w.context, 0x7777, 0, nullptr, nullptr));
  SAY("context: retain NULL", clRetainContext(nullptr));
  SAY("context: release NULL", clReleaseContext(nullptr));
}

void queues(World& w) {
  SAY_MADE("queue: NULL context", cl_command_queue, clReleaseCommandQueue,
           clCreateCommandQueue(nullptr, w.device, 0, &err));
  SAY_MADE("queue: NULL device", cl_command_queue, clReleaseCommandQueue,
           clCreateCommandQueue(w.context, nullptr, 0, &err));
  SAY_MADE("queue: bad properties", cl_command_queue, clReleaseCommandQueue,
           clCreateCommandQueue(w.context, w.device, 0x8000, &err));
  SAY("queue info: NULL", clGetCommandQueueInfo(nullptr, CL_QUEUE_CONTEXT, 0, nullptr, nullptr));
  SAY("queue info: unknown", clGetCommandQueueInfo(w.queue, 0x7777, 0, nullptr, nullptr));
  SAY("finish NULL", clFinish(nullptr));
  SAY("flush NULL", clFlush(nullptr));
}

void buffers(World& w) {
  void* p = w.host.data();
#define BUFFER(name, ...) SAY_MADE(name, cl_mem, clReleaseMemObject, clCreateBuffer(__VA_ARGS__, &err))
  BUFFER("buffer: NULL context", nullptr, CL_MEM_READ_WRITE, Size, nullptr);
  BUFFER("buffer: no size", w.context, CL_MEM_READ_WRITE, 0, nullptr);
  BUFFER("buffer: too large", w.context, CL_MEM_READ_WRITE, ~size_t{0} / 2, nullptr);
  BUFFER("buffer: two accesses", w.context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, Size, nullptr);
  BUFFER("buffer: unknown flag", w.context, cl_mem_flags{1} << 40, Size, nullptr);
  BUFFER("buffer: pointer without flag", w.context, CL_MEM_READ_WRITE, Size, p);
  BUFFER("buffer: flag without pointer", w.context, CL_MEM_COPY_HOST_PTR, Size, nullptr);
  BUFFER("buffer: use and copy", w.context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, Size, p);
  BUFFER("buffer: use and alloc", w.context, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, Size, p);
  BUFFER("buffer: two host accesses", w.context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, Size, nullptr);
#define PART(name, parent, flags, ...)                                                                 \
  do {                                                                                                 \
    const cl_buffer_region region{__VA_ARGS__};                                                        \
    SAY_MADE(name, cl_mem, clReleaseMemObject,                                                         \
             clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));           \
  } while (false)
  PART("part: of NULL", nullptr, 0, 0, 128);
  PART("part: outside", w.buffer, 0, 4096, 128);
  PART("part: too long", w.buffer, 0, 2048, 4096);
  PART("part: empty", w.buffer, 0, 0, 0);
  PART("part: misaligned", w.buffer, 0, 3, 128);
  PART("part: host pointer", w.buffer, CL_MEM_USE_HOST_PTR, 0, 128);
  SAY_MADE("part: unknown type", cl_mem, clReleaseMemObject, clCreateSubBuffer(w.buffer, 0, 77, p, &err));
  SAY("mem info: NULL", clGetMemObjectInfo(nullptr, CL_MEM_SIZE, 0, nullptr, nullptr));
  SAY("mem info: unknown", clGetMemObjectInfo(w.buffer, 0x7777, 0, nullptr, nullptr));
  SAY("image info of a buffer", clGetImageInfo(w.buffer, CL_IMAGE_WIDTH, 0, nullptr, nullptr));
  SAY("mem: release NULL", clReleaseMemObject(nullptr));
  SAY("mem: callback NULL", clSetMemObjectDestructorCallback(w.buffer, nullptr, nullptr));
}

void images(World& w) {
  cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8}, odd{CL_RGBA, 0x7777};
  cl_image_desc good{};
  good.image_type = CL_MEM_OBJECT_IMAGE2D;
  good.image_width = good.image_height = 16;
  cl_image_desc desc = good;
#define IMAGE(name, ...) SAY_MADE(name, cl_mem, clReleaseMemObject, clCreateImage(__VA_ARGS__, &err))
  IMAGE("image: NULL format", w.context, CL_MEM_READ_WRITE, nullptr, &good, nullptr);
  IMAGE("image: NULL description", w.context, CL_MEM_READ_WRITE, &format, nullptr, nullptr);
  IMAGE("image: odd format", w.context, CL_MEM_READ_WRITE, &odd, &good, nullptr);
  desc.image_type = CL_MEM_OBJECT_BUFFER;
  IMAGE("image: not an image type", w.context, CL_MEM_READ_WRITE, &format, &desc, nullptr);
  desc = good;
  desc.image_width = 1 << 20;
  IMAGE("image: too wide", w.context, CL_MEM_READ_WRITE, &format, &desc, nullptr);
  IMAGE("image: pointer without flag", w.context, CL_MEM_READ_WRITE, &format, &good, w.host.data());
  cl_uint n = 0;
  SAY("formats: NULL context",
           clGetSupportedImageFormats(nullptr, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &n));
  SAY("formats: of buffers",
           clGetSupportedImageFormats(w.context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_BUFFER, 0, nullptr, &n));
}

void transfers(World& w) {
  void* p = w.host.data();
  const cl_event null_event = nullptr;
#define READ(name, ...) SAY(name, clEnqueueReadBuffer(__VA_ARGS__, nullptr))
#define WRITE(name, ...) SAY(name, clEnqueueWriteBuffer(__VA_ARGS__, nullptr))
  READ("read: NULL queue", nullptr, w.buffer, CL_TRUE, 0, 4, p, 0, nullptr);
  READ("read: NULL buffer", w.queue, nullptr, CL_TRUE, 0, 4, p, 0, nullptr);
  READ("read: image", w.queue, w.image, CL_TRUE, 0, 4, p, 0, nullptr);
  READ("read: other context", w.queue, w.other_buffer, CL_TRUE, 0, 4, p, 0, nullptr);
  READ("read: NULL pointer", w.queue, w.buffer, CL_TRUE, 0, 4, nullptr, 0, nullptr);
  READ("read: outside", w.queue, w.buffer, CL_TRUE, Size, 4, p, 0, nullptr);
  READ("read: too long", w.queue, w.buffer, CL_TRUE, 4, Size, p, 0, nullptr);
  READ("read: list without count", w.queue, w.buffer, CL_TRUE, 0, 4, p, 0, &w.done);
  READ("read: count without list", w.queue, w.buffer, CL_TRUE, 0, 4, p, 1, nullptr);
  READ("read: NULL event", w.queue, w.buffer, CL_TRUE, 0, 4, p, 1, &null_event);
  READ("read: other context's event", w.queue, w.buffer, CL_TRUE, 0, 4, p, 1, &w.other_event);
  READ("read: hidden", w.queue, w.hidden, CL_TRUE, 0, 4, p, 0, nullptr);
  WRITE("write: read only", w.queue, w.read_only, CL_TRUE, 0, 4, p, 0, nullptr);
  WRITE("write: NULL pointer", w.queue, w.buffer, CL_TRUE, 0, 4, nullptr, 0, nullptr);
#define COPY(name, ...) SAY(name, clEnqueueCopyBuffer(w.queue, __VA_ARGS__, 0, nullptr, nullptr))
  COPY("copy: overlap", w.buffer, w.buffer, 0, 8, 16);
  COPY("copy: outside", w.buffer, w.read_only, 4090, 0, 16);
  COPY("copy: empty", w.buffer, w.read_only, 0, 0, 0);
  COPY("copy: other context", w.buffer, w.other_buffer, 0, 0, 16);
#define FILL(name, ...) SAY(name, clEnqueueFillBuffer(w.queue, __VA_ARGS__, 0, nullptr, nullptr))
  FILL("fill: NULL pattern", w.buffer, nullptr, 4, 0, 16);
  FILL("fill: odd pattern", w.buffer, p, 3, 0, 12);
  FILL("fill: offset", w.buffer, p, 4, 2, 16);
  FILL("fill: size", w.buffer, p, 4, 0, 18);
  FILL("fill: outside", w.buffer, p, 4, 4096, 16);
  const size_t zero[3] = {}, region[3] = {16, 4, 1}, empty[3] = {16, 0, 1}, far[3] = {0, 4000, 0};
#define RECT(name, origin, region, row)                                                                           \
  SAY(name, clEnqueueReadBufferRect(w.queue, w.buffer, CL_TRUE, origin, zero, region, row, 0, 0, 0, p, 0, nullptr, \
                                    nullptr))
  RECT("rect: NULL origin", nullptr, region, 0);
  RECT("rect: empty", zero, empty, 0);
  RECT("rect: narrow pitch", zero, region, 8);
  RECT("rect: outside", far, region, 64);
  const size_t wide[3] = {17, 1, 1};
  SAY("read image: outside", clEnqueueReadImage(w.queue, w.image, CL_TRUE, zero, wide, 0, 0, p, 0, nullptr, nullptr));
  SAY("read image: buffer", clEnqueueReadImage(w.queue, w.buffer, CL_TRUE, zero, region, 0, 0, p, 0, nullptr, nullptr));
}

void maps(World& w) {
  cl_int err = 0;
#define MAP(name, ...)                                                                        \
  do {                                                                                        \
    err = 12345;                                                                              \
    void* mapped = clEnqueueMapBuffer(__VA_ARGS__, 0, nullptr, nullptr, &err);                \
    say(name, err);                                                                           \
    if (mapped) clEnqueueUnmapMemObject(w.queue, w.buffer, mapped, 0, nullptr, nullptr);      \
  } while (false)
  MAP("map: NULL queue", nullptr, w.buffer, CL_TRUE, CL_MAP_READ, 0, 16);
  MAP("map: outside", w.queue, w.buffer, CL_TRUE, CL_MAP_READ, Size, 16);
  MAP("map: empty", w.queue, w.buffer, CL_TRUE, CL_MAP_READ, 0, 0);
  MAP("map: hidden", w.queue, w.hidden, CL_TRUE, CL_MAP_READ, 0, 16);
  MAP("map: other context", w.queue, w.other_buffer, CL_TRUE, CL_MAP_READ, 0, 16);
  SAY("unmap: not mapped", clEnqueueUnmapMemObject(w.queue, w.buffer, w.host.data(), 0, nullptr, nullptr));
}

void programs(World& w) {
  const char* source = Source;
  const char* null_source = nullptr;
#define PROGRAM(name, ...) \
  SAY_MADE(name, cl_program, clReleaseProgram, clCreateProgramWithSource(__VA_ARGS__, nullptr, &err))
  PROGRAM("program: NULL context", nullptr, 1, &source);
  PROGRAM("program: no strings", w.context, 0, nullptr);
  PROGRAM("program: NULL string", w.context, 1, &null_source);
  SAY("build: NULL", clBuildProgram(nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  SAY("build: list without count", clBuildProgram(w.unbuilt, 0, &w.device, nullptr, nullptr, nullptr));
  SAY("build: with kernels", clBuildProgram(w.program, 0, nullptr, "", nullptr, nullptr));
  const char* broken = "kernel void k(global int* a) { a[0] = nothing; }";
  cl_program bad = clCreateProgramWithSource(w.context, 1, &broken, nullptr, nullptr);
  SAY("build: broken", clBuildProgram(bad, 0, nullptr, "", nullptr, nullptr));
  cl_build_status status = 0;
  clGetProgramBuildInfo(bad, w.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr);
  SAY("build: status", status);
  clReleaseProgram(bad);
  SAY_MADE("kernel: unbuilt", cl_kernel, clReleaseKernel, clCreateKernel(w.unbuilt, "k", &err));
  SAY_MADE("kernel: NULL name", cl_kernel, clReleaseKernel, clCreateKernel(w.program, nullptr, &err));
  SAY_MADE("kernel: no such name", cl_kernel, clReleaseKernel, clCreateKernel(w.program, "nothing", &err));
  SAY("program info: unknown", clGetProgramInfo(w.program, 0x7777, 0, nullptr, nullptr));
  SAY("build info: NULL device", clGetProgramBuildInfo(w.program, nullptr, CL_PROGRAM_BUILD_LOG, 0, nullptr, nullptr));
}

void kernels(World& w) {
  cl_int err = 0, number = 1;
  const size_t n = 64, zero = 0, local = 7, huge = 1 << 20, four = 4;
  cl_mem not_mem = reinterpret_cast<cl_mem>(w.queue);
#define ARG(name, ...) SAY(name, clSetKernelArg(__VA_ARGS__))
  ARG("arg: NULL kernel", nullptr, 0, sizeof(cl_mem), &w.buffer);
  ARG("arg: index", w.kernel, 6, sizeof(cl_mem), &w.buffer);
  ARG("arg: size of a buffer", w.kernel, 0, 4, &w.buffer);
  SAY_IF_ALL("arg: not a buffer", clSetKernelArg(w.kernel, 0, sizeof not_mem, &not_mem));
  ARG("arg: size of an int", w.kernel, 1, 2, &number);
  ARG("arg: local without size", w.kernel, 2, 0, nullptr);
  ARG("arg: local with value", w.kernel, 2, 16, &number);
  SAY("launch: no arguments", clEnqueueNDRangeKernel(w.queue, w.kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
  cl_kernel fixed = clCreateKernel(w.program, "fixed", &err);
  clSetKernelArg(fixed, 0, sizeof w.buffer, &w.buffer);
#define LAUNCH(name, queue, kernel, dims, global, local) \
  SAY(name, clEnqueueNDRangeKernel(queue, kernel, dims, nullptr, global, local, 0, nullptr, nullptr))
  LAUNCH("launch: NULL queue", nullptr, fixed, 1, &n, nullptr);
  SAY_IF_ALL("launch: NULL kernel",
           clEnqueueNDRangeKernel(w.queue, nullptr, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
  LAUNCH("launch: other context", w.other_queue, fixed, 1, &n, nullptr);
  LAUNCH("launch: no dimensions", w.queue, fixed, 0, &n, nullptr);
  LAUNCH("launch: four dimensions", w.queue, fixed, 4, &n, nullptr);
  LAUNCH("launch: zero local", w.queue, fixed, 1, &n, &zero);
  LAUNCH("launch: not the required size", w.queue, fixed, 1, &n, &four);
  LAUNCH("launch: uneven", w.queue, fixed, 1, &n, &local);
  LAUNCH("launch: too large a group", w.queue, fixed, 1, &huge, &huge);
  clReleaseKernel(fixed);
  SAY("kernel info: unknown", clGetKernelInfo(w.kernel, 0x7777, 0, nullptr, nullptr));
  SAY("arg info: index", clGetKernelArgInfo(w.kernel, 99, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr));
  SAY("group info: unknown", clGetKernelWorkGroupInfo(w.kernel, w.device, 0x7777, 0, nullptr, nullptr));
}

void events(World& w) {
  cl_ulong time = 0;
  const cl_event mixed[] = {w.done, w.other_event};
  SAY("wait: none", clWaitForEvents(0, nullptr));
  SAY("wait: NULL list", clWaitForEvents(1, nullptr));
  SAY("wait: two contexts", clWaitForEvents(2, mixed));
  SAY("event info: NULL", clGetEventInfo(nullptr, CL_EVENT_CONTEXT, 0, nullptr, nullptr));
  SAY("event info: unknown", clGetEventInfo(w.done, 0x7777, 0, nullptr, nullptr));
  SAY("profiling: off", clGetEventProfilingInfo(w.done, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr));
  SAY("profiling: user event", clGetEventProfilingInfo(w.user, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr));
  SAY("user event: of a command", clSetUserEventStatus(w.done, CL_COMPLETE));
  SAY("user event: running", clSetUserEventStatus(w.user, CL_RUNNING));
  SAY("user event: set", clSetUserEventStatus(w.user, CL_COMPLETE));
  SAY("user event: set again", clSetUserEventStatus(w.user, CL_COMPLETE));
  SAY("callback: NULL", clSetEventCallback(w.done, CL_COMPLETE, nullptr, nullptr));
  SAY("event: release NULL", clReleaseEvent(nullptr));
  cl_int err = 0;
  cl_event failed = clCreateUserEvent(w.context, &err);
  SAY("user event: fail", clSetUserEventStatus(failed, -5));
  SAY("wait: failed event", clWaitForEvents(1, &failed));
  SAY_IF_ALL("read: after a failed event",
             clEnqueueReadBuffer(w.queue, w.buffer, CL_TRUE, 0, 4, w.host.data(), 1, &failed, nullptr));
  clReleaseEvent(failed);
}

}  // namespace

int main(int argc, char** argv) {
  g_all = argc == 2 && std::strcmp(argv[1], "all") == 0;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  World w = make();
  for (auto part : {platforms, contexts, queues, buffers, images, transfers, maps, programs, kernels, events}) part(w);
  return 0;
}
