// What the self-verifying OpenCL programs share: options, one device with a queue, kernels, clocks,
// verdicts.
//
// The programs are written the way ordinary applications are: the plain OpenCL C API, host memory
// from malloc. Their stdout depends on their options and the device only, so two runs can be
// compared byte for byte; times go to stderr. Failures end the program: 1 for a wrong result or an
// OpenCL error, 2 for bad options, 4 when there is no device. Thread safety: everything but parse()
// may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "microbench/apps/opencl.h"

namespace gt::apps {

// One option of a program. Exactly one of `number` and `flag` is set; a flag takes no value.
struct Option {
  const char* name;  // "--elements"
  const char* help;
  int64_t* number = nullptr;
  bool* flag = nullptr;
};

// Fills the options' targets from the command line; knows --help, --platform N and --device N
// itself. A number below zero or beyond 2^40 is refused.
void parse(int argc, char** argv, const char* summary, std::span<const Option> options);

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
};

Device open_device();  // the one chosen by --platform and --device (0 and 0)
void close_device(Device& device);
cl_command_queue make_queue(const Device& device, cl_command_queue_properties properties = 0);
cl_program build(const Device& device, const char* source);
cl_kernel make_kernel(cl_program program, const char* name);
cl_mem make_buffer(const Device& device, cl_mem_flags flags, size_t bytes);
void set_arg(cl_kernel kernel, cl_uint index, size_t size, const void* value);
void release(cl_mem buffer);

// Ends the program with the function's name and the code's unless `error` is CL_SUCCESS.
void check(cl_int error, const char* function);

// `p` as it came from malloc; ends the program when it is NULL.
void* check_memory(void* p, size_t bytes);

double now_s();  // monotonic
uint64_t checksum(std::span<const float> values);

// Prints "NAME: checksum=... PASS" on stdout and "time_s=..." on stderr, or what is wrong; gives
// the exit status.
int finish(const char* name, bool correct, uint64_t sum, double seconds);

}  // namespace gt::apps
