#include "transport/executor/base/usm_functions.h"

#include <vector>

#include "traces/api/api.h"
#include "transport/executor/base/session.h"
#include "transport/usm/functions.h"

namespace gt::exec {

using api::FnId;

cl_device_id device_of(const Session& session, cl_context context) {
  std::vector<cl_device_id> devices(Cl::ask<cl_uint>(session.cl.clGetContextInfo, context, CL_CONTEXT_NUM_DEVICES));
  const size_t bytes = devices.size() * sizeof(cl_device_id);
  const bool told = bytes != 0 && session.cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(),
                                                              nullptr) == CL_SUCCESS;
  return told ? devices[0] : nullptr;
}

AnyFunction extension_function(const Session& session, cl_platform_id platform, FnId fn) {
  const auto address = reinterpret_cast<decltype(&::clGetExtensionFunctionAddressForPlatform)>(
      session.all[FnId::clGetExtensionFunctionAddressForPlatform]);
  const char* const name = api::fn_info(static_cast<uint16_t>(fn)).name;
  void* const drivers = address && platform ? address(platform, name) : nullptr;
  return reinterpret_cast<AnyFunction>(drivers || !session.usm ? drivers : usm::function(*session.usm, name));
}

AnyFunction extension_function(const Session& session, cl_device_id device, FnId fn) {
  if (!device) return nullptr;
  const auto platform = Cl::ask<cl_platform_id>(session.cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  return platform ? extension_function(session, platform, fn) : nullptr;
}

UsmFunctions usm_functions(const Session& session, cl_device_id device) {
  UsmFunctions found;
  const auto find = [&]<class F>(F& function, FnId fn) {
    function = reinterpret_cast<F>(extension_function(session, device, fn));
  };
  find(found.allocate_host, FnId::clHostMemAllocINTEL);
  find(found.allocate_device, FnId::clDeviceMemAllocINTEL);
  find(found.allocate_shared, FnId::clSharedMemAllocINTEL);
  find(found.free, FnId::clMemFreeINTEL);
  find(found.copy, FnId::clEnqueueMemcpyINTEL);
  find(found.set_argument, FnId::clSetKernelArgMemPointerINTEL);
  return found;
}

}  // namespace gt::exec
