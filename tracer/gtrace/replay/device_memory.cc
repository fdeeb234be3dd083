#include "tracer/gtrace/replay/device_memory.h"

#include <fmt/format.h>

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

Status DeviceMemory::read(cl_command_queue queue, cl_mem buffer, Bytes& out) const {
  const Result<size_t> size = size_of(buffer);
  if (!size) return size.status();
  out.resize(*size);
  const cl_int code = cl_.get<decltype(clEnqueueReadBuffer)>(FnId::clEnqueueReadBuffer)(
      queue, buffer, CL_TRUE, 0, out.size(), out.data(), 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : failed("reading a buffer", code);
}

Status DeviceMemory::write(cl_command_queue queue, cl_mem buffer, ByteView bytes) const {
  const cl_int code = cl_.get<decltype(clEnqueueWriteBuffer)>(FnId::clEnqueueWriteBuffer)(
      queue, buffer, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : failed("writing a buffer", code);
}

}  // namespace gt::tracer
