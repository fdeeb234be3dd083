#include "tracer/interpose/substitute.h"

#include <CL/cl.h>

#include <cstring>

#include "tracer/interpose/real_library.h"

namespace gt::interpose {
namespace {

constexpr const char* SuggestedSize = "clGetKernelSuggestedLocalWorkSize";

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(real_symbol(name));
}

cl_platform_id platform_of(cl_command_queue queue) {
  const auto queue_info = real<decltype(clGetCommandQueueInfo)>("clGetCommandQueueInfo");
  const auto device_info = real<decltype(clGetDeviceInfo)>("clGetDeviceInfo");
  cl_device_id device = nullptr;
  cl_platform_id platform = nullptr;
  if (!queue_info || queue_info(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) != CL_SUCCESS) return nullptr;
  if (!device_info || device_info(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) != CL_SUCCESS)
    return nullptr;
  return platform;
}

cl_int CL_API_CALL suggested_size(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                  const size_t* global, size_t* suggested) {
  using Address = decltype(clGetExtensionFunctionAddressForPlatform);
  const auto address = real<Address>("clGetExtensionFunctionAddressForPlatform");
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  const cl_platform_id platform = platform_of(queue);
  if (!address || !platform) return CL_INVALID_OPERATION;
  void* function = address(platform, SuggestedSize);
  if (!function) function = address(platform, "clGetKernelSuggestedLocalWorkSizeKHR");
  if (!function) return CL_INVALID_OPERATION;
  return reinterpret_cast<decltype(&suggested_size)>(function)(queue, kernel, dimensions, offset, global, suggested);
}

}  // namespace

void* substitute(const char* name) {
  return std::strcmp(name, SuggestedSize) == 0 ? reinterpret_cast<void*>(&suggested_size) : nullptr;
}

}  // namespace gt::interpose
