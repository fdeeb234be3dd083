// Their source, and launching them.
#include "microbench/probes/kernels.h"

#include <algorithm>

namespace gt::bench {
namespace {

// x converges to 1: no overflow, no denormals, whatever is loaded. The device may fuse x * a + b (FP_CONTRACT).
constexpr const char* Source = R"cl(
#define STEP(x) x = x * a + b
#define ALL STEP(x0); STEP(x1); STEP(x2); STEP(x3)
#define KEEP(out) if (any((x0 + x1) + (x2 + x3) == (VEC)(-1234567.0f))) out[get_global_id(0) & 1] = 1.0f

__kernel void empty(__global float* out) {}

__kernel void reading(__global const VEC* in, __global float* out, int k, float a, float b) {
  const size_t i = get_global_id(0), n = get_global_size(0);
  VEC x0 = in[i], x1 = in[i + n], x2 = in[i + 2 * n], x3 = in[i + 3 * n];
  for (int j = 0; j < k; ++j) { ALL; }
  KEEP(out);
}

__kernel void computing(__global float* out, int k, float a, float b) {
  VEC x0 = (VEC)(get_global_id(0)), x1 = x0 + 1.0f, x2 = x0 + 2.0f, x3 = x0 + 3.0f;
  for (int j = 0; j < k; ++j) { ALL; }
  KEEP(out);
}
)cl";

constexpr float A = 0.5f, B = 0.5f;

}  // namespace

Kernels::Kernels(const Session& session)
    : session_(session), width_(session.device().type == model::DeviceType::Cpu ? 16 : 4) {}

Status Kernels::build() {
  if (built_) return {};
  const std::string options = "-DVEC=float" + std::to_string(width_);
  cl_int err = CL_SUCCESS;
  const char* source = Source;
  const ClProgram program(clCreateProgramWithSource(session_.context(), 1, &source, nullptr, &err));
  GT_TRY(cl_status("clCreateProgramWithSource", err));
  const cl_device_id device = session_.device().id;
  GT_TRY(cl_status("clBuildProgram", clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr)));
  const std::pair<Kernel*, const char*> names[] = {{&empty_, "empty"}, {&reading_, "reading"},
                                                   {&computing_, "computing"}};
  for (const auto& [kernel, name] : names) {
    kernel->reset(clCreateKernel(program.get(), name, &err));
    GT_TRY(cl_status("clCreateKernel", err));
  }
  built_ = true;
  return {};
}

Status Kernels::launch(const Kernel& kernel, uint64_t items) {
  const size_t global = items;
  return cl_status("clEnqueueNDRangeKernel", clEnqueueNDRangeKernel(session_.queue(), kernel.get(), 1, nullptr,
                                                                    &global, nullptr, 0, nullptr, nullptr));
}

Status Kernels::launch_empty(cl_mem out) {
  GT_TRY(build());
  GT_TRY(cl_status("clSetKernelArg", clSetKernelArg(empty_.get(), 0, sizeof out, &out)));
  return launch(empty_, 1);
}

Status Kernels::launch_reading(cl_mem in, cl_mem out, uint64_t bytes, int fma) {
  GT_TRY(build());
  const cl_kernel k = reading_.get();
  const cl_int bad = clSetKernelArg(k, 0, sizeof in, &in) | clSetKernelArg(k, 1, sizeof out, &out) |
                     clSetKernelArg(k, 2, sizeof fma, &fma) | clSetKernelArg(k, 3, sizeof A, &A) |
                     clSetKernelArg(k, 4, sizeof B, &B);
  GT_TRY(cl_status("clSetKernelArg", bad));
  return launch(reading_, std::max<uint64_t>(bytes / sizeof(float) / floats(), 1));
}

Status Kernels::launch_computing(cl_mem out, uint64_t bytes, int fma) {
  GT_TRY(build());
  const cl_kernel k = computing_.get();
  const cl_int bad = clSetKernelArg(k, 0, sizeof out, &out) | clSetKernelArg(k, 1, sizeof fma, &fma) |
                     clSetKernelArg(k, 2, sizeof A, &A) | clSetKernelArg(k, 3, sizeof B, &B);
  GT_TRY(cl_status("clSetKernelArg", bad));
  return launch(computing_, std::max<uint64_t>(bytes / sizeof(float) / floats(), 1));
}

}  // namespace gt::bench
