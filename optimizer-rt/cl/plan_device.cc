#include "optimizer-rt/cl/plan_device.h"

#include <atomic>
#include <cstring>

#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/pool/runtime.h"
#include "traces/base/mutex.h"

namespace gt::opt {
namespace {

template <size_t N>
bool device_text_is(cl_device_id device, cl_device_info what, const char (&wanted)[N]) {
  char text[N] = {};
  const auto info = GT_REAL(clGetDeviceInfo);
  return info && info(device, what, N, text, nullptr) == CL_SUCCESS && trim_text(text) &&
         std::strncmp(text, wanted, N) == 0;
}

int look_up_device(cl_device_id device) {
  const auto devices = runtime.plan().devices;
  for (size_t i = 0; i < devices.size(); ++i)
    if (device_text_is(device, CL_DEVICE_NAME, devices[i].name) &&
        device_text_is(device, CL_DRIVER_VERSION, devices[i].driver))
      return static_cast<int>(i);
  return NoDevice;
}

struct Known {
  std::atomic<cl_device_id> device{nullptr};
  std::atomic<int> index{NoDevice};  // written before `device`
};
constinit Known g_known[64];
constinit Mutex g_mutex;  // of changes

}  // namespace

int plan_device(cl_device_id device) noexcept {
  for (const Known& k : g_known)
    if (k.device.load(std::memory_order_acquire) == device) return k.index.load(std::memory_order_relaxed);
  const size_t named = runtime.plan().devices.size();
  const int index = look_up_device(device);
  const MutexLock lock(g_mutex);
  if (named != runtime.plan().devices.size()) return index;  // the next look finds more
  for (Known& k : g_known) {
    const cl_device_id there = k.device.load(std::memory_order_relaxed);
    if (there == device) return index;
    if (there) continue;
    add(runtime.counters().devices_met, 1);
    if (index != NoDevice) add(runtime.counters().devices_known, 1);
    k.index.store(index, std::memory_order_relaxed);
    k.device.store(device, std::memory_order_release);
    break;
  }
  return index;
}

bool is_planned(cl_device_id device) noexcept { return look_up_device(device) != NoDevice; }

void plan_has_changed() noexcept {
  const MutexLock lock(g_mutex);
  for (Known& k : g_known) {
    const cl_device_id device = k.device.load(std::memory_order_relaxed);
    if (!device || k.index.load(std::memory_order_relaxed) != NoDevice) continue;
    const int index = look_up_device(device);
    if (index == NoDevice) continue;
    add(runtime.counters().devices_known, 1);
    k.index.store(index, std::memory_order_relaxed);
  }
}

const WayCosts& way_costs(int device, Way way) noexcept {
  return runtime.plan().devices[static_cast<size_t>(device)].ways[way];
}

Devices devices_of(cl_context context) noexcept {
  Devices d;
  size_t size = 0;
  const auto info = GT_REAL(clGetContextInfo);
  if (!info || info(context, CL_CONTEXT_DEVICES, 0, nullptr, &size) != CL_SUCCESS || size > sizeof d.list) return {};
  if (info(context, CL_CONTEXT_DEVICES, size, d.list, nullptr) != CL_SUCCESS) return {};
  d.count = size / sizeof *d.list;
  return d;
}

cl_device_id first_device(cl_context context) noexcept { return devices_of(context).list[0]; }

cl_device_id only_device(cl_context context) noexcept {
  const Devices devices = devices_of(context);
  cl_device_id parent = nullptr;
  const auto info = GT_REAL(clGetDeviceInfo);
  const bool whole = devices.count == 1 && info &&
                     info(devices.list[0], CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr) == CL_SUCCESS &&
                     !parent;
  return whole ? devices.list[0] : nullptr;
}

cl_platform_id platform_of(cl_context context) noexcept {
  cl_platform_id platform = nullptr;
  cl_device_id device = first_device(context);
  const auto info = GT_REAL(clGetDeviceInfo);
  const bool known =
      device && info && info(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) == CL_SUCCESS;
  return known ? platform : nullptr;
}

}  // namespace gt::opt
