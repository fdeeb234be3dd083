#include "transport/executor/base/extension_driver.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "traces/api/api.h"
#include "traces/api/later_forms.h"
#include "transport/executor/base/session.h"
#include "transport/executor/base/usm_functions.h"

namespace gt::exec {

cl_version extension_version(const Cl& cl, cl_device_id device, const char* extension) {
  constexpr size_t Most = 1024;
  size_t bytes = 0;
  if (cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, nullptr, &bytes) != CL_SUCCESS) return 0;
  std::vector<cl_name_version> all(std::min(bytes / sizeof(cl_name_version), Most));
  if (all.empty() || cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, all.size() * sizeof all[0],
                                        all.data(), nullptr) != CL_SUCCESS)
    return 0;
  for (const cl_name_version& one : all)
    if (std::strncmp(one.name, extension, sizeof one.name) == 0) return one.version;
  return 0;
}

ExtensionDriver::ExtensionDriver(const Session& session, cl_device_id device)
    : commands_have_properties_(extension_version(session.cl, device, api::CommandBuffers) >=
                                api::CommandsHaveProperties),
      updates_are_lists_(extension_version(session.cl, device, api::MutableDispatch) >= api::UpdatesAreLists) {
  const auto platform = Cl::ask<cl_platform_id>(session.cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  for (uint16_t fn = 1; fn < api::fn_count(); ++fn) {
    const api::FnInfo& info = api::fn_info(fn);
    if (info.params && info.attributes.extension)
      functions_.of[fn] = extension_function(session, platform, static_cast<api::FnId>(fn));
  }
}

}  // namespace gt::exec
