#include "tracer/lib/extension_form.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "tracer/lib/real_calls.h"
#include "traces/api/later_forms.h"

namespace gt::tracer {

namespace {

struct Change {
  const char* extension;
  cl_version since;
};

const Change* change_of(api::FnId fn) {
  static constexpr Change Commands = {api::CommandBuffers, api::CommandsHaveProperties};
  static constexpr Change Updates = {api::MutableDispatch, api::UpdatesAreLists};
  if (fn == api::FnId::clUpdateMutableCommandsKHR) return &Updates;
  return api::lacks_properties(fn) || api::has_gained_properties(fn) ? &Commands : nullptr;
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

bool any_platform_has_changed(cl_platform_id platform, const Change& change) {
  constexpr cl_uint Most = 32;
  cl_platform_id platforms[Most] = {platform};
  cl_uint count = 1;
  const auto list = real<decltype(clGetPlatformIDs)>(api::FnId::clGetPlatformIDs);
  if (!platform && (!list || list(Most, platforms, &count) != CL_SUCCESS)) return false;
  while (g_taken.test_and_set(std::memory_order_acquire)) {
  }
  const bool changed = std::any_of(platforms, platforms + std::min(count, Most),
                                   [&](cl_platform_id p) { return any_has_changed(p, change); });
  g_taken.clear(std::memory_order_release);
  return changed;
}

}  // namespace

ExtensionForm form_of(cl_platform_id platform, api::FnId fn) {
  const Change* change = change_of(fn);
  if (!change) return ExtensionForm::Table;
  const bool later = any_platform_has_changed(platform, *change);
  if (api::has_gained_properties(fn)) return later ? ExtensionForm::Table : ExtensionForm::Earlier;
  return later ? ExtensionForm::Later : ExtensionForm::Table;
}

}  // namespace gt::tracer
