#include "transport/gproxy/opencl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace gt::proxy {
namespace {

struct Queries {
  decltype(&::clGetPlatformIDs) platforms;
  decltype(&::clGetPlatformInfo) platform_info;
  decltype(&::clGetDeviceIDs) devices;
  decltype(&::clGetDeviceInfo) device_info;
};

template <class F>
F as_function(void* p) {
  return reinterpret_cast<F>(p);
}

Queries queries_of(const OpenCl& cl) {
  return {as_function<decltype(&::clGetPlatformIDs)>(cl.function("clGetPlatformIDs")),
          as_function<decltype(&::clGetPlatformInfo)>(cl.function("clGetPlatformInfo")),
          as_function<decltype(&::clGetDeviceIDs)>(cl.function("clGetDeviceIDs")),
          as_function<decltype(&::clGetDeviceInfo)>(cl.function("clGetDeviceInfo"))};
}

template <class Get, class Object>
std::string text_info(Get get, Object object, cl_uint what) {
  size_t size = 0;
  if (get(object, what, 0, nullptr, &size) != CL_SUCCESS || size == 0 || size > (1 << 20)) return "?";
  std::string text(size, '\0');
  if (get(object, what, size, text.data(), nullptr) != CL_SUCCESS) return "?";
  return text.c_str();  // up to the NUL
}

std::string type_name(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return "gpu";
  if (type & CL_DEVICE_TYPE_CPU) return "cpu";
  return type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator" : "custom";
}

DeviceFacts facts_of(const Queries& cl, OpenCl::Device d, size_t number) {
  cl_ulong memory = 0;
  cl_device_type type = 0;
  cl.device_info(d.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr);
  cl.device_info(d.device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  return {static_cast<unsigned>(number), text_info(cl.platform_info, d.platform, CL_PLATFORM_NAME),
          text_info(cl.device_info, d.device, CL_DEVICE_NAME), type_name(type), memory};
}

std::vector<cl_device_id> devices_of(const Queries& cl, cl_platform_id platform, Inventory* facts) {
  cl_uint n = 0;
  const cl_int code = cl.devices(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n);
  std::vector<cl_device_id> devices(code == CL_SUCCESS ? n : 0);
  if (!devices.empty() && cl.devices(platform, CL_DEVICE_TYPE_ALL, n, devices.data(), nullptr) != CL_SUCCESS) {
    devices.clear();
  }
  if (facts && devices.empty()) {
    const std::string why = code == CL_SUCCESS || code == CL_DEVICE_NOT_FOUND ? "" : fmt::format(" (error {})", code);
    facts->notes.push_back(
        fmt::format("platform {} has no devices{}", text_info(cl.platform_info, platform, CL_PLATFORM_NAME), why));
  }
  return devices;
}

}  // namespace

Result<std::unique_ptr<OpenCl>> OpenCl::load() {
  void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status(Kind::Unsupported, fmt::format("no OpenCL loader: {}", ::dlerror()));
  auto cl = std::unique_ptr<OpenCl>(new OpenCl(library));
  const Queries q = queries_of(*cl);
  if (!q.platforms || !q.platform_info || !q.devices || !q.device_info) {
    return Status(Kind::Unsupported, "libOpenCL.so.1 lacks functions of OpenCL 1.0");
  }
  return cl;
}

void* OpenCl::function(const char* name) const { return ::dlsym(library_, name); }

std::vector<OpenCl::Device> OpenCl::list(Inventory* facts) const {
  const Queries cl = queries_of(*this);
  cl_uint n = 0;
  if (cl.platforms(0, nullptr, &n) != CL_SUCCESS) n = 0;
  std::vector<cl_platform_id> platforms(n);
  if (n > 0 && cl.platforms(n, platforms.data(), nullptr) != CL_SUCCESS) platforms.clear();
  std::vector<Device> all;
  for (cl_platform_id platform : platforms) {
    for (cl_device_id device : devices_of(cl, platform, facts)) {
      all.push_back({platform, device});
      if (facts) facts->devices.push_back(facts_of(cl, all.back(), all.size() - 1));
    }
  }
  return all;
}

}  // namespace gt::proxy
