#include "tracer/gtrace/replay/device_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/api/print.h"

namespace gt::tracer {

using api::FnId;

namespace {

Status failed(const char* what, cl_int code) {
  return {Kind::OpenCl, fmt::format("{}: {}", what, api::error_name(code)), code};
}

}  // namespace

Status DeviceMemory::finish(cl_command_queue queue) const {
  const cl_int code = cl_.get<decltype(clFinish)>(FnId::clFinish)(queue);
  return code == CL_SUCCESS ? Status() : failed("clFinish", code);
}

Result<size_t> DeviceMemory::size_of(cl_mem buffer) const {
  size_t size = 0;
  const cl_int code =
      cl_.get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo)(buffer, CL_MEM_SIZE, sizeof size, &size, nullptr);
  if (code != CL_SUCCESS) return failed("clGetMemObjectInfo", code);
  return size;
}

Result<DeviceMemory::Extent> DeviceMemory::extent_of(cl_mem object) const {
  const auto info = cl_.get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo);
  const auto image_info = cl_.get<decltype(clGetImageInfo)>(FnId::clGetImageInfo);
  cl_mem_object_type type = 0;
  cl_int code = info(object, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (code != CL_SUCCESS) return failed("clGetMemObjectInfo", code);
  Extent extent;
  if (type == CL_MEM_OBJECT_BUFFER) {
    const Result<size_t> size = size_of(object);
    if (!size) return size.status();
    extent.region[0] = extent.bytes = *size;
    return extent;
  }
  const auto fact = [&](cl_image_info name) {
    size_t value = 0;
    if (code == CL_SUCCESS) code = image_info(object, name, sizeof value, &value, nullptr);
    return value;
  };
  const size_t element = fact(CL_IMAGE_ELEMENT_SIZE), width = fact(CL_IMAGE_WIDTH), height = fact(CL_IMAGE_HEIGHT),
               depth = fact(CL_IMAGE_DEPTH), array = fact(CL_IMAGE_ARRAY_SIZE);
  if (code != CL_SUCCESS) return failed("clGetImageInfo", code);
  extent.image = true;
  extent.region[0] = width;
  extent.region[1] = std::max<size_t>(height, 1);
  extent.region[2] = std::max<size_t>(depth, 1);
  if (array > 0) extent.region[height == 0 ? 1 : 2] = array;
  extent.bytes = element * extent.region[0] * extent.region[1] * extent.region[2];
  return extent;
}

// A call that waits may wait for all of a queue (PoCL's does), and so for what the program holds up: its event is
// waited for instead.
Status DeviceMemory::wait(cl_command_queue queue, const char* what, cl_int code, cl_event event) const {
  if (code != CL_SUCCESS) return failed(what, code);
  code = cl_.get<decltype(clFlush)>(FnId::clFlush)(queue);
  if (code == CL_SUCCESS) code = cl_.get<decltype(clWaitForEvents)>(FnId::clWaitForEvents)(1, &event);
  cl_.get<decltype(clReleaseEvent)>(FnId::clReleaseEvent)(event);
  return code == CL_SUCCESS ? Status() : failed(what, code);
}

// What moves a buffer's data where the host may not: another one, of the same size and context. nullptr: there is none.
cl_mem DeviceMemory::stand_in(cl_mem buffer, size_t size) const {
  cl_context context = nullptr;
  const auto info = cl_.get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo);
  if (info(buffer, CL_MEM_CONTEXT, sizeof context, &context, nullptr) != CL_SUCCESS) return nullptr;
  return cl_.get<decltype(clCreateBuffer)>(FnId::clCreateBuffer)(context, CL_MEM_READ_WRITE, size, nullptr, nullptr);
}

Status DeviceMemory::copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t size) const {
  cl_event event = nullptr;
  const cl_int code = cl_.get<decltype(clEnqueueCopyBuffer)>(FnId::clEnqueueCopyBuffer)(queue, from, to, 0, 0, size, 0,
                                                                                        nullptr, &event);
  return wait(queue, "copying a buffer", code, event);
}

Status DeviceMemory::read(cl_command_queue queue, cl_mem object, Bytes& out) const {
  const Result<Extent> extent = extent_of(object);
  if (!extent) return extent.status();
  out.resize(extent->bytes);
  const size_t origin[3] = {0, 0, 0};
  cl_event event = nullptr;
  if (extent->image) {
    const cl_int code = cl_.get<decltype(clEnqueueReadImage)>(FnId::clEnqueueReadImage)(
        queue, object, CL_FALSE, origin, extent->region, 0, 0, out.data(), 0, nullptr, &event);
    return wait(queue, "reading an image", code, event);
  }
  const cl_int code = cl_.get<decltype(clEnqueueReadBuffer)>(FnId::clEnqueueReadBuffer)(
      queue, object, CL_FALSE, 0, out.size(), out.data(), 0, nullptr, &event);
  const cl_mem between = code == CL_INVALID_OPERATION ? stand_in(object, out.size()) : nullptr;
  if (!between) return wait(queue, "reading a buffer", code, event);
  Status s = copy_buffer(queue, object, between, out.size());
  if (s.ok()) s = read(queue, between, out);
  cl_.get<decltype(clReleaseMemObject)>(FnId::clReleaseMemObject)(between);
  return s;
}

Status DeviceMemory::write(cl_command_queue queue, cl_mem object, ByteView bytes) const {
  const Result<Extent> extent = extent_of(object);
  if (!extent) return extent.status();
  if (bytes.size() != extent->bytes)
    return {Kind::Corrupt, fmt::format("{} bytes were recorded of an object that has {}", bytes.size(), extent->bytes)};
  const size_t origin[3] = {0, 0, 0};
  cl_event event = nullptr;
  if (extent->image) {
    const cl_int code = cl_.get<decltype(clEnqueueWriteImage)>(FnId::clEnqueueWriteImage)(
        queue, object, CL_FALSE, origin, extent->region, 0, 0, bytes.data(), 0, nullptr, &event);
    return wait(queue, "writing an image", code, event);
  }
  const cl_int code = cl_.get<decltype(clEnqueueWriteBuffer)>(FnId::clEnqueueWriteBuffer)(
      queue, object, CL_FALSE, 0, bytes.size(), bytes.data(), 0, nullptr, &event);
  const cl_mem between = code == CL_INVALID_OPERATION ? stand_in(object, bytes.size()) : nullptr;
  if (!between) return wait(queue, "writing a buffer", code, event);
  Status s = write(queue, between, bytes);
  if (s.ok()) s = copy_buffer(queue, between, object, bytes.size());
  cl_.get<decltype(clReleaseMemObject)>(FnId::clReleaseMemObject)(between);
  return s;
}

Status DeviceMemory::copy(cl_command_queue queue, void* to, const void* from, size_t size, cl_platform_id usm) const {
  const FnId fn = usm ? FnId::clEnqueueMemcpyINTEL : FnId::clEnqueueSVMMemcpy;
  const auto copy = reinterpret_cast<decltype(clEnqueueSVMMemcpy)*>(cl_.find(static_cast<uint16_t>(fn), usm));
  if (!copy) return {Kind::Unsupported, "no driver here copies such memory"};
  cl_event event = nullptr;
  const cl_int code = copy(queue, CL_FALSE, to, from, size, 0, nullptr, &event);
  return wait(queue, "copying shared memory", code, event);
}

}  // namespace gt::tracer
