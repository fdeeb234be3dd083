// What a device is called, and asking for it.
#include "optimizer-rt/cl/asking.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/virtual_handle.h"
#include "optimizer-rt/pool/runtime.h"
#include "traces/base/mutex.h"
#include "traces/base/reentry.h"

namespace gt::opt {
namespace {

constexpr cl_uint MostDevices = 64, MostPlatforms = 32;

bool may_ask() { return runtime.asks() && t_flags.inside == 1 && t_flags.muted == 0 && !runtime.in_forked_child(); }

template <size_t N>
bool read_text(cl_device_id device, cl_device_info what, char (&text)[N]) {
  return GT_REAL(clGetDeviceInfo)(device, what, N, text, nullptr) == CL_SUCCESS && trim_text(text);
}

// False: it has none, or one that does not fit.
bool read_texts(cl_device_id device, DeviceTexts* out) {
  cl_platform_id platform = nullptr;
  return GT_REAL(clGetDeviceInfo)(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) == CL_SUCCESS &&
         GT_REAL(clGetPlatformInfo)(platform, CL_PLATFORM_NAME, sizeof out->platform, out->platform, nullptr) ==
             CL_SUCCESS &&
         trim_text(out->platform) && read_text(device, CL_DEVICE_NAME, out->name) &&
         read_text(device, CL_DRIVER_VERSION, out->driver);
}

// The devices that were asked for: each once, whatever the answer.
class AskedDevices {
 public:
  bool has(cl_device_id device) const { return std::find(list_, list_ + count_, device) != list_ + count_; }
  bool add(cl_device_id device) {
    if (count_ == MostDevices) return false;
    list_[count_++] = device;
    return true;
  }

 private:
  cl_device_id list_[MostDevices] = {};
  size_t count_ = 0;
};

void learn(cl_device_id device) {
  static constinit Mutex mutex;
  static constinit AskedDevices asked GT_GUARDED_BY(mutex);
  if (!device || is_virtual(device) || is_planned(device)) return;
  const MutexLock lock(mutex);
  DeviceTexts texts = {};
  if (!runtime.asks() || is_planned(device) || asked.has(device) || !asked.add(device)) return;
  if (!read_texts(device, &texts)) return;
  runtime.learn(texts);
  plan_has_changed();
}

// The platform of the properties, or the one that a loader takes when there is none.
cl_platform_id platform_of(const cl_context_properties* properties) {
  for (; properties && properties[0]; properties += 2)
    if (properties[0] == CL_CONTEXT_PLATFORM) return reinterpret_cast<cl_platform_id>(properties[1]);
  cl_platform_id platforms[MostPlatforms] = {};
  cl_uint count = 0;
  const auto list = GT_REAL(clGetPlatformIDs);
  return list && list(MostPlatforms, platforms, &count) == CL_SUCCESS ? platforms[0] : nullptr;
}

}  // namespace

void learn_devices(cl_uint count, const cl_device_id* devices) noexcept {
  if (__builtin_expect(!runtime.asks(), 1) || !may_ask() || !devices) return;
  const int saved_errno = errno;
  for (cl_uint i = 0; i < std::min(count, MostDevices); ++i) learn(devices[i]);
  errno = saved_errno;
}

void learn_devices_of_type(const cl_context_properties* properties, cl_device_type type) noexcept {
  if (__builtin_expect(!runtime.asks(), 1) || !may_ask()) return;
  const int saved_errno = errno;
  cl_device_id devices[MostDevices] = {};
  cl_uint count = 0;
  const auto list = GT_REAL(clGetDeviceIDs);
  const cl_platform_id platform = platform_of(properties);
  if (list && platform && !is_virtual(platform) &&
      list(platform, type, MostDevices, devices, &count) == CL_SUCCESS)
    learn_devices(count, devices);
  errno = saved_errno;
}

}  // namespace gt::opt
