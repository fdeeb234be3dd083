// What OpenCL leaves to drivers, or they do as they like: a line for each answer. A remote device must give its
// driver's.
//
// Usage: drivers_way
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

cl_platform_id g_platform = nullptr;
cl_device_id g_device = nullptr;
cl_context g_context = nullptr;
cl_command_queue g_queue = nullptr;
constexpr size_t Size = 4096;

void say(const char* what, cl_int code) { std::printf("%s: %d\n", what, code); }

cl_mem buffer(cl_mem_flags flags = 0, void* host = nullptr) {
  cl_int code = 0;
  const cl_mem made = clCreateBuffer(g_context, flags, Size, host, &code);
  CHECK(code);
  return made;
}

cl_program program_of(const std::string& source) {
  cl_int code = 0;
  const char* text = source.c_str();
  const cl_program program = clCreateProgramWithSource(g_context, 1, &text, nullptr, &code);
  CHECK(code);
  return program;
}

// The answer of a command, and what its event says of it.
template <class Enqueue>
void command(const char* what, Enqueue enqueue) {
  cl_event event = nullptr;
  const cl_int code = enqueue(&event);
  std::printf("%s: %d", what, code);
  if (event) {
    cl_int status = 0;
    cl_command_type type = 0;
    CHECK(clWaitForEvents(1, &event));
    CHECK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
    CHECK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
    CHECK(clReleaseEvent(event));
    std::printf(" status %d type %x", status, type);
  }
  std::printf("\n");
}

// Their bytes do not fit into a number. Copies of such are left out: PoCL's driver itself ends with them.
void boxes_beyond_addresses(cl_mem a, cl_mem b) {
  constexpr size_t Huge = size_t{1} << 61, Most = SIZE_MAX;
  const size_t regions[][3] = {{8, Huge, 1}, {8, 1, Huge}, {Most, 1, 1},
                               {1, Most, 1}, {1, 1, Most}, {Most, Most, Most}};
  const size_t none[3] = {};
  std::vector<char> host(Size);
  for (const auto& region : regions) {
    for (const cl_bool blocking : {CL_FALSE, CL_TRUE}) {
      say("read beyond", clEnqueueReadBufferRect(g_queue, a, blocking, none, none, region, 0, 0, 0, 0, host.data(), 0,
                                                 nullptr, nullptr));
      say("write beyond", clEnqueueWriteBufferRect(g_queue, b, blocking, none, none, region, 0, 0, 0, 0, host.data(),
                                                   0, nullptr, nullptr));
    }
  }
}

void transfers_of_nothing() {
  const cl_mem a = buffer(), b = buffer();
  std::vector<char> host(Size);
  const uint32_t pattern = 7;
  for (const size_t at : {size_t{0}, Size, Size + 4}) {
    std::printf("at %zu\n", at);
    for (const cl_bool blocking : {CL_FALSE, CL_TRUE}) {
      command("read", [&](cl_event* e) {
        return clEnqueueReadBuffer(g_queue, a, blocking, at, 0, host.data(), 0, nullptr, e);
      });
      command("write", [&](cl_event* e) {
        return clEnqueueWriteBuffer(g_queue, a, blocking, at, 0, host.data(), 0, nullptr, e);
      });
      command("read to NULL", [&](cl_event* e) {
        return clEnqueueReadBuffer(g_queue, a, blocking, at, 0, nullptr, 0, nullptr, e);
      });
    }
    command("copy", [&](cl_event* e) { return clEnqueueCopyBuffer(g_queue, a, b, at, at, 0, 0, nullptr, e); });
    command("fill", [&](cl_event* e) {
      return clEnqueueFillBuffer(g_queue, a, &pattern, sizeof pattern, at, 0, 0, nullptr, e);
    });
    cl_int code = 0;
    clEnqueueMapBuffer(g_queue, a, CL_TRUE, CL_MAP_READ, at, 0, 0, nullptr, nullptr, &code);
    say("map", code);
  }
  // One that waits keeps its place.
  cl_int code = 0;
  const cl_event gate = clCreateUserEvent(g_context, &code);
  cl_event read = nullptr;
  CHECK(clEnqueueReadBuffer(g_queue, a, CL_FALSE, 0, 0, host.data(), 1, &gate, &read));
  cl_int status = CL_COMPLETE;
  CHECK(clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status > CL_COMPLETE, "a read of nothing waits for its list");
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK(clFinish(g_queue));
  clReleaseEvent(read);
  clReleaseEvent(gate);
  size_t none[3] = {}, region[3] = {16, 4, 2};
  for (size_t& side : region) {
    const size_t before = side;
    side = 0;
    say("box", clEnqueueReadBufferRect(g_queue, a, CL_TRUE, none, none, region, 0, 0, 0, 0, host.data(), 0, nullptr,
                                       nullptr));
    say("copied box", clEnqueueCopyBufferRect(g_queue, a, b, none, none, region, 0, 0, 0, 0, 0, nullptr, nullptr));
    side = before;
  }
  boxes_beyond_addresses(a, b);
  say("finish", clFinish(g_queue));
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

void launches_of_nothing() {
  const cl_program program = program_of(
      "kernel void k(global int* a) { a[get_global_id(0)] = 1; }\n"
      "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fixed(global int* a) { a[0] = 1; }\n");
  CHECK(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  const cl_mem a = buffer();
  for (const char* name : {"k", "fixed"}) {
    cl_int code = 0;
    const cl_kernel kernel = clCreateKernel(program, name, &code);
    CHECK(code);
    CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
    const size_t zero[3] = {}, some[3] = {8, 4, 1}, group[3] = {4, 1, 1}, odd[3] = {8, 0, 1};
    const auto launch = [&](const char* what, cl_uint dimensions, const size_t* global, const size_t* local) {
      command(what, [&](cl_event* e) {
        return clEnqueueNDRangeKernel(g_queue, kernel, dimensions, nullptr, global, local, 0, nullptr, e);
      });
    };
    std::printf("kernel %s\n", name);
    launch("global 0", 1, zero, nullptr);
    launch("global 0, local 4", 1, zero, group);
    launch("global 0 in one of three", 3, odd, nullptr);
    launch("global NULL", 1, nullptr, nullptr);
    launch("global NULL, local 4", 1, nullptr, group);
    launch("local 0", 1, some, zero);
    launch("no dimensions", 0, some, nullptr);
    launch("four dimensions", 4, some, nullptr);
    clReleaseKernel(kernel);
  }
  say("finish", clFinish(g_queue));
  clReleaseMemObject(a);
  clReleaseProgram(program);
}

void shared_memory_and_nothing() {
  cl_device_svm_capabilities can = 0;
  clGetDeviceInfo(g_device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr);
  if (!(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) return;
  void* const block = clSVMAlloc(g_context, CL_MEM_READ_WRITE, Size, 0);
  char host[16] = {};
  for (const cl_bool blocking : {CL_FALSE, CL_TRUE}) {
    command("svm: copy in", [&](cl_event* e) {
      return clEnqueueSVMMemcpy(g_queue, blocking, block, host, 0, 0, nullptr, e);
    });
    command("svm: copy out", [&](cl_event* e) {
      return clEnqueueSVMMemcpy(g_queue, blocking, host, block, 0, 0, nullptr, e);
    });
  }
  command("svm: fill", [&](cl_event* e) {
    return clEnqueueSVMMemFill(g_queue, block, host, 4, 0, 0, nullptr, e);
  });
  clSVMFree(g_context, block);
}

// Sizes that the driver takes for a value of a type.
void sizes_of_values() {
  std::string source =
      "typedef float other_float; typedef float3 other_three; struct small { int a; char b; };\n"
      "typedef struct { char a; long b; char c; } padded; typedef struct { float a[3]; char b[5]; } arrays;\n"
      "typedef union { int a; double b; char c[12]; } either; enum letters { A, B };\n"
      "typedef struct __attribute__((packed)) { char a; int b; } tight;\n"
      "typedef struct { float3 v; int n; } with_three;\n"
      "typedef struct { padded p[2]; short s; } nested;\n";
  const std::vector<std::string> types = {
      "float", "int", "char", "short", "long", "uchar", "float2", "float3", "uchar3", "short3", "long3", "float4",
      "float8", "char16", "other_float", "other_three", "struct small", "padded", "arrays", "either", "enum letters",
      "tight", "with_three", "nested", "unsigned int", "global float*", "constant int*"};
  for (size_t i = 0; i < types.size(); ++i)
    source += "kernel void k" + std::to_string(i) + "(" + types[i] + " x, global int* out) { out[0] = 1; }\n";
  const cl_program program = program_of(source);
  CHECK(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  for (size_t i = 0; i < types.size(); ++i) {
    cl_int code = 0;
    const cl_kernel kernel = clCreateKernel(program, ("k" + std::to_string(i)).c_str(), &code);
    CHECK(code);
    const std::vector<char> bytes(256);
    std::printf("%s:", types[i].c_str());
    for (const size_t size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 20, 24, 28, 32, 48, 56, 64, 128, 200})
      if (const cl_int said = clSetKernelArg(kernel, 0, size, bytes.data()); said != CL_INVALID_ARG_SIZE)
        std::printf(" %zu %d", size, said);
    std::printf(", NULL:");
    for (const size_t size : {1, 4, 8, 12, 16}) std::printf(" %d", clSetKernelArg(kernel, 0, size, nullptr));
    std::printf("\n");
    clReleaseKernel(kernel);
  }
  clReleaseProgram(program);
}

// What a kernel sees of them. Padding included: the host's structures are laid out as the device's.
struct Padded {
  char a;
  cl_long b;
  char c;
};
struct WithThree {
  cl_float3 v;
  cl_int n;
};
void values_arrive(const char* how, cl_program program) {
  cl_int code = 0;
  const cl_kernel kernel = clCreateKernel(program, "see", &code);
  CHECK(code);
  const cl_mem out = buffer();
  const cl_float three[4] = {1, 2, 3, 99};
  const cl_long3 longs = {{4, 5, 6}};
  const Padded padded{7, 8, 9};
  const WithThree with{{{10, 11, 12}}, 13};
  CHECK(clSetKernelArg(kernel, 0, sizeof out, &out));
  CHECK(clSetKernelArg(kernel, 2, sizeof longs, &longs));
  CHECK(clSetKernelArg(kernel, 3, sizeof padded, &padded));
  CHECK(clSetKernelArg(kernel, 4, sizeof with, &with));
  CHECK(clSetKernelArg(kernel, 5, 64, nullptr));
  for (const size_t size : {4 * sizeof(cl_float), 3 * sizeof(cl_float)}) {
    code = clSetKernelArg(kernel, 1, size, three);
    std::printf("%s: three floats in %zu bytes: %d", how, size, code);
    const size_t one = 1;
    if (code == CL_SUCCESS) {
      float seen[13] = {};
      CHECK(clEnqueueNDRangeKernel(g_queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
      CHECK(clEnqueueReadBuffer(g_queue, out, CL_TRUE, 0, sizeof seen, seen, 0, nullptr, nullptr));
      for (const float f : seen) std::printf(" %g", f);
    }
    std::printf("\n");
  }
  clReleaseMemObject(out);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
}

void values_of_all_programs() {
  const std::string source =
      "typedef struct { char a; long b; char c; } padded; typedef struct { float3 v; int n; } with_three;\n"
      "kernel void see(global float* out, float3 t, long3 l, padded p, with_three w, local int* room) {\n"
      "  room[0] = 1;\n"
      "  out[0] = t.x; out[1] = t.y; out[2] = t.z; out[3] = l.x; out[4] = l.y; out[5] = l.z;\n"
      "  out[6] = p.a; out[7] = p.b; out[8] = p.c;\n"
      "  out[9] = w.v.x; out[10] = w.v.y; out[11] = w.v.z; out[12] = w.n; }\n";
  cl_program built = program_of(source);
  CHECK(clBuildProgram(built, 0, nullptr, "", nullptr, nullptr));
  size_t size = 0;
  CHECK(clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr));
  std::vector<unsigned char> binary(size);
  unsigned char* place = binary.data();
  CHECK(clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof place, &place, nullptr));
  values_arrive("source", built);
  cl_int code = 0;
  const unsigned char* given = binary.data();
  const cl_program loaded = clCreateProgramWithBinary(g_context, 1, &g_device, &size, &given, nullptr, &code);
  CHECK(code);
  CHECK(clBuildProgram(loaded, 0, nullptr, nullptr, nullptr, nullptr));
  values_arrive("binary", loaded);
  const cl_program part = program_of(source);
  CHECK(clCompileProgram(part, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
  const cl_program linked = clLinkProgram(g_context, 0, nullptr, "", 1, &part, nullptr, nullptr, &code);
  CHECK(code);
  values_arrive("linked", linked);
  clReleaseProgram(part);
}

void build_answers(const char* how, cl_program program, cl_int built) {
  char text[256] = "?";
  size_t size = 0;
  const cl_int told = clGetProgramBuildInfo(program, g_device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, &size);
  std::printf("  %s %d, options %d %zu [%s]", how, built, told, size, text);
  cl_int code = 0;
  if (const cl_kernel kernel = built ? nullptr : clCreateKernel(program, "k", &code)) {
    cl_uint number = 0;
    std::printf(", argument %d, index %d",
                clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof text, text, nullptr),
                clGetKernelArgInfo(kernel, 9, CL_KERNEL_ARG_NAME, sizeof text, text, nullptr));
    clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof number, &number, nullptr);
    std::printf(" of %u", number);
    clReleaseKernel(kernel);
  }
  std::printf("\n");
}

void build(const char* source, const char* options) {
  std::printf("[%.12s] with [%s]\n", source, options ? options : "NULL");
  cl_program program = program_of(source);
  cl_int code = clBuildProgram(program, 0, nullptr, options, nullptr, nullptr);
  build_answers("built", program, code);
  clReleaseProgram(program);
  program = program_of(source);
  code = clCompileProgram(program, 0, nullptr, options, 0, nullptr, nullptr, nullptr, nullptr);
  build_answers("compiled", program, code ? code : 1);
  const cl_program linked =
      code ? nullptr : clLinkProgram(g_context, 0, nullptr, nullptr, 1, &program, nullptr, nullptr, &code);
  if (linked) build_answers("linked", linked, code);
  if (linked) clReleaseProgram(linked);
  clReleaseProgram(program);
}

void builds() {
  for (const char* options : {static_cast<const char*>(nullptr), "", "-DA=2 ", "  -DA=2   -DB ",
                              "-DB -cl-kernel-arg-info ", "-DS=\"a  b\"", "-no-such-option"})
    build("kernel void k(global int* a) { a[0] = 1; }", options);
  for (const char* source : {"", "\n", "broken"})
    for (const char* options : {static_cast<const char*>(nullptr), "-DA=2 "}) build(source, options);
}

void tell_flags(const char* what, cl_mem_flags given, cl_mem mem) {
  cl_mem_flags flags = 0;
  CHECK(clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof flags, &flags, nullptr));
  std::printf("%s with %llx: %llx\n", what, static_cast<unsigned long long>(given),
              static_cast<unsigned long long>(flags));
}

void flags() {
  std::vector<char> host(Size);
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc line{};
  line.image_type = CL_MEM_OBJECT_IMAGE1D;
  line.image_width = 16;
  for (const cl_mem_flags given :
       {cl_mem_flags{0}, cl_mem_flags{CL_MEM_READ_WRITE}, cl_mem_flags{CL_MEM_READ_ONLY},
        cl_mem_flags{CL_MEM_USE_HOST_PTR}, cl_mem_flags{CL_MEM_COPY_HOST_PTR | CL_MEM_WRITE_ONLY},
        cl_mem_flags{CL_MEM_ALLOC_HOST_PTR}, cl_mem_flags{CL_MEM_HOST_READ_ONLY},
        cl_mem_flags{CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_NO_ACCESS}}) {
    void* const memory = given & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) ? host.data() : nullptr;
    const cl_mem whole = buffer(given, memory);
    tell_flags("buffer", given, whole);
    cl_int code = 0;
    const cl_buffer_region region{0, 128};
    for (const cl_mem_flags more : {cl_mem_flags{0}, cl_mem_flags{CL_MEM_READ_ONLY}}) {
      const cl_mem part = clCreateSubBuffer(whole, more, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
      if (part) tell_flags("  part", more, part);
      if (part) clReleaseMemObject(part);
    }
    const cl_mem image = clCreateImage(g_context, given, &format, &line, memory, &code);
    CHECK(code);
    tell_flags("image", given, image);
    clReleaseMemObject(image);
    clReleaseMemObject(whole);
  }
}

void contexts() {
  const auto platform = reinterpret_cast<cl_context_properties>(g_platform);
  const cl_context_properties good[] = {CL_CONTEXT_PLATFORM, platform, 0}, odd[] = {0x9999, 1, 0};
  const cl_device_id with_null[] = {g_device, nullptr};
  const auto create = [&](const char* what, const cl_context_properties* properties, cl_uint count,
                          const cl_device_id* devices) {
    cl_int code = 1;
    const cl_context made = clCreateContext(properties, count, devices, nullptr, nullptr, &code);
    std::printf("context of %s: %s %d\n", what, made ? "made" : "none", code);
    if (made) clReleaseContext(made);
  };
  for (const cl_context_properties* properties : {static_cast<const cl_context_properties*>(nullptr), good, odd}) {
    create("no devices", properties, 0, &g_device);
    create("no list", properties, 1, nullptr);
    create("nothing", properties, 0, nullptr);
    create("NULL among them", properties, 2, with_null);
    create("one", properties, 1, &g_device);
  }
}

// Called without a look at the extension. Only that it is there, and fails where it is not supported.
// Kinds of devices that there are none of, and bits that are none's.
void kinds_of_devices() {
  for (const cl_device_type type : {cl_device_type{0}, cl_device_type{1} << 5, cl_device_type{1} << 40,
                                    ~cl_device_type{0}, ~cl_device_type{1}, cl_device_type{CL_DEVICE_TYPE_ALL}}) {
    cl_uint n = 0;
    const cl_int code = clGetDeviceIDs(g_platform, type, 0, nullptr, &n);
    std::printf("devices of type %llx: %d, some %d\n", static_cast<unsigned long long>(type), code, n > 0);
  }
}

void functions_of_extensions() {
  for (const char* name : {"clCreateCommandBufferKHR", "clEnqueueCommandBufferKHR", "clGetMemAllocInfoINTEL",
                           "clNoSuchFunctionKHR", "clSVMAllocARM"})
    expect(clGetExtensionFunctionAddressForPlatform(g_platform, name) != nullptr, name);
  using Create = void*(CL_API_CALL*)(cl_uint, const cl_command_queue*, const cl_ulong*, cl_int*);
  const auto create = reinterpret_cast<Create>(
      clGetExtensionFunctionAddressForPlatform(g_platform, "clCreateCommandBufferKHR"));
  cl_int code = CL_SUCCESS;
  if (create) expect(create(0, nullptr, nullptr, &code) == nullptr && code < 0, "a command buffer for no queues fails");
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  g_platform = open_first_device(g_device, g_context, g_queue);
  transfers_of_nothing();
  launches_of_nothing();
  shared_memory_and_nothing();
  sizes_of_values();
  values_of_all_programs();
  builds();
  flags();
  contexts();
  kinds_of_devices();
  functions_of_extensions();
  std::printf("end\n");
  return 0;
}
