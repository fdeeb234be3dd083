#include "transport/executor/base/extension_driver.h"

#include "traces/api/api.h"
#include "traces/api/later_forms.h"
#include "transport/executor/base/session.h"
#include "transport/executor/base/usm_functions.h"

namespace gt::exec {

ExtensionDriver::ExtensionDriver(const Session& session, cl_device_id device)
    : commands_have_properties_(api::extension_version(session.cl.clGetDeviceInfo, device, api::CommandBuffers) >=
                                api::CommandsHaveProperties),
      updates_are_lists_(api::extension_version(session.cl.clGetDeviceInfo, device, api::MutableDispatch) >=
                         api::UpdatesAreLists) {
  const auto platform = Cl::ask<cl_platform_id>(session.cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  for (uint16_t fn = 1; fn < api::fn_count(); ++fn) {
    const api::FnInfo& info = api::fn_info(fn);
    if (info.params && info.attributes.extension)
      functions_.of[fn] = extension_function(session, platform, static_cast<api::FnId>(fn));
  }
}

}  // namespace gt::exec
