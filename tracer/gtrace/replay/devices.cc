#include "tracer/gtrace/replay/devices.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>

namespace gt::tracer {

using api::FnId;
using model::ObjectKind;

namespace {

template <class Ask, class Object>
std::string text_of(Ask ask, Object object, cl_uint what) {
  size_t size = 0;
  if (!ask || ask(object, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (ask(object, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::vector<ReplayDevice> devices_of(const OpenClLibrary& cl, cl_platform_id platform) {
  const auto list = cl.get<decltype(clGetDeviceIDs)>(FnId::clGetDeviceIDs);
  cl_uint n = 0;
  if (!list || list(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n) != CL_SUCCESS) return {};
  std::vector<cl_device_id> ids(n);
  if (n == 0 || list(platform, CL_DEVICE_TYPE_ALL, n, ids.data(), nullptr) != CL_SUCCESS) return {};
  std::vector<ReplayDevice> out;
  for (cl_device_id id : ids) {
    out.push_back({platform, id, text_of(cl.get<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo), id, CL_DEVICE_NAME),
                   text_of(cl.get<decltype(clGetPlatformInfo)>(FnId::clGetPlatformInfo), platform, CL_PLATFORM_NAME)});
  }
  return out;
}

bool is_type(const OpenClLibrary& cl, const ReplayDevice& d, std::string_view word) {
  const cl_device_type wanted = word == "gpu"           ? CL_DEVICE_TYPE_GPU
                                : word == "cpu"         ? CL_DEVICE_TYPE_CPU
                                : word == "accelerator" ? CL_DEVICE_TYPE_ACCELERATOR
                                                        : 0;
  cl_device_type type = 0;
  const auto ask = cl.get<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo);
  return wanted != 0 && ask(d.device, CL_DEVICE_TYPE, sizeof type, &type, nullptr) == CL_SUCCESS && (type & wanted);
}

std::vector<ReplayDevice> select(const OpenClLibrary& cl, const std::vector<ReplayDevice>& all,
                                 const std::string& word) {
  size_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  std::vector<ReplayDevice> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool fits = error == std::errc() && stop == end
                          ? number == i
                          : is_type(cl, all[i], word) || ::fnmatch(word.c_str(), all[i].name.c_str(), 0) == 0 ||
                                ::fnmatch(word.c_str(), all[i].platform_name.c_str(), 0) == 0;
    if (fits) out.push_back(all[i]);
  }
  return out;
}

std::string names_of(const std::vector<ReplayDevice>& devices) {
  std::string text;
  for (size_t i = 0; i < devices.size(); ++i) text += fmt::format("{}{}: {}", i ? "; " : "", i, devices[i].name);
  return text;
}

// By slot. Recordings of older versions tell the names of those that had commands, in the order of first use.
std::vector<std::string> recorded_names(const model::Trace& trace) {
  std::vector<std::string> names;
  for (const auto& [fact, name] : trace.facts) {
    size_t slot = 0;
    constexpr std::string_view Prefix = "device.";
    constexpr size_t MostDevices = 4096;
    if (!fact.starts_with(Prefix)) continue;
    const auto [stop, error] = std::from_chars(fact.data() + Prefix.size(), fact.data() + fact.size(), slot);
    if (error != std::errc() || stop != fact.data() + fact.size() || slot >= MostDevices) continue;
    names.resize(std::max(names.size(), slot + 1));
    names[slot] = name;
  }
  if (!names.empty()) return names;
  for (const model::DeviceTime& d : trace.devices) names.push_back(d.device);
  return names;
}

}  // namespace

std::vector<ReplayDevice> list_devices(const OpenClLibrary& cl) {
  const auto list = cl.get<decltype(clGetPlatformIDs)>(FnId::clGetPlatformIDs);
  cl_uint n = 0;
  if (!list || list(0, nullptr, &n) != CL_SUCCESS || n == 0) return {};
  std::vector<cl_platform_id> platforms(n);
  if (list(n, platforms.data(), nullptr) != CL_SUCCESS) return {};
  std::vector<ReplayDevice> all;
  for (cl_platform_id p : platforms) {
    for (ReplayDevice& d : devices_of(cl, p)) all.push_back(std::move(d));
  }
  return all;
}

Result<DeviceChoice> DeviceChoice::choose(const OpenClLibrary& cl, const model::Trace& trace,
                                          const std::string& selection) {
  const std::vector<ReplayDevice> all = list_devices(cl);
  if (all.empty()) return Status(Kind::Unsupported, "no OpenCL device here; clinfo -l lists them");
  const std::vector<ReplayDevice> chosen = selection.empty() ? all : select(cl, all, selection);
  if (chosen.empty()) {
    return Status(Kind::Invalid,
                  fmt::format("--device {}: there is no such device; here are {}", selection, names_of(all)));
  }
  DeviceChoice choice;
  std::vector<bool> taken(chosen.size());
  for (const std::string& name : recorded_names(trace)) {
    if (!name.empty()) choice.recorded_ += (choice.recorded_.empty() ? "" : ", ") + name;
    size_t at = chosen.size();
    for (size_t i = chosen.size(); i-- > 0;) {
      if ((name.empty() || chosen[i].name == name) && (at == chosen.size() || !taken[i]))
        at = i;  // the first that is free, else any
    }
    choice.same_ &= at < chosen.size();
    at = at < chosen.size() ? at : 0;
    taken[at] = true;
    choice.by_slot_.push_back(chosen[at]);
  }
  if (choice.by_slot_.empty()) choice.by_slot_.push_back(chosen.front());
  return choice;
}

const ReplayDevice& DeviceChoice::device(int64_t slot) const {
  const bool known = slot >= 0 && static_cast<size_t>(slot) < by_slot_.size();
  return by_slot_[known ? static_cast<size_t>(slot) : 0];
}

}  // namespace gt::tracer
