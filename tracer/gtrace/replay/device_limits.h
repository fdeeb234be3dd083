// What a device lacks for a recorded call, in words: why a call failed here that had not when it was recorded.
// Empty text: nothing is known. Thread safety: any thread.
#pragma once

#include <CL/cl.h>

#include <string>
#include <string_view>
#include <vector>

#include "tracer/gtrace/replay/kernel_facts.h"
#include "tracer/gtrace/replay/opencl_library.h"

namespace gt::tracer {

class DeviceLimits {
 public:
  DeviceLimits(const OpenClLibrary& cl, cl_device_id device) : cl_(cl), device_(device) {}

  // An object of so many bytes is too large.
  std::string too_large(uint64_t bytes) const;
  // Of memory that clSVMAlloc was asked for with these flags.
  std::string svm(cl_svm_mem_flags flags) const;
  // Extensions that the source asks for and the device has not; else the first error of the compiler's log.
  std::string build(cl_program program, std::string_view source) const;
  // Why another work-group size would make it another kernel; empty: it would not.
  std::string work_group(cl_kernel kernel, const Bindings& bindings) const;

 private:
  std::string text(cl_device_info what) const;
  std::string log_line(cl_program program) const;
  std::vector<std::string> missing_extensions(std::string_view source) const;

  const OpenClLibrary& cl_;
  cl_device_id device_;
};

std::string image_format_text(uint64_t order, uint64_t type);

}  // namespace gt::tracer
