// A driver that tells nothing of kernels' arguments, as OpenCL lets it where it has no source, and that copies nothing
// between arrays of lines and buffers, as NVIDIA's.
#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

cl_int CL_API_CALL tell_nothing(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void*, size_t*) {
  return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

bool is_refused(cl_mem image) {
  cl_mem_object_type type = 0;
  return pocl.clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, nullptr) == CL_SUCCESS &&
         type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

cl_int CL_API_CALL to_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t* origin,
                             const size_t* region, size_t offset, cl_uint count, const cl_event* list,
                             cl_event* event) {
  if (is_refused(image)) return CL_INVALID_VALUE;
  return pocl.clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, offset, count, list, event);
}
cl_int CL_API_CALL to_image(cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset, const size_t* origin,
                            const size_t* region, cl_uint count, const cl_event* list, cl_event* event) {
  if (is_refused(image)) return CL_INVALID_VALUE;
  return pocl.clEnqueueCopyBufferToImage(queue, buffer, image, offset, origin, region, count, list, event);
}

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id) {
  table.clGetKernelArgInfo = tell_nothing;
  table.clEnqueueCopyImageToBuffer = to_buffer;
  table.clEnqueueCopyBufferToImage = to_image;
}

}  // namespace gt::wrapped
