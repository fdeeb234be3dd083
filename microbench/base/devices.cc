// Listing the OpenCL devices.
#include "microbench/base/devices.h"

#include <algorithm>

namespace gt::bench {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  size_t size = 0;
  if (clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  clGetPlatformInfo(platform, what, size, text.data(), nullptr);
  return trimmed(std::move(text));
}

std::string device_text(cl_device_id device, cl_device_info what) {
  size_t size = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  clGetDeviceInfo(device, what, size, text.data(), nullptr);
  return trimmed(std::move(text));
}

template <class T>
T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

model::DeviceType type_of(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return model::DeviceType::Gpu;
  if (type & CL_DEVICE_TYPE_CPU) return model::DeviceType::Cpu;
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return model::DeviceType::Accelerator;
  return type & CL_DEVICE_TYPE_CUSTOM ? model::DeviceType::Custom : model::DeviceType::Unknown;
}

}  // namespace

void list_of_platform(cl_platform_id platform, std::vector<Device>& out) {
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0)
    return;
  std::vector<cl_device_id> ids(count);
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS)
    return;
  for (cl_device_id id : ids) {
    Device d;
    d.platform_id = platform;
    d.id = id;
    d.platform = platform_text(platform, CL_PLATFORM_NAME);
    d.name = device_text(id, CL_DEVICE_NAME);
    d.driver = device_text(id, CL_DRIVER_VERSION);
    d.type = type_of(device_value<cl_device_type>(id, CL_DEVICE_TYPE));
    d.host_unified = device_value<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
    d.memory_bytes = device_value<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    d.max_buffer_bytes = device_value<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    out.push_back(std::move(d));
  }
}

namespace {

Result<std::vector<cl_platform_id>> list_platforms() {
  cl_uint count = 0;
  const cl_int err = clGetPlatformIDs(0, nullptr, &count);
  if (err != CL_SUCCESS || count == 0)
    return Status(Kind::Unsupported,
                  "no OpenCL driver is installed (pocl-opencl-icd has one for the CPU)", err);
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  return platforms;
}

}  // namespace

Result<std::vector<Device>> find_devices(const std::string& text) {
  const Result<std::vector<cl_platform_id>> platforms = list_platforms();
  if (!platforms) return platforms.status();
  std::vector<Device> out;
  for (cl_platform_id platform : *platforms) {
    if (!text.starts_with(platform_text(platform, CL_PLATFORM_NAME) + "/")) continue;
    std::vector<Device> there;
    list_of_platform(platform, there);
    for (Device& d : there) {
      const auto alike = [&](const Device& o) { return o.driver == d.driver; };
      if (d.platform + "/" + d.name == text && std::ranges::none_of(out, alike)) out.push_back(std::move(d));
    }
  }
  if (out.empty()) return Status(Kind::Invalid, "there is no device " + text);
  return out;
}

Result<std::vector<Device>> list_devices() {
  const Result<std::vector<cl_platform_id>> platforms = list_platforms();
  if (!platforms) return platforms.status();
  std::vector<Device> out;
  for (cl_platform_id platform : *platforms) list_of_platform(platform, out);
  if (out.empty()) return Status(Kind::Unsupported, "the installed OpenCL drivers offer no device");
  return out;
}

}  // namespace gt::bench
