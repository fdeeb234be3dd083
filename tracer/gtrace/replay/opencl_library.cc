#include "tracer/gtrace/replay/opencl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "traces/api/api.h"
#include "traces/api/later_forms.h"
#include "traces/api/command_update.h"

namespace gt::tracer {

namespace {

using api::FnId;

// The driver's functions of a later form (traces/api/later_forms.h), behind those of the table's form.
std::array<std::atomic<AnyFunction>, api::FnCount> g_later{};
AnyFunction later(FnId fn) { return g_later[api::number(fn)].load(std::memory_order_acquire); }

cl_int update_by_list(_cl_command_buffer_khr* buffer, const api::UpdateConfig* config) {
  std::vector<const void*> list;
  for (cl_uint i = 0; i < config->dispatches; ++i) list.push_back(&config->list[i].of);
  const std::vector<cl_uint> types(list.size(), api::LaterDispatchConfig);
  return reinterpret_cast<api::LaterUpdate>(later(FnId::clUpdateMutableCommandsKHR))(
      buffer, static_cast<cl_uint>(list.size()), types.data(), list.data());
}

// The table's form of what a driver has in the later one; nullptr: `fn` has not changed.
struct Changed {
  AnyFunction function;
  const char* extension;
  cl_version since;
};
Changed changed(FnId fn) {
  if (fn == FnId::clUpdateMutableCommandsKHR)
    return {reinterpret_cast<AnyFunction>(&update_by_list), api::MutableDispatch, api::UpdatesAreLists};
  return {api::without_properties<&later>(fn), api::CommandBuffers, api::CommandsHaveProperties};
}

// Devices of a platform that differ in this cannot have one function.
bool is_later(const OpenClLibrary& cl, cl_platform_id platform, const Changed& change) {
  const auto list = cl.get<decltype(clGetDeviceIDs)>(FnId::clGetDeviceIDs);
  const auto ask = cl.get<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo);
  cl_uint count = 0;
  if (!list || !ask || list(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return false;
  std::vector<cl_device_id> devices(count);
  if (list(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr) != CL_SUCCESS) return false;
  return std::any_of(devices.begin(), devices.end(), [&](cl_device_id device) {
    return api::extension_version(ask, device, change.extension) >= change.since;
  });
}

}  // namespace

Result<std::unique_ptr<OpenClLibrary>> OpenClLibrary::open() {
  void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return Status(Kind::Unsupported, fmt::format("no OpenCL loader: {}; install ocl-icd-libopencl1", ::dlerror()));
  }
  return std::unique_ptr<OpenClLibrary>(new OpenClLibrary(library));
}

OpenClLibrary::OpenClLibrary(AnyFunction (*of)(api::FnId)) : library_(nullptr) {
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) found_[fn] = of(static_cast<api::FnId>(fn));
}

AnyFunction OpenClLibrary::find(uint16_t fn, cl_platform_id platform) const {
  if (fn >= api::FnCount) return nullptr;
  if (const AnyFunction known = found_[fn].load(std::memory_order_acquire); known || !library_) return known;
  const char* const name = api::function_name(fn);
  // What was put in front of the loader (LD_PRELOAD) comes first, as for a program that is linked with it.
  AnyFunction found = reinterpret_cast<AnyFunction>(::dlsym(RTLD_DEFAULT, name));
  if (!found) found = reinterpret_cast<AnyFunction>(::dlsym(library_, name));
  if (!found && platform) {
    const auto ask =
        get<decltype(clGetExtensionFunctionAddressForPlatform)>(api::FnId::clGetExtensionFunctionAddressForPlatform);
    if (ask) found = reinterpret_cast<AnyFunction>(ask(platform, name));
    const Changed change = changed(static_cast<FnId>(fn));
    if (found && change.function && is_later(*this, platform, change)) {
      g_later[fn].store(found, std::memory_order_release);
      found = change.function;
    }
  }
  found_[fn].store(found, std::memory_order_release);
  return found;
}

}  // namespace gt::tracer
