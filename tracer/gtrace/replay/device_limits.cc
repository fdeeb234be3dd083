#include "tracer/gtrace/replay/device_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tracer/gtrace/base/units.h"
#include "traces/api/print.h"

namespace gt::tracer {

using api::FnId;

std::string DeviceLimits::text(cl_device_info what) const {
  const auto ask = cl_.get<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo);
  size_t size = 0;
  if (ask(device_, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (ask(device_, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::string DeviceLimits::too_large(uint64_t bytes) const {
  const auto ask = cl_.get<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo);
  cl_ulong most = 0;
  ask(device_, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr);
  return fmt::format("it has {}, and this device allows {}", human_bytes(bytes), human_bytes(most));
}

std::string DeviceLimits::svm(cl_svm_mem_flags flags) const {
  const auto ask = cl_.get<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo);
  cl_device_svm_capabilities has = 0;
  ask(device_, CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, nullptr);
  if (!(has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) return "this device has no SVM";
  if ((flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) && !(has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER))
    return "this device has coarse-grained SVM only, which the program would have to map";
  if ((flags & CL_MEM_SVM_ATOMICS) && !(has & CL_DEVICE_SVM_ATOMICS)) return "this device has no SVM atomics";
  return "";
}

// Of "#pragma OPENCL EXTENSION NAME : enable".
std::vector<std::string> DeviceLimits::missing_extensions(std::string_view source) const {
  constexpr std::string_view Mark = "OPENCL EXTENSION ";
  const std::string all = " " + text(CL_DEVICE_EXTENSIONS) + " ";
  std::vector<std::string> missing;
  for (size_t at = source.find(Mark); at != std::string_view::npos; at = source.find(Mark, at + 1)) {
    const std::string_view rest = source.substr(at + Mark.size());
    const std::string name(rest.substr(0, rest.find_first_of(" :\t\n")));
    const bool new_one = std::find(missing.begin(), missing.end(), name) == missing.end();
    if (name != "all" && new_one && all.find(" " + name + " ") == std::string::npos) missing.push_back(name);
  }
  return missing;
}

std::string DeviceLimits::log_line(cl_program program) const {
  const auto ask = cl_.get<decltype(clGetProgramBuildInfo)>(FnId::clGetProgramBuildInfo);
  size_t size = 0;
  if (!ask || ask(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string log(size, '\0');
  if (ask(program, device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS) return "";
  log.resize(std::min(log.find('\0'), log.size()));
  const size_t error = log.find("error");
  const size_t before = error == std::string::npos ? std::string::npos : log.rfind('\n', error);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return log.substr(begin, log.find('\n', begin) - begin);
}

std::string DeviceLimits::build(cl_program program, std::string_view source) const {
  const std::vector<std::string> missing = missing_extensions(source);
  if (!missing.empty()) return fmt::format("this device has no {}", fmt::join(missing, ", "));
  return log_line(program);
}

std::string DeviceLimits::work_group(cl_kernel kernel, const Bindings& bindings) const {
  const auto ask = cl_.get<decltype(clGetKernelWorkGroupInfo)>(FnId::clGetKernelWorkGroupInfo);
  std::array<size_t, 3> fixed{};
  if (ask(kernel, device_, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof fixed, fixed.data(), nullptr) == CL_SUCCESS &&
      fixed[0] != 0)
    return fmt::format("the kernel asks for {} x {} x {}", fixed[0], fixed[1], fixed[2]);
  const bool local = std::any_of(bindings.begin(), bindings.end(),
                                 [](const auto& b) { return b.second.kind == BoundValue::Kind::Local; });
  if (local) return "the kernel has local memory as an argument";
  cl_ulong bytes = 0;
  if (ask(kernel, device_, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, nullptr) == CL_SUCCESS && bytes > 0)
    return "the kernel has local memory";
  return "";
}

std::string image_format_text(uint64_t order, uint64_t type) {
  const auto name = [](const char* group, uint64_t value) {
    const std::string known = api::value_name(group, static_cast<int64_t>(value));
    return known.empty() ? fmt::format("{:#x}", value) : known;
  };
  return fmt::format("{} {}", name("cl_channel_order", order), name("cl_channel_type", type));
}

}  // namespace gt::tracer
