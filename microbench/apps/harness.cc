// The programs' shared parts: see harness.h.
#include "microbench/apps/harness.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace gt::apps {

namespace {

constexpr cl_uint MaxListed = 64;
int64_t g_platform = 0;
int64_t g_device = 0;

void print_option(const Option& o) {
  std::printf("  %-16s %s%s\n", o.name, o.help, o.number != nullptr ? " (N)" : "");
}

bool has_presets(std::span<const Option> options) {
  for (const Option& o : options)
    if (o.small != 0) return true;
  return false;
}

[[noreturn]] void help(const char* program, const char* summary, std::span<const Option> own,
                       std::span<const Option> common) {
  std::printf("%s\nUsage: %s [OPTION [N]]...\n", summary, program);
  for (const Option& o : own) print_option(o);
  if (has_presets(own)) {
    for (const char* size : {"small", "large"}) {
      std::printf("  --%-14s a %s data set:", size, size);
      for (const Option& o : own) {
        const long long value = size[0] == 's' ? o.small : o.large;
        if (value != 0) std::printf(" %s %lld", o.name, value);
      }
      std::printf("\n");
    }
  }
  for (const Option& o : common) print_option(o);
  std::exit(0);
}

[[noreturn]] void usage(const char* program, const char* problem, const char* what) {
  std::fprintf(stderr, "%s: %s %s (try --help)\n", program, problem, what);
  std::exit(2);
}

[[noreturn]] void no_device(const char* what, int64_t index, cl_uint count) {
  std::fprintf(stderr, "no OpenCL %s %lld: this machine has %u\n", what,
               static_cast<long long>(index), count);
  std::exit(4);
}

int64_t number(const char* program, const Option& o, const char* text) {
  if (text == nullptr) usage(program, "a number is missing after", o.name);
  char* end = nullptr;
  const long long v = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0') usage(program, "not a valid number:", text);
  if (v >= o.least && v <= o.most && v % o.multiple == 0) return v;
  char problem[160];
  std::snprintf(problem, sizeof problem, "%s must be from %lld to %lld%s", o.name,
                static_cast<long long>(o.least), static_cast<long long>(o.most),
                o.multiple > 1 ? (" and a multiple of " + std::to_string(o.multiple)).c_str() : "");
  refuse(program, problem);
}

// --small or --large, wherever they stand: they come before the options of the program's own.
void use_preset(int argc, char** argv, std::span<const Option> options) {
  const char* chosen = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--small") != 0 && std::strcmp(argv[i], "--large") != 0) continue;
    if (chosen != nullptr && std::strcmp(chosen, argv[i]) != 0)
      refuse(argv[0], "--small and --large exclude each other");
    chosen = argv[i];
  }
  if (chosen == nullptr) return;
  for (const Option& o : options) {
    const int64_t value = std::strcmp(chosen, "--small") == 0 ? o.small : o.large;
    if (value != 0) *o.number = value;
  }
}

const Option* find(std::span<const Option> options, const char* name) {
  for (const Option& o : options)
    if (std::strcmp(o.name, name) == 0) return &o;
  return nullptr;
}

cl_platform_id pick_platform() {
  cl_platform_id ids[MaxListed];
  cl_uint count = 0;
  if (clGetPlatformIDs(MaxListed, ids, &count) != CL_SUCCESS) count = 0;
  if (g_platform >= count) no_device("platform", g_platform, count);
  return ids[g_platform];
}

void print_build_log(cl_program program, cl_device_id device) {
  static char log[4096];
  log[0] = '\0';
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, nullptr);
  std::fprintf(stderr, "%s\n", log);
}

}  // namespace

void refuse(const char* program, const char* problem) {
  std::fprintf(stderr, "%s: %s (try --help)\n", program, problem);
  std::exit(2);
}

void parse(int argc, char** argv, const char* summary, std::span<const Option> options) {
  const Option common[] = {{"--platform", "which OpenCL platform", &g_platform, nullptr},
                           {"--device", "which of its devices", &g_device, nullptr}};
  bool preset = false;  // the target of --small and --large, already used
  const Option presets[] = {{"--small", "", nullptr, &preset}, {"--large", "", nullptr, &preset}};
  if (has_presets(options)) use_preset(argc, argv, options);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) help(argv[0], summary, options, common);
    const Option* o = find(options, argv[i]);
    if (o == nullptr) o = find(common, argv[i]);
    if (o == nullptr && has_presets(options)) o = find(presets, argv[i]);
    if (o == nullptr) usage(argv[0], "unknown option", argv[i]);
    if (o->flag != nullptr) {
      *o->flag = true;
    } else {
      *o->number = number(argv[0], *o, argv[i + 1]);
      ++i;
    }
  }
}

std::vector<cl_device_id> choose_devices(int64_t wanted) {
  cl_device_id ids[MaxListed];
  cl_uint count = 0;
  if (clGetDeviceIDs(pick_platform(), CL_DEVICE_TYPE_ALL, MaxListed, ids, &count) != CL_SUCCESS) count = 0;
  count = std::min(count, MaxListed);
  const int64_t last = g_device + std::max<int64_t>(wanted, 1) - 1;
  if (last >= count) no_device("device", last, count);
  return {ids + g_device, ids + (wanted == 0 ? count : last + 1)};
}

Device open_device() {
  Device device;
  device.id = choose_devices(1)[0];
  cl_int error = CL_SUCCESS;
  device.context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  return device;
}

void close_device(Device& device) {
  check(clReleaseContext(device.context), "clReleaseContext");
  device.context = nullptr;
}

cl_command_queue make_queue(const Device& device, cl_command_queue_properties properties) {
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueue(device.context, device.id, properties, &error);
  check(error, "clCreateCommandQueue");
  return queue;
}

cl_program build(cl_context context, std::span<const cl_device_id> devices, const char* source) {
  cl_int error = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  error = clBuildProgram(program, static_cast<cl_uint>(devices.size()), devices.data(), "", nullptr, nullptr);
  if (error != CL_SUCCESS) print_build_log(program, devices[0]);
  check(error, "clBuildProgram");
  return program;
}

cl_program build(const Device& device, const char* source) { return build(device.context, {&device.id, 1}, source); }

cl_kernel make_kernel(cl_program program, const char* name) {
  cl_int error = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  check(error, "clCreateKernel");
  return kernel;
}

cl_mem make_buffer(const Device& device, cl_mem_flags flags, size_t bytes) {
  cl_int error = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(device.context, flags, bytes, nullptr, &error);
  check(error, "clCreateBuffer");
  return buffer;
}

void set_arg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  check(clSetKernelArg(kernel, index, size, value), "clSetKernelArg");
}

void release(cl_mem buffer) { check(clReleaseMemObject(buffer), "clReleaseMemObject"); }

void check(cl_int error, const char* function) {
  if (error == CL_SUCCESS) return;
  std::fprintf(stderr, "%s failed with error %d\n", function, error);
  std::exit(1);
}

void* check_memory(void* p, size_t bytes) {
  if (p != nullptr || bytes == 0) return p;
  std::fprintf(stderr, "no memory for %zu bytes\n", bytes);
  std::exit(1);
}

double now_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

uint64_t checksum(std::span<const float> values) {
  return checksum_words(values.data(), values.size_bytes());
}

uint64_t checksum_words(const void* from, size_t bytes) {
  uint64_t sum = 1469598103934665603u;  // FNV-1a, a word a time
  for (size_t at = 0; at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t)) {
    uint32_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(from) + at, sizeof bits);
    sum = (sum ^ bits) * 1099511628211u;
  }
  return sum;
}

int finish(const char* name, bool correct, uint64_t sum, double seconds) {
  std::fprintf(stderr, "time_s=%.6f\n", seconds);
  std::printf("%s: checksum=%016llx %s\n", name, static_cast<unsigned long long>(sum),
              correct ? "PASS" : "FAIL: the device's result differs from the host's");
  return correct ? 0 : 1;
}

}  // namespace gt::apps
