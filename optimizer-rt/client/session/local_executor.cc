#include "optimizer-rt/client/session/local_executor.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/base/optimizer.h"
#include "traces/api/api.h"
#include "traces/api/icd_dispatch.h"
#include "transport/link/local_link.h"

namespace gt::virt {
namespace {

const api::IcdDispatch& table_of(const void* handle) {
  const api::IcdDispatch* table = nullptr;
  std::memcpy(&table, handle, sizeof table);
  return *table;
}

// 12 for "OpenCL 1.2 ...". A driver's table ends with the functions of its version.
int version_of(const api::IcdDispatch& table, cl_platform_id platform) {
  char text[128] = {};
  int major = 1, minor = 2;
  table.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text - 1, text, nullptr);
  (void)std::sscanf(text, "OpenCL %d.%d", &major, &minor);
  return major * 10 + minor;
}

cl_int CL_API_CALL no_platforms(cl_uint, cl_platform_id*, cl_uint*) { return CL_INVALID_VALUE; }

// From the dispatch table that the driver's handles begin with. clGetPlatformIDs is not in every one.
exec::Functions functions_in(const api::IcdDispatch& table, cl_platform_id platform) {
  exec::Functions functions;
  const int version = version_of(table, platform);
  const auto put = [&](api::FnId fn, auto function) {
    functions.of[static_cast<size_t>(fn)] = reinterpret_cast<exec::AnyFunction>(function);
  };
  [&](const auto& t) {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)    \
  if constexpr (requires { t.NAME; }) {              \
    if (SINCE <= version) put(api::FnId::NAME, t.NAME); \
  }
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  }(table);
  put(api::FnId::clGetPlatformIDs, &no_platforms);
  return functions;
}

Result<exec::Functions> functions_of_icd(const std::string& driver) {
  void* const library = ::dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status(Kind::Unsupported, ::dlerror());
  using Address = void*(CL_API_CALL*)(const char*);
  using PlatformIds = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);
  const auto address = reinterpret_cast<Address>(::dlsym(library, "clGetExtensionFunctionAddress"));
  auto ids = reinterpret_cast<PlatformIds>(::dlsym(library, "clIcdGetPlatformIDsKHR"));
  if (!ids && address) ids = reinterpret_cast<PlatformIds>(address("clIcdGetPlatformIDsKHR"));
  cl_platform_id platform = nullptr;
  if (!ids || ids(1, &platform, nullptr) != CL_SUCCESS || !platform) {
    return Status(Kind::Unsupported, "it is no OpenCL driver, or has no platform");
  }
  exec::Functions functions = functions_in(table_of(platform), platform);
  functions.of[static_cast<size_t>(api::FnId::clGetPlatformIDs)] = reinterpret_cast<exec::AnyFunction>(ids);
  return functions;
}

// What the optimizer says of platforms and devices is for the program.
bool is_about_platforms(api::FnId fn) {
  constexpr api::FnId About[] = {api::FnId::clGetPlatformIDs, api::FnId::clGetPlatformInfo, api::FnId::clGetDeviceIDs,
                                 api::FnId::clGetDeviceInfo, api::FnId::clGetContextInfo};
  return std::find(std::begin(About), std::end(About), fn) != std::end(About);
}

// What the optimizer emulates, its infos tell.
cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* size_ret) {
  auto ask = table_of(device).clGetDeviceInfo;
  void* const ours = usm::is_about_usm(what) ? optimizer()->function("clGetDeviceInfo") : nullptr;
  if (ours) ask = reinterpret_cast<decltype(ask)>(ours);
  return ask(device, what, size, value, size_ret);
}

exec::Functions through_optimizer(exec::Functions functions) {
  const Optimizer* const us = optimizer();
  for (size_t i = 0; us && i < std::size(functions.of); ++i) {
    const auto number = static_cast<uint16_t>(i);
    if (!functions.of[i] || is_about_platforms(static_cast<api::FnId>(number))) continue;
    void* const ours = us->function(api::fn_info(number).name);
    if (ours) functions.of[i] = reinterpret_cast<exec::AnyFunction>(ours);
  }
  if (us && emulates_usm())
    functions.of[static_cast<size_t>(api::FnId::clGetDeviceInfo)] = reinterpret_cast<exec::AnyFunction>(&device_info);
  return functions;
}

// The program's transfers hold its own memory, and native() knows only what need not wait for room.
exec::Limits our_limits() {
  exec::Limits limits;
  limits.in_flight_bytes = 0;
  return limits;
}

Result<OpenedExecutor> open(const exec::Functions& driver, const exec::Functions& served, exec::Options options) {
  auto [ours, theirs] = wire::make_local_link();
  auto executor = std::make_shared<LocalExecutor>(driver, served, std::move(theirs), std::move(options));
  GT_TRY(executor->start());
  return OpenedExecutor{std::move(ours), std::move(executor)};
}

}  // namespace

LocalExecutor::LocalExecutor(const exec::Functions& driver, const exec::Functions& served,
                             std::unique_ptr<wire::Link> link, exec::Options options)
    : driver_(driver),
      served_(served),
      cl_(driver_),
      served_cl_(served_),
      link_(std::move(link)),
      executor_(std::make_unique<exec::Executor>(served_, *link_, our_limits(), std::move(options))) {}

cl_int LocalExecutor::finish(wire::ObjectId queue) const {
  const auto handle = native<cl_command_queue>(api::ObjectKind::Queue, queue);
  return handle ? served_cl_.clFinish(handle) : CL_INVALID_COMMAND_QUEUE;
}

Result<OpenedExecutor> open_driver(const std::string& path) {
  Result<exec::Functions> functions = functions_of_icd(path);
  if (!functions.ok()) return functions.status();
  exec::Options options;
  options.emulates_usm = usm::Host::Touches;
  return open(*functions, *functions, std::move(options));
}

cl_platform_id platform_of(cl_device_id native) {
  return exec::Cl::ask<cl_platform_id>(table_of(native).clGetDeviceInfo, native, CL_DEVICE_PLATFORM);
}

Result<OpenedExecutor> open_device(cl_device_id native) {
  const cl_platform_id platform = platform_of(native);
  if (!platform) return Status(Kind::Unsupported, "it is no device");
  table_of(native).clRetainDevice(native);  // for as long as the executor lives
  exec::Options only;
  only.devices = {native};
  only.inbox_slots = only.read_slots = 0;
  only.emulates_usm.reset();  // the optimizer does
  const exec::Functions driver = functions_in(table_of(native), platform);
  return open(driver, through_optimizer(driver), std::move(only));
}

}  // namespace gt::virt
