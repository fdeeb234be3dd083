// Does one thing again and again on the last device of the platform until it fails; then asks the first device.
//
// Usage: phases idle|launch|write|read|map|build [together]. Prints a line when it begins, when the device is lost
// (the code), and what the first device does then. Idle: waits for a line on standard input before it makes a call.
// Together: so do the others, since those that are at work leave little time for those that still begin; then they
// print a line.
#include <CL/cl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

void say(const char* what, long value) {
  std::printf("%s %ld\n", what, value);
  std::fflush(stdout);
}

struct Job {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem buffer = nullptr;
  std::vector<char> host = std::vector<char>(4 << 20);
  cl_device_id device = nullptr;
  bool is_awake = false;
  uint64_t own_number = ((static_cast<uint64_t>(std::time(nullptr)) << 22) + static_cast<uint64_t>(::getpid())) << 8;

  explicit Job(cl_device_id of) : device(of) {
    cl_int err = 0;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
    queue = clCreateCommandQueue(context, device, 0, &err);
    buffer = clCreateBuffer(context, 0, host.size(), nullptr, &err);
    constexpr uint64_t Everybodys = 1;
    if (build(Everybodys) != CL_SUCCESS || write() != CL_SUCCESS || launch() != CL_SUCCESS) std::exit(3);
  }

  // A program that no cache has, and nobody else builds.
  cl_int build() { return build(++own_number); }
  cl_int build(uint64_t number) {
    const std::string text = "kernel void k(global ulong* a) { a[0] += " + std::to_string(number) + "; }";
    const char* source = text.c_str();
    cl_int err = 0;
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &err);
    if (err == CL_SUCCESS) err = clBuildProgram(program, 0, nullptr, "", nullptr, nullptr);
    if (err != CL_SUCCESS && program) say_log(program);
    if (err == CL_SUCCESS && !kernel) {
      kernel = clCreateKernel(program, "k", &err);
      clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    }
    if (program) clReleaseProgram(program);
    return err;
  }
  void say_log(cl_program program) const {
    char log[4096] = "";
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, nullptr);
    std::fprintf(stderr, "build: %s\n", log);
  }
  cl_int launch() {
    const size_t one = 1;
    const cl_int code = clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
    return code == CL_SUCCESS ? clFinish(queue) : code;
  }
  cl_int write() {
    const cl_int code = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, nullptr);
    return code == CL_SUCCESS ? clFinish(queue) : code;
  }
  cl_int read() {
    return clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, nullptr);
  }
  cl_int map() {
    cl_int err = 0;
    void* const p = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, host.size(), 0, nullptr,
                                       nullptr, &err);
    if (err != CL_SUCCESS) return err;
    static_cast<char*>(p)[7] = 1;
    err = clEnqueueUnmapMemObject(queue, buffer, p, 0, nullptr, nullptr);
    return err == CL_SUCCESS ? clFinish(queue) : err;
  }
  // Until a line comes; from then on it works.
  cl_int idle() {
    if (!is_awake && std::getchar() == EOF) std::exit(0);
    is_awake = true;
    return launch();
  }
};

cl_int once(Job& job, const std::string& phase) {
  if (phase == "launch") return job.launch();
  if (phase == "write") return job.write();
  if (phase == "read") return job.read();
  if (phase == "map") return job.map();
  return phase == "build" ? job.build() : job.idle();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  cl_platform_id platform = nullptr;
  cl_device_id devices[8] = {};
  cl_uint count = 0;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS || count < 2 || count > 8)
    return 4;
  Job there(devices[count - 1]), here(devices[0]);
  const bool is_idle = std::string(argv[1]) == "idle";
  cl_int code = is_idle ? there.launch() : once(there, argv[1]);  // who reads that it begins finds it at work
  say("begins", code);
  if (argc == 3 && !is_idle && code == CL_SUCCESS) {
    if (std::getchar() == EOF) return 0;
    code = once(there, argv[1]);
    say("works", code);
  }
  while (code == CL_SUCCESS) code = once(there, argv[1]);
  say("lost", code);
  cl_bool available = CL_TRUE;
  clGetDeviceInfo(devices[count - 1], CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr);
  say("available", static_cast<long>(available));
  say("here", here.write() + here.launch() + here.read());
  return 0;
}
