#include "transport/executor/calls/device_discovery.h"

#include <CL/cl_ext.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "traces/api/api.h"
#include "traces/base/clock.h"
#include "transport/executor/base/usm_functions.h"
#include "transport/executor/calls/info_filter.h"

namespace gt::exec {
namespace {

constexpr cl_device_type KnownDeviceTypes = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                            CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;

constexpr struct {
  std::string_view group;
  uint32_t name;
} InfoNames[] = {
#define GT_GROUP(group, bits)
#define GT_VALUE(group, name, value) {#group, static_cast<uint32_t>(value)},
#include "traces/api/gen/enums.inc"
#undef GT_GROUP
#undef GT_VALUE
    // Extensions': plain numbers and texts that tell of the device itself.
    {"cl_device_info", CL_DEVICE_SPIR_VERSIONS},
    {"cl_device_info", 0x129A},  // CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR
    {"cl_device_info", CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV},
    {"cl_device_info", CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV},
    {"cl_device_info", CL_DEVICE_REGISTERS_PER_BLOCK_NV},
    {"cl_device_info", CL_DEVICE_WARP_SIZE_NV},
    {"cl_device_info", CL_DEVICE_GPU_OVERLAP_NV},
    {"cl_device_info", CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV},
    {"cl_device_info", CL_DEVICE_INTEGRATED_MEMORY_NV},
    {"cl_device_info", 0x4007},  // of cl_nv_device_attribute_query, without a name in headers: copy engines
    {"cl_device_info", CL_DEVICE_BOARD_NAME_AMD},
    {"cl_device_info", CL_DEVICE_SIMD_PER_COMPUTE_UNIT_AMD},
    {"cl_device_info", CL_DEVICE_SIMD_WIDTH_AMD},
    {"cl_device_info", CL_DEVICE_SIMD_INSTRUCTION_WIDTH_AMD},
    {"cl_device_info", CL_DEVICE_WAVEFRONT_WIDTH_AMD},
    {"cl_device_info", CL_DEVICE_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD},
    {"cl_device_info", CL_DEVICE_LOCAL_MEM_BANKS_AMD},
    {"cl_device_info", CL_DEVICE_GFXIP_MAJOR_AMD},
    {"cl_device_info", CL_DEVICE_GFXIP_MINOR_AMD},
    {"cl_device_info", CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_AMD},
    {"cl_device_info", CL_DEVICE_MAX_WORK_GROUP_SIZE_AMD},
    {"cl_device_info", CL_DEVICE_IP_VERSION_INTEL},
    {"cl_device_info", CL_DEVICE_ID_INTEL},
    {"cl_device_info", CL_DEVICE_NUM_SLICES_INTEL},
    {"cl_device_info", CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL},
    {"cl_device_info", CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL},
    {"cl_device_info", CL_DEVICE_NUM_THREADS_PER_EU_INTEL},
    {"cl_device_info", CL_DEVICE_FEATURE_CAPABILITIES_INTEL},
    {"cl_device_info", CL_DEVICE_SUB_GROUP_SIZES_INTEL},
};

// Nothing: the driver does not tell. An empty list is an answer.
template <class Query, class Of>
std::optional<Bytes> ask(Query query, Of of, cl_uint name) {
  constexpr size_t Longest = size_t{64} << 10;
  size_t size = 0;
  if (query(of, name, 0, nullptr, &size) != CL_SUCCESS || size > Longest) return {};
  Bytes value(size);
  if (size != 0 && query(of, name, size, value.data(), nullptr) != CL_SUCCESS) return {};
  return value;
}

// Of a list of addresses.
Bytes texts_of(const Bytes& addresses) {
  Bytes texts;
  for (size_t at = 0; at + sizeof(const char*) <= addresses.size(); at += sizeof(const char*)) {
    const char* text = nullptr;
    std::memcpy(&text, addresses.data() + at, sizeof text);
    if (text) texts.insert(texts.end(), text, text + std::strlen(text) + 1);
  }
  return texts;
}

template <class Query, class Of, class Filter>
std::vector<wire::InfoValue> infos(std::string_view group, Query query, Of of, Filter filter) {
  std::vector<wire::InfoValue> all;
  for (const auto& known : InfoNames) {
    if (known.group != group) continue;
    std::optional<Bytes> value = ask(query, of, known.name);
    if (value && group == "cl_device_info" && wire::is_list_of_texts(known.name)) value = texts_of(*value);
    if (value && filter(known.name, *value)) all.push_back({known.name, std::move(*value)});
  }
  return all;
}

std::string node_name() {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return std::string(host) + ":" + std::to_string(::getpid());
}

wire::SurveyedDevice device_of(Session& session, ObjectId id, ObjectId platform, cl_device_id device) {
  const auto filter = [&](cl_device_info name, Bytes& value) {
    return filter_device_info(name, session.limits, value);
  };
  const bool emulated = session.usm && usm::may_be_emulated(session.cl, device);
  const auto query = [&](cl_device_id of, cl_device_info name, size_t size, void* value, size_t* size_ret) {
    cl_int code = CL_SUCCESS;
    const bool ours = emulated && usm::is_about_usm(name) &&
                      usm::device_info(session.cl, of, name, size, value, size_ret, &code);
    return ours ? code : session.cl.clGetDeviceInfo(of, name, size, value, size_ret);
  };
  return {id, platform, infos("cl_device_info", query, device, filter)};
}

std::vector<cl_device_id> devices_of(Session& session, cl_platform_id platform) {
  cl_uint count = 0;
  session.cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  std::vector<cl_device_id> devices(count);
  if (count && session.cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr) != CL_SUCCESS)
    devices.clear();
  const auto& serves = session.options.serves;
  std::erase_if(devices, [&](cl_device_id device) { return serves && !serves(platform, device); });
  return devices;
}

// Programs ask for functions of extensions by name, without looking whether the extension is there.
wire::PlatformFunctions functions_of(const Session& session, ObjectId id, cl_platform_id platform) {
  wire::PlatformFunctions known{id, {}};
  for (uint16_t fn = 1; fn < api::fn_count(); ++fn) {
    const api::FnInfo& info = api::fn_info(fn);
    if (info.params && info.attributes.extension && extension_function(session, platform, static_cast<api::FnId>(fn)))
      known.functions.push_back(fn);
  }
  return known;
}

// Types that mean nothing: some drivers refuse them, for others they are those of no device.
wire::PlatformTypes types_of(const Session& session, ObjectId id, cl_platform_id platform) {
  constexpr cl_device_type Unknown = cl_device_type{1} << 40;
  const auto answer = [&](cl_device_type type) -> int32_t {
    cl_uint count = 0;
    return session.cl.clGetDeviceIDs(platform, type, 0, nullptr, &count);
  };
  return {id, answer(0), answer(Unknown), answer(Unknown | KnownDeviceTypes)};
}

void add_platform(Session& session, Objects& objects, cl_platform_id platform, wire::Surveyed& out) {
  const std::vector<cl_device_id> devices = devices_of(session, platform);
  auto told = infos("cl_platform_info", session.cl.clGetPlatformInfo, platform, filter_platform_info);
  if (devices.empty()) {
    std::string name = "a platform";
    for (const wire::InfoValue& info : told)
      if (info.name == CL_PLATFORM_NAME && !info.value.empty()) name.assign(info.value.begin(), info.value.end() - 1);
    if (session.options.log) session.options.log(name + " has no devices to offer: left out");
    return;
  }
  const ObjectId id = objects.discovered(ObjectKind::Platform, platform);
  out.platforms.push_back({id, std::move(told)});
  out.functions.push_back(functions_of(session, id, platform));
  out.types.push_back(types_of(session, id, platform));
  for (const cl_device_id device : devices)
    out.devices.push_back(device_of(session, objects.discovered(ObjectKind::Device, device), id, device));
}

void add_device(Session& session, Objects& objects, cl_device_id device, wire::Surveyed& out) {
  const auto platform = Cl::ask<cl_platform_id>(session.cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  const ObjectId id = objects.discovered(ObjectKind::Platform, platform);
  out.devices.push_back(device_of(session, objects.discovered(ObjectKind::Device, device), id, device));
}

}  // namespace

void discover_devices(Session& session, Objects& objects, ObjectId device, wire::Surveyed& out) {
  out.node = session.options.node.empty() ? node_name() : session.options.node;
  out.clock_ns = static_cast<int64_t>(monotonic_ns());
  if (device != 0) {
    if (const Object* const known = objects.find(device, ObjectKind::Device))
      out.devices.push_back(device_of(session, device, 0, known->as<cl_device_id>()));
    return;
  }
  if (!session.options.devices.empty()) {
    for (const cl_device_id d : session.options.devices) add_device(session, objects, d, out);
    return;
  }
  cl_uint count = 0;
  session.cl.clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count == 0 || session.cl.clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return;
  for (const cl_platform_id platform : platforms) add_platform(session, objects, platform, out);
}

}  // namespace gt::exec
