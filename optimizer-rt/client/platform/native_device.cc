#include "optimizer-rt/client/platform/native_device.h"

#include <unordered_map>

#include "optimizer-rt/client/platform/platform.h"
#include "optimizer-rt/client/session/connection.h"
#include "optimizer-rt/client/session/local_executor.h"
#include "optimizer-rt/client/session/sessions.h"
#include "traces/base/mutex.h"

namespace gt::virt {
namespace {

struct Adopted {
  Mutex mutex;
  // By the driver's handle; they live as long as the process.
  std::unordered_map<cl_device_id, _cl_device_id*> devices GT_GUARDED_BY(mutex);
};

Adopted& adopted() {
  static auto* const all = new Adopted;
  return *all;
}

_cl_device_id* make_device(cl_device_id native) {
  Result<Connection> connection = connect_to_device(native);
  require(connection.ok(), CL_DEVICE_NOT_AVAILABLE);
  wire::Surveyed surveyed;
  const Result<Session*> session = open_session(std::move(*connection), surveyed);
  require(session.ok() && surveyed.devices.size() == 1, CL_DEVICE_NOT_AVAILABLE);
  const wire::SurveyedDevice& told = surveyed.devices[0];
  auto* device = new _cl_device_id(**session, told.id, told.platform);
  device->native = native;
  for (const wire::InfoValue& info : told.infos) device->learn(info.name, info.value);
  return device;
}

}  // namespace

_cl_device_id& adopt(cl_device_id handle) {
  require(handle != nullptr, CL_INVALID_DEVICE);
  if (is(handle)) return *handle;
  Adopted& all = adopted();
  const MutexLock lock(all.mutex);
  _cl_device_id*& device = all.devices[handle];
  if (!device) device = make_device(handle);
  return *device;
}

_cl_device_id* find_device(cl_device_id handle) {
  if (!handle) return nullptr;
  Adopted& all = adopted();
  {
    const MutexLock lock(all.mutex);
    const auto it = all.devices.find(handle);
    if (it != all.devices.end()) return it->second;
  }
  return is(handle) ? handle : nullptr;
}

_cl_device_id& device_of(cl_device_id handle) {
  _cl_device_id* const device = find_device(handle);
  require(device != nullptr, CL_INVALID_DEVICE);
  return *device;
}

bool is_platform(cl_platform_id handle) {
  if (is(handle)) return true;
  Adopted& all = adopted();
  const MutexLock lock(all.mutex);
  for (const auto& [native, device] : all.devices) {
    if (device && platform_of(native) == handle) return true;
  }
  return false;
}

}  // namespace gt::virt
