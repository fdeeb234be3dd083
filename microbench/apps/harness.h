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
#include <vector>

#include "microbench/apps/opencl.h"

namespace gt::apps {

// One option of a program. Exactly one of `number` and `flag` is set; a flag takes no value.
struct Option {
  const char* name;  // "--elements"
  const char* help;
  int64_t* number = nullptr;
  bool* flag = nullptr;
  // What --small and --large make of `number`; 0 leaves it. An option of the program's own wins.
  int64_t small = 0, large = 0;
  // What is refused: numbers outside least..most, and no multiples of `multiple`.
  int64_t least = 0, most = int64_t{1} << 40, multiple = 1;
};

// Fills the options' targets from the command line; knows --help, --platform N and --device N
// itself, and --small and --large where an option has such values. Refusals end the program with 2.
void parse(int argc, char** argv, const char* summary, std::span<const Option> options);

// Ends the program with 2 and "PROGRAM: problem (try --help)": for what no single option can tell.
[[noreturn]] void refuse(const char* program, const char* problem);

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
};

// `wanted` devices of the platform of --platform, from the one of --device on; 0: all from there on. Where there are
// fewer, the program ends with 4.
std::vector<cl_device_id> choose_devices(int64_t wanted);
Device open_device();  // the one chosen by --platform and --device (0 and 0)
void close_device(Device& device);
cl_command_queue make_queue(const Device& device, cl_command_queue_properties properties = 0);
cl_program build(cl_context context, std::span<const cl_device_id> devices, const char* source);
cl_program build(const Device& device, const char* source);
cl_kernel make_kernel(cl_program program, const char* name);
cl_mem make_buffer(const Device& device, cl_mem_flags flags, size_t bytes);
void set_arg(cl_kernel kernel, cl_uint index, size_t size, const void* value);
void release(cl_mem buffer);

// The kernel's arguments from the first on, each passed as what it is: a cl_mem, a cl_uint, a float.
template <class... Values>
void set_args(cl_kernel kernel, const Values&... values) {
  cl_uint index = 0;
  (set_arg(kernel, index++, sizeof values, &values), ...);
}

// Ends the program with the function's name and the code's unless `error` is CL_SUCCESS.
void check(cl_int error, const char* function);

// `p` as it came from malloc; ends the program when it is NULL.
void* check_memory(void* p, size_t bytes);

double now_s();  // monotonic
uint64_t checksum(std::span<const float> values);
uint64_t checksum_words(const void* from, size_t bytes);  // of whole 32-bit words; a rest is ignored

// Numbers that look random and are the same in every run.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed) {}
  uint32_t next() {  // 24 bits
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  uint32_t below(uint32_t limit) { return next() % limit; }
  float unit() { return static_cast<float>(next()) / 16777216.0f; }  // 0 <= unit < 1

 private:
  uint32_t state_;
};

// Prints "NAME: checksum=... PASS" on stdout and "time_s=..." on stderr, or what is wrong; gives
// the exit status.
int finish(const char* name, bool correct, uint64_t sum, double seconds);

}  // namespace gt::apps
