// goptimize devices: lists the OpenCL devices of this machine. The loader is opened only here, so
// that `goptimize run` never pays for it.
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "optimizer-rt/cl/virtual_platform.h"
#include "optimizer-rt/goptimize/commands.h"
#include "optimizer-rt/goptimize/remote.h"
#include "traces/base/command.h"

namespace gt::opt {
namespace {

constexpr const char* Program = "goptimize";

struct Loader {
  decltype(&::clGetPlatformIDs) platforms = nullptr;
  decltype(&::clGetPlatformInfo) platform_info = nullptr;
  decltype(&::clGetDeviceIDs) devices = nullptr;
  decltype(&::clGetDeviceInfo) device_info = nullptr;

  bool open() {
    void* handle = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    platforms = reinterpret_cast<decltype(platforms)>(::dlsym(handle, "clGetPlatformIDs"));
    platform_info = reinterpret_cast<decltype(platform_info)>(::dlsym(handle, "clGetPlatformInfo"));
    devices = reinterpret_cast<decltype(devices)>(::dlsym(handle, "clGetDeviceIDs"));
    device_info = reinterpret_cast<decltype(device_info)>(::dlsym(handle, "clGetDeviceInfo"));
    return platforms && platform_info && devices && device_info;
  }

  std::vector<cl_platform_id> local_platforms() const {
    cl_uint count = 0;
    platforms(0, nullptr, &count);
    std::vector<cl_platform_id> out(count);
    if (count) platforms(count, out.data(), nullptr);
    return out;
  }
  std::vector<cl_device_id> devices_of(cl_platform_id platform) const {
    cl_uint count = 0;
    if (devices(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) count = 0;
    std::vector<cl_device_id> out(count);
    if (count) devices(platform, CL_DEVICE_TYPE_ALL, count, out.data(), nullptr);
    return out;
  }

  std::string text(cl_device_id d, cl_device_info what) const {
    char buffer[512] = {};
    return device_info(d, what, sizeof buffer - 1, buffer, nullptr) == CL_SUCCESS ? buffer : "?";
  }
  std::string text(cl_platform_id p, cl_platform_info what) const {
    char buffer[512] = {};
    return platform_info(p, what, sizeof buffer - 1, buffer, nullptr) == CL_SUCCESS ? buffer : "?";
  }
};

struct Device {
  std::string name, platform, driver;
  uint64_t memory_bytes = 0;
  bool remote = false;
};

Device describe(const Loader& cl, cl_platform_id platform, cl_device_id device, bool remote) {
  cl_ulong memory = 0;
  cl.device_info(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr);
  return {cl.text(device, CL_DEVICE_NAME), cl.text(platform, CL_PLATFORM_NAME), cl.text(device, CL_DRIVER_VERSION),
          memory, remote};
}

std::string as_json(const std::vector<Device>& devices) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Device& d : devices)
    list.push_back({{"number", list.size()}, {"name", d.name}, {"platform", d.platform}, {"driver", d.driver},
                    {"memory_bytes", d.memory_bytes}, {"remote", d.remote}});
  const nlohmann::ordered_json all = {{"format", "gtrace-devices"}, {"version", 1}, {"devices", std::move(list)}};
  return all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Device>& devices) {
  std::string out;
  for (size_t i = 0; i < devices.size(); ++i)
    out += fmt::format("{}: {} ({}, driver {}, {:.1f} GiB)\n", i, devices[i].name, devices[i].platform,
                       devices[i].driver, static_cast<double>(devices[i].memory_bytes) / (1 << 30));
  return out;
}

// The platform of the devices behind --remote; nullptr: it was not asked for. A proxy that does not answer has said so.
Result<cl_platform_id> remote_platform(const Options& options) {
  const Result<Variables> variables = connection_variables(options);
  if (!variables) return variables.status();
  if (variables->empty()) return cl_platform_id{};
  for (const auto& [name, value] : *variables) ::setenv(name.c_str(), value.c_str(), 1);
  void* const library = ::dlopen(std::getenv(VirtualLibraryVariable), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status(Kind::Unsupported, ::dlerror());
  const auto ids = reinterpret_cast<decltype(&::clIcdGetPlatformIDsKHR)>(::dlsym(library, "clIcdGetPlatformIDsKHR"));
  cl_platform_id platform = nullptr;
  cl_uint count = 0;
  if (!ids || ids(1, &platform, &count) != CL_SUCCESS || count == 0)
    return Status(Kind::Unsupported, "no proxy of " + options.text("remote") + " offers a device");
  return platform;
}

}  // namespace

int devices_command(int argc, char** argv) {
  CommandLine line("goptimize devices", "Lists the OpenCL devices of this machine, and those behind proxies.");
  const Options& options = line.options();
  if (const auto status = line.parse(argc, argv)) return *status;
  Loader cl;
  if (!cl.open())
    return fail(Program, Status(Kind::Unsupported,
                                "there is no OpenCL loader (install ocl-icd-libopencl1)"));
  std::vector<cl_platform_id> platforms = cl.local_platforms();
  const Result<cl_platform_id> remote = remote_platform(options);
  if (!remote) return fail(Program, remote.status());
  if (*remote) platforms.push_back(*remote);
  std::vector<Device> devices;
  for (cl_platform_id platform : platforms)
    for (cl_device_id device : cl.devices_of(platform))
      devices.push_back(describe(cl, platform, device, platform == *remote));
  if (devices.empty())
    return fail(Program,
                Status(Kind::Unsupported,
                       "no OpenCL driver offers a device (pocl-opencl-icd has one for the CPU)"));
  const Status printed = print_text(options.flag("json") ? as_json(devices) : as_text(devices));
  return printed.ok() ? ExitOk : fail(Program, printed);
}

}  // namespace gt::opt
