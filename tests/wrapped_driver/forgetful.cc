// Two devices, of which the one called basic forgets the last work-item of kernels with a name (FORGET): what a
// comparison of devices must find. (POCL_DEVICES="pthread basic" makes PoCL have both.)
#include <array>
#include <cstdlib>
#include <string_view>

#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

bool forgets(cl_command_queue queue, cl_kernel kernel) {
  const char* const what = std::getenv("FORGET");
  std::array<char, 256> device_name{}, kernel_name{};
  cl_device_id device = nullptr;
  pocl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  pocl.clGetDeviceInfo(device, CL_DEVICE_NAME, device_name.size() - 1, device_name.data(), nullptr);
  pocl.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, kernel_name.size() - 1, kernel_name.data(), nullptr);
  const std::string_view device_text = device_name.data(), kernel_text = kernel_name.data();
  return what && kernel_text == what && device_text.starts_with("basic");
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local, cl_uint n, const cl_event* list, cl_event* event) {
  if (dimensions != 1 || !forgets(queue, kernel))
    return pocl.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n, list, event);
  const size_t fewer = *global - 1;
  return pocl.clEnqueueNDRangeKernel(queue, kernel, 1, offset, &fewer, nullptr, n, list, event);
}

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id) { table.clEnqueueNDRangeKernel = launch; }

}  // namespace gt::wrapped
