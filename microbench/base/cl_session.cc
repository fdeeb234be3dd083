// Opening a device.
#include "microbench/base/cl_session.h"

#include <dlfcn.h>

namespace gt::bench {

Status cl_status(const char* call, cl_int err) {
  if (err == CL_SUCCESS) return {};
  Kind kind = Kind::OpenCl;
  switch (err) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
    case CL_INVALID_OPERATION:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_BUILD_PROGRAM_FAILURE:
      kind = Kind::Unsupported;
      break;
    default:
      break;
  }
  return Status(kind, std::string(call) + " failed (" + std::to_string(err) + ")", err);
}

Result<std::unique_ptr<Session>> Session::open(const Device& device) {
  std::unique_ptr<Session> session(new Session(device));
  GT_TRY(session->open());
  return session;
}

namespace {

// Found by name: a loader of OpenCL 1.2 has none of them.
SvmFunctions svm_functions(cl_device_id device) {
  cl_device_svm_capabilities can = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr) != CL_SUCCESS ||
      !(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
    return {};
  SvmFunctions f;
  const auto find = [](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
  };
  const bool all = find(f.allocate, "clSVMAlloc") && find(f.release, "clSVMFree") && find(f.copy, "clEnqueueSVMMemcpy");
  return all ? f : SvmFunctions();
}

}  // namespace

Status Session::open() {
  cl_int err = CL_SUCCESS;
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device_.platform_id), 0};
  const bool listed = device_.platform_id != nullptr;
  context_.reset(clCreateContext(listed ? properties : nullptr, 1, &device_.id, nullptr, nullptr, &err));
  GT_TRY(cl_status("clCreateContext", err));
  for (Queue* queue : {&queue_, &second_}) {
    queue->reset(clCreateCommandQueue(context(), device_.id, 0, &err));
    GT_TRY(cl_status("clCreateCommandQueue", err));
  }
  place_ = {{clCreateBuffer, clReleaseMemObject, clEnqueueMapBuffer, clEnqueueUnmapMemObject, clFinish},
             context(),
             queue()};
  svm_ = svm_functions(device_.id);
  return {};
}

Result<Mem> Session::buffer(uint64_t bytes) const {
  cl_int err = CL_SUCCESS;
  Mem mem(clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, &err));
  if (err == CL_OUT_OF_RESOURCES) return Status(Kind::Unsupported, "the device has no room for a buffer", err);
  GT_TRY(cl_status("clCreateBuffer", err));
  return mem;
}

Status Session::write(cl_mem buffer, const void* from, size_t bytes) const {
  return cl_status("clEnqueueWriteBuffer",
                   clEnqueueWriteBuffer(queue(), buffer, CL_TRUE, 0, bytes, from, 0, nullptr, nullptr));
}

Status Session::read(cl_mem buffer, void* to, size_t bytes) const {
  return cl_status("clEnqueueReadBuffer",
                   clEnqueueReadBuffer(queue(), buffer, CL_TRUE, 0, bytes, to, 0, nullptr, nullptr));
}

Status Session::finish() const { return cl_status("clFinish", clFinish(queue())); }

}  // namespace gt::bench
