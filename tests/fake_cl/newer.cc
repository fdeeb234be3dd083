#include "tests/fake_cl/newer.h"

#include <algorithm>
#include <cstring>

#include "tests/fake_cl/behaviour.h"
#include "tests/fake_cl/driver.h"
#include "traces/base/mutex.h"

namespace gt::fake {
namespace {

// In alphabetical order, each with version 1.0.0. The headers may lack names of what belongs to them.
constexpr const char* Extensions[] = {"cl_ext_buffer_device_address",
                                      "cl_intel_required_subgroup_size",
                                      "cl_intel_unified_shared_memory",
                                      "cl_khr_create_command_queue",
                                      "cl_khr_device_uuid",
                                      "cl_khr_extended_versioning",
                                      "cl_khr_external_memory",
                                      "cl_khr_external_memory_dma_buf",
                                      "cl_khr_external_semaphore",
                                      "cl_khr_gl_sharing",
                                      "cl_khr_egl_image",
                                      "cl_khr_il_program",
                                      "cl_khr_integer_dot_product",
                                      "cl_khr_pci_bus_info",
                                      "cl_khr_priority_hints",
                                      "cl_khr_semaphore",
                                      "cl_khr_spirv_queries",
                                      "cl_khr_subgroups",
                                      "cl_khr_subgroup_shuffle",
                                      "cl_khr_suggested_local_work_size",
                                      "cl_khr_terminate_context",
                                      "cl_khr_throttle_hints",
                                      "cl_khr_unified_svm",
                                      "cl_intel_va_api_media_sharing"};

enum : cl_device_info {
  DeviceUuid = 0x106A,
  DriverUuid = 0x106B,
  LuidValid = 0x106C,
  Luid = 0x106D,
  NodeMask = 0x106E,
  DotCapabilities = 0x1073,
  Dot8Bit = 0x1074,
  DotPacked = 0x1075,
  PciBus = 0x410F,
  NvidiaBus = 0x4008,
  NvidiaSlot = 0x4009,
  NvidiaDomain = 0x400A,
  AmdTopology = 0x4037,
  SubGroupSizes = 0x4108,
  TerminateCapability = 0x2031,
  ExternalImports = 0x204F,
  SpirvSets = 0x12B9,
  SpirvExtensions = 0x12BA,
  SpirvCapabilities = 0x12BB,
};

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  const auto* p = reinterpret_cast<const uint8_t*>(values.data());
  return {p, p + values.size() * sizeof(T)};
}
template <class T>
std::vector<uint8_t> bytes_of(T value) {
  return bytes_of(std::vector<T>{value});
}
std::vector<uint8_t> bytes_of(const char* text) { return {text, text + std::strlen(text) + 1}; }

std::vector<uint8_t> versions() {
  std::vector<cl_name_version> list;
  for (const char* name : Extensions) {
    cl_name_version& one = list.emplace_back();
    one.version = CL_MAKE_VERSION(1, 0, 0);
    std::strncpy(one.name, name, sizeof one.name - 1);
  }
  return bytes_of(list);
}

struct Range {
  cl_ulong begin, size;
};
Mutex told_mutex;
std::vector<Range> told GT_GUARDED_BY(told_mutex);

}  // namespace

cl_ulong tell_address(const void* data, size_t size) {
  const auto address = reinterpret_cast<cl_ulong>(data);
  const MutexLock lock(told_mutex);
  told.push_back({address, size});
  return address;
}

std::string newer_extensions() {
  std::string all;
  for (const char* name : Extensions) all += (all.empty() ? "" : " ") + std::string(name);
  return all;
}

std::optional<std::vector<uint8_t>> newer_device_info(cl_device_info name) {
  switch (name) {
    case CL_DEVICE_VERSION:
      return bytes_of("OpenCL 3.1 fake_cl");
    case CL_DEVICE_NUMERIC_VERSION:
      return bytes_of(cl_version{CL_MAKE_VERSION(3, 1, 0)});
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
      return versions();
    case CL_DEVICE_IL_VERSION:
      return bytes_of("SPIR-V_1.4");
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
      return bytes_of(cl_uint{64});
    case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
      return bytes_of(cl_bool{CL_FALSE});
    case DeviceUuid:
      return bytes_of(std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    case DriverUuid:
      return bytes_of(std::vector<uint8_t>{16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
    case LuidValid:
      return bytes_of(cl_bool{CL_TRUE});
    case Luid:
      return bytes_of(std::vector<uint8_t>{9, 8, 7, 6, 5, 4, 3, 2});
    case NodeMask:
      return bytes_of(cl_uint{1});
    case DotCapabilities:
      return bytes_of(cl_bitfield{3});
    case Dot8Bit:
    case DotPacked:
      return bytes_of(std::vector<cl_bool>{1, 1, 0, 1, 1, 0});
    case PciBus:
      return bytes_of(std::vector<cl_uint>{0, 3, 0, 0});
    case NvidiaBus:
    case NvidiaSlot:
    case NvidiaDomain:
      return bytes_of(cl_uint{3});
    case AmdTopology:
      return bytes_of(std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0});
    case SubGroupSizes:
      return bytes_of(std::vector<size_t>{8, 16, 32});
    case TerminateCapability:
      return bytes_of(cl_bitfield{1});
    case ExternalImports:
      return bytes_of(std::vector<cl_uint>{0x2067});
    case SpirvSets:
    case SpirvExtensions:
      return bytes_of(std::vector<const char*>{"OpenCL.std"});
    case SpirvCapabilities:
      return bytes_of(std::vector<cl_uint>{4, 5, 6});
    default:
      return {};
  }
}

// Kernels of the fake have sub-groups of 16.
cl_int fake_clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id d, cl_kernel_sub_group_info name, size_t input_size,
                                    const void* input, size_t room, void* value, size_t* size_ret) {
  constexpr size_t Items = 16;
  if (!kernel) return CL_INVALID_KERNEL;
  if (d && !is_device(d)) return CL_INVALID_DEVICE;
  if (name != CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE && name != CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE)
    return CL_INVALID_VALUE;
  if (!input || input_size == 0 || input_size > 3 * sizeof(size_t)) return CL_INVALID_VALUE;
  size_t items = 1;
  for (size_t i = 0; i < input_size / sizeof(size_t); ++i) items *= static_cast<const size_t*>(input)[i];
  const size_t answer = name == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE ? (items + Items - 1) / Items : Items;
  if (value && room < sizeof answer) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, &answer, sizeof answer);
  if (size_ret) *size_ret = sizeof answer;
  return CL_SUCCESS;
}

cl_int fake_clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id d, cl_kernel_sub_group_info name,
                                       size_t input_size, const void* input, size_t room, void* value,
                                       size_t* size_ret) {
  return fake_clGetKernelSubGroupInfo(kernel, d, name, input_size, input, room, value, size_ret);
}
cl_command_queue fake_clCreateCommandQueueWithPropertiesKHR(cl_context context, cl_device_id d,
                                                            const cl_queue_properties* list, cl_int* err) {
  return fake_clCreateCommandQueueWithProperties(context, d, list, err);
}
cl_int fake_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info, size_t, const void*) {
  if (!kernel) return CL_INVALID_KERNEL;
  return behaviour().is_newer ? CL_SUCCESS : CL_INVALID_OPERATION;
}
cl_int fake_clSetKernelArgDevicePointerEXT(cl_kernel kernel, cl_uint index, cl_ulong address) {
  {
    const MutexLock lock(told_mutex);
    const auto holds = [address](const Range& r) { return address - r.begin < r.size; };
    if (std::none_of(told.begin(), told.end(), holds)) return CL_INVALID_ARG_VALUE;
  }
  return fake_clSetKernelArg(kernel, index, sizeof address, &address);
}

// The largest power of two, 64 at most, that divides the range; what the arguments say does not matter.
cl_int fake_clGetKernelSuggestedLocalWorkSize(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim, const size_t*,
                                              const size_t* global, size_t* suggested) {
  constexpr size_t Most = 64;
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  if (!kernel) return CL_INVALID_KERNEL;
  if (work_dim < 1 || work_dim > 3) return CL_INVALID_WORK_DIMENSION;
  if (!global) return CL_INVALID_GLOBAL_WORK_SIZE;
  if (!suggested) return CL_INVALID_VALUE;
  if (kernel->args.size() < kernel->source.args) return CL_INVALID_KERNEL_ARGS;
  for (cl_uint i = 0; i < work_dim; ++i) {
    if (global[i] == 0) return CL_INVALID_GLOBAL_WORK_SIZE;
    for (suggested[i] = i == 0 ? Most : 1; global[i] % suggested[i] != 0;) suggested[i] /= 2;
  }
  return CL_SUCCESS;
}
cl_int fake_clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                                                 const size_t* offset, const size_t* global, size_t* suggested) {
  return fake_clGetKernelSuggestedLocalWorkSize(queue, kernel, work_dim, offset, global, suggested);
}

}  // namespace gt::fake
