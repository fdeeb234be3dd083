#include "tracer/lib/extension_form.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "tracer/lib/real_calls.h"

namespace gt::tracer {

namespace {

struct Change {
  const char* function;  // or what the names of several begin with
  const char* extension;
  cl_version since;
};
// clCommandNDRangeKernelKHR has always had its properties; all others of its kind got them later.
constexpr const char* Unchanged = "clCommandNDRangeKernelKHR";
constexpr Change Changes[] = {
    {"clCommand", "cl_khr_command_buffer", CL_MAKE_VERSION(0, 9, 5)},
    {"clUpdateMutableCommandsKHR", "cl_khr_command_buffer_mutable_dispatch", CL_MAKE_VERSION(0, 9, 2)},
};

const Change* change_of(const char* name) {
  if (!name || std::strcmp(name, Unchanged) == 0) return nullptr;
  const auto at = std::find_if(std::begin(Changes), std::end(Changes), [name](const Change& c) {
    return std::strncmp(name, c.function, std::strlen(c.function)) == 0;
  });
  return at == std::end(Changes) ? nullptr : at;
}

// The driver's answer. Too large for the stack of a small thread, so there is one, for one caller at a time.
constexpr size_t MostExtensions = 256;
cl_name_version g_extensions[MostExtensions];
std::atomic_flag g_taken = ATOMIC_FLAG_INIT;

// A device that tells no versions is of OpenCL 2 or older, from before the change. One that has too many extensions to
// look through counts as changed.
bool has_changed(cl_device_id device, const Change& change) {
  const auto get = real<decltype(clGetDeviceInfo)>(api::FnId::clGetDeviceInfo);
  size_t bytes = 0;
  if (!get || get(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, nullptr, &bytes) != CL_SUCCESS) return false;
  if (bytes > sizeof g_extensions) return true;
  if (get(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof g_extensions, g_extensions, &bytes) != CL_SUCCESS)
    return false;
  const cl_name_version* end = g_extensions + std::min(bytes / sizeof g_extensions[0], MostExtensions);
  return std::any_of(static_cast<const cl_name_version*>(g_extensions), end, [&](const cl_name_version& e) {
    return std::strncmp(e.name, change.extension, sizeof e.name) == 0 && e.version >= change.since;
  });
}

bool any_has_changed(cl_platform_id platform, const Change& change) {
  constexpr cl_uint Most = 64;
  cl_device_id devices[Most] = {};
  cl_uint count = 0;
  const auto list = real<decltype(clGetDeviceIDs)>(api::FnId::clGetDeviceIDs);
  if (!list || list(platform, CL_DEVICE_TYPE_ALL, Most, devices, &count) != CL_SUCCESS) return false;
  return std::any_of(devices, devices + std::min(count, Most),
                     [&](cl_device_id device) { return has_changed(device, change); });
}

}  // namespace

bool has_another_form(cl_platform_id platform, const char* name) {
  const Change* change = change_of(name);
  if (!change) return false;
  constexpr cl_uint Most = 32;
  cl_platform_id platforms[Most] = {platform};
  cl_uint count = 1;
  const auto list = real<decltype(clGetPlatformIDs)>(api::FnId::clGetPlatformIDs);
  if (!platform && (!list || list(Most, platforms, &count) != CL_SUCCESS)) return false;
  while (g_taken.test_and_set(std::memory_order_acquire)) {
  }
  const bool changed = std::any_of(platforms, platforms + std::min(count, Most),
                                   [&](cl_platform_id p) { return any_has_changed(p, *change); });
  g_taken.clear(std::memory_order_release);
  return changed;
}

}  // namespace gt::tracer
