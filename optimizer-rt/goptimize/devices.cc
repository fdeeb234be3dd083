// goptimize devices: lists the OpenCL devices of this machine. The loader is opened only here, so
// that `goptimize run` never pays for it.
#include <CL/cl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "optimizer-rt/goptimize/commands.h"
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

  std::string text(cl_device_id d, cl_device_info what) const {
    char buffer[512] = {};
    return device_info(d, what, sizeof buffer - 1, buffer, nullptr) == CL_SUCCESS ? buffer : "?";
  }
  std::string text(cl_platform_id p, cl_platform_info what) const {
    char buffer[512] = {};
    return platform_info(p, what, sizeof buffer - 1, buffer, nullptr) == CL_SUCCESS ? buffer : "?";
  }
};

void print_device(const Loader& cl, int number, cl_platform_id platform, cl_device_id device) {
  cl_ulong memory = 0;
  cl.device_info(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr);
  fmt::print("{}: {} ({}, driver {}, {:.1f} GiB)\n", number, cl.text(device, CL_DEVICE_NAME),
             cl.text(platform, CL_PLATFORM_NAME), cl.text(device, CL_DRIVER_VERSION),
             static_cast<double>(memory) / (1 << 30));
}

}  // namespace

int devices_command(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h";
    if (!help)
      return fail(Program,
                  Status(Kind::Invalid, fmt::format("devices takes no argument \"{}\"", argv[1])));
    fmt::print("Usage: goptimize devices\nLists the OpenCL devices of this machine.\n");
    return ExitOk;
  }
  Loader cl;
  if (!cl.open())
    return fail(Program, Status(Kind::Unsupported,
                                "there is no OpenCL loader (install ocl-icd-libopencl1)"));
  cl_uint platform_count = 0;
  cl.platforms(0, nullptr, &platform_count);
  std::vector<cl_platform_id> platforms(platform_count);
  if (platform_count) cl.platforms(platform_count, platforms.data(), nullptr);
  int number = 0;
  for (cl_platform_id platform : platforms) {
    cl_uint count = 0;
    if (cl.devices(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0)
      continue;
    std::vector<cl_device_id> devices(count);
    cl.devices(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    for (cl_device_id device : devices) print_device(cl, number++, platform, device);
  }
  if (number == 0)
    return fail(Program,
                Status(Kind::Unsupported,
                       "no OpenCL driver offers a device (pocl-opencl-icd has one for the CPU)"));
  return ExitOk;
}

}  // namespace gt::opt
